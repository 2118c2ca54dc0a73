//! `iopslab plan`: what a run would do; touches nothing.

use std::path::PathBuf;

use clap::Args;
use experiment::{Job, Machines, Note, Place, Provider, ReadFor};
use process::failure::Failure;
use process::machine;
use process::output::{Format, pretty};
use process::paths;

use super::cached::{CacheCurveArgs, Curves};
use super::experiment_file::{OtherwiseArgs, read_otherwise};
use super::facts::{FORMAT_VERSION, catalog};
use super::provider::ProviderName;
use super::{aws, latest, terminal};

/// What was typed after `plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab plan                                             # experiment.toml of this folder
  iopslab plan examples/quickstart.toml
  iopslab plan examples/kenzan-2018.toml --provider aws    # its machines on AWS, at full size, and what they cost
  iopslab plan examples/quickstart.toml --cache-curve    # what a cache before it would answer
  iopslab plan examples/quickstart.toml --cache-curve --cache-ttl-s 60 --cache-rate 20000 --format json")]
pub struct PlanArgs {
    /// The experiment file [default: experiment.toml]
    experiment: Option<PathBuf>,
    /// Plan a run by this provider, and refuse what it cannot measure [default: any]
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
    #[command(flatten)]
    otherwise: OtherwiseArgs,
    #[command(flatten)]
    cache: CacheCurveArgs,
}

pub fn run(args: &PlanArgs, format: Format) -> Result<(), Failure> {
    let file = latest::experiment(args.experiment.as_deref(), "the file: iopslab plan FILE")?;
    let catalog = catalog()?;
    let provider = args.provider.map(Provider::from);
    let purpose = provider.map_or(ReadFor::Anybody, ReadFor::PlanOf);
    let experiment = read_otherwise(&catalog, &file, &args.otherwise, purpose)?.experiment;
    let job = experiment::job(&experiment);
    let plan = &job.plan;
    if let Some(of_cache) = args.cache.curves(&experiment, plan)? {
        let Curves { ttl_s, curves, left_out } = of_cache;
        match format {
            Format::Human => {
                print!("{}", ::report::tier_curves(&curves, ttl_s, plan.scale(), &left_out, terminal::width()));
            }
            Format::Json => {
                println!(
                    "{}",
                    pretty(&serde_json::json!({
                        "format_version": FORMAT_VERSION,
                        "scale": plan.scale(),
                        "cache_curves": curves,
                        "ttl_s": ttl_s,
                        "left_out": left_out,
                    }))
                );
            }
        }
        return Ok(());
    }
    // Machines that are made, or those of others, have CPUs of their own.
    let is_here = matches!(provider, None | Some(Provider::Local));
    let cpus = is_here.then(|| machine::cpus() as f64);
    let mut notes = experiment::static_notes(&catalog, &experiment, provider, cpus);
    notes.extend(no_room(&job));
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

/// The note on the work directory of a run on this machine. A run that cannot examine it says why.
fn no_room(job: &Job) -> Option<Note> {
    let Place::Emulated { machines: Machines::This { work_directory }, .. } = &job.plan.place else { return None };
    let directory = work_directory.as_ref().map_or_else(paths::work_directory, PathBuf::from);
    let free_bytes = storage::free_bytes(&directory).ok()?;
    job.no_room(&directory.display().to_string(), free_bytes)
}
