//! `iopslab run`: the main job.

pub(super) mod args;
mod begin;
mod resume;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

use archive::{JournalEvent, RunDirectory};
use controller::{Agents, LiveRun, Screen, Settings};
use process::failure::{Failure, Kind};
use process::output::Format;
use process::{interrupt, paths};
use provider::Incoming;

pub use self::args::RunArgs;
use super::carried_out::{Hands, User, settings_for};
use super::watch_page::WatchPage;
use super::{latest, report, sites};

pub fn run(args: &RunArgs, format: Format) -> Result<(), Failure> {
    // clap does not require --resume beside the experiment that excludes it.
    if args.retry_invalid && args.resume.is_none() {
        return Err(Failure::input("--retry-invalid is for --resume RUN: a new run has no trial to repeat"));
    }
    if args.resume.is_some() && !args.otherwise.is_nothing() {
        return Err(Failure::input("--set and --only begin a run: one that goes on has an experiment.toml of its own"));
    }
    if args.retry_skipped && args.resume.is_none() {
        return Err(Failure::input("--retry-skipped is for --resume RUN: of a new run no cell was skipped"));
    }
    if let Some(left) = paths::left_before() {
        eprintln!("note: {}; remove it with: {}", left.what, left.command);
    }
    let live = LiveRun::default();
    if let Some(address) = args.metrics {
        let address = controller::serve_metrics(address, &live)?;
        eprintln!("live figures: http://{address}/metrics");
    }
    let watched = args.watch.map(|address| WatchPage::serve(address, &live)).transpose()?.map(Arc::new);
    let channel = channel();
    let to_controller = channel.0.clone();
    let interrupted = interrupt::install(move || {
        eprintln!("stopping in order; once more leaves at once");
        let _ = to_controller.send(Incoming::Interrupt);
    })
    .map_err(|e| Failure::work(format!("cannot watch for Ctrl-C: {e}")))?;

    let user = User { args, screen: Screen::new(Some(live)), interrupted, watched };
    let (directory, hands) = match (&args.experiment, &args.resume) {
        (Some(file), None) => begin::begin(file, &user, channel)?,
        (_, Some(path)) => resume::resume(path, &user, channel)?,
        (None, None) => {
            let file =
                latest::experiment(None, "the file, iopslab run FILE, or go on with a run: iopslab run --resume RUN")?;
            begin::begin(&file, &user, channel)?
        }
    };
    let (driven, released) = match hands {
        Hands::Agents(mut agents) => (drive(&directory, &mut agents, &user), Ok(())),
        Hands::Sites(settings, channel) => sites::drive(&directory, &settings, &user, channel),
    };
    // Machines of AWS were taken away last.
    user.screen.clear();
    // Searches have added trials.
    let directory = directory.grown().map_err(Failure::work)?;
    if let Err(failure) = driven {
        user.ended(&directory, &failure.message);
        let is_hurried = user.interrupted.load(Ordering::Relaxed);
        return Err(unfinished(directory, failure, released, (args.resume.is_some(), is_hurried), format));
    }
    let analysis = report::rebuild(&directory, format)?;
    user.ended(
        &directory,
        &format!("The run is done; its report is {}.", directory.path().join("report.html").display()),
    );
    // Whatever machines do, results are results.
    released?;
    let invalid = analysis.invalid_trials();
    if args.require_valid && invalid > 0 {
        return Err(Failure::verdict(match invalid {
            1 => "1 trial is invalid".to_owned(),
            n => format!("{n} trials are invalid"),
        }));
    }
    Ok(())
}

fn drive(directory: &RunDirectory, agents: &mut Agents, user: &User<'_>) -> Result<(), Failure> {
    if directory.plan().place.is_simulated() {
        agents.screen.quiet();
    }
    let _lock = directory.lock().map_err(Failure::work)?;
    let settings = Settings { evidence_grew: user.evidence_grew(), ..settings_for(directory.plan()) };
    Ok(controller::run(directory, agents, &settings)?)
}

/// A run that did not come to its end: what was measured before is reported, and what is left of it is said. One that
/// was refused leaves nothing.
fn unfinished(
    directory: RunDirectory,
    failure: Failure,
    released: Result<(), Failure>,
    (is_resumed, is_hurried): (bool, bool),
    format: Format,
) -> Failure {
    // What Terraform said stays.
    let may_go = !is_resumed && directory.plan().place.aws().is_none();
    if may_go && is_refusal(&directory, &failure) {
        return taken_back(directory, failure);
    }
    let failure = keep(&directory, failure);
    // Who stops a run by Ctrl-C does not wait for a report.
    let waits = matches!(failure.kind, Kind::Work) || matches!(failure.kind, Kind::Interrupted) && !is_hurried;
    if waits
        && !directory.done().is_empty()
        && let Err(second) = report::rebuild(&directory, format)
    {
        second.show(format);
    }
    if let Err(left) = released {
        left.show(format);
    }
    failure
}

/// Whether work failed before there was anything to keep: no data set, no trial begun.
fn is_refusal(directory: &RunDirectory, failure: &Failure) -> bool {
    let is_begun = |event: &JournalEvent| !matches!(event, JournalEvent::RunStarted { .. } | JournalEvent::Note { .. });
    matches!(failure.kind, Kind::Work | Kind::Input)
        && directory.done().is_empty()
        && directory.journal_entries().is_ok_and(|entries| !entries.iter().any(|entry| is_begun(&entry.event)))
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
    if !matches!(failure.kind, Kind::Work) || failure.help.is_some() {
        return failure;
    }
    let run = guarded::shell_path(directory.path());
    failure.help(format!("finished trials are kept; continue with: iopslab run --resume {run}"))
}
