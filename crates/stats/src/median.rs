//! Median, quantiles and range of a small sample.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

/// A sample in three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Middle value; the mean of the two middle ones for an even number.
    pub median: f64,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

impl Summary {
    /// Median and range; `None` for an empty sample or one that holds a number that is not finite (a figure made from
    /// it would look sound and be wrong).
    pub fn of(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<Self> {
        let sorted = sorted(values)?;
        Some(Self { median: quantile_of_sorted(&sorted, 0.5), low: sorted[0], high: sorted[sorted.len() - 1] })
    }
}

/// Middle value; `None` for an empty sample or one with a number that is not finite.
pub fn median(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile `q` in 0..=1 of a small sample by linear interpolation between order statistics, type 7 of Hyndman &
/// Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996): position (n - 1) q. Latencies
/// are not small samples: their percentiles come from merged histograms.
///
/// `None` for an empty sample, one with a number that is not finite, or `q` outside 0..=1.
pub fn quantile(values: impl IntoIterator<Item = impl Borrow<f64>>, q: f64) -> Option<f64> {
    (0.0..=1.0).contains(&q).then_some(())?;
    Some(quantile_of_sorted(&sorted(values)?, q))
}

fn sorted(values: impl IntoIterator<Item = impl Borrow<f64>>) -> Option<Vec<f64>> {
    let mut sorted: Vec<f64> = values.into_iter().map(|value| *value.borrow()).collect();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty() && sorted.iter().all(|value| value.is_finite())).then_some(sorted)
}

fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * q;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_range_of_few_values() {
        assert_eq!(Summary::of([3.0, 1.0, 2.0]), Some(Summary { median: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        assert_eq!(Summary::of([0.0; 0]), None);
        assert_eq!(Summary::of([1.0, f64::NAN]), None);
    }

    /// R: quantile(c(1, 2, 3, 4), c(0, .25, .5, .9, 1), type = 7)
    #[test]
    fn quantiles_are_those_of_type_7() {
        for (q, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0)] {
            let got = quantile([4.0, 2.0, 1.0, 3.0], q).unwrap();
            assert!((got - expected).abs() < 1e-12, "q {q}: {got}");
        }
        assert_eq!(quantile([1.0], 1.5), None);
    }
}
