//! Why a trial need not be at rest: its change is what was asked for.

use spec::{CacheState, OperationKind, Plan};

use crate::fact::Trajectory;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;

/// Whether the page cache was to be cold before the trial.
pub fn is_cold_by_plan(trial: &TrialMeasurement, plan: &Plan) -> bool {
    plan.caches.state(&trial.record.workload) == CacheState::Cold
}

/// A finding on a change of throughput, with the reason that the plan has for it, if it has one.
pub fn told(finding: Finding, trial: &TrialMeasurement, plan: &Plan, rises: bool) -> Finding {
    let client = trial.record.client.as_ref();
    let inserts = client.and_then(|client| client.completed.get(&OperationKind::Insert));
    let why = match inserts.is_some_and(|n| *n > 0) {
        true => Some(Trajectory::Inserts),
        false => (rises && is_cold_by_plan(trial, plan)).then_some(Trajectory::ColdStart),
    };
    match why {
        Some(why) => finding.with(Trajectory::NAME, why.word()),
        None => finding,
    }
}
