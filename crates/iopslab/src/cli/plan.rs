//! `iopslab plan`: what a run would do; touches nothing.

use std::path::{Path, PathBuf};

use ::catalog::Catalog;
use clap::Args;
use spec::{Experiment, Plan};

use super::facts::catalog;
use super::{Failure, Format, pretty};

/// What was typed after `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The experiment file
    experiment: PathBuf,
}

pub fn run(args: &PlanArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    let (_, experiment) = read_experiment(&catalog, &args.experiment)?;
    let plan = spec::plan(&experiment);
    let notes = spec::static_notes(&catalog, &experiment);
    match format {
        Format::Human => println!("{}", ::report::plan_table(&plan, &notes)),
        Format::Json => println!("{}", pretty(&serde_json::json!({ "plan": plan, "notes": notes }))),
    }
    Ok(())
}

/// Reads and checks an experiment file; YCSB files are found relative to it.
pub fn read_experiment(catalog: &Catalog, file: &Path) -> Result<(String, Experiment), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("cannot read the experiment {}: {e}", file.display())))?;
    let beside = file.parent().unwrap_or(Path::new(".")).to_owned();
    let read = |name: &str| {
        let path = beside.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let experiment = spec::parse(catalog, &file.display().to_string(), &text, &read)
        .map_err(|mistakes| Failure::Mistakes(Box::new(mistakes)))?;
    Ok((text, experiment))
}

/// Refuses what the local provider cannot do on this machine, before anything is created.
pub fn check_machine(plan: &Plan, work_directory: &Path) -> Result<(), Failure> {
    if matches!(plan.target.database, spec::Database::Hosts { .. }) {
        return Err(
            Failure::input("[target] hosts: `iopslab run` starts its own Cassandra so far")
                .help("measure an existing cluster with: iopslab load --hosts ..."),
        );
    }
    if let Some(setup) = plan.setups.iter().find(|s| s.nodes != 1) {
        return Err(Failure::input(format!(
            "configuration {}: nodes = {}, but the local provider runs one node per configuration so far",
            setup.configuration, setup.nodes
        )));
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    if let Some(setup) = plan.setups.iter().find(|s| s.cpus > cpus) {
        return Err(Failure::input(format!(
            "configuration {} needs {:.1} CPUs here, this machine has {cpus}",
            setup.configuration, setup.cpus
        ))
        .help("raise provider.local.scale"));
    }
    let existing = work_directory
        .ancestors()
        .find(|p| p.exists())
        .unwrap_or(Path::new("/"));
    let needed = crate::controller::needed_bytes(plan);
    let problems = storage::preflight(existing, needed, Path::new(crate::agent::CGROUP_ROOT));
    match problems.into_iter().next() {
        Some(problem) => Err(Failure::work(problem.what).help(problem.fix)),
        None => Ok(()),
    }
}
