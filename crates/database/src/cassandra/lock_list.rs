//! The lock lists: every jar of a Cassandra version with its SHA-256 and size.

use crate::maven::{DistributionError, Locked, Locks, known};

/// The list of one version.
macro_rules! lock {
    ($version:literal) => {
        ($version, include_str!(concat!("lock/", $version, ".txt")))
    };
}

/// Lock lists, one line each: the default version first, then the others, newest first. `iopslab db lock` makes a list;
/// what a plan knows of the same version is in `cassandra_model`.
const LOCKS: Locks = &[lock!("5.0.9"), lock!("6.0-alpha2"), lock!("4.1.10")];

/// Cassandra versions that can be fetched: the default first, then the others, newest first.
pub fn versions() -> Vec<&'static str> {
    LOCKS.iter().map(|(version, _)| *version).collect()
}

/// The jars of a version. Errors: the version is not known.
pub(crate) fn lock_list(version: &str) -> Result<Vec<Locked>, DistributionError> {
    known("Cassandra", LOCKS, version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_sound_lock_list() {
        assert_eq!(versions()[0], cassandra_model::CASSANDRA.default_version);
        assert_eq!(versions(), cassandra_model::versions().collect::<Vec<_>>(), "plans know the same");
        for (version, text) in LOCKS {
            let jars = lock_list(version).unwrap();
            assert_eq!(jars.len(), text.lines().filter(|line| !line.starts_with('#')).count(), "every line parses");
            assert!(jars.iter().any(|jar| jar.path.ends_with(&format!("cassandra-all-{version}.jar"))));
            assert!(jars.iter().all(|jar| jar.sha256.len() == 64 && jar.size_bytes > 0 && !jar.path.contains("..")));
        }
    }
}
