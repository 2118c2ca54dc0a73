//! Has a system come to rest? Rules on a throughput series with one value a second.
//!
//! Three rules, because each alone is wrong on databases. *MSER-5* finds where the start-up transient ends, but sees no slow drift.
//! A *trend test* sees drift, but calls a shift of 0.1 % significant when there is data enough. The *rounds rule* of storage
//! benchmarks (SNIA PTS) asks whether five rounds lie close together, and needs a long series. So: MSER-5 cuts the start, and what is left
//! is transient when its trend is both significant and large, or when its rounds lie far apart.

use crate::student;

/// Seconds in a batch: batch means are nearly independent where single seconds are not.
const BATCH: usize = 5;
/// Batches needed after the cut: with fewer, the trend test has no power at its level.
const BATCHES_MIN: usize = 8;
/// Level of the test whether what MSER-5 would cut differs from the rest.
const CUT_LEVEL: f64 = 0.05;
/// Level of the trend test.
const TREND_LEVEL: f64 = 0.01;
/// Change over the window, by the fitted line, that is small enough whatever its significance (the slope bound of METHODS and of the
/// rounds rule).
const CHANGE_MAX: f64 = 0.02;
/// Rounds further apart than this share of their mean are no steady state whatever the trend (SNIA PTS: 20 %): a step in a short series
/// has too few batches for the trend test.
const ROUNDS_RANGE_MAX: f64 = 0.2;

/// What was found out about a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Index of the first value that counts.
    pub from: usize,
    /// The judgement.
    pub verdict: SteadyVerdict,
    /// (end - start) / mean of the Theil-Sen line through the batch means of what counts; 0 where it could not be fitted.
    pub change: f64,
    /// Two-sided p-value of the Mann-Kendall test for a trend in the batch means; 1 where there were too few.
    pub trend_p: f64,
    /// (largest - smallest) / mean of five rounds of equal length.
    pub rounds_range: f64,
}

/// The judgement on a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyVerdict {
    /// After the cut there is no trend that is both significant (1 %) and larger than 2 % over the window, and five rounds lie within 20 %.
    Steady,
    /// There is such a trend, or the rounds lie further apart.
    Transient,
    /// MSER-5 has reason to cut half of it, or fewer than 40 values remain: nothing can be said, everything counts.
    TooShort,
}

/// Judges a series with one value a second. At least `min_cut` values are cut from the start.
pub fn steady_state(series: &[f64], min_cut: usize) -> SteadyState {
    let rest = series.get(min_cut..).unwrap_or_default();
    let batches = batch_means(rest);
    let (cut, cut_half) = match best_cut(&batches) {
        // MSER alone cuts a quarter of a series that was at rest from its first second: a cut must take something away.
        Some(cut) if !differs(&batches, cut) => (0, false),
        Some(cut) if cut < batches.len() / 2 => (cut, false),
        // It would cut half: whether that is a start-up without end or a trend, the trend test says on the whole.
        _ => (0, true),
    };
    let kept = &batches[cut..];
    let judged = SteadyState {
        from: min_cut + cut * BATCH,
        verdict: SteadyVerdict::TooShort,
        change: change_over(kept),
        trend_p: mann_kendall_p(kept),
        rounds_range: rounds_range(rest.get(cut * BATCH..).unwrap_or_default()),
    };
    let is_moving =
        (judged.trend_p < TREND_LEVEL && judged.change.abs() > CHANGE_MAX) || judged.rounds_range > ROUNDS_RANGE_MAX;
    let is_long = kept.len() >= BATCHES_MIN;
    match (is_long, is_moving, cut_half) {
        (true, true, _) => SteadyState {
            verdict: SteadyVerdict::Transient,
            ..judged
        },
        (true, false, false) => SteadyState {
            verdict: SteadyVerdict::Steady,
            ..judged
        },
        _ => SteadyState { from: 0, ..judged },
    }
}

/// Whether the mean of the first `cut` batches differs from that of the others: a t test with the spread of the others.
fn differs(batches: &[f64], cut: usize) -> bool {
    let (start, rest) = batches.split_at(cut);
    let Some((mean, deviation)) = student::mean_and_deviation(rest) else {
        return true;
    };
    if start.is_empty() {
        return false;
    }
    let of_start = start.iter().sum::<f64>() / start.len() as f64;
    let error = deviation * (1.0 / start.len() as f64 + 1.0 / rest.len() as f64).sqrt();
    let distance = if of_start == mean { 0.0 } else { of_start - mean };
    student::two_sided_p(distance / error, rest.len() as f64 - 1.0).is_none_or(|p| p < CUT_LEVEL)
}

/// Number of values to cut from the start by MSER-5 (White, Cobb & Spratt, "A comparison of five steady-state truncation heuristics
/// for simulation", WSC 2000): of all cuts the one after which the squared standard error of the mean of the batches is smallest.
///
/// `None` where that would be half of the series or more, by which MSER says that the series is too short; also below four batches.
pub fn mser5(series: &[f64]) -> Option<usize> {
    let batches = batch_means(series);
    best_cut(&batches)
        .filter(|cut| *cut < batches.len() / 2)
        .map(|cut| cut * BATCH)
}

/// The best cut in batches, at most half of them; `None` below four batches.
fn best_cut(batches: &[f64]) -> Option<usize> {
    let n = batches.len();
    if n < 4 {
        return None;
    }
    // From the end: mean and sum of squares of the tail (Welford), so that all cuts cost one pass.
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (length, cut) in (1..=n).zip((0..n).rev()) {
        let value = batches[cut];
        let delta = value - mean;
        mean += delta / length as f64;
        squares += delta * (value - mean);
        if cut <= n / 2 {
            let error = squares / (length as f64).powi(2);
            // Of equally good cuts the earliest wins.
            if error <= best.0 {
                best = (error, cut);
            }
        }
    }
    Some(best.1)
}

/// Means of whole batches of five; a shorter rest at the end is left out.
fn batch_means(series: &[f64]) -> Vec<f64> {
    series
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect()
}

/// Two-sided p-value of the Mann-Kendall test for a monotone trend, normal approximation with continuity correction (good from n = 8)
/// (Mann, Econometrica 13, 1945; Kendall, Rank Correlation Methods). Ties are counted as no evidence for either side.
pub fn mann_kendall_p(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 4.0 {
        return 1.0;
    }
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
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let z = (f64::abs(s) - 1.0).max(0.0) / deviation;
    statrs::function::erf::erfc(z / std::f64::consts::SQRT_2)
}

/// (end - start) / mean of the Theil-Sen line: the median of the slopes of all pairs, which one stall does not move (Sen, JASA 63, 1968).
fn change_over(values: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (i, earlier) in values.iter().enumerate() {
        for (j, later) in values.iter().enumerate().skip(i + 1) {
            slopes.push((later - earlier) / (j - i) as f64);
        }
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let slope = crate::median(&slopes).unwrap_or(0.0);
    crate::ratio(slope * values.len() as f64, mean).unwrap_or(0.0)
}

/// (largest - smallest) / mean of five rounds of equal length (SNIA Solid State Storage Performance Test Specification, "steady state":
/// at most 20 % there); 0 below five values.
fn rounds_range(series: &[f64]) -> f64 {
    let length = series.len() / 5;
    if length == 0 {
        return 0.0;
    }
    let rounds: Vec<f64> = series
        .rchunks_exact(length)
        .take(5)
        .map(|round| round.iter().sum::<f64>() / length as f64)
        .collect();
    let mean = rounds.iter().sum::<f64>() / rounds.len() as f64;
    let largest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let smallest = rounds.iter().copied().fold(f64::MAX, f64::min);
    crate::ratio(largest - smallest, mean).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn series(n: usize, seed: u64, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut noise = Noise::new(seed);
        (0..n)
            .map(|t| level(t as f64) * (1.0 + 0.05 * noise.normal()))
            .collect()
    }

    #[test]
    fn a_start_up_transient_is_cut_and_the_rest_is_steady() {
        let mut cuts = Vec::new();
        for seed in 0..200 {
            let judged = steady_state(&series(120, seed, |t| 1000.0 * (1.0 - 0.8 * (-t / 4.0).exp())), 0);
            if judged.verdict == SteadyVerdict::Steady {
                cuts.push(judged.from);
            }
        }
        println!(
            "steady after a transient: {} of 200, cuts from {:?} s",
            cuts.len(),
            cuts.iter().min()
        );
        assert!(cuts.len() >= 170, "{}", cuts.len());
        assert!(cuts.iter().all(|c| *c >= 5));
    }

    #[test]
    fn noise_alone_is_rarely_called_transient_and_drift_nearly_always() {
        let count = |level: &dyn Fn(f64) -> f64, verdict| {
            (0..400)
                .filter(|seed| steady_state(&series(120, *seed, level), 0).verdict == verdict)
                .count()
        };
        let false_alarms = count(&|_| 1000.0, SteadyVerdict::Transient);
        // 30 % over the window: what public Cassandra series lose in their first minutes.
        let drifts = count(&|t| 1000.0 * (1.15 - 0.3 * t / 120.0), SteadyVerdict::Steady);
        let undecided = (0..400)
            .filter(|seed| steady_state(&series(60, *seed, |_| 1000.0), 0).verdict == SteadyVerdict::TooShort)
            .count();
        println!(
            "noise called transient: {false_alarms} of 400; drift called steady: {drifts} of 400; 60 s of noise undecided: {undecided}"
        );
        assert!(undecided <= 60, "{undecided}");
        assert!(false_alarms <= 12, "{false_alarms}");
        assert!(drifts <= 4, "{drifts}");
    }

    #[test]
    fn too_little_is_not_judged() {
        for n in [0, 5, 20, 39] {
            assert_eq!(steady_state(&vec![1.0; n], 0).verdict, SteadyVerdict::TooShort, "{n}");
        }
    }

    #[test]
    fn a_step_is_no_steady_state() {
        for seed in 0..20 {
            let step = series(60, seed, |t| if t < 40.0 { 500.0 } else { 1000.0 });
            assert_ne!(steady_state(&step, 0).verdict, SteadyVerdict::Steady);
        }
    }

    #[test]
    fn one_stall_is_no_trend() {
        let mut stalled = series(120, 3, |_| 1000.0);
        stalled[60..64].fill(0.0);
        assert_ne!(steady_state(&stalled, 0).verdict, SteadyVerdict::Transient);
    }

    #[test]
    fn a_constant_series_is_steady_from_its_first_second() {
        let judged = steady_state(&[7.0; 60], 0);
        assert_eq!(
            (judged.from, judged.verdict, judged.rounds_range),
            (0, SteadyVerdict::Steady, 0.0)
        );
    }

    /// All 28 pairs of 8 rise: s = 28, variance 65.33, z = 3.34.
    #[test]
    fn mann_kendall_is_the_published_test() {
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        assert!(
            (mann_kendall_p(&rising) - 0.000_836).abs() < 2e-5,
            "{}",
            mann_kendall_p(&rising)
        );
        assert_eq!(mann_kendall_p(&[1.0; 8]), 1.0);
    }
}
