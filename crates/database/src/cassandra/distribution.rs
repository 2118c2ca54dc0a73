//! Cassandra's jars: fetched from a Maven repository by a committed lock list, verified, cached.
//!
//! A lock list (`lock/VERSION.txt`, made by `iopslab db lock`: [`super::make_lock_list`]) names every jar of the
//! runtime closure of `org.apache.cassandra:cassandra-all` with its SHA-256 and size. A jar is written aside, hashed,
//! and only then renamed to its place, so that the cache never holds half a file under a final name, whoever is killed
//! when.
//!
//! **Verified before use.** Hashing 69 MB at each start would cost about half a second, so the cache remembers what it
//! has verified: `verified-VERSION.txt` holds each jar's SHA-256, size and modification time in nanoseconds. A jar
//! whose size and time still match is taken as verified; any other is hashed again. This guards against truncation,
//! mix-ups and bad mirrors, not against somebody who can write to the cache on purpose (they could replace Java too).

use std::path::{Path, PathBuf};

use super::{
    distribution_error::{DEFAULT_REPOSITORY, DistributionError, MIRROR_VARIABLE},
    fetch::{Fetched, fetch_all},
    lock_list::{Locked, lock_list, nearest_version},
    verified::Verified,
};

/// A complete, verified set of jars.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Cassandra version.
    pub version: String,
    /// All jars, in the order of the lock list.
    pub jars: Vec<PathBuf>,
    /// The directory that holds them, and the start archives made from them.
    pub cache: PathBuf,
    /// Class-data archive for faster starts, once [`super::ensure_start_archive`] has made one.
    pub start_archive: Option<PathBuf>,
    /// Heap bytes of a memtable row besides its data, as [`super::ensure_start_archive`] has found; `None`: measured at
    /// every start.
    pub row_overhead_bytes: Option<u32>,
}

impl Distribution {
    /// The class path. Its order is fixed: a class-data archive is only valid for the class path it was made with.
    pub fn classpath(&self) -> String {
        let jars: Vec<_> = self.jars.iter().map(|jar| jar.to_string_lossy()).collect();
        jars.join(":")
    }

    /// The jar whose file name starts with `prefix`.
    pub(crate) fn jar(&self, prefix: &str) -> Option<&Path> {
        let named = |jar: &&PathBuf| jar.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        self.jars.iter().find(named).map(PathBuf::as_path)
    }
}

/// Make sure that all jars of `version` are in `cache`, verified; fetch what is missing.
///
/// The repository is [`DEFAULT_REPOSITORY`], or what the environment variable [`MIRROR_VARIABLE`] says.
pub fn ensure_distribution(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    ensure_distribution_from(&repository(), version, cache, on_progress, cancelled)
}

/// The repository that is asked, without a slash at its end.
pub(super) fn repository() -> String {
    let mirror = std::env::var(MIRROR_VARIABLE).ok().filter(|mirror| !mirror.trim().is_empty());
    mirror.as_deref().unwrap_or(DEFAULT_REPOSITORY).trim().trim_end_matches('/').to_owned()
}

/// [`ensure_distribution`] from a given repository (`http(s)://...`, without a slash at its end).
pub fn ensure_distribution_from(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let locked = known(version)?;
    let root = cache.join("cassandra");
    let mut verified = Verified::load(&root.join(format!("verified-{version}.txt")));
    let mut progress = Fetched {
        files_done: 0,
        files_total: locked.len(),
        bytes_done: 0,
        bytes_total: locked.iter().map(|jar| jar.size_bytes).sum(),
    };
    let mut missing = Vec::new();
    for jar in &locked {
        if cancelled() {
            return Err(DistributionError::Cancelled);
        }
        if verified.check(jar, &root.join(jar.path))? {
            progress.files_done += 1;
            progress.bytes_done += jar.size_bytes;
        } else {
            missing.push(*jar);
        }
    }
    if !missing.is_empty() {
        on_progress(progress);
        fetch_all(repository, &root, &missing, &mut progress, on_progress, cancelled)?;
        for jar in &missing {
            verified.note(jar, &root.join(jar.path))?;
        }
    }
    verified.store()?;
    Ok(Distribution {
        version: version.to_owned(),
        jars: locked.iter().map(|jar| root.join(jar.path)).collect(),
        cache: root,
        start_archive: None,
        row_overhead_bytes: None,
    })
}

/// Bytes of all jars of a version.
///
/// # Errors
/// The version is not known.
pub fn download_bytes(version: &str) -> Result<u64, DistributionError> {
    Ok(known(version)?.iter().map(|jar| jar.size_bytes).sum())
}

fn known(version: &str) -> Result<Vec<Locked>, DistributionError> {
    lock_list(version).ok_or_else(|| DistributionError::UnknownVersion {
        version: version.to_owned(),
        nearest: nearest_version(version),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_names_the_nearest() {
        let error = known("5.0.99").unwrap_err().to_string();
        assert!(error.contains("5.0.99") && error.contains("nearest it can fetch is 5.0.9"), "{error}");
    }
}
