//! Student's t distribution, as far as tests and intervals need it.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, StudentsT};

fn distribution(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// Two-sided p-value of `t`. Infinite `t` (no spread at all, but a difference) gives 0; 0/0 (neither) gives 1.
pub(crate) fn two_sided_p(t: f64, degrees: f64) -> Option<f64> {
    if t.is_nan() {
        return Some(1.0);
    }
    if t.is_infinite() {
        return Some(0.0);
    }
    Some((2.0 * distribution(degrees)?.cdf(-t.abs())).min(1.0))
}

/// The quantile `p` in 0..1.
pub(crate) fn quantile(p: f64, degrees: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then_some(())?;
    Some(distribution(degrees)?.inverse_cdf(p))
}

/// Upper tail of the F distribution at `f`.
pub(crate) fn f_upper(f: f64, degrees_above: f64, degrees_below: f64) -> Option<f64> {
    Some(FisherSnedecor::new(degrees_above, degrees_below).ok()?.sf(f.max(0.0)))
}

/// Quantile `p` of the chi-square distribution.
pub(crate) fn chi_square_quantile(p: f64, degrees: f64) -> Option<f64> {
    Some(ChiSquared::new(degrees).ok()?.inverse_cdf(p))
}

/// Standard normal distribution function.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2)
}

/// The mean; of nothing, no number.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean and unbiased standard deviation; `None` below two values.
pub(crate) fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    // What rounding leaves of equal values is no spread.
    let noise = 1e-12 * (1.0 + mean.abs());
    Some((mean, if deviation < noise { 0.0 } else { deviation }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: qt(0.975, c(1, 2, 5, 19)) and 2 * pt(-2, 5)
    #[test]
    fn quantiles_and_p_values_are_those_of_the_tables() {
        for (degrees, expected) in [(1.0, 12.706_205), (2.0, 4.302_653), (5.0, 2.570_582), (19.0, 2.093_024)] {
            let got = quantile(0.975, degrees).unwrap();
            assert!((got - expected).abs() < 1e-5, "{degrees}: {got}");
        }
        assert!((two_sided_p(2.0, 5.0).unwrap() - 0.101_939).abs() < 1e-5);
        assert_eq!(two_sided_p(f64::INFINITY, 3.0), Some(0.0));
        assert_eq!(two_sided_p(f64::NAN, 3.0), Some(1.0));
    }
}
