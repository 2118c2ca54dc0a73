//! What operations ask of a replica.

use serde::{Deserialize, Serialize};

/// Demands for each read and each write of a replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Share of an operation's CPU time that is used once for it, by the node that the client asks, whatever the number
    /// of replicas: measured where evidence of clusters asks unlike numbers of replicas. `None`: not measured, and each
    /// replica is charged what the evidence used for one, which is more than it takes where more replicas are asked
    /// than were measured.
    pub coordinator_share: Option<f64>,
    /// CPU time of a read, microseconds; with `coordinator_share` of one that asks one replica. Background work of the
    /// database is charged to the operations.
    pub read_cpu_us: f64,
    /// CPU time of a write, microseconds.
    pub write_cpu_us: f64,
    /// Whether the costs of reads and of writes could be separated: at least two mixes were measured.
    pub cpu_told_apart: bool,
    /// Bytes in which the table is compressed, read and cached: what the settings state, or Cassandra's default.
    pub chunk_bytes: f64,
    /// Whether the settings state them.
    pub chunk_is_stated: bool,
    /// SSTables that the databases merged for a read, as they counted them, by mix; empty: not all of them were asked,
    /// and one is taken for each read.
    pub sstables: Vec<SstablesOfMix>,
    /// Device reads for each look-up in an SSTable that misses the page cache (index pages, rows across chunks; where
    /// SSTables were not counted these too).
    pub reads_per_miss: f64,
    /// Whether any cell read from its device often enough to show it.
    pub misses_measured: bool,
    /// Device reads for each write (compaction).
    pub reads_per_write: f64,
    /// Bytes of a device read.
    pub read_request_bytes: f64,
    /// Device writes of the data directory for each write.
    pub writes_per_write: f64,
    /// Bytes written to the data directory for each write (flush and compaction).
    pub bytes_per_write: f64,
    /// Device writes of the commit log for each write.
    pub log_writes_per_write: f64,
    /// Bytes written to the commit log for each write.
    pub log_bytes_per_write: f64,
    /// Share of its CPUs that a database uses when CPU is what bounds it.
    pub cpu_reach: f64,
}

/// SSTables that were merged for a read under a mix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SstablesOfMix {
    /// Share of the reads among the reads and writes of a replica.
    pub read_share: f64,
    /// SSTables, median over cells.
    pub per_read: f64,
}
