//! Latency figures: percentiles of merged histograms.
//!
//! Percentiles are never averaged. Within a trial the histograms of all seconds are added, count by count; across
//! trials each trial's percentile is one observation.

use std::collections::BTreeMap;

use evidence::{LatencyFigures, StatedLatency};
use experiment::LatencyFigure;
use hdrhistogram::Histogram;
use stats::Summary;

use crate::document::{LONGEST, LatencyAnalysis};

/// Latency figures of one series in one trial, microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SeriesLatency {
    pub figures: LatencyFigures,
    pub max: f64,
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
    let quantiles: Vec<f64> = (1..=5 * POINTS_PER_DECADE)
        .map(|step| 1.0 - 10_f64.powf(-f64::from(step) / f64::from(POINTS_PER_DECADE)))
        .take_while(|q| histogram.len() as f64 * (1.0 - q) >= CURVE_SAMPLES_BEYOND)
        .collect();
    // All of them in one pass: they ascend.
    let values = histogram.value_at_quantiles(quantiles.iter().copied());
    quantiles.iter().copied().zip(values.map(|us| us as f64)).collect()
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

    /// What another tool states of its own latencies.
    pub(crate) fn stated(stated: &StatedLatency) -> Self {
        let StatedLatency { samples, mean_us: mean, p50_us: p50, p95_us: p95, .. } = *stated;
        let figures = LatencyFigures { mean, p50, p95, p99: stated.p99_us, p999: stated.p999_us };
        Self { figures, max: stated.max_us, samples }
    }
}

/// Across the trials of a cell: median and range of every figure. `None` without trials.
pub fn across_trials(trials: &[SeriesLatency]) -> Option<LatencyAnalysis> {
    // A figure that one of them does not state is none of all of them.
    let over =
        |of: &dyn Fn(&SeriesLatency) -> Option<f64>| Summary::of(trials.iter().map(of).collect::<Option<Vec<f64>>>()?);
    let mut spread = BTreeMap::new();
    for figure in LatencyFigure::ALL {
        let summary = over(&|trial| trial.figures.figure(figure));
        spread.extend(summary.map(|summary| (figure.name().to_owned(), summary)));
    }
    spread.insert(LONGEST.to_owned(), over(&|trial| Some(trial.max))?);
    let median = |name: &str| spread.get(name).map(|summary: &Summary| summary.median);
    let [mean, p50, p95, p99, p999] = LatencyFigure::ALL.map(|figure| median(figure.name()));
    Some(LatencyAnalysis {
        figures: LatencyFigures { mean: mean?, p50, p95, p99, p999 },
        max: median(LONGEST)?,
        samples: trials.iter().map(|t| t.samples).min()?,
        spread,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that states its p99 and no median, and a second file that states both.
    #[test]
    fn a_percentile_that_one_trial_does_not_state_is_none_of_the_cell() {
        let stated = |p50_us, p99_us| StatedLatency {
            samples: 1_000,
            mean_us: 2_000.0,
            p50_us,
            p95_us: None,
            p99_us: Some(p99_us),
            p999_us: None,
            max_us: 9_000.0,
        };
        let trials = [stated(None, 3_000.0), stated(Some(1_000.0), 5_000.0)].map(|of| SeriesLatency::stated(&of));
        let cell = across_trials(&trials).unwrap();
        let figures = LatencyFigures { mean: 2_000.0, p50: None, p95: None, p99: Some(4_000.0), p999: None };
        assert_eq!((cell.figures, cell.max, cell.samples), (figures, 9_000.0, 1_000));
        let named: Vec<&str> = cell.named().map(|(name, _)| name).collect();
        assert_eq!(named, ["mean", "p99", LONGEST]);
        assert_eq!(cell.spread.keys().collect::<Vec<_>>(), [LONGEST, "mean", "p99"]);
        assert_eq!(across_trials(&[]), None);
    }
}
