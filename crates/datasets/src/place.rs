//! Where the parts of a data set are.

use std::path::{Path, PathBuf};

/// Where the parts of a data set are.
#[derive(Debug, Clone, Copy)]
pub enum PartsLocation<'a> {
    /// In a directory of this host, to which others may write, below this name.
    Directory(&'a Path, &'a Path),
    /// One URL for each part, which carries its own right to be used; and what people call the place.
    Urls(&'a [String], &'a str),
}

impl PartsLocation<'_> {
    /// A part for people: where it is, without the rights of its URL.
    pub(crate) fn reported(&self, part: &str) -> String {
        match self {
            Self::Directory(store, below) => store.join(below).join(part).display().to_string(),
            Self::Urls(_, name) => format!("{name}/{part}"),
        }
    }

    /// A part's file, from its store.
    pub(crate) fn file(below: &Path, part: &str) -> PathBuf {
        below.join(part)
    }
}
