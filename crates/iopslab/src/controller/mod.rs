//! The controller: drives the agents through a plan and keeps the evidence. The order of a run:
//!
//! open the database host -> load the data set (once) -> for each trial in the plan's order: prepare the
//! configuration's volumes (once each), start a restored database, load it, stop it, store the trial -> analysis and
//! reports.

mod adaptive;
mod crew;
mod dataset;
pub mod simulated;
mod trial;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use archive::{JournalEvent, RunDirectory};
use evidence::Environment;
use provider::Role;
use spec::Plan;
use wire::{DatabaseRequest, Reply, Request, UnderTest};

use crate::failure::Failure;
use crate::progress::{Screen, human_duration};
pub use crew::Crew;
use trial::Carried;

/// So many trials that could not be carried out, one after the other, end the run.
const FAILURES_IN_A_ROW: u32 = 3;

/// Everything a run needs that is not in its plan.
pub struct Settings {
    /// Where volumes, snapshots and the ledger live.
    pub work_directory: PathBuf,
    /// Where downloads are kept.
    pub cache_directory: PathBuf,
}

/// Runs what is missing of `directory`; at the end every planned trial has its evidence.
pub fn run(
    directory: &RunDirectory,
    crew: &mut Crew,
    settings: &Settings,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let result = run_trials(directory, crew, settings, screen);
    crew.close(screen);
    screen.clear();
    if interrupted.load(Ordering::Relaxed) {
        note(directory, JournalEvent::Interrupted)?;
        return Err(interrupted_failure(directory));
    }
    result?;
    note(directory, JournalEvent::RunDone)
}

/// Ctrl-C: what is kept and how to go on.
fn interrupted_failure(directory: &RunDirectory) -> Failure {
    let run = directory.path().display();
    Failure::interrupted("interrupted; every finished trial is kept").help(format!(
        "continue with: iopslab run --resume {run}; what is there so far: iopslab report {run}"
    ))
}

fn run_trials(
    directory: &RunDirectory,
    crew: &mut Crew,
    settings: &Settings,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = directory.plan();
    let remaining = directory.remaining().map_err(Failure::work)?;
    screen.publish(|live| {
        live.begin(
            run_name(directory),
            plan.trials.len(),
            plan.trials.len() - remaining.len(),
        )
    });
    if remaining.is_empty() {
        return Ok(());
    }
    open(directory, crew, settings, screen)?;
    let began = Instant::now();
    let mut failures_in_a_row = 0;
    let mut last_reason = String::new();
    for (done, planned) in remaining.iter().enumerate() {
        let eta = remaining_time(plan, began, done, remaining.len());
        let progress = trial::Position {
            number: plan.trials.len() - remaining.len() + done + 1,
            of: plan.trials.len(),
            eta_s: eta,
        };
        // A database that cannot be started, or a client that is lost, will fail the next time too: stop before hours
        // are wasted.
        match trial::run(directory, crew, planned, progress, screen)? {
            Carried::Out => failures_in_a_row = 0,
            Carried::Not(reason) => {
                failures_in_a_row += 1;
                last_reason = reason;
            }
        }
        if failures_in_a_row == FAILURES_IN_A_ROW {
            return Err(Failure::work(format!(
                "{FAILURES_IN_A_ROW} trials in a row could not be carried out; the last one: {last_reason}"
            ))
            .help(format!(
                "remove the cause, then: iopslab run --resume {}, which repeats what did not start (with --retry-invalid: every invalid trial)",
                directory.path().display()
            )));
        }
        if adaptive::enough(directory, planned, began.elapsed().as_secs_f64(), screen)? {
            break;
        }
    }
    Ok(())
}

/// Seconds that remain: what trials took so far, or the plan's estimate before the first is done.
fn remaining_time(plan: &Plan, began: Instant, done: usize, total: usize) -> f64 {
    let each = match done {
        0 => plan.estimated_s / plan.trials.len().max(1) as f64,
        _ => began.elapsed().as_secs_f64() / done as f64,
    };
    each * (total - done) as f64
}

/// Takes the database host and makes sure that the data set's snapshot is there.
fn open(directory: &RunDirectory, crew: &mut Crew, settings: &Settings, screen: &mut Screen) -> Result<(), Failure> {
    let plan = directory.plan();
    let spec::Database::Cassandra { version } = &plan.target.database else {
        return Err(Failure::input(
            "the local provider starts its own Cassandra; [target] hosts is for: iopslab load",
        ));
    };
    let under_test = UnderTest {
        run: run_name(directory),
        work_directory: settings.work_directory.display().to_string(),
        cache_directory: settings.cache_directory.display().to_string(),
        version: version.clone(),
        dataset: plan.dataset,
        needed_bytes: needed_bytes(plan),
        patience: plan.patience,
    };
    let reply = crew.call(
        Role::Database,
        Request::Database(DatabaseRequest::Open(under_test)),
        screen,
    )?;
    let Reply::Opened {
        cleaned,
        snapshot,
        java,
    } = reply
    else {
        return Err(unexpected(&reply));
    };
    for what in cleaned {
        screen.say(&format!("cleaned up after an earlier run: {what}"));
    }
    screen.say(&format!("Cassandra {version} on {java}"));
    let snapshot = match snapshot {
        Some(found) => {
            screen.say(&format!(
                "data set: {} records from an earlier run's snapshot",
                found.records
            ));
            found
        }
        None => dataset::load(plan, crew, screen)?,
    };
    screen.say(&format!(
        "data set: {:.0} MiB payload, {:.0} MiB on disk",
        plan.dataset.payload_bytes() as f64 / catalog::MIB,
        snapshot.table_bytes as f64 / catalog::MIB
    ));
    note(
        directory,
        JournalEvent::DatasetReady {
            records: snapshot.records,
            bytes: snapshot.table_bytes,
        },
    )
}

/// Bytes that the run needs in the work directory: the snapshot once, and each configuration's copy with room for
/// updates.
pub fn needed_bytes(plan: &Plan) -> u64 {
    // On disk a record costs about 1.15 times its payload (keys, timestamps, index, bloom filter: measured on
    // usertable with 10 x 100 B); updates and their compaction may double a configuration's copy.
    let on_disk = plan.dataset.payload_bytes() * 115 / 100;
    on_disk * 2 + plan.setups.len() as u64 * (on_disk * 2 + (256 << 20))
}

/// Greets the agents; returns the facts about their hosts.
pub fn greet(crew: &mut Crew, screen: &mut Screen) -> Result<Vec<(Role, Environment)>, Failure> {
    [Role::Database, Role::Client]
        .into_iter()
        .map(|role| {
            match crew.call(
                role,
                Request::Hello {
                    protocol: wire::PROTOCOL,
                },
                screen,
            )? {
                Reply::Hello { environment, .. } => Ok((role, *environment)),
                other => Err(unexpected(&other)),
            }
        })
        .collect()
}

fn run_name(directory: &RunDirectory) -> String {
    directory
        .path()
        .file_name()
        .map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn note(directory: &RunDirectory, event: JournalEvent) -> Result<(), Failure> {
    directory.journal(event).map_err(Failure::work)
}

fn unexpected(reply: &Reply) -> Failure {
    Failure::work(format!("an agent gave an answer to another question: {reply:?}"))
}

/// `12 of 24, about 14m 10s left`.
fn position_text(position: trial::Position) -> String {
    format!(
        "{} of {}, about {} left",
        position.number,
        position.of,
        human_duration(position.eta_s)
    )
}
