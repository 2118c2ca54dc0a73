//! What can go wrong with served volumes.

use std::io;
use std::path::{Path, PathBuf};

/// Why a volume could not be served.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ServedError {
    /// A system call on a path failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// The machine cannot serve files.
    #[error(
        "volumes cannot be served: {}: {source}; load the kernel's module (modprobe fuse), or in a container give it \
         /dev/fuse (docker run --device /dev/fuse, or privileged)",
        path.display()
    )]
    NoFuse { path: PathBuf, source: io::Error },
    /// The server refused an order.
    #[error("the volume server refused: {reason}")]
    Refused { reason: String },
    /// The server is not there any more, or does not speak as it should.
    #[error(
        "the volume server (process {pid}) does not answer: {reason}; its volumes answer with I/O errors from now on"
    )]
    Lost { pid: u32, reason: String },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, ServedError>;

/// Names what failed, and where.
pub(crate) fn io_error<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> ServedError {
    let path = path.to_owned();
    move |source| ServedError::Io { doing, path, source: source.into() }
}
