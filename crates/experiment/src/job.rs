//! What a run does: the plan, and what its provider makes of it.

use serde_json::Value;

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
    Job { plan: plan(experiment), setups: setups(experiment) }
}

// To read and write them is much code, which serde makes anew in each crate that asks for it: here it is compiled once.
impl Plan {
    /// As `plan.json` has it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("plain values are always written")
    }

    /// Of what `plan.json` has.
    pub fn from_json(document: Value) -> serde_json::Result<Self> {
        serde_json::from_value(document)
    }
}

impl Setups {
    /// As `setups.json` has them.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("plain values are always written")
    }

    /// Of what `setups.json` has.
    pub fn from_json(document: Value) -> serde_json::Result<Self> {
        serde_json::from_value(document)
    }
}

impl Job {
    /// The part of it that the machines of one batch carry out, with nothing of the others.
    pub fn of_batch(&self, batch: u32) -> Self {
        let mut part = self.clone();
        part.setups.setups.retain(|setup| setup.at.batch() == batch);
        let has = |configuration: &str| part.setups.of(configuration).is_some();
        part.plan.configurations.retain(|configuration| has(&configuration.name));
        part.plan.cells.retain(|cell| has(&cell.configuration));
        if let Some(search) = &mut part.plan.search {
            search.searches.retain(|search| has(&search.configuration));
        }
        let Plan { cells, trials, .. } = &mut part.plan;
        trials.retain(|trial| cells.iter().any(|cell| cell.id == trial.cell));
        part.plan.estimated_s = part.plan.estimate();
        part
    }
}
