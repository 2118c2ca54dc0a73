//! The trial began with a backlog of compaction: what became of it, and that its figures are of no steady state.

use reported::cassandra::{BACKLOG_COMPACTED_UNTIL_S, BACKLOG_SSTABLES};
use serde::{Deserialize, Serialize};

use crate::document::work::DatabaseFigures;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A backlog of compaction with which the trial began. Moments are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// SSTables when measurement had begun.
    pub sstables: f64,
    /// At its end; `None` where a node does not say.
    pub sstables_left: Option<f64>,
    /// From when it was compacted.
    pub compacts_from_s: f64,
    /// Until when; `None`: one node still had some at the end, or does not say.
    pub compacted_until_s: Option<f64>,
    /// Bytes that compactions wrote; `None` where a node does not say.
    pub compacted_bytes: Option<f64>,
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Throughput while it was compacted.
    pub operations_per_s_meanwhile: Option<f64>,
    /// Throughput after that.
    pub operations_per_s_after: Option<f64>,
}

/// The trial began with a backlog of compaction, which was compacted before its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionBacklog(pub Backlog);

/// The same, and it was still being compacted at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionBacklogLeft(pub Backlog);

/// It was compacted before the end.
pub(crate) fn compacted(trial: &TrialMeasurement) -> Option<Seen<CompactionBacklog>> {
    let backlog = of_trial(trial).filter(|backlog| backlog.compacted_until_s.is_some())?;
    Some(CompactionBacklog(backlog).into())
}

/// It was still being compacted at the end.
pub(crate) fn left(trial: &TrialMeasurement) -> Option<Seen<CompactionBacklogLeft>> {
    let backlog = of_trial(trial).filter(|backlog| backlog.compacted_until_s.is_none())?;
    Some(CompactionBacklogLeft(backlog).into())
}

/// What the trial began with and ended with, and its throughput while the backlog was compacted and after that.
fn of_trial(trial: &TrialMeasurement) -> Option<Backlog> {
    let backlog = trial.backlog?;
    let client = trial.record.client.as_ref()?;
    let until_s = backlog.until_s.unwrap_or(client.measured_s);
    Some(Backlog {
        sstables: backlog.sstables,
        sstables_left: backlog.sstables_left,
        compacts_from_s: backlog.from_s,
        compacted_until_s: backlog.until_s,
        compacted_bytes: backlog.compacted_bytes,
        measured_s: client.measured_s,
        operations_per_s_meanwhile: throughput(trial, backlog.from_s, until_s),
        operations_per_s_after: throughput(trial, until_s, client.measured_s),
    })
}

/// Completed operations per second in the whole seconds between two moments; `None` where there is none.
fn throughput(trial: &TrialMeasurement, from_s: f64, to_s: f64) -> Option<f64> {
    let (first, end) = (from_s.max(0.0).ceil() as usize, to_s.max(0.0).floor() as usize);
    let seconds = trial.seconds.get(first..end.min(trial.seconds.len()))?;
    let completed: u64 = seconds.iter().map(|second| second.completed).sum();
    stats::ratio(completed as f64, seconds.len() as f64)
}

/// The figures that tables have of it: medians over a cell's valid trials.
pub(crate) fn add_figures(database: &mut DatabaseFigures, trials: &[&TrialMeasurement]) {
    let backlogs = || trials.iter().filter_map(|t| t.backlog);
    let median = |values: Vec<f64>| stats::median(&values);
    database.set(&BACKLOG_SSTABLES, median(backlogs().map(|b| b.sstables).collect()));
    let until_s: Option<Vec<f64>> = backlogs().map(|b| b.until_s).collect();
    database.set(&BACKLOG_COMPACTED_UNTIL_S, until_s.and_then(median));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::CompactedBacklog;
    use crate::rule::Rule;
    use crate::rules::cases::{changed, found, seen};

    fn with(until_s: Option<f64>) -> TrialMeasurement {
        changed(|t| {
            t.window.judged = None;
            t.backlog = Some(CompactedBacklog {
                sstables: 9.0,
                sstables_left: Some(2.0),
                from_s: 1.2,
                until_s,
                compacted_bytes: Some(5e6),
            });
        })
    }

    #[test]
    fn a_backlog_is_reported_and_one_that_is_left_is_a_doubt() {
        let done = with(Some(20.0));
        let CompactionBacklog(reported) = seen(&done).unwrap();
        assert_eq!((reported.sstables, reported.sstables_left), (9.0, Some(2.0)));
        assert_eq!(reported.compacted_until_s, Some(20.0));
        assert_eq!(reported.operations_per_s_after, Some(2_000.0));
        // Neither steady nor too short: that is no question here.
        assert!(found(&done, Rule::TooShortToJudge).is_none());
        let left = with(None);
        let CompactionBacklogLeft(reported) = seen(&left).unwrap();
        assert_eq!((reported.compacted_until_s, reported.operations_per_s_after), (None, None));
        assert!(found(&left, Rule::CompactionBacklog).is_none());
    }
}
