//! Why the jars could not be had, and where they come from.

use std::{io, path::PathBuf};

use super::lock_list::versions;

/// Environment variable with the address of another Maven repository.
pub const MIRROR_VARIABLE: &str = "IOPSLAB_MAVEN_MIRROR";
/// The public repository, used when the variable is not set.
pub const DEFAULT_REPOSITORY: &str = "https://repo.maven.apache.org/maven2";

/// Why the jars could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    /// Not in [`versions`].
    #[error("Cassandra {version} is not known to this iopslab; the nearest it can fetch is {nearest} (all: {})", versions().join(", "))]
    UnknownVersion {
        /// As asked.
        version: String,
        /// The known version closest to it.
        nearest: &'static str,
    },
    /// The repository did not give the file.
    #[error(
        "cannot fetch {url}: {reason}. Check the network, or set {MIRROR_VARIABLE} to a Maven repository that this machine \
         can reach (now {repository})"
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// The repository in use.
        repository: String,
        /// What went wrong.
        reason: String,
    },
    /// The file is not the one that the lock list means.
    #[error(
        "{url} has the wrong content and was removed: SHA-256 {actual}, expected {expected}. The mirror is damaged or not a \
         copy of Maven Central; try again or set {MIRROR_VARIABLE} to another one"
    )]
    WrongHash {
        /// Where it came from.
        url: String,
        /// What the lock list says.
        expected: String,
        /// What the file has.
        actual: String,
    },
    /// No space left.
    #[error("no space left for {} ({needed_bytes} bytes): free some, or put the cache elsewhere", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
        /// Its full size.
        needed_bytes: u64,
    },
    /// Any other trouble with the cache.
    #[error("cannot use the cache: {}: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `cancelled` said so.
    #[error("fetching Cassandra was cancelled; what is complete stays in the cache")]
    Cancelled,
}
