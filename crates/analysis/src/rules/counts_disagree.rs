//! Do the client's counters and its histograms agree?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Counters and histograms contradict each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CountsDisagree {
    pub completed: u64,
    pub recorded_latencies: u64,
    /// Difference, as a share of the larger.
    pub difference_share: f64,
    pub threshold: f64,
}

/// They must agree within this share; a response in flight at the edge of the window may be counted on one side only.
const COUNT_MISMATCH_MAX: f64 = 0.01;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CountsDisagree>> {
    let (counted, recorded) = (trial.counted(), trial.recorded);
    let apart = stats::ratio(counted.abs_diff(recorded) as f64, counted.max(recorded) as f64)
        .filter(|apart| *apart > COUNT_MISMATCH_MAX)?;
    let figures = CountsDisagree {
        completed: counted,
        recorded_latencies: recorded,
        difference_share: apart,
        threshold: COUNT_MISMATCH_MAX,
    };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires};

    #[test]
    fn one_percent_in_either_direction_is_allowed() {
        let with = |recorded| changed(|t| t.recorded = recorded);
        fires(
            Rule::CountsDisagree,
            &[(120_000, false), (119_000, false), (118_000, true), (121_000, false), (122_000, true), (0, true)],
            with,
        );
    }
}
