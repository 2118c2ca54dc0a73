//! A cell while a node or a cache was away or a disk failed by plan, and whether its acknowledged writes were still
//! there.

use std::collections::BTreeMap;

use evidence::{ErrorKind, HostId};
use experiment::{Consistency, NodeFault, NodeFaultKind, VolumeRole};
use serde::{Deserialize, Serialize};
use stats::Summary;

/// What planned faults did to a cell: median, lowest and highest over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultsAnalysis {
    /// Before the first fault; then during and after each, in order of time.
    pub phases: Vec<PhaseAnalysis>,
    /// Each fault as it happened, in order of time.
    pub faults: Vec<FaultAnalysis>,
}

experiment::word_enum! {
    /// A part of a trial.
    #[derive(PartialOrd, Ord)]
    pub enum PhaseKind by name {
        /// From the start of measurement to the first fault.
        Before = "before",
        /// From the moment a fault began until its node answered clients again, or its disk had none any more, or its
        /// compaction was done, or the trial ended.
        During = "during",
        /// From then on, until the next fault began or the trial ended.
        After = "after",
    }
}

/// A phase of a cell, from the whole seconds that lie in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct PhaseAnalysis {
    pub phase: PhaseKind,
    /// Of which fault, counted from 1; `None`: before the first.
    pub fault: Option<u32>,
    /// Whole seconds that lie in it.
    pub seconds: Option<Summary>,
    /// Operations completed without error per second; `None` where no whole second lies in it.
    pub throughput_ops_per_s: Option<Summary>,
    /// Median response time of all operations that succeeded, microseconds.
    pub p50_us: Option<Summary>,
    pub p95_us: Option<Summary>,
    pub p99_us: Option<Summary>,
    /// Share of the reads that caches in front of the database answered; `None` where there are none.
    pub hit_ratio: Option<Summary>,
    /// Reads a second of the data volumes, all nodes together.
    pub device_reads_per_s: Option<Summary>,
    /// Operations that ended in these seconds, failed ones included, of all valid trials.
    pub operations: u64,
    /// Those that failed, by kind, of all valid trials.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Failed operations / all operations of a trial.
    pub error_share: Option<Summary>,
}

impl PhaseAnalysis {
    /// Failed operations of all kinds.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// A planned fault as it happened; times are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct FaultAnalysis {
    pub kind: NodeFaultKind,
    /// To which node; of a cache: its own host, or that of the node beside which it is.
    pub node: HostId,
    /// To which of its volumes; `None`: to the node itself. Then "gone" is when the volume had the fault, and "back"
    /// when it had been lifted. Of a compaction these are when it was asked for, and when it was done.
    pub volume: Option<VolumeRole>,
    /// What was planned; `None` where the plan does not say.
    pub planned: Option<NodeFault>,
    pub trials: u64,
    pub began_s: Option<Summary>,
    pub gone_s: Option<Summary>,
    /// When bringing it back began, in the trials in which it was.
    pub return_began_s: Option<Summary>,
    /// When it answered clients again, in the trials in which it did.
    pub back_s: Option<Summary>,
    /// From gone to answering clients again, seconds.
    pub away_s: Option<Summary>,
    /// From the beginning of its return to answering clients again, seconds.
    pub return_took_s: Option<Summary>,
    /// Trials in which nobody brought it back.
    pub left_away: u64,
    /// Trials in which it was brought back and did not answer clients before the trial ended.
    pub not_back: u64,
    /// How long throughput took to come back, once the node had.
    pub recovery: RecoveryAnalysis,
    /// Files of hints that waited, all nodes together; `None` where no node says.
    pub hint_files: Option<HintFiles>,
    /// What was not as planned, each with the block of its trial.
    pub problems: Vec<String>,
    /// Requests to the disk that ended with an error while it had the fault, where it is one that makes some fail.
    pub failed_requests: Option<Summary>,
    /// Of a compaction: bytes of the SSTables that it wrote.
    pub compacted_bytes: Option<Summary>,
    /// How the database's process ended by itself after a disk's fault had begun, each with the block of its trial.
    pub ended: Vec<String>,
}

/// How long it took after the node had come back until throughput was back within 10 % of before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RecoveryAnalysis {
    /// Trials in which it came back.
    pub recovered: u64,
    /// After how many seconds, in these trials.
    pub seconds: Option<Summary>,
    /// Trials in which it did not, before the next fault or the end.
    pub never: u64,
    /// Trials in which too few seconds were left to see it.
    pub too_short: u64,
}

/// Files of hints that waited, all nodes together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HintFiles {
    /// The most from the beginning of the fault to its node's return.
    pub most: Summary,
    /// What was left before the next fault, or at the end of the trial.
    pub left: Summary,
}

/// What reading back every acknowledged write found: sums over all trials in which that was done, valid or not. A write
/// that is lost is lost, whatever else is wrong with its trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritesAnalysis {
    /// Consistency level of the reads that looked.
    pub consistency: Consistency,
    /// Trials in which it was looked.
    pub trials: u64,
    /// Of these, trials in which something was lost.
    pub trials_with_loss: u64,
    /// Writes that were acknowledged, warm-up included.
    pub acknowledged: u64,
    /// Writes whose outcome is not known.
    pub unacknowledged: u64,
    /// Values (a field of a record) with an acknowledged write: what was looked for.
    pub values: u64,
    /// Values that are as new as they must be.
    pub intact: u64,
    /// Values older than the last one that was acknowledged.
    pub older: u64,
    /// Values whose record is not there at all.
    pub missing: u64,
    /// Values that carry another key, or none.
    pub foreign: u64,
    /// Values that could not be read.
    pub unreadable: u64,
    /// The first that is lost, with the block of its trial.
    pub example: Option<String>,
}

impl WritesAnalysis {
    /// Values whose last acknowledged write is gone.
    pub fn lost(&self) -> u64 {
        self.older + self.missing + self.foreign
    }
}
