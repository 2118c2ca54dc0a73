//! Nodes that are away and disks that fail by plan, and what becomes of acknowledged writes.

use experiment::Consistency;
use serde::{Deserialize, Serialize};

/// Nodes were taken away by plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultsPlanned {
    /// All faults.
    pub faults: u64,
    /// Of these, faults of disks.
    pub disk_faults: u64,
    /// Of these, compactions.
    pub compactions: u64,
    /// When the first is to begin, seconds from the start of measurement.
    pub first_at_s: f64,
    /// Seconds of all faults but compactions: how long one takes is seen when it is done.
    pub away_s: f64,
    /// Seconds of measurement.
    pub measured_s: f64,
}

/// A planned fault did not happen, or not as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultNotAsPlanned {
    /// Faults that were planned.
    pub planned: u64,
    /// Faults that happened.
    pub happened: u64,
    /// What was not as planned.
    pub problems: Vec<String>,
}

/// Acknowledged writes were gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritesLost {
    /// Consistency level of the reads that looked.
    pub consistency: Consistency,
    /// Values that were looked for.
    pub values: u64,
    /// Values that had lost their last acknowledged write.
    pub lost: u64,
    /// Of these, values that were older.
    pub older: u64,
    /// Values whose record was not there.
    pub missing: u64,
    /// Values that carried another key, or none.
    pub foreign: u64,
    /// Trials in which it was looked.
    pub trials: u64,
    /// Of these, trials in which something was lost.
    pub trials_with_loss: u64,
    /// The first that was lost.
    pub example: Option<String>,
}

/// Acknowledged writes could not be read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritesUnread {
    /// Consistency level of the reads that looked.
    pub consistency: Consistency,
    /// Values that were looked for.
    pub values: u64,
    /// Values that could not be read.
    pub unreadable: u64,
    /// Trials in which it was looked.
    pub trials: u64,
}
