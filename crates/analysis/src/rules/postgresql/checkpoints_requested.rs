//! Did checkpoints follow each other because the write-ahead log was full, and not because it was time?
//!
//! After a checkpoint the first change of each page is logged whole, and what has changed is written anew; so
//! checkpoints that come sooner than a server's `checkpoint_timeout` make each write more expensive, in WAL and in
//! bytes of data (PostgreSQL: "WAL Configuration").

use reported::postgresql::CHECKPOINTS_REQUESTED;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// Checkpoints followed each other because the WAL was full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointsRequested {
    /// How many of the window.
    pub checkpoints_requested: f64,
    /// One in so many seconds.
    pub every_s: f64,
    /// How far they may be apart at the least, seconds.
    pub threshold_s: f64,
}

/// `checkpoint_warning` as PostgreSQL is shipped, seconds: its log advises then to raise `max_wal_size` (PostgreSQL:
/// "Write Ahead Log", Checkpoints).
const APART_MIN_S: f64 = 30.0;
/// Of one alone nothing is known of how far it is from the next.
const AT_LEAST: f64 = 2.0;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CheckpointsRequested>> {
    worst(trial, |node| {
        let requested = node.host.work.course(&CHECKPOINTS_REQUESTED).grown().filter(|n| *n >= AT_LEAST)?;
        let every_s = trial.window_s() / requested;
        let figures = CheckpointsRequested { checkpoints_requested: requested, every_s, threshold_s: APART_MIN_S };
        (every_s < APART_MIN_S).then_some((requested, figures))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires, seen};
    use crate::work::Course;

    fn with(requested: Option<f64>) -> TrialMeasurement {
        changed_host(|h| h.work.set(&CHECKPOINTS_REQUESTED, Course::from_zero(requested)))
    }

    /// A window of about a minute.
    #[test]
    fn one_in_a_minute_is_none_and_three_are() {
        let cases = [(None, false), (Some(0.0), false), (Some(1.0), false), (Some(3.0), true)];
        fires(Rule::CheckpointsRequested, &cases, with);
        let trial = with(Some(3.0));
        let CheckpointsRequested { checkpoints_requested, every_s, .. } = seen(&trial).unwrap();
        assert_eq!((checkpoints_requested, every_s), (3.0, trial.window_s() / 3.0));
    }

    #[test]
    fn one_in_a_short_window_says_nothing_of_the_next() {
        let in_twenty_seconds = |requested: f64| {
            let mut trial = with(Some(requested));
            trial.window.to_s = trial.window.from_s + 20.0;
            finding(&trial).map(|seen| seen.figures.every_s)
        };
        assert_eq!([1.0, 2.0].map(in_twenty_seconds), [None, Some(10.0)]);
    }
}
