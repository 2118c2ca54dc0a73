//! Student's t distribution, as far as tests and intervals need it.

use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, FisherSnedecor, StudentsT};
use statrs::function::gamma::ln_gamma;

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

/// Mean of what `t` has above `floor`, counted as 0 where it has less: `E[max(T - floor, 0)]`. `None` with one degree
/// of freedom or fewer, where it has no mean.
pub(crate) fn mean_above(floor: f64, degrees: f64) -> Option<f64> {
    let t = distribution(degrees).filter(|_| degrees > 1.0)?;
    Some((degrees + floor * floor) / (degrees - 1.0) * t.pdf(floor) - floor * t.sf(floor))
}

/// Upper tail of the F distribution at `f`.
pub(crate) fn f_upper(f: f64, degrees_above: f64, degrees_below: f64) -> Option<f64> {
    Some(FisherSnedecor::new(degrees_above, degrees_below).ok()?.sf(f.max(0.0)))
}

/// Quantile `p` of the chi-square distribution, in 0..1: by Newton's steps between the logarithms of both, two or three
/// of them (statrs halves an interval first, and looks at the distribution five times as often).
pub(crate) fn chi_square_quantile(p: f64, degrees: f64) -> Option<f64> {
    let distribution = ChiSquared::new(degrees).ok()?;
    // Its cube root is about normal (Wilson and Hilferty, PNAS 17, 1931), but not far down with few degrees of freedom:
    // there the density is nearly a power, and never above it, which makes a bound from below.
    let spread = 2.0 / (9.0 * degrees);
    let about = degrees * (1.0 - spread + normal_quantile(p) * spread.sqrt()).powi(3);
    let least = 2.0 * ((p.ln() + ln_gamma(0.5 * degrees + 1.0)) * 2.0 / degrees).exp();
    let mut quantile = about.max(least);
    for _ in 0..20 {
        let below = distribution.cdf(quantile);
        let step = (p / below).ln() * below / (quantile * distribution.ln_pdf(quantile).exp());
        quantile *= step.exp();
        // The next one is about its square.
        if step.abs() < 1e-6 {
            break;
        }
    }
    Some(quantile)
}

/// Standard normal distribution function.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2)
}

/// The quantile `p` of the standard normal distribution: infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p)
}

/// How far from 0 a standard normal value lies, to either side, no more often than this.
pub(crate) fn normal_two_sided(level: f64) -> f64 {
    std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(level)
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

    #[test]
    fn quantiles_of_chi_square_are_where_it_has_that_probability() {
        for degrees in [0.5, 1.0, 2.0, 3.5, 6.0, 24.0, 200.0, 300.0, 2000.0] {
            let distribution = ChiSquared::new(degrees).unwrap();
            for p in [0.001, 1.0 / 48.0, 0.3, 0.5, 0.8, 47.0 / 48.0, 0.999] {
                let got = chi_square_quantile(p, degrees).unwrap();
                assert!((distribution.cdf(got) - p).abs() < 1e-9, "{p} {degrees}: {got}");
            }
        }
        // -2 ln(1 - p) with two degrees of freedom, and the square of a normal quantile with one.
        assert!((chi_square_quantile(0.5, 2.0).unwrap() - 2.0 * 2.0_f64.ln()).abs() < 1e-9);
        assert!((chi_square_quantile(0.95, 1.0).unwrap() - 1.959_964_f64.powi(2)).abs() < 1e-5);
        assert_eq!(chi_square_quantile(0.5, 0.0), None);
    }

    /// R: qt(0.975, c(1, 2, 5, 19)) and 2 * pt(-2, 5)
    #[test]
    fn quantiles_and_p_values_are_those_of_the_tables() {
        for (degrees, expected) in [(1.0, 12.706_205), (2.0, 4.302_653), (5.0, 2.570_582), (19.0, 2.093_024)] {
            let got = quantile(0.975, degrees).unwrap();
            assert!((got - expected).abs() < 1e-5, "{degrees}: {got}");
        }
        assert!((two_sided_p(2.0, 5.0).unwrap() - 0.101_939).abs() < 1e-5);
        // The integral by a sum over a fine grid.
        for (floor, degrees) in [(-1.0, 3.0), (0.0, 6.0), (1.5, 6.0), (2.0, 40.0)] {
            let steps = 400_000;
            let width = 1e-3;
            let t = distribution(degrees).unwrap();
            let part = |i: i32| (f64::from(i) + 0.5) * width * t.pdf(floor + (f64::from(i) + 0.5) * width) * width;
            let sum: f64 = (0..steps).map(part).sum();
            let got = mean_above(floor, degrees).unwrap();
            assert!((got - sum).abs() < 1e-4, "{floor} {degrees}: {got} {sum}");
        }
        assert_eq!(mean_above(0.0, 1.0), None);
        assert!(
            (normal_two_sided(0.05) - 1.959_964).abs() < 1e-5 && (normal_two_sided(0.00125) - 3.227_2).abs() < 1e-3
        );
        assert!((normal_quantile(0.8) - 0.841_621).abs() < 1e-5 && (normal_quantile(0.025) + 1.959_964).abs() < 1e-5);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert_eq!(two_sided_p(f64::INFINITY, 3.0), Some(0.0));
        assert_eq!(two_sided_p(f64::NAN, 3.0), Some(1.0));
    }
}
