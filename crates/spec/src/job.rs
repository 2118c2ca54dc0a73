//! What a run does: the plan, and what its provider makes of it.

use crate::{Experiment, Plan, Setups, plan, setups};

/// A plan with its configurations as a provider builds them: what a run freezes before it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What is bought and what is measured on it (`plan.json`).
    pub plan: Plan,
    /// What the provider makes of the configurations (`setups.json`).
    pub setups: Setups,
}

/// The plan of an experiment, with what its provider makes of the configurations.
pub fn job(experiment: &Experiment) -> Job {
    Job {
        plan: plan(experiment),
        setups: setups(experiment),
    }
}
