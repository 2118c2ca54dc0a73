//! `rate = "find"`: what to try next. A pure function of what was tried, so that a run that was killed goes on where it
//! stood.
//!
//! A closed loop gives the most that the database does; no open loop is faster for long. From there the highest rate
//! that meets the objective is bracketed, and the bracket is halved (on the logarithmic scale) until its ends lie a
//! tenth apart. What missed it right after a higher load is tried again before it counts as an end. Probes are short
//! and their latencies uncertain: what they find is where to look, and whole trials say what is so.

use evidence::RateProbe;
use experiment::{LEVELS, LoadLevel, Objective};

use crate::score;

/// Share of the closed loop's throughput at which the first probe is made: queues are short enough there for most
/// bounds (use of 70 %; the rule of thumb of queueing).
const FIRST: f64 = 0.7;
/// The ends of the bracket are this close before trials are made.
const CLOSE: f64 = 1.10;
/// Steps down while nothing meets the objective, ...
const DOWN: f64 = 0.6;
/// ... to this share of the closed loop's throughput: below it there is next to no load, and no queue.
const FLOOR: f64 = 0.02;
/// Where everything meets the objective up to the closed loop's throughput: beyond it by this factor, ...
const BEYOND: f64 = 1.05;
/// ... then by steps of this one.
const UP: f64 = 1.25;
/// Most probes besides the closed loop.
const MOST: usize = 10;

/// What a search does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A closed loop, which says how much the database does at most.
    Ceiling,
    /// A short open loop at this rate, operations per second on the machine that runs it.
    Probe(f64),
    /// Whole trials at these rates, ascending.
    Measure(Vec<f64>),
    /// Not even next to no load meets the objective.
    Nothing,
}

/// What to try after these probes of one search.
pub fn next_step(objective: &Objective, probes: &[RateProbe]) -> Step {
    let closed = probes.iter().find(|p| matches!(p.load, LoadLevel::Concurrency(_)));
    let Some(ceiling) = closed.map(RateProbe::completed_per_s).filter(|rate| *rate > 0.0) else {
        return if closed.is_some() { Step::Nothing } else { Step::Ceiling };
    };
    let tried: Vec<(f64, f64)> = probes
        .iter()
        .filter_map(|probe| match probe.load {
            LoadLevel::Rate { operations_per_s, .. } => {
                // Of a bounded kind nothing completed: that is no rate that is carried.
                let score = score::of_probe(objective, probe).map_or(1.0, |score| score.value);
                Some((operations_per_s, score))
            }
            LoadLevel::Concurrency(_) => None,
        })
        .collect();
    let last_word = |at: usize| !tried[at + 1..].iter().any(|(rate, _)| *rate == tried[at].0);
    let known = || (0..tried.len()).filter(|at| last_word(*at)).map(|at| tried[at]);
    let meeting = known().filter(|(_, score)| *score <= 0.0);
    let missing = known().filter(|(_, score)| *score > 0.0);
    let highest = meeting.max_by(|a, b| a.0.total_cmp(&b.0));
    let lowest = missing.min_by(|a, b| a.0.total_cmp(&b.0));
    let is_last = tried.len() >= MOST;
    match (highest, lowest) {
        (None, None) => Step::Probe(FIRST * ceiling),
        (None, Some((rate, _))) if rate <= FLOOR * ceiling || is_last => Step::Nothing,
        (None, Some((rate, _))) => Step::Probe((DOWN * rate).max(FLOOR * ceiling)),
        (Some((rate, _)), None) if is_last => Step::Measure(around(rate)),
        (Some((rate, _)), None) if rate * CLOSE < BEYOND * ceiling => Step::Probe((rate * BEYOND * ceiling).sqrt()),
        (Some((rate, _)), None) if rate < BEYOND * ceiling => Step::Probe(BEYOND * ceiling * 1.01),
        (Some((rate, _)), None) => Step::Probe(rate * UP),
        // A higher rate met what a lower one missed: one of the two had luck, and trials will say which.
        (Some(high), Some(low)) if high.0 >= low.0 => Step::Measure(around((high.0 * low.0).sqrt())),
        (Some(low), Some(high)) if high.0 <= low.0 * CLOSE && !is_last && is_doubtful(&tried, high.0) => {
            Step::Probe(high.0)
        }
        (Some(low), Some(high)) if high.0 <= low.0 * CLOSE || is_last => Step::Measure(around(between(low, high))),
        (Some(low), Some(high)) => Step::Probe((low.0 * high.0).sqrt()),
    }
}

/// Whether this rate, which missed the objective, was tried only once, and after a higher load (the closed loop is
/// one): then it may have paid for what that left behind.
fn is_doubtful(tried: &[(f64, f64)], rate: f64) -> bool {
    let mut times = (0..tried.len()).filter(|at| tried[*at].0 == rate);
    match (times.next(), times.next()) {
        (Some(at), None) => at.checked_sub(1).is_none_or(|before| tried[before].0 > rate),
        _ => false,
    }
}

/// Where the score is 0 on a straight line between two probes.
fn between((low, meets): (f64, f64), (high, misses): (f64, f64)) -> f64 {
    let share = stats::ratio(-meets, misses - meets).unwrap_or(0.5);
    low + (high - low) * share
}

fn around(rate: f64) -> Vec<f64> {
    LEVELS.iter().map(|level| level * rate).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evidence::{LatencyFigures, OperationKind};
    use experiment::{Arrivals, LatencyFigure, LatencyObjective};

    use super::*;

    fn objective() -> Objective {
        Objective {
            latency: vec![LatencyObjective { operation: None, figure: LatencyFigure::P99, limit_us: 10_000.0 }],
            error_share: None,
            throughput: None,
            headroom: 0.3,
        }
    }

    fn probe(load: LoadLevel, completed: u64, p99: f64) -> RateProbe {
        let latency = LatencyFigures::of(|_| p99);
        RateProbe {
            search: "c.w.find".to_owned(),
            number: 1,
            load,
            seconds: 10.0,
            sent: completed,
            completed,
            failed: 0,
            response: BTreeMap::from([(OperationKind::Read, latency)]),
        }
    }

    /// Searches a database that does `ceiling` operations/s and meets the objective up to `truth`; by how many probes,
    /// and what it came to.
    fn found(ceiling: f64, truth: f64) -> (usize, Option<Vec<f64>>) {
        let mut probes = Vec::new();
        loop {
            match next_step(&objective(), &probes) {
                Step::Ceiling => probes.push(probe(LoadLevel::Concurrency(64), (ceiling * 10.0) as u64, 5e4)),
                Step::Probe(rate) => {
                    let load = LoadLevel::Rate { operations_per_s: rate, arrivals: Arrivals::Poisson };
                    let p99 = if rate > truth { 1e6 } else { 2_000.0 };
                    probes.push(probe(load, (rate * 10.0) as u64, p99));
                }
                Step::Measure(rates) => return (probes.len(), Some(rates)),
                Step::Nothing => return (probes.len(), None),
            }
            assert!(probes.len() < 20, "it comes to an end");
        }
    }

    #[test]
    fn wherever_the_truth_is_a_few_probes_come_within_a_tenth_of_it() {
        for share in [0.05, 0.1, 0.3, 0.5, 0.69, 0.71, 0.8, 0.95, 1.0, 1.04, 1.2, 1.5] {
            let (probes, rates) = found(1_000.0, 1_000.0 * share);
            let rates = rates.unwrap_or_else(|| panic!("{share}: nothing found"));
            let middle = rates[1] / (1_000.0 * share);
            assert!((0.9..1.1).contains(&middle), "{share}: {middle} after {probes}");
            assert!(probes <= 11, "{share}: {probes}");
        }
        let usual = found(1_000.0, 850.0);
        assert!(usual.0 <= 5, "{usual:?}");
    }

    #[test]
    fn an_objective_below_the_floor_is_given_up() {
        let (probes, rates) = found(1_000.0, 1.0);
        assert_eq!(rates, None);
        assert!(probes <= 11, "{probes}");
        assert_eq!(found(0.0, 1.0), (1, None), "a database that answers nothing");
    }

    #[test]
    fn what_missed_the_objective_after_a_higher_load_is_tried_again() {
        let rate = |operations_per_s| LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Poisson };
        let mut probes = vec![
            probe(LoadLevel::Concurrency(64), 10_000, 5e4),
            // The queue of the closed loop.
            probe(rate(700.0), 7_000, 22_000.0),
            probe(rate(650.0), 6_500, 5_000.0),
        ];
        assert_eq!(next_step(&objective(), &probes), Step::Probe(700.0));
        let mut sound = probes.clone();
        sound.push(probe(rate(700.0), 7_000, 6_000.0));
        assert!(matches!(next_step(&objective(), &sound), Step::Probe(more) if more > 700.0));
        probes.push(probe(rate(700.0), 7_000, 22_000.0));
        assert!(matches!(next_step(&objective(), &probes), Step::Measure(_)));
    }

    #[test]
    fn probes_that_contradict_each_other_are_left_to_trials() {
        let rate = |operations_per_s| LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Poisson };
        let probes = [
            probe(LoadLevel::Concurrency(64), 10_000, 5e4),
            probe(rate(700.0), 7_000, 11_000.0),
            probe(rate(900.0), 9_000, 9_000.0),
        ];
        let Step::Measure(rates) = next_step(&objective(), &probes) else { panic!("trials decide") };
        assert!((rates[1] - (700.0_f64 * 900.0).sqrt()).abs() < 1e-6, "{rates:?}");
    }
}
