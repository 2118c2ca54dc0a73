//! Do the client's counters and its histograms tell the same story?

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

/// They must agree within this share; a response in flight at the edge of the window may be counted on one side only.
const COUNT_MISMATCH_MAX: f64 = 0.01;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let (counted, recorded) = (trial.counted(), trial.recorded);
    let apart = stats::ratio(counted.abs_diff(recorded) as f64, counted.max(recorded) as f64)
        .filter(|apart| *apart > COUNT_MISMATCH_MAX)?;
    let numbers = [
        ("completed", counted as f64),
        ("recorded_latencies", recorded as f64),
        ("difference_share", apart),
        ("threshold", COUNT_MISMATCH_MAX),
    ];
    Some(Finding::new(Rule::CountsDisagree, scope(trial), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed, fires};

    #[test]
    fn one_percent_in_either_direction_is_allowed() {
        let with = |recorded| changed(|t| t.recorded = recorded);
        fires(
            Rule::CountsDisagree,
            &[
                (120_000, false),
                (119_000, false),
                (118_000, true),
                (121_000, false),
                (122_000, true),
                (0, true),
            ],
            with,
        );
    }
}
