//! Why a trial need not be at rest: its change is what was asked for.

use experiment::{CacheState, OperationKind, Plan};

use crate::fact::Trajectory;
use crate::measurement::TrialMeasurement;

/// Whether the page cache was to be cold before the trial.
pub fn is_cold_by_plan(trial: &TrialMeasurement, plan: &Plan) -> bool {
    plan.caches.state(&trial.record.workload) == CacheState::Cold
}

/// The reason that the plan has for a change of throughput, if it has one.
pub fn by_plan(trial: &TrialMeasurement, plan: &Plan, rises: bool) -> Option<Trajectory> {
    let client = trial.record.client.as_ref();
    let workload = plan.workloads.iter().find(|workload| workload.name == trial.record.workload);
    let grows = |kind: OperationKind| workload.map_or(kind == OperationKind::Insert, |workload| workload.grows(kind));
    match client.is_some_and(|client| client.completed.iter().any(|(kind, n)| *n > 0 && grows(*kind))) {
        true => Some(Trajectory::Inserts),
        false => (rises && is_cold_by_plan(trial, plan)).then_some(Trajectory::ColdStart),
    }
}
