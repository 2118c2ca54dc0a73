//! Cassandra's jars: fetched from a Maven repository by a committed lock list, verified, cached.
//!
//! A lock list (`lock/VERSION.txt`, made by `iopslab db lock`: [`super::make_lock_list`]) names every jar of the
//! runtime closure of `org.apache.cassandra:cassandra-all` with its SHA-256 and size.

use std::path::{Path, PathBuf};

use super::lock_list::lock_list;
use crate::maven::{DistributionError, Fetched, ensure_jars, repository};

/// What ends the path of a jar: in a class path, and of an agent (`-javaagent:jarpath[=options]`).
const ENDS_OF_A_JAR: [char; 2] = [':', '='];

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
/// The repository is the public one, or what the environment variable `IOPSLAB_MAVEN_MIRROR` says.
pub fn ensure_distribution(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    ensure_distribution_from(&repository(), version, cache, on_progress, cancelled)
}

/// [`ensure_distribution`] from a given repository (`http(s)://...`, without a slash at its end).
pub fn ensure_distribution_from(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let locked = lock_list(version)?;
    let root = cache.join("cassandra");
    if let Some(sign) = root.to_string_lossy().chars().find(|sign| ENDS_OF_A_JAR.contains(sign)) {
        return Err(DistributionError::CachePath { path: root, sign });
    }
    let jars = ensure_jars(repository, (&root, version), &locked, on_progress, cancelled)?;
    Ok(Distribution { version: version.to_owned(), jars, cache: root, start_archive: None, row_overhead_bytes: None })
}

/// Bytes of all jars of a version. Errors: the version is not known.
pub fn download_bytes(version: &str) -> Result<u64, DistributionError> {
    Ok(lock_list(version)?.iter().map(|jar| jar.size_bytes).sum())
}
