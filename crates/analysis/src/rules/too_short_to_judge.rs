//! Was there enough to distinguish a steady state from a passing one?

use serde::{Deserialize, Serialize};
use stats::SteadyVerdict;

use super::cassandra::code_not_warm;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Too short to tell a steady state from a passing one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TooShortToJudge {
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Seconds that it takes at the least.
    pub needed_s: f64,
    /// What made it too short although it was judged; `None`: it has too few seconds to be judged at all.
    pub judged: Option<WorthLittle>,
    /// Whether it could be judged only up to its first planned fault.
    pub until_fault: bool,
    /// Whether the database's code was seen to be compiled.
    pub code_is_warm: bool,
}

/// Seconds that are worth too few independent ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorthLittle {
    /// Seconds that were cut off as start-up.
    pub cut_s: f64,
    /// Independent batches of five seconds that they are worth.
    pub independent_batches: f64,
    /// Change over the window, share of the mean: low end of its 95 % interval.
    pub change_low_share: f64,
    /// High end.
    pub change_high_share: f64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<TooShortToJudge>> {
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
    Some(figures.into())
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
        fires(Rule::TooShortToJudge, &[(5, true), (19, true), (39, true), (60, false), (120, false)], with);
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
