//! A snapshot of the user's own tables: files that their cluster has, restored instead of rows being loaded.

use serde::{Deserialize, Serialize};

use crate::DataSetPlace;

/// How often the bytes of a snapshot are on a disk at the most while a node takes it in: as a copy that becomes the
/// node's, and as what compaction makes of it; and a third of that besides.
const COPIES: u64 = 3;

/// A snapshot that is the data set of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where it lies: a directory by its whole path, on this machine and on every database host, or a bucket.
    pub place: DataSetPlace,
    /// Its tables that are restored, by name.
    pub tables: Vec<SnapshotTable>,
    /// Of the requests of a statement that are to find something, the share that has to, 0 to 1.
    pub least_found: f64,
}

/// A table of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotTable {
    /// Its name.
    pub name: String,
    /// Folders that have files of it: one for each data directory of each node.
    pub folders: u32,
    /// SSTables in all of them.
    pub sstables: u32,
    /// Bytes of all their files.
    pub bytes: u64,
    /// Hash of the paths and sizes of these, so that the same are restored everywhere.
    pub sha256: String,
}

/// A snapshot, as it was read for an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSnapshot {
    /// Whole path of its directory; of a bucket `s3://BUCKET/PREFIX`.
    pub path: String,
    /// All its tables, by name.
    pub tables: Vec<SnapshotTable>,
    /// Each `schema.cql` that lies in it; of equal ones the first.
    pub schemas: Vec<WrittenSchema>,
}

/// A schema that a server wrote down beside its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenSchema {
    /// Path below the snapshot.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// Rows of a table, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedRows {
    /// Its name.
    pub table: String,
    /// How many it has.
    pub rows: u64,
}

/// What a sample of the requests of a statement has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementSample {
    /// Its name.
    pub statement: String,
    /// Requests that were looked up; 0: its requests have no whole partition key.
    pub asked: u32,
    /// How many found something: a read at least one row, a write its partition.
    pub found: u32,
}

impl Snapshot {
    /// Bytes of the files that are restored; where several nodes have a row, each of its copies counts. Files with
    /// holes may have more than can be counted: the most that can, then.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().fold(0_u64, |sum, table| sum.saturating_add(table.bytes))
    }

    /// Bytes of the copy of a bucket's files that the first host has for all of its machine.
    pub fn bytes_fetched(&self) -> u64 {
        match self.place {
            DataSetPlace::S3 { .. } => self.bytes(),
            DataSetPlace::Directory { .. } => 0,
        }
    }

    /// Bytes that a node needs while it takes them in: whatever part it keeps in the end, it takes in all.
    pub fn bytes_taken_in(&self) -> u64 {
        self.bytes().saturating_mul(COPIES)
    }
}
