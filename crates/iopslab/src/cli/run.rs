//! `iopslab run`: the main job.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::catalog::Catalog;
use clap::{Args, ValueEnum};
use provider::Incoming;
use run::RunDirectory;
use spec::{Experiment, Provider};

use super::facts::catalog;
use super::{Failure, Format, cache_directory, plan, report, terminal, work_directory};
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
  iopslab run examples/quickstart.toml --format json > analysis.json
  iopslab run examples/simulated.toml --provider simulated    # no machine, no root: a stated truth")]
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
    /// No machine: a queueing simulation of the truth that [provider.simulated] states
    Simulated,
}

/// The provider's name in `environment.json` of a simulated run.
const SIMULATED: &str = "simulated";

pub fn run(args: &RunArgs, format: Format) -> Result<(), Failure> {
    let mut screen = Screen::new();
    let channel = Crew::channel();
    let to_controller = channel.0.clone();
    let interrupted = interrupt::install(move || {
        let _ = to_controller.send(Incoming::Interrupt);
    })
    .map_err(|e| Failure::work(format!("cannot watch for Ctrl-C: {e}")))?;

    let directory = match (&args.experiment, &args.resume) {
        (Some(file), None) => match args.provider {
            ProviderName::Local => {
                let (directory, mut crew) = begin(file, args, channel, &mut screen)?;
                drive(&directory, &mut crew, &mut screen, &interrupted)?;
                directory
            }
            ProviderName::Simulated => {
                let directory = begin_simulated(file, args, &mut screen)?;
                drive_simulated(&directory, &mut screen, &interrupted)?;
                directory
            }
        },
        (None, Some(path)) => resume(path, channel, &mut screen, &interrupted)?,
        _ => return Err(Failure::input("give an experiment file, or --resume RUN")),
    };
    let analysis = report::rebuild(&directory, format)?;
    let invalid = analysis.invalid_trials();
    if args.require_valid && invalid > 0 {
        return Err(Failure::Verdict(match invalid {
            1 => "1 trial is invalid".to_owned(),
            n => format!("{n} trials are invalid"),
        }));
    }
    Ok(())
}

/// Both ends of the agents' messages.
type Channel = (std::sync::mpsc::Sender<Incoming>, std::sync::mpsc::Receiver<Incoming>);

/// A new run on this machine: everything is checked before anything is created.
fn begin(file: &Path, args: &RunArgs, channel: Channel, screen: &mut Screen) -> Result<(RunDirectory, Crew), Failure> {
    let catalog = catalog()?;
    let (text, experiment) = plan::read_experiment(&catalog, file, Some(Provider::Local))?;
    let plan = spec::plan(&experiment);
    eprintln!("{}", report_plan(&catalog, &plan, &experiment, Provider::Local));
    plan::check_machine(&plan, &settings_for(plan.work_directory.as_deref()).work_directory)?;
    let mut crew = start_crew(channel)?;
    let hosts = controller::greet(&mut crew, screen)?;
    let facts = hosts
        .into_iter()
        .map(|(role, facts)| (role.name().to_owned(), serde_json::json!(facts)));
    let directory = create(args, &catalog, &experiment, &text, &plan, "local", facts)?;
    screen.say(&format!("evidence goes to {}", directory.path().display()));
    Ok((directory, crew))
}

/// A new run without a machine.
fn begin_simulated(file: &Path, args: &RunArgs, screen: &mut Screen) -> Result<RunDirectory, Failure> {
    let catalog = catalog()?;
    let (text, experiment) = plan::read_experiment(&catalog, file, Some(Provider::Simulated))?;
    let plan = spec::plan(&experiment);
    eprintln!("{}", report_plan(&catalog, &plan, &experiment, Provider::Simulated));
    let directory = create(args, &catalog, &experiment, &text, &plan, SIMULATED, std::iter::empty())?;
    screen.say(&format!("evidence goes to {}", directory.path().display()));
    Ok(directory)
}

/// Creates the run directory with its frozen inputs and host facts.
fn create(
    args: &RunArgs,
    catalog: &Catalog,
    experiment: &Experiment,
    text: &str,
    plan: &spec::Plan,
    provider: &str,
    facts: impl Iterator<Item = (String, serde_json::Value)>,
) -> Result<RunDirectory, Failure> {
    let environment: serde_json::Map<String, serde_json::Value> = [
        ("provider".to_owned(), serde_json::json!(provider)),
        ("iopslab".to_owned(), serde_json::json!(env!("CARGO_PKG_VERSION"))),
    ]
    .into_iter()
    .chain(facts)
    .collect();
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let catalog = frozen_catalog(catalog, experiment);
    RunDirectory::create(&args.out, &experiment.name, &stamp, text, plan, &catalog, &environment)
        .map_err(|e| Failure::work(e).help("choose another place with --out DIR"))
}

/// Goes on with an interrupted run, by the provider that it began with.
fn resume(
    path: &Path,
    channel: Channel,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<RunDirectory, Failure> {
    let directory = RunDirectory::open(path).map_err(Failure::input)?;
    plan::check_measurable(&directory)?;
    let remaining = directory.remaining().map_err(Failure::work)?;
    let all = directory.plan().trials.len();
    screen.say(&format!(
        "{}: {} of {all} trials are done",
        path.display(),
        all - remaining.len()
    ));
    let is_simulated = super::measured::provider_of(&directory)? == SIMULATED;
    if !is_simulated {
        let work = settings_for(directory.plan().work_directory.as_deref()).work_directory;
        plan::check_machine(directory.plan(), &work)?;
    }
    directory.journal(run::JournalEvent::Resumed).map_err(Failure::work)?;
    if is_simulated {
        drive_simulated(&directory, screen, interrupted)?;
    } else {
        let mut crew = start_crew(channel)?;
        let hosts = controller::greet(&mut crew, screen)?;
        same_machine(&directory, &hosts, screen)?;
        drive(&directory, &mut crew, screen, interrupted)?;
    }
    Ok(directory)
}

/// Trials of one configuration on two machines are not repetitions: a run is not resumed where the processor or the memory differs.
fn same_machine(
    directory: &RunDirectory,
    hosts: &[(provider::Role, evidence::Environment)],
    screen: &mut Screen,
) -> Result<(), Failure> {
    let frozen = directory.environment().map_err(Failure::work)?;
    for (role, now) in hosts {
        let now = serde_json::json!(now);
        let then = &frozen[role.name()];
        for fact in ["cpu_model", "cpus", "memory_bytes", "kernel"] {
            // A run of before a fact was recorded says nothing about it.
            if then[fact].is_null() || then[fact] == now[fact] {
                continue;
            }
            let change = format!(
                "{fact} of the {} host was {}, here it is {}",
                role.name(),
                then[fact],
                now[fact]
            );
            if fact == "kernel" {
                screen.say(&format!("warning: {change}; trials before and after may differ"));
            } else {
                return Err(Failure::input(format!("this run began on another machine: {change}"))
                    .help("its trials would not be repetitions of those; start a new run here, and put both side by side with: iopslab compare"));
            }
        }
    }
    Ok(())
}

fn start_crew(channel: Channel) -> Result<Crew, Failure> {
    let binary =
        std::env::current_exe().map_err(|e| Failure::work(format!("cannot find this program's own file: {e}")))?;
    Crew::start_local(&binary, channel)
}

fn drive(
    directory: &RunDirectory,
    crew: &mut Crew,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let _lock = directory.lock().map_err(Failure::work)?;
    let settings = settings_for(directory.plan().work_directory.as_deref());
    controller::run(directory, crew, &settings, screen, interrupted).map_err(|failure| keep(directory, failure))
}

fn drive_simulated(
    directory: &RunDirectory,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let _lock = directory.lock().map_err(Failure::work)?;
    controller::simulated::run(directory, screen, interrupted).map_err(|failure| keep(directory, failure))
}

/// A failure of the work says that nothing is lost.
fn keep(directory: &RunDirectory, failure: Failure) -> Failure {
    match failure {
        Failure::Work { message, help: None } => Failure::work(message).help(format!(
            "finished trials are kept; continue with: iopslab run --resume {}",
            directory.path().display()
        )),
        other => other,
    }
}

fn settings_for(work: Option<&str>) -> Settings {
    Settings {
        work_directory: work.map_or_else(work_directory, PathBuf::from),
        cache_directory: cache_directory(),
    }
}

fn report_plan(catalog: &Catalog, plan: &spec::Plan, experiment: &Experiment, provider: Provider) -> String {
    let notes = spec::static_notes(catalog, experiment, Some(provider));
    ::report::plan_table(plan, &notes, terminal::width())
}

/// The facts this run's limits came from, kept with its evidence.
fn frozen_catalog(catalog: &Catalog, experiment: &Experiment) -> serde_json::Value {
    let instances: Vec<_> = experiment
        .configurations
        .iter()
        .filter(|c| c.instance.from_catalog)
        .filter_map(|c| catalog.instance(&c.instance.label))
        .collect();
    serde_json::json!({ "format_version": evidence::FORMAT_VERSION, "instances": instances, "configurations": experiment.configurations })
}
