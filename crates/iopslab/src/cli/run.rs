//! `iopslab run`: the main job.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::catalog::Catalog;
use archive::{JournalEvent, RunDirectory};
use clap::Args;
use evidence::{Cause, Environment, HostId, Validity};
use experiment::{AwsSettings, Experiment, Job, PlannedTrial, Provider};
use provider::Incoming;
use provider::aws::Aws;
use provider::local::Local;
use provider::simulated::SimulatedHosts;
use provider::watched::Watched;
use storage::{Measuring, WorkDirectory};

use super::carried_out::{Channel, same_machine, settings_for};
use super::experiment_file::{ReadExperiment, ReadFor, check_measurable, read_experiment};
use super::facts::catalog;
use super::provider::ProviderName;
use super::{aws, machines, report, resumed, sites, snapshots, terminal};
use crate::controller::{self, Agents};
use crate::failure::Failure;
use crate::interrupt;
use crate::live_metrics::LiveMetrics;
use crate::measured::Measured;
use crate::output::Format;
use crate::progress::Screen;
use crate::secrets;

/// What was typed after `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab run examples/quickstart.toml
  iopslab run examples/kenzan-2018.toml --out /data/runs
  iopslab run --resume runs/quickstart-20261120T221500Z
  iopslab run --resume runs/quickstart-20261120T221500Z --retry-invalid
  iopslab run examples/quickstart.toml --format json > analysis.json
  iopslab run examples/quickstart.toml --metrics 127.0.0.1:9464     # watch it with Prometheus
  iopslab run examples/simulated.toml --provider simulated    # no machine, no root: a stated truth
  iopslab run examples/hosts.toml --provider hosts            # machines of your own, by SSH
  iopslab run own.toml --provider aws --max-cost 20           # machines made on AWS, and taken away")]
pub struct RunArgs {
    /// The experiment file
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    experiment: Option<PathBuf>,
    /// Where the machines come from [default: local]
    #[arg(long, value_enum)]
    provider: Option<ProviderName>,
    /// Continue a run: measures what is missing, and repeats trials whose database did not start
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    /// With --resume: repeat every invalid trial, whatever made it so. What it leaves goes to set-aside/ in the run
    #[arg(long)]
    retry_invalid: bool,
    /// Directory in which the run directory is created [default: runs]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on beside others that measure on this machine, rather than wait or be refused: each of them finds a slower machine, and the
    /// report says so. Give it a work directory of its own (work_directory, or $IOPSLAB_WORK)
    #[arg(long, conflicts_with = "resume")]
    beside: bool,
    /// Let other users of this machine read the run directory, as far as the umask does
    #[arg(long, conflicts_with = "resume")]
    shared: bool,
    /// Serve what the run is doing now as OpenMetrics text on http://ADDRESS/metrics; loopback only,
    /// port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<std::net::SocketAddr>,
    /// With --provider aws: have machines made without being asked
    #[arg(long)]
    yes: bool,
    /// With --provider aws: an estimate above this starts nothing, and a run that has spent it ends
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// Exit with status 3 if any trial is invalid
    #[arg(long)]
    require_valid: bool,
}

/// Where local databases answer clients.
const CQL_PORT: u16 = 9042;

/// Where run directories are created.
pub(super) const DEFAULT_OUT: &str = "runs";

pub fn run(args: &RunArgs, format: Format) -> Result<(), Failure> {
    // clap does not require --resume beside the experiment that excludes it.
    if args.retry_invalid && args.resume.is_none() {
        return Err(Failure::input(
            "--retry-invalid is for --resume RUN: a new run has no trial to repeat",
        ));
    }
    let metrics = args.metrics.map(LiveMetrics::serve).transpose()?;
    if let Some(metrics) = &metrics {
        eprintln!("live figures: http://{}/metrics", metrics.address);
    }
    let mut screen = Screen::new().with_metrics(metrics);
    let channel = Agents::channel();
    let to_controller = channel.0.clone();
    let interrupted = interrupt::install(move || {
        eprintln!("stopping in order; once more leaves at once");
        let _ = to_controller.send(Incoming::Interrupt);
    })
    .map_err(|e| Failure::work(format!("cannot watch for Ctrl-C: {e}")))?;

    let (directory, hands) = match (&args.experiment, &args.resume) {
        (Some(file), None) => begin(file, args, channel, &mut screen, &interrupted)?,
        (None, Some(path)) => resume(path, args, channel, &mut screen, &interrupted)?,
        _ => return Err(Failure::input("give an experiment file, or --resume RUN")),
    };
    let (driven, released) = match hands {
        Hands::Agents(mut agents) => {
            if agents.is_simulated() {
                screen.quiet();
            }
            (drive(&directory, &mut agents, &mut screen, &interrupted), Ok(()))
        }
        Hands::Sites(settings, channel) => {
            sites::drive(&directory, &settings, args.max_cost, channel, &mut screen, &interrupted)
        }
    };
    // Searches have added trials.
    let directory = directory.grown().map_err(Failure::work)?;
    if let Err(failure) = driven {
        // What Terraform said stays.
        let may_go = args.resume.is_none() && directory.plan().aws.is_none();
        if may_go && is_refusal(&directory, &failure) {
            return Err(taken_back(directory, failure));
        }
        let failure = keep(&directory, failure);
        // What was measured before the work failed is reported. Who stops a run does not wait for a report.
        if matches!(failure, Failure::Work { .. })
            && !directory.done().is_empty()
            && let Err(second) = report::rebuild(&directory, format)
        {
            second.show(format);
        }
        if let Err(left) = released {
            left.show(format);
        }
        return Err(failure);
    }
    let analysis = report::rebuild(&directory, format)?;
    // Whatever machines do, results are results.
    released?;
    let invalid = analysis.invalid_trials();
    if args.require_valid && invalid > 0 {
        return Err(Failure::Verdict(match invalid {
            1 => "1 trial is invalid".to_owned(),
            n => format!("{n} trials are invalid"),
        }));
    }
    Ok(())
}

/// Who carries a run out.
enum Hands {
    /// The agents of all hosts.
    Agents(Box<Agents>),
    /// The agents of machines that have to be made, site by site and batch by batch.
    Sites(Box<AwsSettings>, Channel),
}

/// The text of an experiment, and the texts of those that it names by their names.
type Texts<'a> = (&'a str, &'a BTreeMap<String, String>);

/// A new run: everything is checked before anything is created or told.
fn begin(
    file: &Path,
    args: &RunArgs,
    channel: Channel,
    screen: &mut Screen,
    interrupted: &AtomicBool,
) -> Result<(RunDirectory, Hands), Failure> {
    let catalog = catalog()?;
    let provider = args.provider.map_or(Provider::Local, Provider::from);
    if provider != Provider::Aws {
        refuse_for_aws(args)?;
    }
    if args.beside && matches!(provider, Provider::Aws | Provider::Simulated) {
        return Err(Failure::input(format!(
            "--beside is for machines on which others may measure; those of the provider {provider} are the run's own"
        )));
    }
    let ReadExperiment {
        text,
        beside,
        mut experiment,
    } = read_experiment(&catalog, file, ReadFor::Run(provider))?;
    if let Some(hosts) = &mut experiment.hosts {
        machines::settle_files(hosts, file)?;
    }
    if let Some(aws) = &mut experiment.aws {
        let files = [&mut aws.binary_x86_64, &mut aws.binary_aarch64];
        machines::settle(files.into_iter().flatten(), "[provider.aws]", file)?;
    }
    let database = &mut experiment.target.database;
    machines::settle(database.files_mut(), "[target]", file)?;
    secrets::notes(database.secret_files())
        .iter()
        .for_each(|note| screen.say(note));
    let mut job = experiment::job(&experiment);
    if let Some(settings) = job.plan.aws.clone() {
        let of_file = (&catalog, &experiment, (text.as_str(), &beside));
        let directory = begin_on_aws(of_file, args, &job, &settings, screen)?;
        return Ok((directory, Hands::Sites(Box::new(settings), channel)));
    }
    let mut agents = Agents::new(hosts_of(provider, &job, args.beside)?, channel);
    let looked = look(&mut agents, &mut job, provider, screen, interrupted);
    let hosts = looked.inspect_err(|_| agents.close(screen))?;
    screen.say(&report_plan(&catalog, &job, &experiment, provider));
    let directory = create(args, &catalog, &experiment, (&text, &beside), &job, provider, hosts)?;
    screen.say(&format!("evidence goes to {}", directory.path().display()));
    Ok((directory, Hands::Agents(Box::new(agents))))
}

/// The hosts are there, and nothing stands in the way of the run on them.
fn look(
    agents: &mut Agents,
    job: &mut Job,
    provider: Provider,
    screen: &mut Screen,
    interrupted: &AtomicBool,
) -> Result<Vec<(HostId, Environment)>, Failure> {
    let hosts = controller::greet(agents, job, screen)?;
    if job.plan.hosts.as_ref().is_some_and(|hosts| !hosts.limits) {
        controller::take_as_they_are(&mut job.setups, &hosts, screen)?;
    }
    controller::check(job, agents, &settings_for(&job.plan), screen)?;
    wait_for_work_directory(provider, &job.plan, screen, interrupted)?;
    Ok(hosts)
}

/// A new run on machines that have to be made: the run directory comes before them, because it knows what was made.
fn begin_on_aws(
    (catalog, experiment, text): (&Catalog, &Experiment, Texts<'_>),
    args: &RunArgs,
    job: &Job,
    settings: &AwsSettings,
    screen: &mut Screen,
) -> Result<RunDirectory, Failure> {
    Aws::check_program().map_err(Failure::work)?;
    screen.say(&report_plan(catalog, job, experiment, Provider::Aws));
    let estimate = aws::estimate(job, settings);
    screen.say(&aws::reported(settings, &estimate));
    controller::check_store(&job.plan)?;
    snapshots::check(settings, screen)?;
    aws::may_be_made(settings, &estimate, args.max_cost, args.yes)?;
    let directory = create(args, catalog, experiment, text, job, Provider::Aws, Vec::new())?;
    aws::keep_name(&directory)?;
    screen.say(&format!("evidence goes to {}", directory.path().display()));
    Ok(directory)
}

/// What is said of AWS to a run elsewhere.
fn refuse_for_aws(args: &RunArgs) -> Result<(), Failure> {
    let given = [("--yes", args.yes), ("--max-cost", args.max_cost.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Failure::input(format!(
            "{flag} is for --provider aws: nothing else costs money"
        ))),
        None => Ok(()),
    }
}

/// Waits until no other process of this machine holds the work directory, as long as one that was killed may take to
/// leave it. The agent takes the lock later; what it would refuse is refused before a run directory is made.
fn wait_for_work_directory(
    provider: Provider,
    plan: &experiment::Plan,
    screen: &mut Screen,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    if provider != Provider::Local {
        return Ok(());
    }
    let path = settings_for(plan).work_directory;
    let waiting = |what: &str| {
        screen.doing(what, "");
        !interrupted.load(Ordering::Relaxed)
    };
    WorkDirectory::wait_until_free(&path, waiting).map_err(|taken| match interrupted.load(Ordering::Relaxed) {
        true => Failure::interrupted("interrupted; nothing was begun"),
        false => Failure::work(taken),
    })
}

/// Where the hosts of this job come from.
fn hosts_of(provider: Provider, job: &Job, goes_beside: bool) -> Result<Box<dyn provider::Provider>, Failure> {
    let plan = &job.plan;
    match provider {
        Provider::Local => {
            let local = Local::new(machines::own_binary()?);
            let local = if goes_beside { local.beside(CQL_PORT) } else { local };
            let existing = machines::of_existing(&plan.target.database, &plan.configurations)?;
            Ok(match existing {
                Some(all) if all.has_clients() => Box::new(all),
                Some(nodes) => Box::new(Watched::new(local, nodes)),
                None => Box::new(local),
            })
        }
        Provider::Hosts => {
            let hosts = plan.hosts.as_ref();
            let hosts = hosts.ok_or_else(|| Failure::input("this run's plan names no machines"))?;
            Ok(Box::new(machines::hosts(hosts)?))
        }
        Provider::Aws => Err(Failure::work(
            "machines of AWS belong to a run; this is a bug of iopslab",
        )),
        Provider::Simulated => {
            let truth = plan.simulated.as_ref().ok_or_else(|| {
                Failure::input("this run has no truth to simulate")
                    .help("state it in [provider.simulated] of the experiment")
            })?;
            Ok(Box::new(SimulatedHosts::new(job, truth)))
        }
    }
}

/// Who measures now on the machine of a run that is this one's own.
fn others_here(provider: Provider) -> Vec<String> {
    let lock = crate::paths::machine_lock().filter(|_| provider == Provider::Local);
    lock.map_or_else(Vec::new, |lock| Measuring::going_on(&lock))
}

/// Creates the run directory with its frozen inputs and host facts.
fn create(
    args: &RunArgs,
    catalog: &Catalog,
    experiment: &Experiment,
    text: Texts<'_>,
    job: &Job,
    provider: Provider,
    hosts: Vec<(HostId, Environment)>,
) -> Result<RunDirectory, Failure> {
    let environment: serde_json::Map<String, serde_json::Value> = [
        ("provider".to_owned(), serde_json::json!(provider)),
        ("iopslab".to_owned(), serde_json::json!(env!("CARGO_PKG_VERSION"))),
    ]
    .into_iter()
    .chain(
        args.beside
            .then(|| (controller::BESIDE.to_owned(), serde_json::json!(others_here(provider)))),
    )
    // A simulated host has no facts.
    .chain(
        hosts
            .into_iter()
            .filter(|(_, facts)| *facts != Environment::default())
            .map(|(host, facts)| (host.to_string(), serde_json::json!(facts))),
    )
    .collect();
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let catalog = frozen_catalog(catalog, experiment);
    let out = args.out.as_deref().unwrap_or(Path::new(DEFAULT_OUT));
    RunDirectory::create(
        out,
        (&experiment.name, &stamp, args.shared),
        text,
        job,
        &catalog,
        &environment,
    )
    .map_err(|e| Failure::work(e).help("choose another place with --out DIR"))
}

/// Goes on with a run, by the provider that it began with.
fn resume(
    path: &Path,
    args: &RunArgs,
    channel: Channel,
    screen: &mut Screen,
    interrupted: &AtomicBool,
) -> Result<(RunDirectory, Hands), Failure> {
    let directory = RunDirectory::open(path).map_err(Failure::input)?;
    let provider = crate::measured::provider_of(&directory)?;
    if args.provider.is_some() {
        return Err(Failure::input(format!(
            "--provider with --resume: a run goes on with the provider it began with, which is {provider}"
        ))
        .help("leave out --provider, or start a new run"));
    }
    if args.out.is_some() {
        return Err(Failure::input(format!(
            "--out with --resume: a run goes on in its own directory, which is {}",
            path.display()
        ))
        .help("leave out --out"));
    }
    check_measurable(&directory)?;
    let prices = resumed::check(&directory, provider)?;
    let remaining = directory.remaining().map_err(Failure::work)?;
    let again = to_repeat(&directory, args.retry_invalid)?;
    let all = directory.plan().trials.len();
    screen.say(&format!(
        "{}: {} of {all} trials are done",
        path.display(),
        all - remaining.len() - again.len()
    ));
    let is_done = directory.is_finished().map_err(Failure::work)? && again.is_empty();
    let hands = match prices {
        Some(settings) => {
            let settings = &settings;
            // Nothing is made where nothing is left to measure; what is left of its machines goes as after any run.
            if !is_done {
                Aws::check_program().map_err(Failure::work)?;
                let estimate = aws::estimate(directory.job(), settings);
                screen.say(&aws::reported(settings, &estimate));
                controller::check_store(directory.plan())?;
                snapshots::check(settings, screen)?;
                aws::may_be_made(settings, &estimate, args.max_cost, args.yes)?;
            }
            Hands::Sites(Box::new(settings.clone()), channel)
        }
        None => {
            refuse_for_aws(args)?;
            let goes_beside = controller::goes_beside(&directory)?;
            let mut agents = Agents::new(hosts_of(provider, directory.job(), goes_beside)?, channel);
            if let Err(failure) = go_on(&directory, &mut agents, (is_done, provider), screen, interrupted) {
                agents.close(screen);
                return Err(failure);
            }
            Hands::Agents(Box::new(agents))
        }
    };
    directory.journal(JournalEvent::Resumed).map_err(Failure::work)?;
    set_aside(&directory, &again, screen)?;
    Ok((directory, hands))
}

/// The hosts of a run are there again, and they are what they were.
fn go_on(
    directory: &RunDirectory,
    agents: &mut Agents,
    (is_done, provider): (bool, Provider),
    screen: &mut Screen,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let job = directory.job();
    let hosts = controller::greet(agents, job, screen)?;
    controller::check(job, agents, &settings_for(&job.plan), screen)?;
    if !is_done {
        wait_for_work_directory(provider, &job.plan, screen, interrupted)?;
    }
    same_machine(directory, &hosts, screen)
}

/// Trials that are in place and done again, each with what was wrong with it: those whose database did not start, or
/// all that are invalid.
fn to_repeat(directory: &RunDirectory, all_invalid: bool) -> Result<Vec<(PlannedTrial, String)>, Failure> {
    if all_invalid {
        let measured = Measured::read(directory)?;
        let invalid = measured.trials().iter().filter(|t| !t.is_valid());
        return Ok(invalid
            .map(|t| {
                let trial = PlannedTrial {
                    block: t.record.block,
                    cell: t.record.cell.clone(),
                };
                (trial, t.invalid_reason().unwrap_or_default())
            })
            .collect());
    }
    let did_not_start = |trial: PlannedTrial| match directory.record(&trial).ok()?.validity {
        Validity::Invalid {
            cause: Cause::DidNotStart,
            reason,
            ..
        } => Some((trial, reason)),
        _ => None,
    };
    Ok(directory.done().into_iter().filter_map(did_not_start).collect())
}

fn set_aside(directory: &RunDirectory, again: &[(PlannedTrial, String)], screen: &mut Screen) -> Result<(), Failure> {
    for (trial, reason) in again {
        directory.set_aside(trial, reason).map_err(Failure::work)?;
        // The first line says what is wrong; a log may follow.
        let reason = reason.lines().next().unwrap_or_default();
        screen.say(&format!("repeating {} block {}: {reason}", trial.cell, trial.block));
    }
    Ok(())
}

fn drive(
    directory: &RunDirectory,
    agents: &mut Agents,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let _lock = directory.lock().map_err(Failure::work)?;
    let settings = settings_for(directory.plan());
    controller::run(directory, agents, &settings, screen, interrupted)
}

/// Whether work failed before there was anything to keep: no data set, no trial begun.
fn is_refusal(directory: &RunDirectory, failure: &Failure) -> bool {
    let is_begun = |event: &JournalEvent| !matches!(event, JournalEvent::RunStarted { .. } | JournalEvent::Note { .. });
    matches!(failure, Failure::Work { .. } | Failure::Input { .. })
        && directory.done().is_empty()
        && directory
            .journal_entries()
            .is_ok_and(|entries| !entries.iter().any(|entry| is_begun(&entry.event)))
}

/// The directory of a run that was refused holds nothing: it goes, and the failure stays.
fn taken_back(directory: RunDirectory, failure: Failure) -> Failure {
    let path = directory.path().to_owned();
    drop(directory);
    if let Err(error) = std::fs::remove_dir_all(&path) {
        tracing::warn!("cannot remove {}, which holds no trial: {error}", path.display());
    }
    failure
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

fn report_plan(catalog: &Catalog, job: &Job, experiment: &Experiment, provider: Provider) -> String {
    let notes = experiment::static_notes(catalog, experiment, Some(provider), None);
    ::report::plan_table(job, &notes, terminal::width())
}

/// The facts this run's limits came from, kept with its evidence.
fn frozen_catalog(catalog: &Catalog, experiment: &Experiment) -> serde_json::Value {
    let instances: Vec<_> = experiment
        .configurations
        .iter()
        .filter(|c| c.instance.from_catalog)
        .filter_map(|c| catalog.instance(&c.instance.label))
        .collect();
    serde_json::json!({ "format_version": evidence::FORMAT_VERSION, "instances": instances })
}
