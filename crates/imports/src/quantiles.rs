//! Percentiles of latencies that a file has one by one, or by buckets.

use evidence::StatedLatency;

/// Of (value, how many), in any order, in a unit of which so many make a microsecond; none of no sample. A percentile
/// is the value at that rank.
pub fn of(mut values: Vec<(u64, u64)>, per_us: f64) -> Option<StatedLatency> {
    values.sort_unstable();
    let samples = values.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n)).filter(|n| *n > 0)?;
    let sum: f64 = values.iter().map(|(value, n)| *value as f64 / per_us * *n as f64).sum();
    let at = |quantile: f64| {
        let rank = (quantile * samples as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let found = values.iter().find(|(_, n)| {
            below += n;
            below >= rank
        });
        found.map(|(value, _)| *value as f64 / per_us)
    };
    Some(StatedLatency {
        samples,
        mean_us: sum / samples as f64,
        p50_us: at(0.5),
        p95_us: at(0.95),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: values.iter().rev().find(|(_, n)| *n > 0).map_or(0.0, |(value, _)| *value as f64 / per_us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_value_at_its_rank() {
        let found = of((1..=1_000).map(|us| (us, 1)).collect(), 1.0).unwrap();
        assert_eq!((found.samples, found.mean_us, found.max_us), (1_000, 500.5, 1_000.0));
        assert_eq!(
            [found.p50_us, found.p95_us, found.p99_us, found.p999_us].map(Option::unwrap),
            [500.0, 950.0, 990.0, 999.0]
        );
        assert_eq!(of(vec![(7_000, 3), (9_000, 0)], 1e3).unwrap().max_us, 7.0);
        assert_eq!(of(vec![(1, 0)], 1.0), None);
    }
}
