//! Machines on AWS, as commands need them: what they cost, whether they may be made, and `iopslab destroy`.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::RunDirectory;
use clap::Args;
use provider::Provider as _;
use provider::aws::Aws;
use spec::{AwsSettings, Plan};

use super::machines;
use crate::failure::Failure;
use crate::output::{Format, pretty};

/// All that knows of a run's machines, below its directory.
const DIRECTORY: &str = "terraform";
/// Seconds from the first request until machines are ready, and those of taking them away: for the estimate.
const MAKING_S: f64 = 600.0;
/// Machines may be needed for so much longer than the estimate says.
const EXPIRES_AFTER: f64 = 3.0;

/// What a run on AWS costs by the hour, and as a whole by the plan's estimate of its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    /// USD an hour: instances with their volumes, without transfer between zones.
    pub usd_per_hour: f64,
    /// Hours.
    pub hours: f64,
}

impl Estimate {
    /// The whole, USD.
    pub fn usd(&self) -> f64 {
        self.usd_per_hour * self.hours
    }
}

/// The estimate of a plan; the error is which price is not known.
pub(super) fn estimate(plan: &Plan, settings: &AwsSettings) -> Result<Estimate, String> {
    let mut usd_per_hour = 0.0;
    for machine in &settings.machines {
        let missing = machine.price_missing.as_deref().unwrap_or("no price");
        usd_per_hour += machine
            .usd_per_hour
            .ok_or_else(|| format!("{}: {missing}", machine.name))?;
    }
    Ok(Estimate {
        usd_per_hour,
        hours: (plan.estimated_s + MAKING_S) / 3_600.0,
    })
}

/// What is to be made and what that costs, for people.
pub(super) fn told(settings: &AwsSettings, estimate: &Result<Estimate, String>) -> String {
    let databases = settings.machines_of(true).count();
    let clients = settings.machines_of(false).count();
    let place = match settings.zones() {
        1 => "one zone".to_owned(),
        zones => format!("{zones} zones"),
    };
    let machines = format!(
        "on AWS, {}, {place}: {databases} machines for databases, {clients} for clients",
        settings.region
    );
    match estimate {
        Ok(estimate) => format!(
            "{machines}\n  about {:.2} USD: {:.2} USD an hour for {:.1} hours, on demand, at the catalog's\n  latest prices; \
             transfer between zones comes on top",
            estimate.usd(),
            estimate.usd_per_hour,
            estimate.hours
        ),
        Err(missing) => format!("{machines}\n  what they cost is not known: {missing}"),
    }
}

/// The same for programs.
pub(super) fn document(estimate: &Result<Estimate, String>) -> serde_json::Value {
    match estimate {
        Ok(estimate) => serde_json::json!({
            "usd": estimate.usd(),
            "usd_per_hour": estimate.usd_per_hour,
            "hours": estimate.hours,
        }),
        Err(missing) => serde_json::json!({ "missing": missing }),
    }
}

/// Whether machines may be made: the estimate is within what the run may cost, and the user says yes.
pub(super) fn may_be_made(
    settings: &AwsSettings,
    estimate: &Result<Estimate, String>,
    max_cost_usd: Option<f64>,
    yes: bool,
) -> Result<(), Failure> {
    if let Some(most) = max_cost_usd.or(settings.max_cost_usd) {
        match estimate {
            Ok(estimate) if estimate.usd() > most => {
                return Err(Failure::input(format!(
                    "the run is estimated at {:.2} USD and may cost {most:.2} USD: nothing was made",
                    estimate.usd()
                ))
                .help("fewer cells, repetitions or seconds cost less; --max-cost USD allows more"));
            }
            Err(missing) => {
                return Err(Failure::input(format!(
                    "the run may cost {most:.2} USD, and what it costs is not known: {missing}"
                ))
                .help("ask AWS for its prices (iopslab catalog refresh), or leave out the bound"));
            }
            Ok(_) => {}
        }
    }
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(
            Failure::input("machines cost money, and nobody can be asked: stdin is no terminal")
                .help("add --yes to have them made"),
        );
    }
    eprint!("make them? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::input("nothing was made")),
    }
}

/// For how long the money lasts from now on; `None`: no bound is stated, or nobody knows the price.
pub(super) fn paid_for(plan: &Plan, max_cost_usd: Option<f64>) -> Option<Duration> {
    let settings = plan.aws.as_ref()?;
    let most = max_cost_usd.or(settings.max_cost_usd)?;
    let estimate = estimate(plan, settings).ok()?;
    Some(Duration::from_secs_f64(
        (most / estimate.usd_per_hour * 3_600.0 - MAKING_S).max(0.0),
    ))
}

/// The machines of a run.
pub(super) fn of_run(directory: &RunDirectory, settings: &AwsSettings) -> Result<Aws, Failure> {
    let life = Duration::from_secs_f64((directory.plan().estimated_s + MAKING_S) * EXPIRES_AFTER);
    let expires = jiff::Timestamp::now() + life;
    let place = std::path::absolute(directory.path().join(DIRECTORY)).map_err(Failure::work)?;
    Ok(Aws::new(
        &directory.name(),
        &expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        &place,
        settings,
        &machines::own_binary()?,
    ))
}

/// Says how machines that could not be taken away are.
pub(super) fn left(directory: &Path, failure: Failure) -> Failure {
    let destroy = format!("they cost money until: iopslab destroy {}", directory.display());
    match failure {
        Failure::Work { message, .. } => {
            Failure::work(format!("machines could not be taken away: {message}")).help(destroy)
        }
        other => other,
    }
}

/// What was typed after `destroy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab destroy runs/gp3-or-io2-20261120T221500Z     # what an interrupted run has made on AWS")]
pub struct DestroyArgs {
    /// The run directory
    run: PathBuf,
}

/// `iopslab destroy`: takes away the machines that a run had made on AWS. Its evidence stays.
pub fn destroy(args: &DestroyArgs, format: Format) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(Failure::input)?;
    let Some(settings) = directory.plan().aws.clone() else {
        return Err(Failure::input(format!(
            "{} made no machines on AWS: there is nothing to destroy",
            args.run.display()
        ))
        .help("what a run leaves on this machine: iopslab clean"));
    };
    let _lock = directory.lock().map_err(Failure::work)?;
    let mut said = Vec::new();
    let mut say = |line: &str| {
        if matches!(format, Format::Human) {
            println!("{line}");
        }
        said.push(line.to_owned());
    };
    let outcome = of_run(&directory, &settings)?.release(&mut say);
    outcome.map_err(|error| left(directory.path(), Failure::work(error)))?;
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "said": said }))),
        Format::Human if said.is_empty() => println!("nothing is left of this run's machines"),
        Format::Human => {}
    }
    Ok(())
}
