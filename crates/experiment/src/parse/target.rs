//! `[target]`: the database under test.

use super::{consistency, existing};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Consistency, ConsistencyLevels, Database, ExistingCluster, PRODUCTS, Started, Target, raw};
use product::Product;

/// The target, and the cluster where it exists.
pub(super) fn check(
    target: Option<&Spanned<raw::Target>>,
    mistakes: &mut Collector<'_>,
) -> Option<(Target, Option<ExistingCluster>)> {
    let of_one = ConsistencyLevels::all(Consistency::One);
    let Some(target) = target else {
        return Some((Target { database: started(PRODUCTS[0], None, mistakes), consistency: of_one }, None));
    };
    if let (Some(hosts), Some(_)) = (&target.hosts, target.database.as_ref().or(target.version.as_ref())) {
        return mistakes.refuse(
            hosts.span(),
            "`hosts` and `database` exclude each other",
            "either a cluster of yours, or one started for you",
        );
    }
    let mut product = PRODUCTS[0];
    if let Some(database) = &target.database {
        let found = PRODUCTS.into_iter().find(|product| product.name == database.as_str());
        if found.is_none() {
            let valid = PRODUCTS.map(|product| product.name).join(", ");
            let help = format!("valid: {valid}; other CQL databases by hosts = [\"address:9042\"]");
            mistakes.add(database.span(), format!("unknown database `{database}`"), help);
        }
        product = found.unwrap_or(product);
    }
    let (database, existing) = match &target.hosts {
        Some(hosts) if hosts.is_empty() => {
            let help = "for example hosts = [\"10.0.0.5:9042\"]";
            return mistakes.refuse(hosts.span(), "`hosts` is empty", help);
        }
        Some(hosts) => (Database::Cql, Some(existing::check(hosts, target, mistakes)?)),
        None => (started(product, target.version.as_ref(), mistakes), None),
    };
    let consistency = target.consistency.as_ref();
    let consistency = consistency.map_or(Some(of_one), |given| consistency::check(given, mistakes))?;
    Some((Target { database, consistency }, existing))
}

fn started(product: &'static Product, version: Option<&Spanned<String>>, mistakes: &mut Collector<'_>) -> Database {
    if let Some(version) = version
        && let Some(help) = (product.expected_version)(version)
    {
        mistakes.add(version.span(), format!("version `{version}` is not supported"), help);
    }
    let version = version.map_or(product.default_version.to_owned(), Spanned::to_string);
    Database::Started(Started { product, version })
}
