//! Is a system at rest? Rules on a throughput series with one value a second.
//!
//! Three rules, because each alone is wrong on databases. *MSER-5* finds where the start-up transient ends, but sees no
//! slow drift. A *trend test* sees drift, but calls a shift of 0.1 % significant when there is data enough. The *rounds
//! rule* of storage benchmarks (SNIA PTS) asks whether five rounds lie close together, and needs a long series. So:
//! MSER-5 cuts the start, and what is left is transient when its trend is both significant and large, or when its
//! rounds lie further apart than 20 % and than its noise explains.
//!
//! The seconds of a database resemble their neighbours (caches fill, compactions come and go), and a test that takes
//! them for independent finds trends where there are none. All three tests therefore count the *effective* number of
//! batches (see [`crate::trend`]); where the series is worth fewer than four independent ones, it is too short to
//! judge.

use crate::student;
use crate::trend::{self, Trend};

/// Seconds in a batch: batch means of slightly correlated seconds are nearly independent.
const BATCH: usize = 5;
/// Batches needed after the cut: with fewer, the trend test has no power at its level.
const BATCHES_MIN: usize = 8;
/// Values that must be left after the cut.
pub const JUDGED_FROM: usize = BATCH * BATCHES_MIN;
/// Independent batches that what is left must be worth: with fewer, one excursion of the noise looks like a
/// trend.
const EFFECTIVE_MIN: f64 = 4.0;
/// Level of the test whether what MSER-5 would cut differs from the rest.
const CUT_LEVEL: f64 = 0.05;
/// Level of the trend test.
const TREND_LEVEL: f64 = 0.01;
/// Change over the window, by the fitted line, that is small enough whatever its significance (the slope bound of the
/// rounds rule).
const CHANGE_MAX: f64 = 0.02;
/// Rounds of the rounds rule.
const ROUNDS: usize = 5;
/// Rounds further apart than this share of their mean are no steady state whatever the trend (SNIA Solid State Storage
/// Performance Test Specification, "steady state": 20 %): a step in a short series has too few batches for the trend
/// test.
const ROUNDS_RANGE_MAX: f64 = 0.2;
/// Range of five independent normal values in standard deviations that is exceeded in 1 % (tables of the studentised
/// range, q(0.01; 5, inf)).
const ROUNDS_RANGE_OF_NOISE: f64 = 4.60;

/// What was found out about a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Index of the first value that counts.
    pub from: usize,
    /// The judgement.
    pub verdict: SteadyVerdict,
    /// (end - start) / mean of the Theil-Sen line through the batch means of what was judged; 0 where it could not be
    /// fitted.
    pub change: f64,
    /// Lower end of its 95 % interval, autocorrelation taken into account: the largest fall that the series could hide.
    pub change_low: f64,
    /// Upper end: the largest rise.
    pub change_high: f64,
    /// Two-sided p-value of the Mann-Kendall test for a trend in the batch means, autocorrelation taken into account; 1
    /// where there were too few.
    pub trend_p: f64,
    /// (largest - smallest) / mean of five rounds of equal length.
    pub rounds_range: f64,
    /// How many independent batches of five seconds what was judged is worth.
    pub effective_batches: f64,
}

/// The judgement on a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyVerdict {
    /// After the cut there is no trend that is both significant (1 %) and larger than 2 % over the window, and five
    /// rounds lie within 20 % or within what noise explains. How large a trend could still hide is in `change_low` and
    /// `change_high`.
    Steady,
    /// There is such a trend, or the rounds lie further apart.
    Transient,
    /// MSER-5 has reason to cut half of it, fewer than 40 values remain, or what remains is worth fewer than four
    /// independent batches: nothing can be said, everything counts.
    TooShort,
}

/// Judges a series with one value a second.
pub fn steady_state(series: &[f64]) -> SteadyState {
    let batches = batch_means(series);
    let whole = Trend::of(&batches);
    let (cut, cut_half) = match best_cut(&batches) {
        // MSER alone cuts a quarter of a series that was at rest from its first second: a cut must take something away.
        Some(cut) if !differs(&batches, cut) => (0, false),
        // Nor may it take away the half of a drift: then what is left goes on as the whole does.
        Some(cut) if cut < batches.len() / 2 && !goes_on(&batches, &whole, cut) => (cut, false),
        Some(cut) if cut < batches.len() / 2 => (0, false),
        // It would cut half: whether that is a start-up without end or a trend, the trend test says on the whole.
        _ => (0, true),
    };
    let kept = &batches[cut..];
    let trend = if cut == 0 { whole } else { Trend::of(kept) };
    let judged = SteadyState {
        from: cut * BATCH,
        verdict: SteadyVerdict::TooShort,
        change: trend.change,
        change_low: trend.low,
        change_high: trend.high,
        trend_p: trend.p,
        rounds_range: rounds_range(series.get(cut * BATCH..).unwrap_or_default()),
        effective_batches: trend.effective,
    };
    let is_moving =
        is_trend(&trend) || (judged.rounds_range > ROUNDS_RANGE_MAX && !noise_explains(judged.rounds_range, kept));
    let is_long = kept.len() >= BATCHES_MIN;
    let is_worth_it = judged.effective_batches >= EFFECTIVE_MIN;
    match (is_long, is_moving, is_worth_it && !cut_half) {
        (true, true, _) => SteadyState { verdict: SteadyVerdict::Transient, ..judged },
        (true, false, true) => SteadyState { verdict: SteadyVerdict::Steady, ..judged },
        _ => SteadyState { from: 0, ..judged },
    }
}

/// Whether a trend is both significant and large.
fn is_trend(trend: &Trend) -> bool {
    trend.p < TREND_LEVEL && trend.change.abs() > CHANGE_MAX
}

/// Whether the whole series has a trend that what the cut leaves may well continue: its slope lies in the interval of
/// the rest's.
fn goes_on(batches: &[f64], whole: &Trend, cut: usize) -> bool {
    let rest = &batches[cut..];
    let of_rest = Trend::of(rest);
    let slope = whole.slope(batches);
    let share = crate::ratio(slope * rest.len() as f64, student::mean(rest)).unwrap_or(0.0);
    is_trend(whole) && (of_rest.low..=of_rest.high).contains(&share)
}

/// Whether the mean of the first `cut` batches differs from that of the others: a t test with the spread and the
/// autocorrelation of the others.
fn differs(batches: &[f64], cut: usize) -> bool {
    let (start, rest) = batches.split_at(cut);
    let Some((mean, deviation)) = student::mean_and_deviation(rest) else { return true };
    if start.is_empty() {
        return false;
    }
    let of_rest = Trend::of(rest);
    let of_start = student::mean(start);
    // Variance of a mean of n neighbours, in units of the variance of one.
    let of_mean = |n: usize| trend::variance_factor(of_rest.autocorrelation, n) / n as f64;
    let error = deviation * (of_mean(start.len()) + of_mean(rest.len())).sqrt();
    let distance = if of_start == mean { 0.0 } else { of_start - mean };
    let degrees = (of_rest.effective - 1.0).max(1.0);
    student::two_sided_p(distance / error, degrees).is_none_or(|p| p < CUT_LEVEL)
}

/// Whether noise as that of the batches puts five rounds as far apart as `range` (a share of the mean) in more than 1 %
/// of cases. The noise is what is left around a straight line or around one step, whichever leaves less: neither a
/// drift nor a step is noise.
fn noise_explains(range: f64, batches: &[f64]) -> bool {
    let line: Vec<f64> = {
        let slope = Trend::of(batches).slope(batches);
        (0_u32..).zip(batches).map(|(i, v)| v - slope * f64::from(i)).collect()
    };
    let step = around_best_step(batches);
    let squares = |left: &[f64]| student::mean_and_deviation(left).map_or(0.0, |(_, deviation)| deviation.powi(2));
    let left = if squares(&line) < squares(&step) { line } else { step };
    let per_round = (batches.len() / ROUNDS).max(1);
    let factor = trend::variance_factor(trend::autocorrelation(&left), per_round);
    let of_round = (squares(&left) * factor / per_round as f64).sqrt();
    range * student::mean(batches) <= ROUNDS_RANGE_OF_NOISE * of_round
}

/// What is left of each value when the means before and after the best single step are taken out.
fn around_best_step(values: &[f64]) -> Vec<f64> {
    let around = |at: usize| -> Vec<f64> {
        let (before, after) = values.split_at(at);
        let centred = |part: &[f64]| {
            let mean = student::mean(part);
            part.iter().map(|v| v - mean).collect::<Vec<_>>()
        };
        [centred(before), centred(after)].concat()
    };
    let squares = |left: &[f64]| left.iter().map(|v| v * v).sum::<f64>();
    (1..values.len()).map(around).min_by(|a, b| squares(a).total_cmp(&squares(b))).unwrap_or_else(|| values.to_vec())
}

/// The best cut in batches, at most half of them, by MSER-5 (White, Cobb & Spratt, "A comparison of five steady-state
/// truncation heuristics for simulation", WSC 2000): of all cuts the one after which the squared standard error of the
/// mean of the batches is smallest. `None` below four batches.
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
    series.chunks_exact(BATCH).map(student::mean).collect()
}

/// (largest - smallest) / mean of five rounds of equal length; 0 below five values.
fn rounds_range(series: &[f64]) -> f64 {
    let length = series.len() / ROUNDS;
    if length == 0 {
        return 0.0;
    }
    let rounds: Vec<f64> = series.rchunks_exact(length).take(ROUNDS).map(student::mean).collect();
    let largest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let smallest = rounds.iter().copied().fold(f64::MAX, f64::min);
    crate::ratio(largest - smallest, student::mean(&rounds)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
