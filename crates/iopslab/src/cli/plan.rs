//! `iopslab plan`: what a run would do; touches nothing.

use std::path::{Path, PathBuf};

use ::catalog::Catalog;
use archive::RunDirectory;
use clap::Args;
use spec::{Experiment, Provider};

use super::facts::catalog;
use super::provider::ProviderName;
use super::{aws, terminal};
use crate::failure::Failure;
use crate::machine;
use crate::output::{Format, pretty};

/// What was typed after `plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab plan examples/quickstart.toml
  iopslab plan examples/kenzan-2018.toml --provider aws    # its machines on AWS, at full size, and what they cost")]
pub struct PlanArgs {
    /// The experiment file
    experiment: PathBuf,
    /// Plan a run by this provider, and refuse what it cannot measure [default: any]
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
}

pub fn run(args: &PlanArgs, format: Format) -> Result<(), Failure> {
    let catalog = catalog()?;
    let provider = args.provider.map(Provider::from);
    let purpose = provider.map_or(For::Anybody, For::PlanOf);
    let (_, experiment) = read_experiment(&catalog, &args.experiment, purpose)?;
    let plan = spec::plan(&experiment);
    // Machines that are made, or those of others, have CPUs of their own.
    let is_here = matches!(provider, None | Some(Provider::Local));
    let cpus = is_here.then(|| machine::cpus() as f64);
    let notes = spec::static_notes(&catalog, &experiment, provider, cpus);
    let on_aws = plan
        .aws
        .as_ref()
        .map(|settings| (settings, aws::estimate(&plan, settings)));
    match format {
        Format::Human => {
            println!("{}", ::report::plan_table(&plan, &notes, terminal::width()));
            if let Some((settings, estimate)) = &on_aws {
                println!("{}", aws::told(settings, estimate));
            }
        }
        Format::Json => {
            let mut document = serde_json::json!({ "plan": plan, "notes": notes });
            if let Some((_, estimate)) = &on_aws {
                document["aws"] = aws::document(estimate);
            }
            println!("{}", pretty(&document));
        }
    }
    Ok(())
}

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

/// Reads and checks an experiment file; YCSB files are found relative to it.
pub fn read_experiment(catalog: &Catalog, file: &Path, purpose: For) -> Result<(String, Experiment), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("cannot read the experiment {}: {e}", file.display())))?;
    let beside = file.parent().unwrap_or(Path::new(".")).to_owned();
    let read = |name: &str| {
        let path = beside.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let name = file.display().to_string();
    let experiment = match purpose {
        For::Anybody => spec::parse(catalog, &name, &text, &read),
        For::PlanOf(provider) => spec::parse_for(catalog, &name, &text, &read, provider),
        For::Run(provider) => spec::parse_to_run(catalog, &name, &text, &read, provider),
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
