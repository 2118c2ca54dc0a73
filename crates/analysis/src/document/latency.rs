//! Latencies of a cell.

use std::collections::BTreeMap;

use experiment::LatencyFigure;
use serde::{Deserialize, Serialize};
use stats::Summary;

/// Name of the longest among the figures.
pub const LONGEST: &str = "max";

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

impl LatencyAnalysis {
    /// One of the figures, microseconds.
    pub fn figure(&self, figure: LatencyFigure) -> f64 {
        match figure {
            LatencyFigure::Mean => self.mean,
            LatencyFigure::P50 => self.p50,
            LatencyFigure::P95 => self.p95,
            LatencyFigure::P99 => self.p99,
            LatencyFigure::P999 => self.p999,
        }
    }

    /// All figures and the longest, by their names in `spread`.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        let [mean, p50, p95, p99, p999] = LatencyFigure::ALL.map(|figure| (figure.name(), self.figure(figure)));
        [mean, p50, p95, p99, p999, (LONGEST, self.max)]
    }
}
