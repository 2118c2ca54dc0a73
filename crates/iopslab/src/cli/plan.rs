//! `iopslab plan`: what a run would do; touches nothing.

use std::path::{Path, PathBuf};

use ::catalog::Catalog;
use archive::RunDirectory;
use clap::Args;
use spec::{Experiment, Provider};

use super::facts::catalog;
use super::terminal;
use crate::failure::Failure;
use crate::machine;
use crate::output::{Format, pretty};

/// What was typed after `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The experiment file
    experiment: PathBuf,
}

pub fn run(args: &PlanArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    let (_, experiment) = read_experiment(&catalog, &args.experiment, None)?;
    let plan = spec::plan(&experiment);
    let notes = spec::static_notes(&catalog, &experiment, None, Some(machine::cpus() as f64));
    match format {
        Format::Human => println!("{}", ::report::plan_table(&plan, &notes, terminal::width())),
        Format::Json => println!("{}", pretty(&serde_json::json!({ "plan": plan, "notes": notes }))),
    }
    Ok(())
}

/// Reads and checks an experiment file, for a run by `provider` or only for a plan; YCSB files are found relative to
/// it.
pub fn read_experiment(
    catalog: &Catalog,
    file: &Path,
    provider: Option<Provider>,
) -> Result<(String, Experiment), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("cannot read the experiment {}: {e}", file.display())))?;
    let beside = file.parent().unwrap_or(Path::new(".")).to_owned();
    let read = |name: &str| {
        let path = beside.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let name = file.display().to_string();
    let experiment = match provider {
        None => spec::parse(catalog, &name, &text, &read),
        Some(provider) => spec::parse_to_run(catalog, &name, &text, &read, provider),
    };
    let experiment = experiment.map_err(|mistakes| Failure::Mistakes(Box::new(mistakes)))?;
    Ok((text, experiment))
}

/// Refuses to go on with a run that began before what it cannot measure was refused, at the place in its frozen
/// experiment.
pub fn check_measurable(directory: &RunDirectory) -> Result<(), Failure> {
    if let Ok(text) = directory.experiment_text() {
        let file = directory.path().join("experiment.toml").display().to_string();
        spec::refuse_unmeasurable(&file, &text, directory.plan())
            .map_err(|mistakes| Failure::Mistakes(Box::new(mistakes)))?;
    }
    Ok(())
}
