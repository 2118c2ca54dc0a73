//! PostgreSQL's binaries: fetched by a committed lock list, verified, unpacked once, kept.

use std::path::{Path, PathBuf};

use super::archive::unpack;
use super::lock_list::lock_list;
use crate::maven::{DistributionError, Fetched, ensure_jars, repository};

/// Its binaries, unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Distribution {
    pub version: String,
    /// The directory that holds `bin`, `lib` and `share`.
    pub home: PathBuf,
}

impl Distribution {
    /// The server.
    pub fn postgres(&self) -> PathBuf {
        self.home.join("bin/postgres")
    }

    /// What makes an empty data directory.
    pub fn initdb(&self) -> PathBuf {
        self.home.join("bin/initdb")
    }
}

/// Makes sure that the binaries of a version are in `cache`; fetches and unpacks what is missing.
pub(crate) fn ensure_distribution(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let jar = lock_list(version)?;
    let architecture = std::env::consts::ARCH;
    if architecture != "x86_64" {
        return Err(DistributionError::OtherArchitecture { product: "PostgreSQL", architecture });
    }
    let root = cache.join("postgresql");
    let jars = ensure_jars(&repository(), (&root, version), &[jar], on_progress, cancelled)?;
    // By what was unpacked: another jar of the same version is another directory.
    let home = root.join(format!("{version}-{}", &jar.sha256[..16]));
    let found = Distribution { version: version.to_owned(), home };
    if !found.home.is_dir() {
        for jar in &jars {
            place(jar, &found.home)?;
        }
    }
    for program in [found.postgres(), found.initdb()] {
        if !program.is_file() {
            let reason = format!("there is no {}", program.strip_prefix(&found.home).unwrap_or(&program).display());
            return Err(DistributionError::NotTheSoftware { path: found.home, reason });
        }
    }
    Ok(found)
}

/// Unpacks aside, so that a directory of this name is whole whoever is killed when.
fn place(jar: &Path, home: &Path) -> Result<(), DistributionError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| DistributionError::Io { path, source }
    };
    let aside = guarded::aside(home).map_err(failed(home))?;
    std::fs::create_dir_all(&aside).map_err(failed(&aside))?;
    let unpacked = unpack(jar, &aside).and_then(|()| std::fs::rename(&aside, home).map_err(failed(home)));
    if unpacked.is_err() {
        let _ = std::fs::remove_dir_all(&aside);
        // Another agent of this machine may have been faster.
        return if home.is_dir() { Ok(()) } else { unpacked };
    }
    Ok(())
}

/// Bytes that are fetched for a version. Errors: the version is not known.
pub fn download_bytes(version: &str) -> Result<u64, DistributionError> {
    Ok(lock_list(version)?.size_bytes)
}
