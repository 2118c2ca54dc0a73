//! What the database itself counted.

use serde::{Deserialize, Serialize};

/// What the database counted in the measured window: medians over a cell's valid trials, all nodes together. A figure that
/// no database was asked for (a cluster that exists, the simulator), or that it does not have (a chunk cache that is off),
/// is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseCounts {
    /// SSTables whose rows were merged, for each read of the table on a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sstables_per_read: Option<f64>,
    /// Times that a bloom filter let a read into an SSTable without the row, for each read of the table on a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bloom_false_positives_per_read: Option<f64>,
    /// Hits of the chunk cache / look-ups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_cache_hit_share: Option<f64>,
    /// Hits of the key cache / look-ups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_cache_hit_share: Option<f64>,
    /// Bytes of the table's files / bytes before compression, at the end of the window; of several nodes the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_ratio: Option<f64>,
    /// Memory outside the heap that keeps where each compressed chunk of the table's files begins, at the end of the window, all
    /// nodes, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression_metadata_bytes: Option<f64>,
    /// SSTables of the table at the end of the window, of all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sstables: Option<f64>,
    /// Memtables of the table given to be flushed, in a trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<f64>,
    /// Compactions of the table, in a trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compactions: Option<f64>,
    /// Bytes of the SSTables that flushes have written, for each completed operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushed_bytes_per_operation: Option<f64>,
    /// Bytes of the SSTables that compactions have written, for each completed operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted_bytes_per_operation: Option<f64>,
    /// SSTables of the table when its backlog was left to the nodes to compact, of all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_sstables: Option<f64>,
    /// When the last node had compacted its backlog, seconds from the start of measurement; absent where one of the trials ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_compacted_until_s: Option<f64>,
}

impl DatabaseCounts {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
