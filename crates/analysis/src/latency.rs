//! Latency figures: percentiles of merged histograms.
//!
//! Percentiles are never averaged. Within a trial the histograms of all seconds are added, count by count; across
//! trials each trial's percentile is one observation.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use stats::Summary;

use crate::document::LatencyAnalysis;

/// Latency figures of one series in one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyFigures {
    /// Samples.
    pub samples: u64,
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
    (0..shortest)
        .filter_map(|i| {
            let values: Vec<f64> = curves.iter().map(|c| c[i].1).collect();
            Some((curves[0][i].0, stats::median(&values)?))
        })
        .collect()
}

impl LatencyFigures {
    /// Quantiles as HdrHistogram defines them: the highest value equivalent to the one at that rank.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let at = |q: f64| histogram.value_at_quantile(q) as f64;
        Self {
            samples: histogram.len(),
            mean: histogram.mean(),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64,
        }
    }

    fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("mean", self.mean),
            ("p50", self.p50),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
            ("max", self.max),
        ]
    }
}

/// Across the trials of a cell: median and range of every figure. `None` without trials.
pub fn across_trials(trials: &[LatencyFigures]) -> Option<LatencyAnalysis> {
    let names = trials.first()?.named().map(|(name, _)| name);
    let mut spread = BTreeMap::new();
    for (i, name) in names.into_iter().enumerate() {
        let values: Vec<f64> = trials.iter().map(|t| t.named()[i].1).collect();
        spread.insert(name.to_owned(), Summary::of(&values)?);
    }
    let median = |name: &str| spread[name].median;
    Some(LatencyAnalysis {
        mean: median("mean"),
        p50: median("p50"),
        p95: median("p95"),
        p99: median("p99"),
        p999: median("p999"),
        max: median("max"),
        samples: trials.iter().map(|t| t.samples).min()?,
        spread,
    })
}
