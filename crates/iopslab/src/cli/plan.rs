//! `iopslab plan`: what a run would do; touches nothing.

use std::path::PathBuf;

use clap::Args;
use experiment::{Provider, ReadFor};
use process::failure::Failure;
use process::machine;
use process::output::{Format, pretty};

use super::experiment_file::{OtherwiseArgs, read_otherwise};
use super::facts::catalog;
use super::provider::ProviderName;
use super::{aws, latest, terminal};

/// What was typed after `plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab plan                                             # experiment.toml of this folder
  iopslab plan examples/quickstart.toml
  iopslab plan examples/kenzan-2018.toml --provider aws    # its machines on AWS, at full size, and what they cost")]
pub struct PlanArgs {
    /// The experiment file [default: experiment.toml]
    experiment: Option<PathBuf>,
    /// Plan a run by this provider, and refuse what it cannot measure [default: any]
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
    #[command(flatten)]
    otherwise: OtherwiseArgs,
}

pub fn run(args: &PlanArgs, format: Format) -> Result<(), Failure> {
    let file = latest::experiment(args.experiment.as_deref(), "the file: iopslab plan FILE")?;
    let catalog = catalog()?;
    let provider = args.provider.map(Provider::from);
    let purpose = provider.map_or(ReadFor::Anybody, ReadFor::PlanOf);
    let experiment = read_otherwise(&catalog, &file, &args.otherwise, purpose)?.experiment;
    let job = experiment::job(&experiment);
    let plan = &job.plan;
    // Machines that are made, or those of others, have CPUs of their own.
    let is_here = matches!(provider, None | Some(Provider::Local));
    let cpus = is_here.then(|| machine::cpus() as f64);
    let notes = experiment::static_notes(&catalog, &experiment, provider, cpus);
    let on_aws = plan.place.aws().map(|settings| (settings, aws::estimate(&job, settings)));
    match format {
        Format::Human => {
            println!("{}", ::report::plan_table(&job, &notes, terminal::width()));
            if let Some((settings, estimate)) = &on_aws {
                println!("{}", aws::reported(settings, estimate));
            }
        }
        Format::Json => {
            let mut document = serde_json::json!({ "plan": plan, "setups": job.setups.setups, "notes": notes });
            if let Some((_, estimate)) = &on_aws {
                document["aws"] = aws::document(estimate);
            }
            println!("{}", pretty(&document));
        }
    }
    Ok(())
}
