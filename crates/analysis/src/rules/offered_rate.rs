//! Open loop: was the rate achieved that was offered?
//!
//! Less is saturation: requests queue, and latencies grow with the length of the trial. More is a backlog from before
//! the window (a warm-up that the configuration did not keep up with) that was worked off inside it: neither rate nor
//! latency is that of the load asked for.

use experiment::{Arrivals, LoadLevel};
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// An offered rate, and what was achieved of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct OfferedRate {
    pub offered_ops_per_s: f64,
    pub achieved_ops_per_s: f64,
    pub share: f64,
    pub allowed_off: f64,
    /// Requests of the window more than were offered; fewer where negative.
    pub requests_off: f64,
}

/// Open loop: less than the offered rate was achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedNotAchieved(pub OfferedRate);

/// Open loop: more than the offered rate was achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BacklogDrained(pub OfferedRate);

/// Achieved / offered may be off by this much in either direction (practice: below 0.99 a load is saturated).
pub const OFF_MAX: f64 = 0.01;
/// Poisson arrivals: standard deviations of the number of requests of the window that chance may add.
const POISSON_DEVIATIONS: f64 = 3.0;

/// Share of the `expected` requests of a window by which chance may change their number.
pub(crate) fn off_by_chance(arrivals: Arrivals, expected: f64) -> f64 {
    match arrivals {
        Arrivals::Poisson => POISSON_DEVIATIONS / expected.sqrt(),
        Arrivals::Constant => 0.0,
        // The rate is a mean of the whole recording: a window of it may have any.
        Arrivals::Recorded => f64::INFINITY,
    }
}

/// Less was achieved than was offered.
pub(crate) fn not_achieved(trial: &TrialMeasurement) -> Option<Seen<OfferedNotAchieved>> {
    let rate = of_trial(trial).filter(|rate| rate.share - 1.0 < -rate.allowed_off)?;
    Some(OfferedNotAchieved(rate).into())
}

/// More was achieved than was offered.
pub(crate) fn drained(trial: &TrialMeasurement) -> Option<Seen<BacklogDrained>> {
    let rate = of_trial(trial).filter(|rate| rate.share - 1.0 > rate.allowed_off)?;
    Some(BacklogDrained(rate).into())
}

fn of_trial(trial: &TrialMeasurement) -> Option<OfferedRate> {
    let LoadLevel::Rate { operations_per_s: offered, arrivals } = trial.record.load else { return None };
    let achieved = trial.throughput()?;
    let expected = offered * trial.window_s();
    Some(OfferedRate {
        offered_ops_per_s: offered,
        achieved_ops_per_s: achieved,
        share: stats::ratio(achieved, offered)?,
        allowed_off: OFF_MAX + off_by_chance(arrivals, expected),
        requests_off: (achieved - offered) * trial.window_s(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{found, recorded};

    /// 2,000 operations/s for 60 s were achieved: 120,000, of which chance moves 3 / sqrt(120,000) = 0.87 %.
    #[test]
    fn one_percent_and_chance_are_allowed_in_either_direction() {
        let with = |operations_per_s: f64, arrivals| {
            let trial = recorded(|r| {
                r.load = LoadLevel::Rate { operations_per_s, arrivals };
            });
            [Rule::OfferedNotAchieved, Rule::BacklogDrained].map(|rule| found(&trial, rule).is_some())
        };
        for (offered, arrivals, below, above) in [
            (2000.0, Arrivals::Constant, false, false),
            (2015.0, Arrivals::Constant, false, false),
            (2025.0, Arrivals::Constant, true, false),
            (1985.0, Arrivals::Constant, false, false),
            (1975.0, Arrivals::Constant, false, true),
            (2025.0, Arrivals::Poisson, false, false),
            (2045.0, Arrivals::Poisson, true, false),
            (1975.0, Arrivals::Poisson, false, false),
            (1955.0, Arrivals::Poisson, false, true),
            // A backlog of the warm-up: 7,620 of 7,350.
            (2000.0 * 7350.0 / 7620.0, Arrivals::Poisson, false, true),
            (2500.0, Arrivals::Poisson, true, false),
        ] {
            assert_eq!(with(offered, arrivals), [below, above], "{offered} {arrivals:?}");
        }
    }
}
