//! Was there enough to tell a steady state from a passing one?

use stats::SteadyVerdict;

use super::cassandra::code_not_warm;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::trial::{TooShortToJudge, WorthLittle};

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    // `None`: too few seconds to be judged at all.
    let judged = match trial.window.judged {
        None => None,
        Some(judged) if judged.verdict != SteadyVerdict::TooShort => return None,
        Some(judged) => Some(WorthLittle {
            cut_s: judged.from as f64,
            independent_batches: judged.effective_batches,
            change_low_share: judged.change_low,
            change_high_share: judged.change_high,
        }),
    };
    let figures = TooShortToJudge {
        measured_s: client.measured_s,
        needed_s: stats::JUDGED_FROM as f64,
        judged,
        until_fault: !trial.record.faults.is_empty(),
        // What was not compiled is the most usual reason why a short trial is none at rest.
        code_is_warm: code_not_warm::is_warm(trial),
    };
    Some(Finding::new(scope(trial), figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, seen};
    use crate::steady::window;

    #[test]
    fn less_than_forty_seconds_are_too_short_and_sixty_at_rest_are_not() {
        let rest = |seconds: usize| -> Vec<f64> { (0..seconds).map(|t| 1000.0 + (t * 37 % 11) as f64).collect() };
        let with = |seconds: usize| changed(|t| t.window = window(&rest(seconds), seconds as f64));
        fires(
            Rule::TooShortToJudge,
            &[(5, true), (19, true), (39, true), (60, false), (120, false)],
            with,
        );
        assert_eq!(seen::<TooShortToJudge>(&with(5)).unwrap().judged, None);
    }

    /// An excursion that comes and goes within the trial is one independent observation.
    #[test]
    fn seconds_that_hang_together_are_worth_few() {
        let wave: Vec<f64> = (0..120).map(|t| 1000.0 + 50.0 * (f64::from(t) / 19.0).sin()).collect();
        let trial = changed(|t| t.window = window(&wave, 120.0));
        let found = seen::<TooShortToJudge>(&trial).unwrap();
        let worth = found.judged.as_ref().unwrap();
        assert!(worth.independent_batches < 4.0, "{found:?}");
    }
}
