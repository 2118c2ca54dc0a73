//! Did throughput go one way while it was measured, by more than its noise explains?
//!
//! `no_steady_state` needs forty seconds. A database that wakes up changes by more than that in ten, and this rule sees
//! it at any length: see [`stats::monotone_change`].

use experiment::Plan;
use serde::{Deserialize, Serialize};

use super::trajectory;
use crate::fact::{CpuTakenBy, Trajectory};
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Throughput went one way by more than its noise explains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct StillRising {
    pub first_third_ops_per_s: f64,
    pub last_third_ops_per_s: f64,
    pub change_share: f64,
    pub threshold: f64,
    pub window_s: f64,
    /// Why it changes by plan, if it does.
    pub trajectory: Option<Trajectory>,
    /// Who else took CPU time meanwhile, if somebody did.
    pub cpu_taken_by: Option<CpuTakenBy>,
}

/// Least change from the first to the last third of the window: the usual margin of practical importance. What changes
/// by less shifts the mean of the window by less than half of that.
const CHANGE_MIN: f64 = 0.05;

pub(crate) fn finding(trial: &TrialMeasurement, plan: &Plan) -> Option<Seen<StillRising>> {
    trial.record.client.as_ref()?;
    if trial.backlog.is_some() {
        return None;
    }
    let (from, to) = (trial.window.from_s as usize, trial.window.to_s as usize);
    let seconds = trial.seconds.get(from..to.min(trial.seconds.len()))?;
    let completed: Vec<f64> = seconds.iter().map(|second| second.completed as f64).collect();
    let moved = stats::monotone_change(&completed).filter(|moved| moved.is_shown)?;
    let change = moved.change()?;
    let figures = StillRising {
        first_third_ops_per_s: moved.first,
        last_third_ops_per_s: moved.last,
        change_share: change,
        threshold: CHANGE_MIN,
        window_s: completed.len() as f64,
        trajectory: trajectory::by_plan(trial, plan, change > 0.0),
        cpu_taken_by: None,
    };
    (change.abs() > CHANGE_MIN).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Second;
    use crate::rules::cases::changed;
    use crate::steady::Window;
    use crate::story::job;

    /// The sound trial with so many operations in each second.
    fn with(completed: &[f64]) -> TrialMeasurement {
        changed(|t| {
            t.window = Window::whole(completed.len() as f64);
            let second = |n: &f64| Second { completed: *n as u64, ..Second::default() };
            t.seconds = completed.iter().map(second).collect();
        })
    }

    /// So many seconds at 1,000 operations/s with a little noise, which grow by `factor`.
    fn seconds(count: u32, factor: f64) -> Vec<f64> {
        let each = |t: u32| {
            let grown = 1.0 + (factor - 1.0) * f64::from(t) / f64::from(count - 1);
            1000.0 * grown + f64::from(t * 37 % 11)
        };
        (0..count).map(each).collect()
    }

    #[test]
    fn a_change_in_one_direction_is_reported_at_any_length() {
        let plan = job().plan;
        for (count, factor, fires) in [
            (10, 1.7, true),
            (10, 0.6, true),
            (10, 1.0, false),
            (10, 1.04, false),
            (6, 1.7, true),
            (4, 1.7, false),
            (60, 1.12, true),
            (60, 1.06, false),
            (300, 0.8, true),
        ] {
            let found = finding(&with(&seconds(count, factor)), &plan);
            assert_eq!(found.is_some(), fires, "{count} s, {factor}: {found:?}");
        }
    }

    fn cold(plan: &Plan) -> experiment::Caches {
        let condition = experiment::CacheCondition {
            state: experiment::CacheState::Cold,
            ratio: None,
            of: plan.workloads[0].name.clone(),
        };
        experiment::Caches {
            conditions: [(plan.workloads[0].name.clone(), condition)].into(),
            ..experiment::Caches::default()
        }
    }

    /// More operations as a cold page cache fills are what was asked for; fewer are not.
    #[test]
    fn a_rise_from_a_cold_start_says_that_it_is_one() {
        let (mut begun_cold, warmed) = (job().plan, job().plan);
        begun_cold.caches = cold(&begun_cold);
        let why = |factor, plan| finding(&with(&seconds(10, factor)), plan).unwrap().figures.trajectory;
        assert_eq!(why(1.7, &begun_cold), Some(Trajectory::ColdStart));
        assert_eq!((why(0.6, &begun_cold), why(1.7, &warmed)), (None, None));
    }
}
