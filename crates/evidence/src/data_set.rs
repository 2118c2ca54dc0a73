//! Data sets in a store, and where those of a run came from.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// The data set, or a node's part of it, as it lies in the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotFacts {
    /// Content key of (data set, database version, schema).
    pub key: String,
    /// Records loaded, over all nodes; of tables of the user's own as many rows as were expected.
    pub records: u64,
    /// Which loading made it: parts of several nodes belong together only if they come from the same one.
    pub loading: String,
    /// Bytes of the table's files.
    pub table_bytes: u64,
    /// Bytes of the whole snapshot.
    pub bytes: u64,
}

/// A node's data set in a store, as its `snapshot.json` there has it: it is written last, and without it there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct KeptDataSet {
    /// Version of this file's shape: [`KeptDataSet::VERSION`].
    pub format_version: u32,
    #[serde(flatten)]
    pub snapshot: SnapshotFacts,
    pub made_by: String,
    /// When, UTC, RFC 3339.
    pub made_at: String,
    /// The archive's parts, in order.
    pub parts: Vec<KeptPart>,
}

impl KeptDataSet {
    /// Version of the file's shape.
    pub const VERSION: u32 = 1;

    /// Reads `snapshot.json` of a store, where the data set of this key should be. Its parts lie below it: one that is
    /// elsewhere would be read, or be given a right to be read, wherever whoever wrote the document likes.
    pub fn read(text: &str, key: &str) -> Result<Self, String> {
        let kept: Self = serde_json::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
        match kept.format_version {
            Self::VERSION if kept.snapshot.key != key => {
                return Err(format!("it is of {}, not of {key}", kept.snapshot.key));
            }
            Self::VERSION => {}
            other => return Err(format!("its format is {other}, this iopslab reads {}", Self::VERSION)),
        }
        match kept.parts.iter().find(|part| !part.lies_below()) {
            Some(part) => Err(format!("its part `{}` lies elsewhere", part.name)),
            None => Ok(kept),
        }
    }

    /// Bytes of the archive.
    pub fn archive_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add)
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

impl KeptPart {
    /// Whether its name is that of something below the directory of the key: relative, and without `..`.
    fn lies_below(&self) -> bool {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        !self.name.is_empty() && Path::new(&self.name).components().all(is_plain)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(part: &str, bytes: u64) -> String {
        let part = KeptPart { name: part.to_owned(), bytes, sha256: String::new() };
        let kept = KeptDataSet {
            format_version: KeptDataSet::VERSION,
            snapshot: SnapshotFacts {
                key: "k".to_owned(),
                records: 1,
                loading: "l".to_owned(),
                table_bytes: 1,
                bytes: 1,
            },
            made_by: "r".to_owned(),
            made_at: "t".to_owned(),
            parts: vec![part.clone(), part],
        };
        serde_json::to_string(&kept).unwrap()
    }

    #[test]
    fn a_part_lies_below_its_data_set_and_nowhere_else() {
        assert_eq!(KeptDataSet::read(&document("loading-1/data-0001.tar", 7), "k").unwrap().archive_bytes(), 14);
        for elsewhere in ["../other/secret", "loading-1/../../other", "/etc/shadow", "..", "./x", ""] {
            let refused = KeptDataSet::read(&document(elsewhere, 7), "k").unwrap_err();
            assert_eq!(refused, format!("its part `{elsewhere}` lies elsewhere"));
        }
        // What a document adds up to is no reason to panic.
        assert_eq!(KeptDataSet::read(&document("x", u64::MAX), "k").unwrap().archive_bytes(), u64::MAX);
    }
}
