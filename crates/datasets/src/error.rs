//! Why a data set was not kept or restored.

use std::io;
use std::path::{Path, PathBuf};

/// Why a data set was not kept or restored.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum StoreError {
    /// Somebody asked for the end.
    #[error("cancelled")]
    Cancelled,
    /// A file or directory of this host.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    /// What the store says, or why it says nothing; without the signature of a URL.
    #[error("{what}: {reason}")]
    Refused {
        what: String,
        reason: String,
        /// The permission that is needed, where the store says that one is missing.
        permission: Option<&'static str>,
    },
    /// What is in the store is not what was kept: it is of no use to anybody.
    #[error("{0}")]
    Damaged(String),
    /// What cannot be in an archive.
    #[error("{} {why}", path.display())]
    Unfit { path: PathBuf, why: &'static str },
}

impl StoreError {
    /// To be used with `map_err`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
