//! Experiment files, as commands read them.

use std::path::Path;

use ::catalog::Catalog;
use archive::RunDirectory;
use spec::{Beside, Experiment, Provider, ThisMachine};

use super::{client_cost, quotas};
use crate::failure::Failure;
use crate::machine;

/// What an experiment is read for.
#[derive(Debug, Clone, Copy)]
pub enum For {
    /// Whoever may carry it out.
    Anybody,
    /// To show what a run by this provider would do.
    PlanOf(Provider),
    /// A run by this provider.
    Run(Provider),
}

/// Reads and checks an experiment file; YCSB files are found relative to it, and AWS is asked for quotas where it says
/// so.
pub fn read_experiment(catalog: &Catalog, file: &Path, purpose: For) -> Result<(String, Experiment), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("cannot read the experiment {}: {e}", file.display())))?;
    let beside = file.parent().unwrap_or(Path::new(".")).to_owned();
    let read = |name: &str| {
        let path = beside.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let name = file.display().to_string();
    let beside = Beside {
        file: &read,
        quotas: &quotas::read,
        client: client_cost::known(),
        machine: Some(ThisMachine {
            cpus: machine::cpus() as f64,
            cannot_serve: served::available().err().map(|error| error.to_string()),
            cannot_stripe: storage::Array::problems()
                .into_iter()
                .next()
                .map(|problem| problem.what),
        }),
    };
    let experiment = match purpose {
        For::Anybody => spec::parse_beside(catalog, &name, &text, &beside),
        For::PlanOf(provider) => spec::parse_for(catalog, &name, &text, &beside, provider),
        For::Run(provider) => spec::parse_to_run(catalog, &name, &text, &beside, provider),
    };
    let experiment = experiment.map_err(|mistakes| Failure::Mistakes(Box::new(mistakes)))?;
    Ok((text, experiment))
}

/// Refuses to go on with a run that began before what it cannot measure was refused, at the place in its frozen
/// experiment.
pub fn check_measurable(directory: &RunDirectory) -> Result<(), Failure> {
    if let Ok(text) = directory.experiment_text() {
        let file = directory.path().join("experiment.toml").display().to_string();
        spec::refuse_unmeasurable(&file, &text, directory.job())
            .map_err(|mistakes| Failure::Mistakes(Box::new(mistakes)))?;
    }
    Ok(())
}
