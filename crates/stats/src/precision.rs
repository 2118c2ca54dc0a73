//! How many repetitions are enough?

use crate::student;

/// Level at which a difference counts as shown. Not 5 %: so that of 400 experiments with two equal configurations at most 5 % are called
/// different with near certainty and not just on average, and so that looking again after each block (`repetitions = "auto"`, which
/// stops when intervals are *narrow*, not when a difference becomes significant) stays below 5 % too.
pub const LEVEL: f64 = 0.03;

/// Whether a ratio is known well enough: its interval is no wider than `precision` to either side, or it lies clear of 1 by as much
/// as it is wide (so that no further repetition will change who is faster).
pub fn precise_enough(ratio: f64, low: f64, high: f64, precision: f64) -> bool {
    let half = (high / low).ln() / 2.0;
    half <= (1.0 + precision).ln() || ratio.ln().abs() > 2.0 * half
}

/// Repetitions of each of two configurations by which a difference of `difference` (0.1 = 10 %) is found in 80 of 100 cases without
/// pairing: n = 15.7 (CV / ln(1 + d))^2 + 2 (two-sided 5 %; Lehr's rule with a correction for small samples).
pub fn repetitions_needed(cv: f64, difference: f64) -> Option<u32> {
    let d = (1.0 + difference).ln();
    let n = 15.7 * (cv / d).powi(2) + 2.0;
    (d > 0.0 && n.is_finite() && n < 1e6).then_some(n.ceil() as u32)
}

/// Standard deviation / mean; `None` below two values or at a mean of 0.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let (mean, deviation) = student::mean_and_deviation(values)?;
    crate::ratio(deviation, mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_by_the_rule() {
        // 15.7 x (0.08 / ln 1.1)^2 + 2 = 13.06
        assert_eq!(repetitions_needed(0.08, 0.1), Some(14));
        assert_eq!(repetitions_needed(0.08, 0.0), None);
    }

    #[test]
    fn narrow_or_far_from_one_is_enough() {
        let enough = |low: f64, high: f64| precise_enough((low * high).sqrt(), low, high, 0.05);
        assert!(enough(0.96, 1.04));
        assert!(!enough(0.9, 1.1));
        assert!(!enough(1.05, 1.25), "significant, but a narrow escape");
        assert!(enough(1.8, 2.2));
    }

    #[test]
    fn variation_of_few_values() {
        assert!((coefficient_of_variation(&[90.0, 110.0]).unwrap() - 0.141_42).abs() < 1e-4);
        assert_eq!(coefficient_of_variation(&[1.0]), None);
    }
}
