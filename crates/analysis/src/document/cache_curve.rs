//! Throughput over the size of the data set beside that of the page cache.

use experiment::{CacheState, LoadLevel};
use serde::{Deserialize, Serialize};
use stats::Estimate;

use super::ratio::Ratio;
use super::withheld::Withheld;

/// A configuration under one workload and load, with page caches of several sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CacheCurve {
    pub configuration: String,
    pub workload: String,
    pub state: CacheState,
    pub load: LoadLevel,
    /// The cells, the largest page cache first.
    pub points: Vec<CachePoint>,
    /// Device reads of an operation that the model finds not in the page cache, fitted to all points; `None` where none
    /// was seen.
    pub reads_per_miss: Option<f64>,
    /// The most that any of the points did, operations per second: what something other than the volume allows. `None`
    /// in the open loop.
    pub most_ops_per_s: Option<f64>,
    /// Requests a second that fio measured, all nodes; `None` where nobody probed.
    pub volume_iops: Option<f64>,
    /// What the model predicts, from the smallest to the largest ratio.
    pub predicted: Vec<CachePrediction>,
    /// Data set / page cache above which the volume bounds throughput, by the model; `None`: not within ten times the
    /// ratios that were measured, or not known.
    pub predicted_tipping_ratio: Option<f64>,
    /// The largest ratio up to which throughput is shown to be that of the smallest ratio within the margin, and the
    /// one from which on it is shown to be lower; `None`: no such step is shown. What lies between is shown to be
    /// neither.
    pub measured_tipping_ratio: Option<(f64, f64)>,
}

/// A cell of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CachePoint {
    pub cell: String,
    /// Data set / page cache that was asked for.
    pub asked_ratio: f64,
    /// The same as it was: bytes on disk / budget, all nodes, median over trials.
    pub ratio: f64,
    pub throughput_ops_per_s: Option<Estimate>,
    /// Throughput over that of the smallest ratio, of one family with all comparisons of all curves; `None` of that
    /// itself, in the open loop, and where nothing is said of the cell.
    pub to_smallest: Option<Ratio>,
    /// Why nothing is said of the cell. That memory answered is what is asked here.
    pub withheld: Option<Withheld>,
    pub device_reads_per_operation: Option<f64>,
    pub predicted: CachePrediction,
}

/// What Che's approximation predicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CachePrediction {
    /// Data set / page cache.
    pub ratio: f64,
    /// Share of the reads that the page cache answers.
    pub hit_ratio: f64,
    /// Device reads for each operation.
    pub device_reads_per_operation: Option<f64>,
    /// Operations per second: the lower of the two bounds.
    pub ops_per_s: Option<f64>,
}
