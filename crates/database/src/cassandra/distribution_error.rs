//! Why the jars could not be had, and where they come from.

use std::{io, path::PathBuf};

use super::lock_list::versions;

/// Environment variable with the address of another Maven repository.
pub const MIRROR_VARIABLE: &str = "IOPSLAB_MAVEN_MIRROR";
/// The public repository, used when the variable is not set.
pub const DEFAULT_REPOSITORY: &str = "https://repo.maven.apache.org/maven2";

/// Why the jars could not be had.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum DistributionError {
    /// Not in [`versions`].
    #[error(
        "Cassandra {version} is not known to this iopslab; the nearest it can fetch is {nearest} (all: {})",
        versions().join(", ")
    )]
    UnknownVersion { version: String, nearest: &'static str },
    /// The repository did not give the file.
    #[error(
        "cannot fetch {url}: {reason}. Check the network, or set {MIRROR_VARIABLE} to a Maven repository that this \
         machine can reach (now {repository})"
    )]
    Unreachable { url: String, repository: String, reason: String },
    /// The file is not the one that the lock list means.
    #[error(
        "{url} has the wrong content and was removed: SHA-256 {actual}, expected {expected}. The mirror is damaged or \
         not a copy of Maven Central; try again or set {MIRROR_VARIABLE} to another one"
    )]
    WrongHash { url: String, expected: String, actual: String },
    /// No space left.
    #[error("no space left for {} ({needed_bytes} bytes): free some, or put the cache elsewhere", path.display())]
    DiskFull { path: PathBuf, needed_bytes: u64 },
    /// The repository does not say which jars a version needs, or gives others than it says.
    #[error("cannot make a lock list: {reason}")]
    NoLockList { reason: String },
    /// Any other trouble with the cache.
    #[error("cannot use the cache: {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// `cancelled` said so.
    #[error("fetching Cassandra was cancelled; what is complete stays in the cache")]
    Cancelled,
}
