//! Latencies of many requests at once: a log-normal distribution of a given mean, laid down by systematic sampling of
//! its quantiles (Cochran, Sampling Techniques, chapter 8): a thousand requests cost as much as a hundred, counts are
//! whole, and whatever is rare is as frequent as it should be. The slowest in a thousand are drawn one by one, so that
//! the longest are not cut off.

use std::sync::LazyLock;

use evidence::{HIGHEST_US, LOWEST_US, add_counts, empty_histogram};
use hdrhistogram::Histogram;

use crate::noise::{Noise, SIGMA};

/// So many strata of equal weight up to this quantile, finer the farther out, so that percentiles lie within 2 % of the
/// distribution's; beyond the last every request is drawn by itself.
const STRATA_UPTO: [(usize, f64); 4] = [(40, 0.9), (18, 0.98), (10, 0.9945), (6, DRAWN_FROM)];
const DRAWN_FROM: f64 = 0.999;

/// Quantiles at which strata end, with the factor on the mean inside each.
static STRATA: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| {
    let mut begun = 0.0;
    let ends = STRATA_UPTO.into_iter().flat_map(|(number, upto)| {
        let (first, width) = (begun, (upto - begun) / number as f64);
        begun = upto;
        (1..=number).map(move |i| first + width * i as f64)
    });
    let mut from = 0.0;
    ends.map(|to| {
        // Mean of a stratum of a log-normal distribution with mean 1, by the normal distribution shifted by sigma.
        let shifted = |q: f64| {
            if q <= 0.0 { 0.0 } else { normal_below(normal_quantile(q) - SIGMA) }
        };
        let factor = (shifted(to) - shifted(from)) / (to - from);
        from = to;
        (to, factor)
    })
    .collect()
});

/// Lays down `n` requests with a mean of `mean_us`, each `extra_us` longer.
pub fn record(histogram: &mut Histogram<u64>, n: u64, mean_us: f64, extra_us: f64, noise: &mut Noise) {
    let (all, at) = (n as f64, noise.unit());
    let mut below = 0;
    for (quantile, factor) in STRATA.iter() {
        let upto = ((all * quantile + at) as u64).min(n);
        if upto > below {
            count(histogram, whole_us(factor * mean_us + extra_us), upto - below);
            below = upto;
        }
    }
    for _ in below..n {
        let beyond = (1.0 - DRAWN_FROM) * (1.0 - noise.unit());
        let factor = (-SIGMA * normal_quantile(beyond) - SIGMA * SIGMA / 2.0).exp();
        count(histogram, whole_us(factor * mean_us + extra_us), 1);
    }
}

/// Counts `n` requests that took so long. A short histogram becomes a whole one with the first that is too long for it.
#[inline]
pub fn count(histogram: &mut Histogram<u64>, us: u64, n: u64) {
    if histogram.record_n(us, n).is_err() {
        let mut whole = empty_histogram();
        // Of these bounds are all values, so that nothing can fail.
        let _ = whole.record_n(us, n);
        add_counts(&mut whole, histogram);
        *histogram = whole;
    }
}

/// Microseconds as a histogram holds them.
#[inline]
pub fn whole_us(us: f64) -> u64 {
    (us.round() as u64).clamp(LOWEST_US, HIGHEST_US)
}

/// Probability that a standard normal number lies below `x` (Abramowitz & Stegun 7.1.26, absolute error below 1e-7).
pub fn normal_below(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let beyond = terms.iter().fold(0.0, |sum, a| sum * t + a) * t * (-z * z).exp() / 2.0;
    if x > 0.0 { 1.0 - beyond } else { beyond }
}

/// Quantile of the standard normal distribution (Acklam's rational approximation, relative error below 1.2e-9).
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p < 0.024_25 {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / (horner(&D, q) * q + 1.0)
    } else if p > 1.0 - 0.024_25 {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        horner(&A, r) * q / (horner(&B, r) * r + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (p, expected) in [(0.5, 0.0), (0.975, 1.959_964), (0.99, 2.326_348), (0.001, -3.090_232)] {
            assert!((normal_quantile(p) - expected).abs() < 1e-5, "{p}");
            assert!((normal_below(expected) - p).abs() < 1e-6, "{p}");
        }
    }

    #[test]
    fn what_is_too_long_for_a_short_histogram_is_counted_with_the_others() {
        let mut histogram = evidence::short_histogram();
        for us in [900, 2_000_000, HIGHEST_US] {
            count(&mut histogram, us, 2);
        }
        let counted = [900, 2_000_000, HIGHEST_US].map(|us| histogram.count_at(us));
        assert_eq!((counted, histogram.len()), ([2, 2, 2], 6));
    }

    #[test]
    fn mean_and_number_are_those_asked_for_whatever_the_number() {
        for (n, times) in [(3, 20_000), (123, 1_000), (20_000, 20)] {
            let (mut histogram, mut noise) = (evidence::short_histogram(), Noise::of(7, &["test"]));
            for _ in 0..times {
                record(&mut histogram, n, 20_000.0, 1_000.0, &mut noise);
            }
            assert_eq!(histogram.len(), n * times);
            assert!((histogram.mean() / 21_000.0 - 1.0).abs() < 0.006, "{}", histogram.mean());
            // Quantiles of the log-normal distribution itself: 20,000 exp(sigma z - sigma^2 / 2) + 1,000.
            // The last with as much leeway as 6 samples beyond it leave.
            for (q, z, leeway) in [(0.5, 0.0, 0.03), (0.99, 2.326, 0.03), (0.9999, 3.719, 0.12)] {
                let expected = 20_000.0 * (SIGMA * z - SIGMA * SIGMA / 2.0_f64).exp() + 1_000.0;
                let found = histogram.value_at_quantile(q) as f64;
                assert!((found / expected - 1.0).abs() < leeway, "{n} {q}: {found} for {expected}");
            }
        }
    }
}
