//! What a trial with planned faults leaves: what was done to nodes and disks and when, and whether acknowledged writes
//! were still there at its end.

use experiment::{Consistency, NodeFaultKind, VolumeRole};
use serde::{Deserialize, Serialize};

use crate::HostId;

/// A planned fault as it happened. All times are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// What was done.
    pub kind: NodeFaultKind,
    /// To which node; of a cache: its own host, or that of the node beside which it is.
    pub host: HostId,
    /// To which of its volumes; `None`: to the node itself, or to the cache.
    pub volume: Option<VolumeRole>,
    /// When it began: the signal was sent, the order to stop was given.
    pub began_s: f64,
    /// When the node was gone: its process had ended or stood still, its network was cut. Of a disk: when whoever
    /// answers for the volume had the fault. Of a compaction: when it was asked for.
    pub gone_s: f64,
    /// When bringing it back began; `None`: it stayed away. Of a disk: when the fault was to be lifted.
    pub return_began_s: Option<f64>,
    /// When it answered clients again; `None`: it did not within the trial. Of a disk: when the fault was lifted.
    /// Of a compaction: when it was done.
    pub back_s: Option<f64>,
    /// Why it is not as planned, where it is not.
    pub problem: Option<String>,
    /// Requests to the disk that ended with an error while it had the fault; `None`: it was no fault that makes some
    /// fail, or it is not known.
    pub failed_requests: Option<u64>,
    /// The database's process ended by itself after this fault of a disk had begun, and before the next one.
    pub ended: Option<ProcessEnd>,
}

/// A database's process that ended by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// When that was noticed, seconds from the start of measurement.
    pub at_s: f64,
    /// How it ended.
    pub how: String,
}

/// What reading back every acknowledged write of a trial found, warm-up included.
///
/// Each value that was written carried its key and a number that grows with time, which was the timestamp of the write
/// as well. So the value that is found last must be the last one that was acknowledged, or one that was sent later and
/// never answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteCheck {
    /// Consistency level of the reads that looked, that of the workload's own reads.
    pub consistency: Consistency,
    /// Writes that were acknowledged (a write of several fields counts once).
    pub acknowledged: u64,
    /// Writes whose outcome is not known: an error or no answer in time. They may be there or not.
    pub unacknowledged: u64,
    /// Values (a field of a record) with an acknowledged write: what is looked for, by each client that wrote it.
    pub values: u64,
    /// Values that are as new as they must be.
    pub intact: u64,
    /// Values older than the last one that was acknowledged.
    pub older: u64,
    /// Values whose record is not there at all.
    pub missing: u64,
    /// Values that carry another key, or no key and number though nothing else was written there.
    pub foreign: u64,
    /// Values that could not be read, after repeated attempts.
    pub unreadable: u64,
    /// How long looking took, seconds.
    pub seconds: f64,
    /// The first few that are lost, for who wants to look.
    pub examples: Vec<LostValue>,
}

impl WriteCheck {
    /// Lost values that are named.
    pub const EXAMPLES: usize = 5;

    /// Values whose last acknowledged write is gone.
    pub fn lost(&self) -> u64 {
        self.older + self.missing + self.foreign
    }

    /// What two clients of one trial found, each of its own writes. A value that both have written counts twice: what
    /// is found must be as new as the last write that either of them knows of.
    pub fn and(mut self, other: Self) -> Self {
        self.acknowledged += other.acknowledged;
        self.unacknowledged += other.unacknowledged;
        self.values += other.values;
        self.intact += other.intact;
        self.older += other.older;
        self.missing += other.missing;
        self.foreign += other.foreign;
        self.unreadable += other.unreadable;
        self.seconds = self.seconds.max(other.seconds);
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|lost| (lost.acknowledged, lost.field));
        self.examples.truncate(Self::EXAMPLES);
        self
    }
}

/// A value whose last acknowledged write is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostValue {
    /// Key of the record.
    pub key: String,
    /// Field, from 0.
    pub field: u32,
    /// Number of the last write that was acknowledged: its timestamp, microseconds.
    pub acknowledged: i64,
    /// Number that was found instead; `None`: a value from before the trial, or none.
    pub found: Option<i64>,
}
