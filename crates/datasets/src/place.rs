//! Where the parts of a data set are, and how far the work is.

use std::path::PathBuf;

/// Called with how many bytes of the archive are done; `false` ends the work.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Where the parts of a data set are.
pub enum PartsLocation {
    /// In a directory of this host, to which others may write, below the name of the data set.
    Directory {
        /// The directory.
        store: PathBuf,
        /// What the parts lie below in it.
        key: PathBuf,
    },
    /// One URL for each part, which carries its own right to be used.
    Urls {
        /// What people call the place.
        name: String,
        /// In the order of the parts.
        urls: Vec<String>,
    },
}

impl PartsLocation {
    /// What people call the place.
    pub fn name(&self) -> String {
        match self {
            Self::Directory { store, key } => store.join(key).display().to_string(),
            Self::Urls { name, .. } => name.clone(),
        }
    }

    /// A part for people: where it is, without the rights of its URL.
    pub(crate) fn reported(&self, part: &str) -> String {
        match self {
            Self::Directory { store, key } => store.join(key).join(part).display().to_string(),
            Self::Urls { name, .. } => format!("{name}/{part}"),
        }
    }
}
