//! `[target]`: the database under test.

use super::{consistency, existing};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Consistency, ConsistencyLevels, Database, Target, raw};

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "5.0.9";

pub(super) fn check(target: Option<&Spanned<raw::Target>>, mistakes: &mut Collector<'_>) -> Option<Target> {
    let of_one = ConsistencyLevels::all(Consistency::One);
    let Some(target) = target else {
        return Some(Target { database: cassandra(None, mistakes), consistency: of_one });
    };
    if let (Some(hosts), Some(_)) = (&target.hosts, target.database.as_ref().or(target.version.as_ref())) {
        mistakes.add(
            hosts.span(),
            "`hosts` and `database` exclude each other",
            "either a cluster of yours, or one started for you",
        );
        return None;
    }
    if let Some(database) = target.database.as_ref().filter(|database| database.as_str() != "cassandra") {
        let help = "valid: cassandra; other CQL databases by hosts = [\"address:9042\"]";
        mistakes.add(database.span(), format!("unknown database `{database}`"), help);
    }
    let database = match &target.hosts {
        Some(hosts) if hosts.is_empty() => {
            let help = "for example hosts = [\"10.0.0.5:9042\"]";
            mistakes.add(hosts.span(), "`hosts` is empty", help);
            return None;
        }
        Some(hosts) => existing::check(hosts, target, mistakes)?,
        None => cassandra(target.version.as_ref(), mistakes),
    };
    let consistency = target.consistency.as_ref();
    Some(Target {
        database,
        consistency: consistency.map_or(Some(of_one), |given| consistency::check(given, mistakes))?,
    })
}

fn cassandra(version: Option<&Spanned<String>>, mistakes: &mut Collector<'_>) -> Database {
    if let Some(version) = version {
        let numbers: Vec<_> = version.split('.').collect();
        if !(numbers.len() == 3 && numbers.iter().all(|n| n.parse::<u32>().is_ok()) && numbers[..2] == ["5", "0"]) {
            let help = format!("a release of the 5.0 line, such as {DEFAULT_VERSION}");
            mistakes.add(version.span(), format!("version `{version}` is not supported"), help);
        }
    }
    Database::Cassandra { version: version.map_or(DEFAULT_VERSION.to_owned(), Spanned::to_string) }
}
