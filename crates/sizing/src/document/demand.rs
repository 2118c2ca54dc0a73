//! What operations ask of a replica.

use serde::{Deserialize, Serialize};

/// Demands for each read and each write of a replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// CPU time of a read, microseconds; background work of the database is charged to the operations.
    pub read_cpu_us: f64,
    /// CPU time of a write, microseconds.
    pub write_cpu_us: f64,
    /// Whether the costs of reads and of writes could be separated: at least two mixes were measured.
    pub cpu_told_apart: bool,
    /// Device reads for each read that misses the page cache (SSTables read, index pages).
    pub reads_per_miss: f64,
    /// Whether any cell read from its device often enough to tell.
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
