//! Is one configuration faster than another? Ratios on the logarithmic scale, with interval and p-value.
//!
//! Trials of one block ran close in time, so that the drift of a machine cancels in their ratio: a paired test finds a 10 %
//! difference at 8 % noise where an unpaired one does not (Abedi & Brecht, ICPE 2017; this crate's tests print both rates).

use serde::{Deserialize, Serialize};

use crate::estimate::logarithms;
use crate::student;

/// A ratio with its interval and test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioTest {
    /// exp(mean of log ratios): the median ratio where ratios are log-normal.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
    /// The smallest factor above 1 that this many repetitions with this spread show in 80 of 100 cases.
    pub smallest_detectable: f64,
}

/// Ratio of pairs `(a, b)`, as a / b, by the paired t test on logarithms at `confidence`.
///
/// `None` with fewer than two pairs, or a value that is not positive and finite.
pub fn paired_ratio(pairs: &[(f64, f64)], confidence: f64) -> Option<RatioTest> {
    let differences = log_differences(pairs)?;
    let (mean, deviation) = student::mean_and_deviation(&differences)?;
    let n = differences.len() as f64;
    of_mean(mean, deviation / n.sqrt(), n - 1.0, confidence)
}

/// Ratio of two independent samples, `a` / `b`, by Welch's t test on logarithms (Welch, Biometrika 34, 1947): variances may differ.
///
/// `None` with fewer than two values on either side, or a value that is not positive and finite.
pub fn welch_ratio(a: &[f64], b: &[f64], confidence: f64) -> Option<RatioTest> {
    let (mean_a, deviation_a) = student::mean_and_deviation(&logarithms(a)?)?;
    let (mean_b, deviation_b) = student::mean_and_deviation(&logarithms(b)?)?;
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let (v_a, v_b) = (deviation_a.powi(2) / n_a, deviation_b.powi(2) / n_b);
    let degrees = match v_a + v_b {
        0.0 => n_a + n_b - 2.0,
        v => v.powi(2) / (v_a.powi(2) / (n_a - 1.0) + v_b.powi(2) / (n_b - 1.0)),
    };
    of_mean(mean_a - mean_b, (v_a + v_b).sqrt(), degrees, confidence)
}

fn of_mean(mean: f64, error: f64, degrees: f64, confidence: f64) -> Option<RatioTest> {
    let critical = student::quantile(0.5 + confidence / 2.0, degrees)?;
    let half = critical * error;
    Some(RatioTest {
        ratio: mean.exp(),
        low: (mean - half).exp(),
        high: (mean + half).exp(),
        // What rounding leaves of equal samples is no difference.
        p_value: student::two_sided_p(if mean.abs() < 1e-12 { 0.0 } else { mean } / error, degrees)?,
        smallest_detectable: ((critical + student::quantile(0.8, degrees)?) * error).exp(),
    })
}

/// Most pairs whose signs are all tried: a million ways.
const SIGN_FLIP_MAX: usize = 20;

/// Two-sided p-value of the exact sign-flip permutation test on log ratios: of all ways to swap the sides of pairs, the share
/// whose mean is at least as far from 0 (Fisher's randomisation test). Needs no distribution; with n pairs it cannot fall below 2^(1-n).
///
/// `None` without pairs, above twenty pairs, or with a value that is not positive and finite.
pub fn sign_flip_p(pairs: &[(f64, f64)]) -> Option<f64> {
    let differences = log_differences(pairs)?;
    let n = differences.len();
    if n == 0 || n > SIGN_FLIP_MAX {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs() * (1.0 - 1e-9);
    // Gray code: each way differs from the one before in a single sign.
    let mut signs = vec![1.0; n];
    let mut sum: f64 = differences.iter().sum();
    let mut at_least = 1_u32;
    let ways = 1_u32 << n;
    for way in 1..ways {
        let flipped = way.trailing_zeros() as usize;
        signs[flipped] = -signs[flipped];
        sum += 2.0 * signs[flipped] * differences[flipped];
        at_least += u32::from(sum.abs() >= observed);
    }
    Some(f64::from(at_least) / f64::from(ways))
}

/// p-value of "the ratio differs from 1 by the factor `1 + margin` or more": below 0.05 the two are *shown* to be the same within
/// the margin. Two one-sided t tests on logarithms (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987).
pub fn equivalence_p(pairs: &[(f64, f64)], margin: f64) -> Option<f64> {
    let differences = log_differences(pairs)?;
    let (mean, deviation) = student::mean_and_deviation(&differences)?;
    let n = differences.len() as f64;
    let distance = (1.0 + margin).ln() - mean.abs();
    let two_sided = student::two_sided_p(distance / (deviation / n.sqrt()), n - 1.0)?;
    Some(if distance > 0.0 {
        two_sided / 2.0
    } else {
        1.0 - two_sided / 2.0
    })
}

/// Adjusts p-values of several comparisons so that the chance of any false claim among them stays at the level of one
/// (Holm, Scandinavian Journal of Statistics 6, 1979): the smallest of m is multiplied by m, the next by m - 1, ..., never falling.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        floor = floor.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

fn log_differences(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
    logarithms(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, as R's t.test(log(a), log(b), paired = TRUE) does it.
    #[test]
    fn paired_ratio_is_the_t_test_on_log_ratios() {
        let pairs = [(110.0, 100.0), (125.0, 105.0), (118.0, 110.0)];
        let d: Vec<f64> = pairs.iter().map(|(a, b): &(f64, f64)| (a / b).ln()).collect();
        let mean = d.iter().sum::<f64>() / 3.0;
        let sd = (d.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let got = paired_ratio(&pairs, 0.95).unwrap();
        assert!((got.ratio - mean.exp()).abs() < 1e-12);
        assert!((got.low - (mean - 4.302_652_7 * sd / 3.0_f64.sqrt()).exp()).abs() < 1e-6);
        // With two degrees of freedom the distribution has a closed form: p = 1 - t / sqrt(t^2 + 2).
        let t = mean / (sd / 3.0_f64.sqrt());
        assert!((got.p_value - (1.0 - t / (t * t + 2.0).sqrt())).abs() < 1e-9, "{got:?}");
        assert_eq!(paired_ratio(&pairs[..1], 0.95), None);
        assert_eq!(paired_ratio(&[(1.0, 0.0), (1.0, 1.0)], 0.95), None);
    }

    #[test]
    fn without_noise_a_difference_is_certain_and_equality_is_no_difference() {
        let same = paired_ratio(&[(3.0, 3.0), (7.0, 7.0)], 0.95).unwrap();
        assert_eq!((same.ratio, same.p_value), (1.0, 1.0));
        let twice = paired_ratio(&[(6.0, 3.0), (14.0, 7.0)], 0.95).unwrap();
        assert_eq!(twice.p_value, 0.0);
        assert!((twice.low - 2.0).abs() < 1e-9 && (twice.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn sign_flips_are_counted_exactly() {
        // All six the same way: only this way and its mirror image are as extreme.
        let pairs: Vec<(f64, f64)> = (1..=6).map(|i| (100.0 + f64::from(i), 100.0)).collect();
        assert_eq!(sign_flip_p(&pairs), Some(2.0 / 64.0));
        // ln 2 and -ln 2: every way is as extreme as a sum of 0.
        assert_eq!(sign_flip_p(&[(2.0, 1.0), (1.0, 2.0)]), Some(1.0));
        assert_eq!(sign_flip_p(&[(2.0, 1.0); 21]), None);
    }

    #[test]
    fn holm_is_monotone_and_multiplies_the_smallest_by_the_number_of_tests() {
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        for (got, expected) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.6, 0.7]), vec![1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn equivalence_is_shown_only_when_the_interval_lies_within_the_margin() {
        let close: Vec<(f64, f64)> = [1.001, 0.999, 1.002, 0.998, 1.0].iter().map(|r| (*r, 1.0)).collect();
        assert!(equivalence_p(&close, 0.05).unwrap() < 0.001);
        let noisy: Vec<(f64, f64)> = [1.2, 0.8, 1.1].iter().map(|r| (*r, 1.0)).collect();
        assert!(equivalence_p(&noisy, 0.05).unwrap() > 0.2);
        let apart: Vec<(f64, f64)> = [1.2, 1.21, 1.19].iter().map(|r| (*r, 1.0)).collect();
        assert!(equivalence_p(&apart, 0.05).unwrap() > 0.99);
    }

    #[test]
    fn welch_has_the_published_degrees_of_freedom() {
        // Equal spreads and sizes: Welch and the pooled test agree, 4 degrees of freedom.
        let a = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let b = [2.0_f64, 3.0, 4.0].map(f64::exp);
        let got = welch_ratio(&a, &b, 0.95).unwrap();
        assert!((got.ratio.ln() + 1.0).abs() < 1e-12);
        // R: t.test(c(1,2,3), c(2,3,4))$p.value = 0.2878641
        assert!((got.p_value - 0.287_864).abs() < 1e-5, "{got:?}");
        assert_eq!(welch_ratio(&a[..1], &b, 0.95), None);
    }
}
