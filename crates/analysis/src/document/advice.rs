//! What was not tried in a run, and may be worth it: hypotheses, never results.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

/// A setting that is known to matter where a cell is at the limit of its data volume, and that no configuration of the
/// run varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotTried {
    /// Configuration of the cell that it is about: the recommended one, else the baseline.
    pub configuration: String,
    /// Its workload.
    pub workload: String,
    /// Its load level.
    pub load: LoadLevel,
    /// Which setting, with the evidence that makes it worth trying.
    #[serde(flatten)]
    pub setting: Untried,
}

/// Settings that may be worth trying, each with its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "setting", rename_all = "snake_case")]
pub enum Untried {
    /// Smaller compression chunks.
    ChunkLength {
        /// Bytes that the volumes read for each read of a record, without those of compactions.
        read_bytes_per_read: f64,
        /// Payload of a record, bytes.
        record_bytes: f64,
        /// Bytes in which the table is compressed.
        chunk_bytes: f64,
    },
    /// Leveled or unified compaction instead of size-tiered.
    CompactionStrategy {
        /// SSTables whose rows were merged, for each read of the table on a node.
        sstables_per_read: f64,
    },
    /// Less read-ahead.
    ReadAhead {
        /// Bytes of a read request of the volumes.
        read_bytes_per_request: f64,
        /// Bytes in which the table is compressed, the most that a read of one record needs at a time.
        chunk_bytes: f64,
    },
}
