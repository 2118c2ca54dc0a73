//! Was there enough to tell a steady state from a passing one?

use stats::SteadyVerdict;

use super::code_not_warm;
use super::scope::scope;
use crate::fact::{CODE, TooShort, UNTIL_FAULT, WARM};
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let measured_s = ("measured_s", client.measured_s);
    let needed_s = ("needed_s", stats::JUDGED_FROM as f64);
    let scope = scope(trial);
    let is_part = !trial.record.faults.is_empty();
    let told = |mut found: Finding| {
        if is_part {
            found = found.with("until", UNTIL_FAULT);
        }
        // What was not compiled is the most usual reason why a short trial is none at rest.
        match code_not_warm::is_warm(trial) {
            true => found.with(CODE, WARM),
            false => found,
        }
    };
    let Some(judged) = trial.window.judged else {
        let numbers = [measured_s, needed_s];
        let found = Finding::new(Rule::TooShortToJudge, scope, numbers);
        return Some(told(found.with("why", TooShort::Seconds.word())));
    };
    if judged.verdict != SteadyVerdict::TooShort {
        return None;
    }
    let numbers = [
        measured_s,
        needed_s,
        ("cut_s", judged.from as f64),
        ("independent_batches", judged.effective_batches),
        ("change_low_share", judged.change_low),
        ("change_high_share", judged.change_high),
    ];
    let found = Finding::new(Rule::TooShortToJudge, scope, numbers);
    Some(told(found.with("why", TooShort::Judged.word())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed, fires, found};
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
        assert_eq!(
            found(&with(5), Rule::TooShortToJudge).unwrap().fact("why"),
            Some("seconds")
        );
    }

    /// An excursion that comes and goes within the trial is one independent observation.
    #[test]
    fn seconds_that_hang_together_are_worth_few() {
        let wave: Vec<f64> = (0..120).map(|t| 1000.0 + 50.0 * (f64::from(t) / 19.0).sin()).collect();
        let trial = changed(|t| t.window = window(&wave, 120.0));
        let finding = found(&trial, Rule::TooShortToJudge).unwrap();
        assert!(finding.number("independent_batches").unwrap() < 4.0, "{finding:?}");
    }
}
