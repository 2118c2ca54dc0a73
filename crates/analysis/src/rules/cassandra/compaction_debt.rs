//! Did compaction keep up with what was written?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// Compactions fell behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CompactionDebt {
    /// Waiting or running at the start of the window.
    pub compactions_start: f64,
    pub compactions_end: f64,
    pub threshold_growth_share: f64,
    pub threshold_tasks: f64,
}

/// More waiting at the end than at the start, by this share (practice: end > start + 10 %) ...
const COMPACTION_GROWTH: f64 = 0.1;
/// ... and by this many tasks: one task more or less is how compaction works.
const COMPACTION_TASKS: f64 = 2.0;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CompactionDebt>> {
    worst(trial, |node| {
        let (start, end) = node.host.background_work?;
        let figures = CompactionDebt {
            compactions_start: start,
            compactions_end: end,
            threshold_growth_share: COMPACTION_GROWTH,
            threshold_tasks: COMPACTION_TASKS,
        };
        (end > start * (1.0 + COMPACTION_GROWTH) && end - start >= COMPACTION_TASKS).then_some((end - start, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn a_tenth_more_and_two_tasks_more() {
        fires(
            Rule::CompactionDebt,
            &[
                ((0.0, 1.9), false),
                ((0.0, 2.0), true),
                ((30.0, 32.5), false),
                ((30.0, 33.5), true),
                ((9.0, 2.0), false),
            ],
            |compactions| changed_host(|h| h.background_work = Some(compactions)),
        );
    }
}
