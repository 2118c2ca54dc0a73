//! `[target]`: the database under test.

use super::{consistency, existing};
use crate::mistakes::{Collector, choice};
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
    if let (Some(hosts), Some(_)) = (&target.hosts, &target.version) {
        return mistakes.refuse(
            hosts.span(),
            "`hosts` and `version` exclude each other",
            "a database that exists has its version; iopslab starts one of a version where `hosts` is left out",
        );
    }
    let mut product = PRODUCTS[0];
    if let Some(database) = &target.database {
        let found = PRODUCTS.into_iter().find(|product| product.name == database.as_str());
        if found.is_none() {
            let valid = choice(database, &PRODUCTS.map(|product| product.name));
            let help = format!("{valid}; other CQL databases by hosts = [\"address:9042\"]");
            mistakes.add(database.span(), format!("unknown database `{database}`"), help);
        }
        product = found.unwrap_or(product);
    }
    let (database, existing) = match &target.hosts {
        Some(hosts) if hosts.is_empty() => {
            let help = "for example hosts = [\"10.0.0.5:9042\"]";
            return mistakes.refuse(hosts.span(), "`hosts` is empty", help);
        }
        Some(hosts) => (Database::Existing(product), Some(existing::check(hosts, target, product, mistakes)?)),
        None => (started(product, target.version.as_ref(), mistakes), None),
    };
    let consistency = target.consistency.as_ref();
    let consistency = consistency.map_or(Some(of_one), |given| consistency::check(given, mistakes))?;
    Some((Target { database, consistency }, existing))
}

fn started(product: &'static Product, version: Option<&Spanned<String>>, mistakes: &mut Collector<'_>) -> Database {
    if let Some(version) = version {
        is_supported(product, version, mistakes);
    }
    let version = version.map_or(product.default_version.to_owned(), Spanned::to_string);
    Database::Started(Started { product, version })
}

fn is_supported(product: &Product, version: &Spanned<String>, mistakes: &mut Collector<'_>) {
    if let Some(help) = product.expected_version(version) {
        mistakes.add(version.span(), format!("version `{version}` is not supported"), help);
    }
}

/// The version of a configuration's database, where that is not the target's; the outer `None`: something is wrong
/// with it, which is reported.
pub(super) fn own_version(
    given: Option<&Spanned<raw::DatabaseVersion>>,
    target: Option<&Target>,
    mistakes: &mut Collector<'_>,
) -> Option<Option<String>> {
    let (Some(given), Some(target)) = (given, target) else { return Some(None) };
    let Database::Started(started) = &target.database else {
        return mistakes.refuse(
            given.span(),
            "`database` of a configuration says which version iopslab starts, and `hosts` are a cluster of yours",
            "remove it: a cluster that exists has its version",
        );
    };
    mistakes.sound(|mistakes| {
        if let Some(name) = given.name.as_ref().filter(|name| name.as_str() != started.product.name) {
            let message = format!("`{name}` is not the database of this experiment");
            mistakes.add(name.span(), message, format!("that of [target], for all of it: {}", started.product.name));
        }
        is_supported(started.product, &given.version, mistakes);
        Some(given.version.to_string()).filter(|version| *version != started.version)
    })
}
