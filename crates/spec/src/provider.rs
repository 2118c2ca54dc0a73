//! Who carries an experiment out, and what of the file that leaves without effect.

use serde::Serialize;

use crate::{Experiment, Truth};

/// Who carries an experiment out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// This machine with emulated volumes.
    Local,
    /// No machine: a simulation of a stated truth.
    Simulated,
}

impl Experiment {
    /// The experiment as this provider carries it out. A simulation needs a truth (the default where none is stated)
    /// and warms up for the whole of `max_warmup_s`, since its seconds cost nothing; a run on a machine has no truth.
    #[must_use]
    pub fn carried_out_by(mut self, provider: Provider) -> Self {
        match provider {
            Provider::Local => self.simulated = None,
            Provider::Simulated => {
                self.simulated.get_or_insert_with(Truth::default);
                if let Some(most) = self.load.warmup_max_s.take() {
                    self.load.warmup_s = most;
                }
            }
        }
        self
    }
}
