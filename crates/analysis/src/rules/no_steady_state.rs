//! Had throughput stabilised before it was measured? The judgement is [`stats::steady_state`].

use experiment::Plan;
use serde::{Deserialize, Serialize};
use stats::SteadyVerdict;

use super::trajectory;
use crate::fact::{CpuTakenBy, Trajectory};
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Throughput was still changing while it was measured. Shares are of the mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct NoSteadyState {
    pub measured_s: f64,
    /// Seconds that were cut off as start-up.
    pub cut_s: f64,
    pub change_over_window_share: f64,
    /// Its 95 % interval: low end.
    pub change_low_share: f64,
    pub change_high_share: f64,
    /// Of the trend test.
    pub trend_p_value: f64,
    /// Range of the five rounds.
    pub rounds_range_share: f64,
    /// Why it changes by plan, if it does.
    pub trajectory: Option<Trajectory>,
    /// Who else took CPU time meanwhile, if somebody did.
    pub cpu_taken_by: Option<CpuTakenBy>,
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
        cpu_taken_by: None,
    };
    Some(figures.into())
}

/// Adds the reason that the plan has for it.
pub(crate) fn complete(found: &mut NoSteadyState, trial: &TrialMeasurement, plan: &Plan) {
    found.trajectory = trajectory::by_plan(trial, plan, found.change_over_window_share > 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, first_host};
    use crate::rules::{RunContext, of_trial_in_run};
    use crate::steady::window;
    use crate::story::job;

    /// A minute that begins at 1,000 operations/s, and changes by a share of that.
    fn drift(over_window: f64) -> Vec<f64> {
        (0..60).map(|t| 1000.0 * (1.0 + over_window * f64::from(t) / 60.0) + f64::from(t * 37 % 11)).collect()
    }

    /// What other programs did is not blamed on a short warm-up.
    #[test]
    fn who_took_cpu_time_meanwhile_is_named() {
        let job = job();
        let together = RunContext::of(&job.plan, &job.setups, &[]);
        let taken_by = |busy_cpus: f64, steal_share: f64| {
            let trial = changed(|t| {
                t.window = window(&drift(-0.3), 60.0);
                let host = first_host(t);
                (host.cpus_used, host.busy_cpus) = (Some(1.0), Some(busy_cpus));
                host.steal_share = Some(steal_share);
            });
            let findings = of_trial_in_run(&trial, &together);
            findings.iter().find_map(|found| found.figures::<NoSteadyState>()).unwrap().cpu_taken_by
        };
        assert_eq!(taken_by(1.0, 0.0), None);
        assert_eq!(taken_by(9.0, 0.0), Some(CpuTakenBy::Programs));
        assert_eq!(taken_by(1.0, 0.2), Some(CpuTakenBy::Hypervisor));
        assert_eq!(taken_by(9.0, 0.2), Some(CpuTakenBy::Programs));
    }

    #[test]
    fn a_trend_that_is_large_and_shown_is_reported() {
        fires(Rule::NoSteadyState, &[(0.0, false), (0.01, false), (0.04, true), (-0.3, true)], |over_window| {
            changed(|t| t.window = window(&drift(over_window), 60.0))
        });
    }
}
