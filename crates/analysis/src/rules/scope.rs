//! Where a finding on a trial belongs.

use crate::finding::Scope;
use crate::measurement::TrialMeasurement;

/// The trial as a finding's scope.
pub fn scope(trial: &TrialMeasurement) -> Scope {
    Scope::trial(&trial.record.cell, trial.record.block)
}
