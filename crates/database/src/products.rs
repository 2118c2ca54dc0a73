//! Which product is which code: the one place of this crate that chooses.

use std::path::Path;
use std::sync::Arc;

use cassandra_model::CASSANDRA;
use experiment::{Dataset, KeyFormat, Product, Started};
use postgresql_model::POSTGRESQL;

use crate::account::Account;
use crate::cassandra::{self, Cassandra};
use crate::client::Client;
use crate::cql::CqlConnect;
use crate::existing::{Existing, Found, Result};
use crate::maven::{DistributionError, LockList, repository};
use crate::own::OwnWork;
use crate::postgresql::{self, PostgreSql, PostgresConnect};
use crate::server::Server;
use crate::table_at::TableAt;

/// A product that an experiment may name, and that this program can neither start nor ask.
#[derive(Debug, thiserror::Error)]
#[error("this iopslab can neither start {0} nor send it requests")]
pub struct NoHands(&'static str);

/// A product in a version; its processes run as this user. Errors: nothing here starts it.
pub fn server(Started { product, version }: &Started, account: Option<Account>) -> Result<Box<dyn Server>, NoHands> {
    match *product {
        product if *product == CASSANDRA => Ok(Box::new(Cassandra::new(version, account))),
        product if *product == POSTGRESQL => Ok(Box::new(PostgreSql::new(version, account))),
        product => Err(NoHands(product.title)),
    }
}

/// Makes the lock list of a version of a product, or of the newest one of its line. The jars are in `cache` afterwards.
/// Errors: nothing here fetches it, or the repository does not give what the list needs.
pub fn make_lock_list(
    product: &Product,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(&str),
) -> Result<LockList, DistributionError> {
    match product {
        product if *product == CASSANDRA => cassandra::make_lock_list(&repository(), version, cache, on_progress),
        product if *product == POSTGRESQL => postgresql::make_lock_list(&repository(), version, cache, on_progress),
        product => Err(DistributionError::NoLockList { reason: NoHands(product.title).to_string() }),
    }
}

/// Does some work with the client of a product. Errors: nothing here asks it.
pub fn with_client<W: ClientWork>(product: &Product, work: W) -> Result<W::Output, NoHands> {
    match product {
        product if *product == CASSANDRA => Ok(work.with::<CqlConnect>()),
        product if *product == POSTGRESQL => Ok(work.with::<PostgresConnect>()),
        product => Err(NoHands(product.title)),
    }
}

/// Work with a client, whatever its product is. It is compiled for each of them, so that no request pays for the
/// choice.
pub trait ClientWork {
    /// What comes of it.
    type Output;
    /// The work.
    fn with<C: Client>(self) -> Self::Output;
}

impl Client for CqlConnect {
    fn to(table: TableAt) -> Self {
        Self::new(table)
    }

    fn with_own(self, work: OwnWork) -> Self {
        Self { own: Some(Arc::new(work)), ..self }
    }

    fn loading(self) -> Self {
        // Its inserts are those of a workload.
        self
    }

    fn reach(&self) -> Result<()> {
        Existing::connect(&self.at).map(drop)
    }

    fn take(&self, dataset: &Dataset, keys: KeyFormat, replication_factor: u32) -> Result<(Found, Vec<String>)> {
        let (existing, data_centre) = (Existing::connect(&self.at)?, self.at.access.data_centre.as_deref());
        let found = existing.take(dataset, keys, replication_factor, data_centre)?;
        Ok((found, existing.left_out(data_centre)))
    }

    fn loaded(&self, dataset: &Dataset, keys: KeyFormat) -> Result<()> {
        Existing::connect(&self.at)?.loaded(dataset, keys)
    }
}

#[cfg(test)]
mod tests {
    use experiment::PRODUCTS;

    use super::*;

    struct Name;

    impl ClientWork for Name {
        type Output = &'static str;

        fn with<C: Client>(self) -> &'static str {
            std::any::type_name::<C>()
        }
    }

    #[test]
    fn every_product_of_an_experiment_can_be_started_and_asked_and_no_other() {
        for product in PRODUCTS {
            let started = Started { product, version: product.default_version.to_owned() };
            let found = server(&started, None).map(|server| (server.name(), server.version().to_owned())).ok();
            assert_eq!(found, Some((product.short, started.version)));
            assert!(with_client(product, Name).is_ok(), "{}", product.name);
        }
        let other = Product { name: "other", title: "Other", ..*PRODUCTS[0] };
        let refused = with_client(&other, Name).map_err(|error| error.to_string());
        assert_eq!(refused, Err("this iopslab can neither start Other nor send it requests".to_owned()));
    }
}
