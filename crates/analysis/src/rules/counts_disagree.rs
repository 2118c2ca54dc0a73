//! Do the client's counters and its histograms tell the same story?

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::trial::CountsDisagree;

/// They must agree within this share; a response in flight at the edge of the window may be counted on one side only.
const COUNT_MISMATCH_MAX: f64 = 0.01;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let (counted, recorded) = (trial.counted(), trial.recorded);
    let apart = stats::ratio(counted.abs_diff(recorded) as f64, counted.max(recorded) as f64)
        .filter(|apart| *apart > COUNT_MISMATCH_MAX)?;
    let figures = CountsDisagree {
        completed: counted,
        recorded_latencies: recorded,
        difference_share: apart,
        threshold: COUNT_MISMATCH_MAX,
    };
    Some(Finding::new(scope(trial), figures))
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
