//! A cell's value: the median over its repetitions, with an interval that its number of repetitions can carry.

use serde::{Deserialize, Serialize};

use crate::median::{Summary, median_interval};
use crate::student;

/// The median of a few repetitions and what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Middle value of the repetitions.
    pub median: f64,
    /// Lower end of the interval; the median itself where there is none.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence of the interval: exact for order statistics, nominal for t; 0 where there is none.
    pub confidence: f64,
    /// How the interval was made.
    pub method: IntervalMethod,
    /// Smallest repetition.
    pub smallest: f64,
    /// Largest repetition.
    pub largest: f64,
    /// Number of repetitions.
    pub n: u64,
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Exact, from the binomial distribution of ranks; six repetitions or more.
    OrderStatistics,
    /// Student's t on logarithms: assumes that repetitions are log-normal; two to five repetitions.
    TOnLogarithms,
    /// One repetition has no interval.
    None,
}

impl IntervalMethod {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::OrderStatistics => "exact, by order statistics",
            Self::TOnLogarithms => "Student's t on logarithms",
            Self::None => "no interval (one repetition)",
        }
    }
}

/// Median and interval of the repetitions of a cell.
///
/// Order statistics are exact and assume nothing but independence; at 95 % they exist from n = 6. Below that the interval is
/// `exp(mean(ln x) +- t s / sqrt(n))`, which for log-normal repetitions is an interval for the same median. A percentile
/// bootstrap of the median covers 75 % (n = 3) to 93 % (n = 5) instead of 95 (measured in this crate's tests), so that none is made.
///
/// `None` for an empty sample or one with a number that is not finite; t needs positive numbers, without them there is no interval.
pub fn estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let summary = Summary::of(values)?;
    let without = Estimate {
        median: summary.median,
        low: summary.median,
        high: summary.median,
        confidence: 0.0,
        method: IntervalMethod::None,
        smallest: summary.low,
        largest: summary.high,
        n: values.len() as u64,
    };
    if let Some(interval) = median_interval(values, confidence) {
        return Some(Estimate {
            low: interval.low,
            high: interval.high,
            confidence: interval.confidence,
            method: IntervalMethod::OrderStatistics,
            ..without
        });
    }
    let by_t = || {
        let logarithms = logarithms(values)?;
        let (mean, deviation) = student::mean_and_deviation(&logarithms)?;
        let n = values.len() as f64;
        let half = student::quantile(0.5 + confidence / 2.0, n - 1.0)? * deviation / n.sqrt();
        Some(Estimate {
            low: (mean - half).exp().min(summary.median),
            high: (mean + half).exp().max(summary.median),
            confidence,
            method: IntervalMethod::TOnLogarithms,
            ..without
        })
    };
    Some(by_t().unwrap_or(without))
}

/// Natural logarithms; `None` unless all values are positive and finite.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|v| (v.is_finite() && *v > 0.0).then(|| v.ln()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_follows_from_the_number_of_repetitions() {
        let of = |n: u32| estimate(&(1..=n).map(|i| 100.0 + f64::from(i)).collect::<Vec<_>>(), 0.95);
        assert_eq!(of(0), None);
        let one = of(1).unwrap();
        assert_eq!((one.low, one.high, one.method), (101.0, 101.0, IntervalMethod::None));
        assert_eq!(of(3).unwrap().method, IntervalMethod::TOnLogarithms);
        assert_eq!(of(5).unwrap().method, IntervalMethod::TOnLogarithms);
        let six = of(6).unwrap();
        assert_eq!((six.low, six.high), (101.0, 106.0));
        assert!((six.confidence - 0.96875).abs() < 1e-12);
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
        assert_eq!(got.median, 100.0);
    }

    #[test]
    fn equal_repetitions_have_an_interval_without_width() {
        let got = estimate(&[5.0, 5.0, 5.0], 0.95).unwrap();
        assert!((got.low - 5.0).abs() < 1e-9 && (got.high - 5.0).abs() < 1e-9);
    }
}
