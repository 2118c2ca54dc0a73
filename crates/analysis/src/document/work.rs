//! What the database itself counted.

use serde::{Deserialize, Serialize};

/// What the database counted in the measured window: medians over a cell's valid trials, all nodes together. A figure
/// that no database was asked for (a cluster that exists, the simulator), or that it does not have (a chunk cache that
/// is off), is null.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DatabaseCounts {
    /// SSTables whose rows were merged, for each read of the table on a node.
    pub sstables_per_read: Option<f64>,
    /// Times that a bloom filter let a read into an SSTable without the row, for each read of the table on a node.
    pub bloom_false_positives_per_read: Option<f64>,
    /// Hits of the chunk cache / look-ups.
    pub chunk_cache_hit_share: Option<f64>,
    /// Hits of the key cache / look-ups.
    pub key_cache_hit_share: Option<f64>,
    /// Bytes of the table's files / bytes before compression, at the end of the window; of several nodes the mean.
    pub compression_ratio: Option<f64>,
    /// Memory outside the heap that keeps where each compressed chunk of the table's files begins, at the end of the
    /// window, all nodes, bytes.
    pub compression_metadata_bytes: Option<f64>,
    /// SSTables of the table at the end of the window, of all nodes.
    pub sstables: Option<f64>,
    /// Memtables of the table given to be flushed, in a trial.
    pub flushes: Option<f64>,
    /// Compactions of the table, in a trial.
    pub compactions: Option<f64>,
    /// Bytes of the SSTables that flushes have written, for each completed operation.
    pub flushed_bytes_per_operation: Option<f64>,
    /// Bytes of the SSTables that compactions have written, for each completed operation.
    pub compacted_bytes_per_operation: Option<f64>,
    /// SSTables of the table when its backlog was left to the nodes to compact, of all nodes.
    pub backlog_sstables: Option<f64>,
    /// When the last node had compacted its backlog, seconds from the start of measurement; null where one of the
    /// trials ended before.
    pub backlog_compacted_until_s: Option<f64>,
}
