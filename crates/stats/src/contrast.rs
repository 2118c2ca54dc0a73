//! How far apart are two cells? An estimate on the logarithmic scale, its error, and how well that error itself is
//! known.
//!
//! Everything that is said about a comparison is read from one interval of it, so that no two sentences can contradict
//! each other.

use serde::{Deserialize, Serialize};

use crate::student;

/// Fewer repetitions than this are shown as what was observed and not tested: with two, an interval says next to
/// nothing (x / 2 for 8 % of noise), and a normal distribution cannot be checked at all.
pub const REPETITIONS_MIN: u64 = 3;

/// ln(a / b) with its standard error. Positive where `a` is larger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// Mean difference of logarithms.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
    /// Observations behind it: pairs of the same block, or trials of the smaller side.
    pub n: u64,
    /// Whether other cells had a say in the error; `false`: it comes from the two cells alone.
    pub pooled: bool,
}

impl Contrast {
    /// (low, high) of the ratio at `1 - level`; a level of 0.03 gives a 97 % interval.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = student::quantile(1.0 - level / 2.0, self.degrees).map_or(f64::INFINITY, |t| t * self.error);
        let half = if self.error == 0.0 { 0.0 } else { half };
        ((self.estimate - half).exp(), (self.estimate + half).exp())
    }

    /// The same where its spread may be larger than it happened to look: at `level` its interval is no narrower than
    /// one whose error is known to be `error`, by the normal distribution.
    #[must_use]
    pub fn no_surer_than(self, error: f64, level: f64) -> Self {
        let known = student::normal_two_sided(level) * error;
        let least = student::quantile(1.0 - level / 2.0, self.degrees).map_or(error, |t| known / t);
        Self { error: self.error.max(least), ..self }
    }

    /// Two-sided p-value of "the ratio is `ratio`", by Student's t.
    pub fn p_of(&self, ratio: f64) -> f64 {
        let distance = self.estimate - ratio.ln();
        // What rounding leaves of equal samples is no difference.
        let distance = if distance.abs() < 1e-12 { 0.0 } else { distance };
        student::two_sided_p(distance / self.error, self.degrees).unwrap_or(1.0)
    }

    /// The factor that an experiment of this size, with a spread like the one seen here, shows in 80 of 100 repetitions
    /// when it is judged at `level`. Both this experiment's spread and that of the next are uncertain; [`assured`]
    /// counts both.
    pub fn detectable(&self, level: f64) -> Option<f64> {
        Some((assured(self.degrees, level)? * self.error).exp())
    }

    /// Repetitions of a new experiment that refutes "the ratio is `ratio`" with a chance of [`POWER`] at `level`, if
    /// the estimate is the truth. The spread is as uncertain as in [`Contrast::detectable`]: for as many repetitions as
    /// there were, one is the inverse of the other. `None` where no affordable number (200) would.
    pub fn repetitions_to_refute(&self, ratio: f64, level: f64) -> Option<u32> {
        let distance = (self.estimate - ratio.ln()).abs();
        let single = self.error * (self.n as f64).sqrt();
        let degrees_each = self.degrees / (self.n as f64 - 1.0).max(1.0);
        let seen = spreads(self.degrees)?;
        let would = |n: u32| {
            let degrees = (f64::from(n) - 1.0) * degrees_each;
            let critical = student::quantile(1.0 - level / 2.0, degrees)?;
            let k = distance * f64::from(n).sqrt() / single;
            Some(shown(k, critical, &seen, &spreads(degrees)?))
        };
        let does = |n: u32| would(n).is_some_and(|chance| chance >= POWER);
        // More repetitions never show less.
        does(REPETITIONS_MAX).then_some(())?;
        let (mut low, mut high) = (2, REPETITIONS_MAX);
        while low < high {
            let middle = u32::midpoint(low, high);
            match does(middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Some(low)
    }

    /// Repetitions of a new experiment whose interval at `level` lies within these bounds of the ratio with a chance of
    /// [`POWER`], if the estimate is the truth and the spread as uncertain as in [`Contrast::repetitions_to_refute`]:
    /// two one-sided tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). `None` where no
    /// affordable number (200) would.
    pub fn repetitions_within(&self, (low, high): (f64, f64), level: f64) -> Option<u32> {
        let single = self.error * (self.n as f64).sqrt();
        let degrees_each = self.degrees / (self.n as f64 - 1.0).max(1.0);
        let room = (self.estimate - low.ln()).min(high.ln() - self.estimate);
        let seen = spreads(self.degrees).filter(|_| room > 0.0)?;
        let would = |n: u32| {
            let degrees = (f64::from(n) - 1.0) * degrees_each;
            let critical = student::quantile(1.0 - level / 2.0, degrees)?;
            let errors = |distance: f64| distance * f64::from(n).sqrt() / single;
            let (below, above) = (errors(self.estimate - low.ln()), errors(high.ln() - self.estimate));
            Some(enclosed(below, above, critical, &seen, &spreads(degrees)?))
        };
        // More repetitions never show less.
        let all: Vec<u32> = (2..=REPETITIONS_MAX).collect();
        let fewest = all.partition_point(|n| would(*n).is_none_or(|chance| chance < POWER));
        all.get(fewest).copied()
    }

    /// What may become of it with `n` observations in all, if its interval is drawn at `level` then: stochastic
    /// curtailment (Lan, Simon and Halperin, Sequential Analysis 1, 1982), if the spread is what was seen. `None` where
    /// nothing is known of the error.
    pub fn foreseen(&self, n: u32, level: f64) -> Option<Foreseen> {
        let n = f64::from(n).max(self.n as f64);
        let seen = self.n as f64 / n;
        let degrees = self.degrees * (n - 1.0) / (self.n as f64 - 1.0).max(1.0);
        let moves = student::quantile(1.0 - UNFORESEEN, self.degrees)? * self.error * (1.0 - seen).sqrt();
        let half = student::quantile(1.0 - level / 2.0, degrees)? * self.error * seen.sqrt();
        // The variance that was seen and that of what is to come, by their degrees of freedom.
        let to_come = self.degrees / student::chi_square_quantile(1.0 - UNFORESEEN, self.degrees)?;
        let share = self.degrees / degrees;
        let narrowest = half * (share + (1.0 - share) * to_come.min(1.0)).sqrt();
        Some(Foreseen { low: self.estimate - moves, high: self.estimate + moves, half, narrowest })
    }

    /// Mean of ln(a / b) - ln(ratio), counted as 0 where it is negative, as far as is known where the truth lies: what
    /// one loses by taking b for the better one (the linear loss of Chick and Inoue, Operations Research 49, 2001).
    pub fn expected_above(&self, ratio: f64) -> Option<f64> {
        let distance = self.estimate - ratio.ln();
        match self.error > 0.0 {
            true => Some(self.error * student::mean_above(-distance / self.error, self.degrees)?),
            false => Some(distance.max(0.0)),
        }
    }
}

/// Where a contrast may come to lie with more observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Foreseen {
    /// The lowest estimate that is likely.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Half the width of its interval.
    pub half: f64,
    /// The least half of it that is likely: the spread that was seen may have been large by chance.
    pub narrowest: f64,
}

/// An estimate goes further than foreseen with this chance, to each side, and a spread is smaller. A run that stops
/// then was wrong to do so at most as often, and loses an answer by it, never its truth.
const UNFORESEEN: f64 = 0.1;

/// Level at which a difference counts as shown, over all comparisons of a metric together. Not 5 %: so that of 400
/// experiments with equal configurations at most 5 % are called different with near certainty and not just on average;
/// so that pooling, whose checks are not perfect, stays below 5 % too; and so that looking again after each block
/// (`repetitions = "auto"`) does.
pub const LEVEL: f64 = 0.025;
/// More repetitions than this are not proposed.
const REPETITIONS_MAX: u32 = 200;
/// "In 80 of 100": the power that a promise speaks of (Cohen, Statistical Power Analysis for the Behavioral Sciences,
/// 1988, who takes 0.80 where nothing else is stated).
pub const POWER: f64 = 0.8;
/// Places at which the distribution of an estimated spread is looked at.
const PLACES: usize = 24;
/// [`assured`] is as close as after so many halvings.
const HALVINGS: f64 = 20.0;
/// Secants after which [`assured`] halves: six do with two degrees of freedom, two with many.
const SECANTS: u32 = 8;
/// A short secant has found it no further from the aim than this, as a quantile of the normal distribution: with one
/// degree of freedom that chance rises in steps, on which secants are short anywhere.
const FOUND: f64 = 1e-3;

/// Effect over standard error that is shown in 80 of 100 experiments when the standard error is an estimate with
/// `degrees` degrees of freedom on both sides: in the experiment that makes the promise and in the one that keeps it.
/// With many degrees of freedom this is the textbook sum of two quantiles; with two it is much more, because a small
/// spread is often luck.
///
/// Solves [`shown`]` = 0.8` for k, as closely as twenty halvings of the interval that it is looked for in. As a
/// quantile of the normal distribution that chance is nearly a straight line in k: 0 at the critical value, and
/// `k - critical` where the spread is known. So a few secants find it; the interval is halved where they lead out of it
/// or are many.
fn assured(degrees: f64, level: f64) -> Option<f64> {
    let critical = student::quantile(1.0 - level / 2.0, degrees)?;
    let spreads = spreads(degrees)?;
    let aim = student::normal_quantile(POWER);
    let (mut low, mut high) = (0.0, 4.0 * critical + 20.0);
    let close = high / HALVINGS.exp2();
    let (mut before, mut k) = ((critical, 0.0), critical + aim);
    for step in 0..SECANTS + HALVINGS as u32 + 2 {
        let at = student::normal_quantile(shown(k, critical, &spreads, &spreads));
        if at < aim {
            low = k;
        } else {
            high = k;
        }
        let secant = k + (aim - at) * (k - before.0) / (at - before.1);
        before = (k, at);
        let next = if step < SECANTS && low < secant && secant < high { secant } else { 0.5 * (low + high) };
        if (next - k).abs() < close && (step >= SECANTS || (at - aim).abs() < FOUND) {
            return Some(next);
        }
        k = next;
    }
    Some(k)
}

/// What a spread that is estimated with so many degrees of freedom may come to over the true one: roots of chi-square /
/// degrees, at places of equal probability.
fn spreads(degrees: f64) -> Option<Vec<f64>> {
    let at = |i: usize| student::chi_square_quantile((i as f64 + 0.5) / PLACES as f64, degrees);
    (0..PLACES).map(|i| Some((at(i)? / degrees).sqrt())).collect()
}

/// The chance that an effect of `k` estimated standard errors is shown beyond `critical` ones of the experiment that
/// is to show it: `E[ P(|Z + k s'| > t s) ]`, with Z standard normal, s' the estimate behind k and s that of the
/// experiment, each over the truth.
fn shown(k: f64, critical: f64, seen: &[f64], then: &[f64]) -> f64 {
    let chance = |promised: f64, s: f64| {
        student::normal_cdf(k * promised - critical * s) + student::normal_cdf(-k * promised - critical * s)
    };
    let all: f64 = seen.iter().map(|promised| then.iter().map(|s| chance(*promised, *s)).sum::<f64>()).sum();
    all / (seen.len() * then.len()) as f64
}

/// The chance that an interval of `critical` errors of the experiment to either side lies within bounds that are so
/// many estimated standard errors below and above the truth: `E[ P(t s - below s' <= Z <= above s' - t s) ]`, as in
/// [`shown`].
fn enclosed(below: f64, above: f64, critical: f64, seen: &[f64], then: &[f64]) -> f64 {
    let chance = |estimated: f64, s: f64| {
        let to = student::normal_cdf(above * estimated - critical * s);
        (to - student::normal_cdf(critical * s - below * estimated)).max(0.0)
    };
    let all: f64 = seen.iter().map(|estimated| then.iter().map(|s| chance(*estimated, *s)).sum::<f64>()).sum();
    all / (seen.len() * then.len()) as f64
}

/// The level at which each of several comparisons is judged, so that the chance of any false claim among them stays at
/// `level` (Holm, Scandinavian Journal of Statistics 6, 1979): of m, the smallest p-value is judged at level / m, the
/// next at level / (m - 1) as long as all before were rejected; those after the first that is not are judged at its
/// level. An interval made at this level excludes 1 exactly where Holm rejects, so that interval and verdict say the
/// same.
pub fn holm_levels(p_values: &[f64], level: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut levels = vec![level; p_values.len()];
    let mut stopped: Option<f64> = None;
    for (rank, index) in order.into_iter().enumerate() {
        let of_rank = level / (p_values.len() - rank) as f64;
        levels[index] = stopped.unwrap_or(of_rank);
        if stopped.is_none() && p_values[index] > of_rank {
            stopped = Some(of_rank);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(estimate: f64, error: f64, degrees: f64, n: u64) -> Contrast {
        Contrast { estimate, error, degrees, n, pooled: true }
    }

    #[test]
    fn an_interval_excludes_one_exactly_where_the_test_rejects() {
        for t in [1.0, 2.0, 2.57, 2.58, 4.0] {
            let c = contrast(0.1 * t, 0.1, 5.0, 6);
            let (low, high) = c.interval(0.05);
            assert_eq!(low > 1.0, c.p_of(1.0) < 0.05, "t = {t}");
            assert!(high > low);
        }
        let exact = contrast(0.0, 0.0, 4.0, 3);
        assert_eq!(exact.interval(0.03), (1.0, 1.0));
        assert_eq!(exact.p_of(1.0), 1.0);
    }

    #[test]
    fn an_error_that_may_be_larger_widens_an_interval_that_is_narrower_than_that() {
        let half = |error: f64, known: f64| {
            let (low, high) = contrast(0.0, error, 3.0, 2).no_surer_than(known, 0.05).interval(0.05);
            (high / low).ln() / 2.0
        };
        // 3.182 errors by Student's t of 3 degrees, 1.96 by the normal distribution.
        assert!((half(0.1, 0.16) - 0.3182).abs() < 1e-3 && (half(0.1, 0.17) - 1.96 * 0.17).abs() < 1e-3);
        assert!((half(0.0, 0.1) - 0.196).abs() < 1e-3);
    }

    #[test]
    fn holm_levels_reject_what_adjusted_p_values_reject() {
        // Holm's adjusted p-values: the smallest of m is multiplied by m, the next by m - 1, ..., never falling.
        let holm = |p: &[f64]| {
            let mut order: Vec<usize> = (0..p.len()).collect();
            order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
            let (mut adjusted, mut floor) = (vec![1.0; p.len()], 0.0_f64);
            for (rank, index) in order.into_iter().enumerate() {
                floor = floor.max(p[index] * (p.len() - rank) as f64).min(1.0);
                adjusted[index] = floor;
            }
            adjusted
        };
        for p in [vec![0.001, 0.02, 0.5], vec![0.009, 0.014, 0.029], vec![0.02, 0.02, 0.02], vec![0.2], vec![]] {
            let levels = holm_levels(&p, 0.03);
            let adjusted = holm(&p);
            for ((p, level), adjusted) in p.iter().zip(&levels).zip(&adjusted) {
                assert_eq!(*p <= *level, *adjusted <= 0.03, "{p} {level} {adjusted}");
            }
        }
    }

    #[test]
    fn with_many_degrees_of_freedom_the_promise_is_the_textbook_sum() {
        // 1.96 + 0.84
        assert!((assured(2000.0, 0.05).unwrap() - 2.80).abs() < 0.03, "{:?}", assured(2000.0, 0.05));
        assert!(assured(2.0, 0.03).unwrap() > 6.7, "{:?}", assured(2.0, 0.03));
    }

    #[test]
    fn a_promise_is_found_as_closely_as_by_twenty_halvings() {
        for degrees in [1.0, 2.0, 3.5, 6.0, 24.0, 2000.0] {
            let spreads = spreads(degrees).unwrap();
            for level in [0.05, 0.0025, 1e-6, 1e-7] {
                let critical = student::quantile(1.0 - level / 2.0, degrees).unwrap();
                let close = (4.0 * critical + 20.0) / f64::from(1 << 20);
                let k = assured(degrees, level).unwrap();
                let chance = |k| shown(k, critical, &spreads, &spreads);
                assert!(chance(k - close) <= POWER && POWER <= chance(k + close), "{degrees} {level}: {k}");
            }
        }
    }

    #[test]
    fn what_may_still_be_shown_is_foreseen() {
        // Of three pairs: 20 % at an error of 5 % may be shown with ten, 1 % may not, and a quiet pair may turn out
        // equal.
        let of = |estimate, error| contrast(estimate, error, 12.0, 3).foreseen(10, 0.002).unwrap();
        let shown = |f: Foreseen| f.high > f.half;
        assert!(shown(of(0.2, 0.05)));
        assert!(!shown(contrast(0.01, 0.05, 30.0, 8).foreseen(10, 0.002).unwrap()));
        assert!(of(0.0, 0.01).half < 0.05);
        // With nothing to come it is what it is.
        let now = contrast(0.2, 0.05, 12.0, 10).foreseen(10, 0.002).unwrap();
        assert_eq!((now.low, now.high), (0.2, 0.2));
        assert_eq!(contrast(0.2, 0.05, 12.0, 12).foreseen(10, 0.002).unwrap().low, 0.2);
    }

    /// Three pairs that spread by much may have done so by chance; thirty have not, and what was seen is seen.
    #[test]
    fn an_interval_may_become_narrower_than_a_spread_of_few_degrees_lets_expect() {
        let narrower = |degrees: f64, n: u64, most: u32| {
            let foreseen = contrast(0.0, 0.05, degrees, n).foreseen(most, 0.01).unwrap();
            foreseen.narrowest / foreseen.half
        };
        // Of 11 degrees 2 were seen; chi-square of 2 degrees is 4.605 at 90 %: (2 + 9 x 2 / 4.605) / 11.
        assert!((narrower(2.0, 3, 12) - 0.733).abs() < 0.001, "{}", narrower(2.0, 3, 12));
        assert!(narrower(58.0, 30, 40) > 0.97, "{}", narrower(58.0, 30, 40));
        assert_eq!(narrower(4.0, 12, 12), 1.0);
    }

    #[test]
    fn a_clear_lead_costs_nothing_and_a_close_one_what_its_error_is() {
        let loss = |estimate: f64| contrast(estimate, 0.05, 30.0, 3).expected_above(1.0).unwrap();
        assert!(loss(-0.5) < 1e-6, "{}", loss(-0.5));
        // E[max(Z, 0)] = 0.399; Student's t of 30 degrees has 30 / 29 times its density at 0.
        assert!((loss(0.0) / 0.05 - 0.4093).abs() < 0.001, "{}", loss(0.0) / 0.05);
        assert!((loss(0.5) - 0.5).abs() < 1e-6);
        assert_eq!(contrast(-0.1, 0.0, 4.0, 3).expected_above(1.0), Some(0.0));
    }

    #[test]
    fn more_repetitions_are_asked_for_where_the_difference_is_small() {
        // Three pairs whose differences have a spread of 11 % each.
        let error = 0.113 / 3.0_f64.sqrt();
        let near = contrast(0.05, error, 6.0, 3).repetitions_to_refute(1.0, 0.03).unwrap();
        let far = contrast(0.3, error, 6.0, 3).repetitions_to_refute(1.0, 0.03).unwrap();
        assert!((2..=5).contains(&far), "{far}");
        assert!((40..=70).contains(&near), "{near}");
        assert_eq!(contrast(0.0, error, 6.0, 3).repetitions_to_refute(1.0, 0.03), None);
    }

    /// Three pairs alone know their spread badly: the number that would do if it were known keeps no promise.
    #[test]
    fn repetitions_are_those_that_show_it_in_80_of_100_with_the_spread_as_uncertain_as_it_is() {
        for (degrees, n) in [(2.0, 3), (6.0, 3), (24.0, 5)] {
            let least = contrast(0.0, 0.05, degrees, n).detectable(0.025).unwrap().ln();
            let of = |estimate: f64| contrast(estimate, 0.05, degrees, n);
            let needed = |estimate: f64| of(estimate).repetitions_to_refute(1.0, 0.025).unwrap();
            let n = u32::try_from(n).unwrap();
            assert_eq!((needed(1.01 * least), needed(0.99 * least)), (n, n + 1), "{degrees} degrees of freedom");
        }
        let needed = |degrees: f64| contrast(0.1, 0.05, degrees, 3).repetitions_to_refute(1.0, 0.025).unwrap();
        // (2.24 + 0.84) standard errors of 8.7 % / sqrt(n), where the spread is known.
        assert!((7..=8).contains(&needed(2000.0)), "{}", needed(2000.0));
        assert!(needed(2.0) >= 12, "{}", needed(2.0));
    }

    /// Two one-sided tests, each with half of what is left of the chance where the truth lies in the middle.
    #[test]
    fn repetitions_are_those_whose_interval_lies_within_the_bounds_in_80_of_100() {
        let bounds = (1.0 / 1.05, 1.05);
        let needed = |estimate: f64, degrees: f64| {
            contrast(estimate, 0.03 / 3.0_f64.sqrt(), degrees, 3).repetitions_within(bounds, 0.025)
        };
        // (2.24 + 1.28) errors of 3 % / sqrt(n) in 4.88 %: 4.7, and a little more for the degrees of freedom to come.
        let known = needed(0.0, 2000.0).unwrap();
        assert!((5..=6).contains(&known), "{known}");
        // (2.24 + 0.84) of them in 2.88 %: 10.3.
        let aside = needed(0.02, 2000.0).unwrap();
        assert!((10..=12).contains(&aside), "{aside}");
        assert_eq!(needed(-0.02, 2000.0), Some(aside));
        assert!(needed(0.0, 2.0).unwrap() > 2 * known, "{:?}", needed(0.0, 2.0));
        // Nearly at a bound more are asked for than anybody does; at it, and beyond it, no number is enough.
        assert_eq!([0.046, 1.05_f64.ln(), 0.1].map(|estimate| needed(estimate, 2000.0)), [None; 3]);
        // Equal samples show it at once.
        assert_eq!(contrast(0.0, 0.0, 4.0, 3).repetitions_within(bounds, 0.025), Some(2));
    }
}
