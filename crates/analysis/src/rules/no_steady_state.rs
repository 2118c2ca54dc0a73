//! Had the database come to rest before it was measured? The judgement is [`stats::steady_state`].

use experiment::Plan;
use stats::SteadyVerdict;

use super::scope::scope;
use super::trajectory;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::trial::NoSteadyState;
use crate::rule::Remark;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
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
    Some(Finding::new(scope(trial), figures))
}

/// The finding with the reason that the plan has for it.
pub fn completed(mut finding: Finding, trial: &TrialMeasurement, plan: &Plan) -> Finding {
    if let Remark::NoSteadyState(found) = &mut finding.remark {
        found.trajectory = trajectory::by_plan(trial, plan, found.change_over_window_share > 0.0);
    }
    finding
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires};
    use crate::steady::window;

    #[test]
    fn a_trend_that_is_large_and_shown_is_reported() {
        let drift = |over_window: f64| -> Vec<f64> {
            (0..60)
                .map(|t| 1000.0 * (1.0 + over_window * f64::from(t) / 60.0) + f64::from(t * 37 % 11))
                .collect()
        };
        fires(
            Rule::NoSteadyState,
            &[(0.0, false), (0.01, false), (0.04, true), (-0.3, true)],
            |over_window| changed(|t| t.window = window(&drift(over_window), 60.0)),
        );
    }
}
