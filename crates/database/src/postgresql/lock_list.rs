//! The lock lists: the jar of a PostgreSQL version with its SHA-256 and size.

use crate::maven::{DistributionError, Locked, Locks, known};

/// The list of one version.
macro_rules! lock {
    ($version:literal) => {
        ($version, include_str!(concat!("lock/", $version, ".txt")))
    };
}

/// Lock lists, one line each: the default version first, then the others, newest first. `iopslab db lock` makes a list;
/// what a plan knows of the same version is in `postgresql_model`.
const LOCKS: Locks = &[lock!("18.3")];

/// PostgreSQL versions that can be fetched: the default first, then the others, newest first.
pub fn versions() -> impl Iterator<Item = &'static str> {
    LOCKS.iter().map(|(version, _)| *version)
}

/// The jar of a version. Errors: the version is not known, or its list was not made yet.
pub(crate) fn lock_list(version: &str) -> Result<Locked, DistributionError> {
    let jars = known("PostgreSQL", LOCKS, version)?;
    jars.first().copied().ok_or_else(|| DistributionError::NoLockList {
        reason: format!(
            "that of PostgreSQL {version} is empty; make it with: iopslab db lock postgresql {version} \
             >crates/database/src/postgresql/lock/{version}.txt, and build iopslab anew"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that was not made yet fails here, by intention: nothing can be fetched by it.
    #[test]
    fn every_version_has_a_sound_lock_list() {
        assert_eq!(versions().next(), Some(postgresql_model::POSTGRESQL.default_version));
        assert!(versions().eq(postgresql_model::versions()), "plans know the same");
        for version in versions() {
            let jar = lock_list(version).unwrap_or_else(|error| panic!("{error}"));
            assert!(jar.path.ends_with(&format!("linux-amd64-{version}.0.jar")), "{}", jar.path);
            assert!(jar.sha256.len() == 64 && jar.size_bytes > 0 && !jar.path.contains(".."), "{jar:?}");
        }
    }
}
