//! Data sets in a store, and where those of a run came from.

use serde::{Deserialize, Serialize};

/// A node's data set in a store, as its `snapshot.json` there has it: it is written last, and without it there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDataSet {
    /// Version of this file's shape: [`KeptDataSet::VERSION`].
    pub format_version: u32,
    /// Content key of (data set, database version, schema).
    pub key: String,
    /// Records loaded, over all nodes.
    pub records: u64,
    /// Which loading made it: parts of several nodes belong together only if they come from the same one.
    pub loading: String,
    /// Bytes of the table's files.
    pub table_bytes: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Name of the run that kept it.
    pub made_by: String,
    /// When, UTC, RFC 3339.
    pub made_at: String,
    /// The archive's parts, in order.
    pub parts: Vec<KeptPart>,
}

impl KeptDataSet {
    /// Version of the file's shape.
    pub const VERSION: u32 = 1;

    /// Reads `snapshot.json` of a store, where the data set of this key should be.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(text: &str, key: &str) -> Result<Self, String> {
        let kept: Self = serde_json::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
        match kept.format_version {
            Self::VERSION if kept.key == key => Ok(kept),
            Self::VERSION => Err(format!("it is of {}, not of {key}", kept.key)),
            other => Err(format!("its format is {other}, this iopslab reads {}", Self::VERSION)),
        }
    }

    /// Bytes of the archive.
    pub fn archive_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// A part of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPart {
    /// Below the directory of the key.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: String,
}

/// Where a run has its data set from, if it did not load it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSetOrigin {
    /// The store, as the experiment names it.
    pub store: String,
    /// Name of the run that kept it there.
    pub made_by: String,
    /// When, UTC, RFC 3339.
    pub made_at: String,
}
