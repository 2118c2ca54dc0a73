//! What Cassandra does beside its work: compile its code, collect garbage, flush, compact, and shed load.

use serde::{Deserialize, Serialize};

/// The compilers used much of the database's CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeNotWarm {
    /// Share of its CPU time in the window; `None`: nobody saw them.
    pub compiler_share: Option<f64>,
    /// Allowed share.
    pub threshold: f64,
    /// Whether the preparation ended by its time bound before the code was compiled.
    pub preparation_ended_early: bool,
}

/// Garbage collection took long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GcPauses {
    /// Share of the window in which it paused the database.
    pub gc_pause_share: f64,
    /// Allowed share.
    pub threshold: f64,
    /// The longest pause, seconds.
    pub longest_pause_s: f64,
    /// Allowed length of one, seconds.
    pub threshold_s: f64,
}

/// Compactions fell behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionDebt {
    /// Waiting or running at the start of the window.
    pub compactions_start: f64,
    /// At its end.
    pub compactions_end: f64,
    /// Allowed growth, as a share.
    pub threshold_growth_share: f64,
    /// Allowed growth, tasks.
    pub threshold_tasks: f64,
}

/// A backlog of compaction with which the trial began. Moments are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// SSTables when measurement had begun.
    pub sstables: f64,
    /// At its end; `None` where a node does not say.
    pub sstables_left: Option<f64>,
    /// From when it was compacted.
    pub compacts_from_s: f64,
    /// Until when; `None`: one node still had some at the end, or does not say.
    pub compacted_until_s: Option<f64>,
    /// Bytes that compactions wrote; `None` where a node does not say.
    pub compacted_bytes: Option<f64>,
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Throughput while it was compacted.
    pub operations_per_s_meanwhile: Option<f64>,
    /// Throughput after that.
    pub operations_per_s_after: Option<f64>,
}

/// The trial began with a backlog of compaction, which was compacted before its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionBacklog(pub Backlog);

/// The same, and it was still being compacted at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionBacklogLeft(pub Backlog);

/// The database shed load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DroppedMessages {
    /// Messages.
    pub dropped_messages: f64,
}

/// Writes that matter to the data volume were hardly flushed in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritesNotFlushed {
    /// Flushes of memtables in the window.
    pub flushes: f64,
    /// Seconds of the window.
    pub window_s: f64,
    /// Payload that clients wrote to the node, bytes per second.
    pub written_bytes_per_s: f64,
    /// Fewest flushes that tell what writes cost.
    pub threshold_flushes: f64,
    /// Least share of what was flushed that is on the volume.
    pub threshold_on_volume_share: f64,
    /// Payload below this share of what volumes may write does not matter.
    pub threshold_written_share: f64,
    /// What the data volumes may write, bytes per second; `None`: no limit is known.
    pub limit_bytes_per_s: Option<f64>,
    /// Payload as a share of that.
    pub written_share: Option<f64>,
    /// What flushes wrote, bytes per second; `None`: not known.
    pub flushed_bytes_per_s: Option<f64>,
    /// What the data volumes wrote, bytes per second; `None`: not known apart from the commit log's.
    pub data_volume_bytes_per_s: Option<f64>,
}
