//! Is there a trend in a series whose neighbours resemble each other, and how large can it be?
//!
//! Mann-Kendall's test and the interval of Theil-Sen's slope take values for independent. Where a value resembles the
//! one before it, they find trends in series that have none. Both are therefore corrected by the *effective* number of
//! values: the variance of S is that of independent values, times the factor of an autocorrelated series (Hamed & Rao,
//! J. Hydrology 204, 1998; in the form of Yue & Wang, Water Resources Management 18, 2004, for a first-order
//! autoregression). The autocorrelation is that of the ranks of what is left when the trend is taken out, and it is
//! corrected for its bias: an estimate from n values around a fitted line is too small by (2 + 4 rho) / n (Marriott &
//! Pope, Biometrika 41, 1954). Because it is itself estimated, Student's t with the effective number less two degrees
//! of freedom stands in for the normal distribution.

use crate::student;

/// Level of the interval of the change.
const CONFIDENCE: f64 = 0.95;
/// Values below which nothing is fitted.
const VALUES_MIN: usize = 4;
/// Standard errors by which an estimated autocorrelation is drawn towards none. Without it, a dozen independent values
/// are taken for a few in one case of ten. Calibrated by the rates that the tests of `steady` print.
const SHRINK: f64 = 0.75;

/// A straight line through a series, with what its noise allows to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// (end - start) / mean of the Theil-Sen line: the median of the slopes of all pairs, which one stall does not move
    /// (Sen, JASA 63, 1968).
    pub change: f64,
    /// Its 95 % interval (Sen 1968, with the corrected variance of S).
    pub low: f64,
    pub high: f64,
    /// Two-sided p-value for a trend.
    pub p: f64,
    /// How many independent values the series is worth.
    pub effective: f64,
    /// Correlation of neighbours once the trend is taken out, 0..1.
    pub autocorrelation: f64,
}

impl Trend {
    /// The line's slope per value.
    pub fn slope(&self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        self.change * values.iter().sum::<f64>() / n / n
    }

    /// The trend of `values`; no trend and one effective value where there are too few.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        if n < VALUES_MIN {
            return Self { change: 0.0, low: 0.0, high: 0.0, p: 1.0, effective: 1.0, autocorrelation: 0.0 };
        }
        let mut slopes = slopes(values);
        slopes.sort_by(f64::total_cmp);
        let slope = crate::median(&slopes).unwrap_or(0.0);
        let left: Vec<f64> = (0_u32..).zip(values).map(|(i, v)| v - slope * f64::from(i)).collect();
        // What rounding leaves around a straight line has no ranks.
        let is_line = student::mean_and_deviation(&left).is_none_or(|(_, deviation)| deviation == 0.0);
        let autocorrelation = if is_line { 0.0 } else { autocorrelation(&ranks(&left)) };
        let factor = variance_factor(autocorrelation, n);
        let effective = n as f64 / factor;
        let degrees = (effective - 2.0).max(1.0);
        let deviation = (variance_of_s(n) * factor).sqrt();
        let t = (f64::abs(s(values)) - 1.0).max(0.0) / deviation;
        // Ranks of the slopes between which the true one lies.
        let reach = student::quantile(0.5 + CONFIDENCE / 2.0, degrees).unwrap_or(f64::INFINITY) * deviation;
        let pairs = slopes.len() as f64;
        let at = |rank: f64| slopes[(rank.clamp(0.0, pairs - 1.0)) as usize];
        let mean = student::mean(values);
        let share = |slope: f64| crate::ratio(slope * n as f64, mean).unwrap_or(0.0);
        Self {
            change: share(slope),
            low: share(at(((pairs - reach) / 2.0).floor() - 1.0)),
            high: share(at(((pairs + reach) / 2.0).ceil())),
            p: student::two_sided_p(t, degrees).unwrap_or(1.0),
            effective,
            autocorrelation,
        }
    }
}

/// Kendall's S: pairs that rise less pairs that fall.
fn s(values: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, earlier) in values.iter().enumerate() {
        for later in &values[i + 1..] {
            s += match later.partial_cmp(earlier) {
                Some(std::cmp::Ordering::Greater) => 1.0,
                Some(std::cmp::Ordering::Less) => -1.0,
                _ => 0.0,
            };
        }
    }
    s
}

/// Variance of S among `n` independent values.
fn variance_of_s(n: usize) -> f64 {
    let n = n as f64;
    n * (n - 1.0) * (2.0 * n + 5.0) / 18.0
}

/// By how much the variance of a mean of `n` values of a first-order autoregression exceeds that of independent values.
pub(crate) fn variance_factor(autocorrelation: f64, n: usize) -> f64 {
    let n_f = n as f64;
    let (mut power, mut sum) = (1.0, 0.0);
    for k in 1..n {
        power *= autocorrelation;
        sum += (1.0 - k as f64 / n_f) * power;
    }
    1.0 + 2.0 * sum
}

/// Correlation of neighbours around a fitted line, corrected for its bias, drawn towards none by [`SHRINK`] and held in
/// 0..1: negative correlation is not credited.
pub(crate) fn autocorrelation(left: &[f64]) -> f64 {
    let n = left.len() as f64;
    let mean = student::mean(left);
    let squares: f64 = left.iter().map(|v| (v - mean).powi(2)).sum();
    let products: f64 = left.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let Some(plain) = crate::ratio(products, squares) else { return 0.0 };
    let unbiased = (n * plain + 2.0) / (n - 4.0).max(1.0);
    (unbiased - SHRINK / n.sqrt()).clamp(0.0, 0.99)
}

/// Ranks, equal values sharing theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |v: f64| values.iter().filter(|w| **w < v).count() as f64;
    let equal = |v: f64| values.iter().filter(|w| **w == v).count() as f64;
    values.iter().map(|v| below(*v) + equal(*v) / 2.0).collect()
}

/// Slopes of all pairs.
fn slopes(values: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (i, earlier) in values.iter().enumerate() {
        for (distance, later) in (1_u32..).zip(&values[i + 1..]) {
            slopes.push((later - earlier) / f64::from(distance));
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (1 + rho) / (1 - rho) in the limit: 3 at one half.
    #[test]
    fn the_variance_factor_is_that_of_an_autoregression() {
        assert_eq!(variance_factor(0.0, 50), 1.0);
        assert!((variance_factor(0.5, 100_000) - 3.0).abs() < 1e-3);
        // n = 2: 1 + 2 x 1/2 x 0.5
        assert!((variance_factor(0.5, 2) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_straight_line_is_its_own_interval() {
        let line: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i)).collect();
        let trend = Trend::of(&line);
        // 20 steps of 1 over a mean of 109.5.
        for share in [trend.change, trend.low, trend.high] {
            assert!((share - 20.0 / 109.5).abs() < 1e-9, "{trend:?}");
        }
        assert!(trend.p < 1e-4, "{trend:?}");
    }
}
