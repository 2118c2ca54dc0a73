//! The trial began with a backlog of compaction: what became of it, and that its figures are of no steady state.

use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::cassandra::{Backlog, CompactionBacklog, CompactionBacklogLeft};
use crate::rule::Remark;
use crate::rules::scope::scope;

/// What the trial began with and ended with, and its throughput while the backlog was compacted and after that. A doubt where it
/// was still being compacted at the end.
pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let backlog = trial.backlog?;
    let client = trial.record.client.as_ref()?;
    let until_s = backlog.until_s.unwrap_or(client.measured_s);
    let figures = Backlog {
        sstables: backlog.sstables,
        sstables_left: backlog.sstables_left,
        compacts_from_s: backlog.from_s,
        compacted_until_s: backlog.until_s,
        compacted_bytes: backlog.compacted_bytes,
        measured_s: client.measured_s,
        operations_per_s_meanwhile: throughput(trial, backlog.from_s, until_s),
        operations_per_s_after: throughput(trial, until_s, client.measured_s),
    };
    let remark = match backlog.until_s {
        Some(_) => Remark::from(CompactionBacklog(figures)),
        None => Remark::from(CompactionBacklogLeft(figures)),
    };
    Some(Finding::new(scope(trial), remark))
}

/// Completed operations per second in the whole seconds between two moments; `None` where there is none.
fn throughput(trial: &TrialMeasurement, from_s: f64, to_s: f64) -> Option<f64> {
    let (first, end) = (from_s.max(0.0).ceil() as usize, to_s.max(0.0).floor() as usize);
    let seconds = trial.seconds.get(first..end.min(trial.seconds.len()))?;
    let completed: u64 = seconds.iter().map(|second| second.completed).sum();
    stats::ratio(completed as f64, seconds.len() as f64)
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
        assert!(found(&done, Rule::TooShortToJudge).is_none(), "{:?}", done.findings);
        let left = with(None);
        let CompactionBacklogLeft(reported) = seen(&left).unwrap();
        assert_eq!(
            (reported.compacted_until_s, reported.operations_per_s_after),
            (None, None)
        );
        assert!(found(&left, Rule::CompactionBacklog).is_none());
    }
}
