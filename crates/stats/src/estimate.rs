//! A cell's value: the geometric mean over its repetitions, with an interval that their number can carry.

use serde::{Deserialize, Serialize};

use crate::contrast::REPETITIONS_MIN;
use crate::median::Summary;
use crate::student;

/// The middle of a few repetitions and what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Estimate {
    /// Geometric mean of the repetitions: the median of what repetitions are drawn from, where that is log-normal. The
    /// ratio of two of them is the ratio that is tested, which the ratio of two sample medians is not.
    pub median: f64,
    /// Lower end of the interval; the smallest repetition where there are too few for one.
    pub low: f64,
    /// Upper end; the largest repetition.
    pub high: f64,
    /// Nominal confidence of the interval; 0 where it is the observed range.
    pub confidence: f64,
    pub method: IntervalMethod,
    pub smallest: f64,
    pub largest: f64,
    /// Number of repetitions.
    pub n: u64,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Student's t on logarithms: assumes that repetitions are log-normal; three repetitions or more.
    TOnLogarithms,
    /// Fewer than three repetitions: the observed range, no interval.
    Range,
}

/// Geometric mean and interval of the repetitions of a cell: `exp(mean(ln x) +- t s / sqrt(n))`. A percentile bootstrap
/// covers 75 % (n = 3) to 93 % (n = 20) where it promises 95 (measured in this crate's tests), so that none is made.
/// Below three repetitions: the observed range.
///
/// `None` for an empty sample or one with a number that is not positive and finite.
pub fn estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let summary = Summary::of(values)?;
    let logarithms = logarithms(values)?;
    let n = values.len() as f64;
    let mean = student::mean(&logarithms);
    let half = || {
        let (_, deviation) = student::mean_and_deviation(&logarithms)?;
        Some(student::quantile(0.5 + confidence / 2.0, n - 1.0)? * deviation / n.sqrt())
    };
    let half = half().filter(|_| values.len() as u64 >= REPETITIONS_MIN);
    Some(Estimate {
        median: mean.exp(),
        low: half.map_or(summary.low, |half| (mean - half).exp()),
        high: half.map_or(summary.high, |half| (mean + half).exp()),
        confidence: if half.is_some() { confidence } else { 0.0 },
        method: if half.is_some() { IntervalMethod::TOnLogarithms } else { IntervalMethod::Range },
        smallest: summary.low,
        largest: summary.high,
        n: values.len() as u64,
    })
}

/// Natural logarithms; `None` unless all values are positive and finite.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|v| (v.is_finite() && *v > 0.0).then(|| v.ln())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_three_repetitions_the_observed_range_is_shown() {
        let of = |n: u32| estimate(&(1..=n).map(|i| 100.0 + f64::from(i)).collect::<Vec<_>>(), 0.95);
        assert_eq!(of(0), None);
        let two = of(2).unwrap();
        assert_eq!((two.low, two.high, two.method, two.confidence), (101.0, 102.0, IntervalMethod::Range, 0.0));
        assert_eq!(of(3).unwrap().method, IntervalMethod::TOnLogarithms);
        assert_eq!(estimate(&[1.0, 0.0, 2.0], 0.95), None);
    }

    /// R: x <- log(c(90, 100, 120)); exp(mean(x) + c(-1, 1) * qt(.975, 2) * sd(x) / sqrt(3)) = 71.264 147.26
    #[test]
    fn three_repetitions_have_the_interval_of_the_t_test() {
        let got = estimate(&[90.0, 100.0, 120.0], 0.95).unwrap();
        let x = [90.0_f64.ln(), 100.0_f64.ln(), 120.0_f64.ln()];
        let mean = x.iter().sum::<f64>() / 3.0;
        let sd = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let half = 4.302_652_7 * sd / 3.0_f64.sqrt();
        assert!((got.low - (mean - half).exp()).abs() < 1e-3, "{got:?}");
        assert!((got.high - (mean + half).exp()).abs() < 1e-3, "{got:?}");
        assert!((got.median - (90.0_f64 * 100.0 * 120.0).cbrt()).abs() < 1e-9);
    }

    #[test]
    fn equal_repetitions_have_an_interval_without_width() {
        let got = estimate(&[5.0, 5.0, 5.0], 0.95).unwrap();
        assert!((got.low - 5.0).abs() < 1e-9 && (got.high - 5.0).abs() < 1e-9);
    }
}
