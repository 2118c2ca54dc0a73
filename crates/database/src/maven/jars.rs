//! Makes sure that the jars of a lock list are there and are what it says.
//!
//! A jar is written aside, hashed, and only then renamed to its place, so that the cache never holds half a file under
//! a final name, whoever is killed when.
//!
//! **Verified before use.** Hashing 69 MB at each start would cost about half a second, so the cache remembers what it
//! has verified: `verified-VERSION.txt` holds each jar's SHA-256, size and modification time in nanoseconds. A jar
//! whose size and time still match is taken as verified; any other is hashed again. This guards against truncation,
//! mix-ups and bad mirrors, not against somebody who can write to the cache on purpose (they could replace Java too).

use std::path::{Path, PathBuf};

use super::error::{DEFAULT_REPOSITORY, DistributionError, MIRROR_VARIABLE};
use super::fetch::{Fetched, fetch_all};
use super::locked::Locked;
use super::verified::Verified;

/// The repository that is asked, without a slash at its end: [`DEFAULT_REPOSITORY`], or what the environment variable
/// [`MIRROR_VARIABLE`] says.
pub(crate) fn repository() -> String {
    let mirror = std::env::var(MIRROR_VARIABLE).ok().filter(|mirror| !mirror.trim().is_empty());
    mirror.as_deref().unwrap_or(DEFAULT_REPOSITORY).trim().trim_end_matches('/').to_owned()
}

/// Fetches those of these jars that are missing below `root`; gives where each is, in their order.
pub(crate) fn ensure_jars(
    repository: &str,
    (root, version): (&Path, &str),
    locked: &[Locked],
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<PathBuf>, DistributionError> {
    let mut verified = Verified::load(&root.join(format!("verified-{version}.txt")));
    let mut progress = Fetched {
        files_done: 0,
        files_total: locked.len(),
        bytes_done: 0,
        bytes_total: locked.iter().map(|jar| jar.size_bytes).sum(),
    };
    let mut missing = Vec::new();
    for jar in locked {
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
        fetch_all(repository, root, &missing, &mut progress, on_progress, cancelled)?;
        for jar in &missing {
            verified.note(jar, &root.join(jar.path))?;
        }
    }
    verified.store()?;
    Ok(locked.iter().map(|jar| root.join(jar.path)).collect())
}
