//! Was the database at rest, and can what was measured be?

use serde::{Deserialize, Serialize};

use crate::document::limit::LimitKind;
use crate::fact::Trajectory;

/// Throughput went one way by more than its noise explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StillRising {
    /// Operations per second in the first third of the window.
    pub first_third_ops_per_s: f64,
    /// In the last.
    pub last_third_ops_per_s: f64,
    /// The change as a share.
    pub change_share: f64,
    /// Allowed share.
    pub threshold: f64,
    /// Seconds of the window.
    pub window_s: f64,
    /// Why it changes by plan, if it does.
    pub trajectory: Option<Trajectory>,
}

/// The page cache was not at rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheNotSettled {
    /// How device reads changed; `None`: no change was shown.
    pub drift: Option<ReadsDrift>,
    /// How it filled; `None`: it did not, or was full.
    pub filling: Option<CacheFilling>,
    /// Whether the preparation ended by its time bound before it had settled.
    pub preparation_ended_early: bool,
    /// Allowed change of device reads, as a share.
    pub threshold: f64,
}

/// Device reads for each operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadsDrift {
    /// In the first third of the window.
    pub device_reads_per_operation_first_third: f64,
    /// In the last.
    pub device_reads_per_operation_last_third: f64,
}

/// A page cache that fills, as shares of what it may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheFilling {
    /// By how much it grew in the window.
    pub page_cache_grew_share: f64,
    /// How much it held at the end.
    pub page_cache_filled_share: f64,
}

/// A configuration gained more than it has more of what limits both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GainAboveResource {
    /// Over which configuration.
    pub over: String,
    /// What limits both.
    pub resource: LimitKind,
    /// Throughput as a multiple of the other's.
    pub gain: f64,
    /// Low end of its interval.
    pub gain_low: f64,
    /// High end.
    pub gain_high: f64,
    /// How many times as much of the resource it has.
    pub resource_ratio: f64,
    /// The largest gain that this explains.
    pub threshold: f64,
    /// Device reads for each operation, where they are fewer than on the other side.
    pub device_reads_per_operation: Option<f64>,
    /// Those of the other side.
    pub device_reads_per_operation_over: Option<f64>,
    /// Device writes for each operation, where they are fewer.
    pub device_writes_per_operation: Option<f64>,
    /// Those of the other side.
    pub device_writes_per_operation_over: Option<f64>,
    /// What an operation needed less of.
    pub because: GainBecause,
    /// What was bought or asked for that explains it; `None`: nothing does.
    pub explained_by: Option<GainExplained>,
}

/// What an operation needed less of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GainBecause {
    /// Reads: the page cache answered more.
    PageCache,
    /// Writes: less was flushed and compacted.
    Compaction,
    /// Nothing.
    Nothing,
}

/// What explains a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GainExplained {
    /// Burst credits.
    Credits,
    /// More memory for files.
    Memory,
    /// A cold start that was asked for.
    ColdStart,
}

/// An operation cost far more of the database's CPU than in another cell of its workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuPerOperation {
    /// The configuration of the cheapest cell.
    pub other: String,
    /// CPU time for each operation, microseconds.
    pub cpu_us_per_operation: f64,
    /// That of the other.
    pub cpu_us_per_operation_of_other: f64,
    /// Allowed multiple.
    pub threshold: f64,
    /// Whether the database's code was seen to be compiled in every trial.
    pub code_is_warm: bool,
}

/// An operation took more device reads than in another cell with the same page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadsPerOperation {
    /// The configuration of the other cell.
    pub other: String,
    /// Device reads for each operation.
    pub device_reads_per_operation: f64,
    /// Those of the other.
    pub device_reads_per_operation_of_other: f64,
    /// The least multiple in any block.
    pub least_ratio: f64,
    /// Allowed multiple.
    pub threshold: f64,
}
