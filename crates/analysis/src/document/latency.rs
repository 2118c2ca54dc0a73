//! Latencies of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stats::Summary;

/// Response times of one kind of operation: each figure is the median over trials of that figure of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyAnalysis {
    /// Mean, microseconds.
    pub mean: f64,
    /// Median, microseconds.
    pub p50: f64,
    /// 95th percentile, microseconds.
    pub p95: f64,
    /// 99th percentile, microseconds.
    pub p99: f64,
    /// 99.9th percentile, microseconds.
    pub p999: f64,
    /// Longest, microseconds.
    pub max: f64,
    /// Fewest samples that any of the trials has.
    pub samples: u64,
    /// Median and range over trials of each of the above.
    pub spread: BTreeMap<String, Summary>,
}
