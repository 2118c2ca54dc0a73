//! A backlog of compaction as a node met it.

use serde::{Deserialize, Serialize};

/// The backlog of a node when measurement had begun, and when the node was left to compact it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BacklogFound {
    /// SSTables of the data set's table just before automatic compaction was turned on.
    pub sstables: u64,
    /// When it was on, seconds from the start of measurement.
    pub compacts_from_s: f64,
}
