//! Latencies of a second: a log-normal distribution of a given mean, laid down by its quantiles instead of drawn, so that few
//! numbers make a histogram whose mean and percentiles are those of the distribution.

use evidence::{HIGHEST_US, LOWEST_US, SIGNIFICANT_DIGITS};
use hdrhistogram::Histogram;

/// (factor on the mean, weight): equal steps up to the 99th percentile, finer ones beyond.
const BODY: usize = 60;
const TAIL: usize = 10;
/// Standard deviation of ln(latency).
const SIGMA: f64 = 0.5;

/// Turns (number of operations, mean) into histograms; fractions of an operation are carried into the next second.
pub struct Spread {
    points: Vec<(f64, f64)>,
    carried: Vec<f64>,
}

impl Spread {
    /// Nothing carried yet.
    pub fn new() -> Self {
        let body = (0..BODY).map(|i| (0.99 * (i as f64 + 0.5) / BODY as f64, 0.99 / BODY as f64));
        let tail = (0..TAIL).map(|i| (0.99 + 0.01 * (i as f64 + 0.5) / TAIL as f64, 0.01 / TAIL as f64));
        let mut points: Vec<(f64, f64)> = body
            .chain(tail)
            .map(|(q, weight)| ((SIGMA * normal_quantile(q)).exp(), weight))
            .collect();
        let mean: f64 = points.iter().map(|(factor, weight)| factor * weight).sum();
        for (factor, _) in &mut points {
            *factor /= mean;
        }
        Self {
            carried: vec![0.0; points.len()],
            points,
        }
    }

    /// Lays down `operations` with a mean of `mean_us`; returns how many whole ones that were.
    pub fn record(&mut self, histogram: &mut Histogram<u64>, operations: f64, mean_us: f64) -> u64 {
        let mut recorded = 0;
        for ((factor, weight), carried) in self.points.iter().zip(&mut self.carried) {
            *carried += operations * weight;
            let whole = carried.floor();
            *carried -= whole;
            if whole >= 1.0 {
                // The value is inside the histogram's bounds, so that recording cannot fail.
                let value = ((factor * mean_us).round() as u64).clamp(LOWEST_US, HIGHEST_US);
                let _ = histogram.record_n(value, whole as u64);
                recorded += whole as u64;
            }
        }
        recorded
    }
}

/// An empty histogram with the bounds of all evidence.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_US, HIGHEST_US, SIGNIFICANT_DIGITS).expect("the bounds of all evidence are sound")
}

/// Quantile of the standard normal distribution (Acklam's rational approximation, relative error below 1.2e-9).
fn normal_quantile(p: f64) -> f64 {
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
    const D: [f64; 4] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
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
        }
    }

    #[test]
    fn mean_and_number_are_those_asked_for() {
        let (mut spread, mut histogram) = (Spread::new(), histogram());
        let recorded: u64 = (0..100).map(|_| spread.record(&mut histogram, 123.4, 20_000.0)).sum();
        assert!((recorded as f64 - 12_340.0).abs() < 71.0, "{recorded}");
        assert!(
            (histogram.mean() / 20_000.0 - 1.0).abs() < 0.005,
            "{}",
            histogram.mean()
        );
    }
}
