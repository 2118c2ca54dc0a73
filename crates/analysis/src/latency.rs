//! Latency figures: percentiles of merged histograms.
//!
//! Percentiles are never averaged. Within a trial the histograms of all seconds are added, count by count; across
//! trials each trial's percentile is one observation.

use std::collections::BTreeMap;

use evidence::LatencyFigures;
use experiment::LatencyFigure;
use hdrhistogram::Histogram;
use stats::Summary;

use crate::document::{LONGEST, LatencyAnalysis};

/// Latency figures of one series in one trial, microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesLatency {
    /// Mean and percentiles.
    pub figures: LatencyFigures,
    /// Longest.
    pub max: f64,
    /// Samples.
    pub samples: u64,
}

/// Slack for interval starts, which are kept to the millisecond.
pub(crate) const START_SLACK_S: f64 = 0.0005;

/// Points of a curve for each factor of ten in 1 - quantile.
const POINTS_PER_DECADE: i32 = 10;
/// A curve ends where fewer samples than this lie beyond.
const CURVE_SAMPLES_BEYOND: f64 = 10.0;

/// (quantile, microseconds), evenly spaced in log(1 - quantile), as far as samples carry it.
pub fn curve(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    (1..=5 * POINTS_PER_DECADE)
        .map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS_PER_DECADE)))
        .take_while(|q| histogram.len() as f64 * (1.0 - q) >= CURVE_SAMPLES_BEYOND)
        .map(|q| (q, histogram.value_at_quantile(q) as f64))
        .collect()
}

/// The median over trials at each quantile that all of them carry.
pub fn median_curve(curves: &[&Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let shortest = curves.iter().map(|c| c.len()).min().unwrap_or(0);
    (0..shortest).filter_map(|i| Some((curves[0][i].0, stats::median(curves.iter().map(|c| c[i].1))?))).collect()
}

impl SeriesLatency {
    /// Quantiles as HdrHistogram defines them: the highest value equivalent to the one at that rank.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let figures = LatencyFigures::of(|figure| match figure.quantile() {
            Some(quantile) => histogram.value_at_quantile(quantile) as f64,
            None => histogram.mean(),
        });
        Self { figures, max: histogram.max() as f64, samples: histogram.len() }
    }
}

/// Across the trials of a cell: median and range of every figure. `None` without trials.
pub fn across_trials(trials: &[SeriesLatency]) -> Option<LatencyAnalysis> {
    let over = |of: &dyn Fn(&SeriesLatency) -> f64| Summary::of(trials.iter().map(of));
    let mut spread = BTreeMap::new();
    for figure in LatencyFigure::ALL {
        spread.insert(figure.name().to_owned(), over(&|trial| trial.figures.figure(figure))?);
    }
    spread.insert(LONGEST.to_owned(), over(&|trial| trial.max)?);
    Some(LatencyAnalysis {
        figures: LatencyFigures::of(|figure| spread[figure.name()].median),
        max: spread[LONGEST].median,
        samples: trials.iter().map(|t| t.samples).min()?,
        spread,
    })
}
