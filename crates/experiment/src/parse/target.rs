//! `[target]`: the database under test.

use toml::Spanned;

use super::{consistency, existing};
use crate::mistakes::Collector;
use crate::{Consistency, ConsistencyLevels, Database, Target, raw};

pub(super) fn check(target: Option<&Spanned<raw::Target>>, mistakes: &mut Collector<'_>) -> Option<Target> {
    let default_version = || Database::Cassandra {
        version: DEFAULT_VERSION.to_owned(),
    };
    let Some(spanned) = target else {
        return Some(Target {
            database: default_version(),
            consistency: ConsistencyLevels::all(Consistency::One),
        });
    };
    let target = spanned.get_ref();
    if let (Some(hosts), Some(_)) = (&target.hosts, target.database.as_ref().or(target.version.as_ref())) {
        mistakes.add(
            hosts.span(),
            "`hosts` and `database` exclude each other",
            "either a cluster of yours, or one started for you",
        );
        return None;
    }
    if let Some(database) = &target.database
        && database.get_ref() != "cassandra"
    {
        let help = "valid: cassandra; other CQL databases by hosts = [\"address:9042\"]";
        mistakes.add(
            database.span(),
            format!("unknown database `{}`", database.get_ref()),
            help,
        );
    }
    let database = match (&target.hosts, &target.version) {
        (Some(hosts), _) if hosts.get_ref().is_empty() => {
            mistakes.add(
                hosts.span(),
                "`hosts` is empty",
                "for example hosts = [\"10.0.0.5:9042\"]",
            );
            return None;
        }
        (Some(hosts), _) => existing::check(hosts, target, mistakes)?,
        (None, Some(version)) => {
            let numbers: Vec<_> = version.get_ref().split('.').collect();
            let valid =
                numbers.len() == 3 && numbers.iter().all(|n| n.parse::<u32>().is_ok()) && numbers[..2] == ["5", "0"];
            if !valid {
                let help = format!("a release of the 5.0 line, such as {DEFAULT_VERSION}");
                mistakes.add(
                    version.span(),
                    format!("version `{}` is not supported", version.get_ref()),
                    help,
                );
            }
            Database::Cassandra {
                version: version.get_ref().clone(),
            }
        }
        (None, None) => default_version(),
    };
    let consistency = match &target.consistency {
        None => ConsistencyLevels::all(Consistency::One),
        Some(given) => consistency::check(given, mistakes)?,
    };
    Some(Target { database, consistency })
}

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "5.0.9";
