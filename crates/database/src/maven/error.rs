//! Why the jars could not be had, and where they come from.

use std::{io, path::PathBuf};

/// Environment variable with the address of another Maven repository.
pub const MIRROR_VARIABLE: &str = "IOPSLAB_MAVEN_MIRROR";
/// The public repository, used when the variable is not set.
pub const DEFAULT_REPOSITORY: &str = "https://repo.maven.apache.org/maven2";

/// Why the jars could not be had.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum DistributionError {
    #[error("{product} {version} is not known to this iopslab; the nearest it can fetch is {nearest} (all: {all})")]
    UnknownVersion { product: &'static str, version: String, nearest: &'static str, all: String },
    #[error("{} does not hold what it should: {reason}", path.display())]
    NotTheSoftware { path: PathBuf, reason: String },
    #[error("there are binaries of {product} for x86_64 alone so far, and this machine is {architecture}")]
    OtherArchitecture { product: &'static str, architecture: &'static str },
    #[error(
        "cannot fetch {url}: {reason}. Check the network, or set {MIRROR_VARIABLE} to a Maven repository that this \
         machine can reach (now {repository})"
    )]
    Unreachable { url: String, repository: String, reason: String },
    #[error(
        "{url} has the wrong content and was removed: SHA-256 {actual}, expected {expected}. The mirror is damaged or \
         not a copy of Maven Central; try again or set {MIRROR_VARIABLE} to another one"
    )]
    WrongHash { url: String, expected: String, actual: String },
    #[error(
        "Cassandra cannot be kept in {}: a JVM takes `{sign}` in the path of a jar for its end. Name another cache by \
         IOPSLAB_CACHE",
        path.display()
    )]
    CachePath { path: PathBuf, sign: char },
    #[error("no space left for {} ({needed_bytes} bytes): free some, or put the cache elsewhere", path.display())]
    DiskFull { path: PathBuf, needed_bytes: u64 },
    #[error("cannot make a lock list: {reason}")]
    NoLockList { reason: String },
    #[error("cannot use the cache: {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("fetching was cancelled; what is complete stays in the cache")]
    Cancelled,
}
