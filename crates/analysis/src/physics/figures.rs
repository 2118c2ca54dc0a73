//! What the rules of this folder saw. They compare cells, which hold their findings, so that this lies below them.

use serde::{Deserialize, Serialize};

use crate::document::limit::LimitKind;

/// A configuration gained more than it has more of what limits both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct GainAboveResource {
    pub over: String,
    /// What limits both.
    pub resource: LimitKind,
    /// Throughput as a multiple of the other's.
    pub gain: f64,
    pub gain_low: f64,
    pub gain_high: f64,
    /// How many times as much of the resource it has.
    pub resource_ratio: f64,
    /// The largest gain that this explains.
    pub threshold: f64,
    /// Device reads for each operation, where they are fewer than on the other side.
    pub device_reads_per_operation: Option<f64>,
    pub device_reads_per_operation_over: Option<f64>,
    /// Device writes for each operation, where they are fewer.
    pub device_writes_per_operation: Option<f64>,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CpuPerOperation {
    /// The configuration of the cheapest cell.
    pub other: String,
    pub cpu_us_per_operation: f64,
    pub cpu_us_per_operation_of_other: f64,
    pub threshold: f64,
    /// Whether the database's code was seen to be compiled in every trial.
    pub code_is_warm: bool,
}

/// An operation took more device reads than in another cell with the same page cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ReadsPerOperation {
    pub other: String,
    pub device_reads_per_operation: f64,
    pub device_reads_per_operation_of_other: f64,
    /// The least multiple in any block.
    pub least_ratio: f64,
    /// Allowed multiple.
    pub threshold: f64,
}
