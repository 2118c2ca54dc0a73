//! Where a recording seems to have holes.
//!
//! A full query log that does not block drops what it cannot write in time, and says so nowhere in itself; one that has
//! reached its size loses its oldest files. What is dropped leaves a pause that its own rate makes unlikely.

use std::iter::once;

use serde::{Deserialize, Serialize};

/// Requests that are missing by the usual rate, from which a pause is unlikely: of a Poisson process at that rate one
/// pause in e^20 (5e8) is as long.
const UNLIKELY: f64 = 20.0;
const SECOND_US: u64 = 1_000_000;

/// Pauses that the usual rate makes unlikely: requests were dropped, or none were made.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Gaps {
    /// How many.
    pub number: u64,
    /// Seconds of the longest.
    pub longest_s: f64,
    /// Seconds of all together.
    pub together_s: f64,
    /// Requests of a usual second: the median of all seconds that have any.
    pub usual_per_s: f64,
}

impl Gaps {
    /// Of times in their order, microseconds.
    pub(crate) fn of(times_us: impl Iterator<Item = u64> + Clone) -> Self {
        Self::at_rate(usual(times_us.clone()), times_us)
    }

    /// The same of one node's log, which is to begin and end with those of the others.
    pub(crate) fn of_node(times_us: impl Iterator<Item = u64> + Clone, (begin_us, end_us): (u64, u64)) -> Self {
        let usual_per_s = usual(times_us.clone());
        Self::at_rate(usual_per_s, once(begin_us).chain(times_us).chain(once(end_us)))
    }

    fn at_rate(usual_per_s: f64, times_us: impl Iterator<Item = u64> + Clone) -> Self {
        let mut gaps = Self { usual_per_s, ..Self::default() };
        for (before, after) in times_us.clone().zip(times_us.skip(1)) {
            let gap_s = after.saturating_sub(before) as f64 / SECOND_US as f64;
            if gap_s * usual_per_s >= UNLIKELY {
                gaps.number += 1;
                gaps.longest_s = gaps.longest_s.max(gap_s);
                gaps.together_s += gap_s;
            }
        }
        gaps
    }
}

/// The median number of requests of the seconds that have any.
fn usual(times_us: impl Iterator<Item = u64>) -> f64 {
    let mut counts: Vec<u32> = Vec::new();
    let mut second = None;
    for at in times_us.map(|at| at / SECOND_US) {
        match counts.last_mut().filter(|_| second == Some(at)) {
            Some(count) => *count += 1,
            None => counts.push(1),
        }
        second = Some(at);
    }
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().map_or(0.0, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(step_us: u64, from_s: u64, to_s: u64) -> impl Iterator<Item = u64> + Clone {
        (from_s * SECOND_US..to_s * SECOND_US).step_by(step_us as usize)
    }

    #[test]
    fn a_pause_that_the_rate_makes_unlikely_is_a_hole() {
        let whole = Gaps::of(every(10_000, 0, 20));
        assert_eq!((whole.number, whole.usual_per_s), (0, 100.0));
        let holed = Gaps::of(every(10_000, 0, 5).chain(every(10_000, 7, 20)));
        assert_eq!((holed.number, holed.usual_per_s), (1, 100.0));
        assert!((holed.longest_s - 2.01).abs() < 1e-9 && holed.longest_s == holed.together_s, "{holed:?}");
    }

    #[test]
    fn a_slow_log_may_pause_longer() {
        assert_eq!(Gaps::of(every(SECOND_US, 0, 5).chain(every(SECOND_US, 20, 30))).number, 0);
        assert_eq!(Gaps::of(every(SECOND_US, 0, 5).chain(every(SECOND_US, 30, 40))).number, 1);
        assert_eq!(Gaps::of(std::iter::empty()), Gaps::default());
    }
}
