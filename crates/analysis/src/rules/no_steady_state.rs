//! Had the database come to rest before it was measured? The judgement is [`stats::steady_state`].

use experiment::Plan;
use serde::{Deserialize, Serialize};
use stats::SteadyVerdict;

use super::trajectory;
use crate::fact::Trajectory;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Throughput was still changing while it was measured. Shares are of the mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoSteadyState {
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Seconds that were cut off as start-up.
    pub cut_s: f64,
    /// Change over the window.
    pub change_over_window_share: f64,
    /// Its 95 % interval: low end.
    pub change_low_share: f64,
    /// High end.
    pub change_high_share: f64,
    /// Of the trend test.
    pub trend_p_value: f64,
    /// Range of the five rounds.
    pub rounds_range_share: f64,
    /// Why it changes by plan, if it does.
    pub trajectory: Option<Trajectory>,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<NoSteadyState>> {
    let client = trial.record.client.as_ref()?;
    let judged = trial.window.judged.filter(|j| j.verdict == SteadyVerdict::Transient)?;
    let figures = NoSteadyState {
        measured_s: client.measured_s,
        cut_s: judged.from as f64,
        change_over_window_share: judged.change,
        change_low_share: judged.change_low,
        change_high_share: judged.change_high,
        trend_p_value: judged.trend_p,
        rounds_range_share: judged.rounds_range,
        trajectory: None,
    };
    Some(figures.into())
}

/// Adds the reason that the plan has for it.
pub(crate) fn complete(found: &mut NoSteadyState, trial: &TrialMeasurement, plan: &Plan) {
    found.trajectory = trajectory::by_plan(trial, plan, found.change_over_window_share > 0.0);
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires};
    use crate::steady::window;

    #[test]
    fn a_trend_that_is_large_and_shown_is_reported() {
        let drift = |over_window: f64| -> Vec<f64> {
            (0..60).map(|t| 1000.0 * (1.0 + over_window * f64::from(t) / 60.0) + f64::from(t * 37 % 11)).collect()
        };
        fires(Rule::NoSteadyState, &[(0.0, false), (0.01, false), (0.04, true), (-0.3, true)], |over_window| {
            changed(|t| t.window = window(&drift(over_window), 60.0))
        });
    }
}
