//! `iopslab run`: the main job.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use provider::Incoming;
use run::RunDirectory;
use spec::Experiment;

use super::{Failure, Format, cache_directory, plan, report, work_directory};
use crate::controller::{self, Crew, Settings};
use crate::interrupt;
use crate::progress::Screen;

/// What was typed after `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab run examples/quickstart.toml
  iopslab run examples/kenzan-2018.toml --out /data/runs
  iopslab run --resume runs/quickstart-20261120T221500Z
  iopslab run examples/quickstart.toml --format json > analysis.json")]
pub struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    experiment: Option<PathBuf>,
    /// Where the machines come from
    #[arg(long, value_enum, default_value = "local")]
    provider: ProviderName,
    /// Continue an interrupted run: repeats only what is missing
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    /// Directory in which the run directory is created
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    /// Exit with status 3 if any trial is invalid
    #[arg(long)]
    require_valid: bool,
}

/// Where the machines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProviderName {
    /// This machine, with emulated volumes
    Local,
}

pub fn run(args: &RunArgs, format: Format) -> Result<(), Failure> {
    let ProviderName::Local = args.provider;
    let mut screen = Screen::new();
    let channel = Crew::channel();
    let to_controller = channel.0.clone();
    let interrupted = interrupt::install(move || {
        let _ = to_controller.send(Incoming::Interrupt);
    })
    .map_err(|e| Failure::work(format!("cannot watch for Ctrl-C: {e}")))?;
    let binary =
        std::env::current_exe().map_err(|e| Failure::work(format!("cannot find this program's own file: {e}")))?;

    let (directory, settings, mut crew) = match (&args.experiment, &args.resume) {
        (Some(file), None) => begin(file, args, &binary, channel, &mut screen)?,
        (None, Some(directory)) => resume(directory, &binary, channel, &mut screen)?,
        _ => return Err(Failure::input("give an experiment file, or --resume RUN")),
    };
    drive(&directory, &mut crew, &settings, &mut screen, &interrupted)?;
    let analysis = report::rebuild(&directory, format)?;
    let invalid = analysis.invalid_trials();
    if args.require_valid && invalid > 0 {
        return Err(Failure::Verdict(format!("{invalid} trials are invalid")));
    }
    Ok(())
}

/// A new run: everything is checked before anything is created.
fn begin(
    file: &Path,
    args: &RunArgs,
    binary: &Path,
    channel: (std::sync::mpsc::Sender<Incoming>, std::sync::mpsc::Receiver<Incoming>),
    screen: &mut Screen,
) -> Result<(RunDirectory, Settings, Crew), Failure> {
    let (text, experiment) = plan::read_experiment(file)?;
    let plan = spec::plan(&experiment);
    eprintln!("{}", report_plan(&plan, &experiment));
    let settings = settings_for(plan.work_directory.as_deref());
    plan::check_machine(&plan, &settings.work_directory)?;
    let mut crew = Crew::start_local(binary, channel)?;
    let environment = controller::greet(&mut crew, screen)?;
    let environment: serde_json::Map<String, serde_json::Value> = environment
        .into_iter()
        .map(|(role, facts)| (role.name().to_owned(), serde_json::json!(facts)))
        .chain([("iopslab".to_owned(), serde_json::json!(env!("CARGO_PKG_VERSION")))])
        .collect();
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let directory = RunDirectory::create(
        &args.out,
        &experiment.name,
        &stamp,
        &text,
        &plan,
        &frozen_catalog(&experiment),
        &environment,
    )
    .map_err(|e| Failure::work(e).help("choose another place with --out DIR"))?;
    screen.say(&format!("evidence goes to {}", directory.path().display()));
    Ok((directory, settings, crew))
}

fn resume(
    path: &Path,
    binary: &Path,
    channel: (std::sync::mpsc::Sender<Incoming>, std::sync::mpsc::Receiver<Incoming>),
    screen: &mut Screen,
) -> Result<(RunDirectory, Settings, Crew), Failure> {
    let directory = RunDirectory::open(path).map_err(Failure::input)?;
    let remaining = directory.remaining().map_err(Failure::work)?;
    let all = directory.plan().trials.len();
    screen.say(&format!(
        "{}: {} of {all} trials are done",
        path.display(),
        all - remaining.len()
    ));
    let settings = settings_for(directory.plan().work_directory.as_deref());
    plan::check_machine(directory.plan(), &settings.work_directory)?;
    directory.journal(run::JournalEvent::Resumed).map_err(Failure::work)?;
    let mut crew = Crew::start_local(binary, channel)?;
    controller::greet(&mut crew, screen)?;
    Ok((directory, settings, crew))
}

fn drive(
    directory: &RunDirectory,
    crew: &mut Crew,
    settings: &Settings,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let _lock = directory.lock().map_err(Failure::work)?;
    controller::run(directory, crew, settings, screen, interrupted).map_err(|failure| match failure {
        Failure::Work { message, help: None } => Failure::work(message).help(format!(
            "finished trials are kept; continue with: iopslab run --resume {}",
            directory.path().display()
        )),
        other => other,
    })
}

fn settings_for(work: Option<&str>) -> Settings {
    Settings {
        work_directory: work.map_or_else(work_directory, PathBuf::from),
        cache_directory: cache_directory(),
    }
}

fn report_plan(plan: &spec::Plan, experiment: &Experiment) -> String {
    ::report::plan_table(plan, &spec::static_notes(experiment))
}

/// The facts this run's limits came from, kept with its evidence.
fn frozen_catalog(experiment: &Experiment) -> serde_json::Value {
    let instances: Vec<_> = experiment
        .configurations
        .iter()
        .filter(|c| c.instance.from_catalog)
        .filter_map(|c| ::catalog::instance(&c.instance.label))
        .collect();
    serde_json::json!({ "format_version": evidence::FORMAT_VERSION, "instances": instances, "configurations": experiment.configurations })
}
