//! Latencies of a cell.

use std::collections::BTreeMap;

use evidence::LatencyFigures;
use experiment::LatencyFigure;
use serde::{Deserialize, Serialize};
use stats::Summary;

/// Name of the longest among the figures.
pub const LONGEST: &str = "max";

/// Response times of one kind of operation: each figure is the median over trials of that figure of a trial. A
/// percentile is `None` where trials were imported and a tool did not state it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyAnalysis {
    /// Mean and percentiles.
    #[serde(flatten)]
    pub figures: LatencyFigures,
    /// Longest, microseconds.
    pub max: f64,
    /// Fewest samples that any of the trials has.
    pub samples: u64,
    /// Median and range over trials of each of the above.
    pub spread: BTreeMap<String, Summary>,
}

impl LatencyAnalysis {
    /// One of the figures, microseconds.
    pub fn figure(&self, figure: LatencyFigure) -> Option<f64> {
        self.figures.figure(figure)
    }

    /// All figures that there are and the longest, by their names in `spread`.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let figures = LatencyFigure::ALL.into_iter();
        let figures = figures.filter_map(move |figure| Some((figure.name(), self.figure(figure)?)));
        figures.chain([(LONGEST, self.max)])
    }
}
