//! A run that goes on: by the provider that it began with, on machines that are what they were.

use std::path::Path;

use archive::{JournalEvent, RunDirectory};
use controller::{Agents, Channel, Measured};
use evidence::Validity;
use experiment::PlannedTrial;
use process::failure::Failure;
use provider::aws::Aws;

use crate::cli::carried_out::{Hands, User, same_machine, settings_for};
use crate::cli::experiment_file::check_measurable;
use crate::cli::{aws, resumed};

/// Goes on with a run, by the provider that it began with.
pub(super) fn resume(path: &Path, user: &User<'_>, channel: Channel) -> Result<(RunDirectory, Hands), Failure> {
    let directory = RunDirectory::open(path).map_err(Failure::input)?;
    let provider = directory.plan().place.provider();
    if user.args.provider.is_some() {
        return Err(Failure::input(format!(
            "--provider with --resume: a run goes on with the provider it began with, which is {provider}"
        ))
        .help("leave out --provider, or start a new run"));
    }
    if user.args.out.is_some() {
        return Err(Failure::input(format!(
            "--out with --resume: a run goes on in its own directory, which is {}",
            path.display()
        ))
        .help("leave out --out"));
    }
    if directory.plan().place.is_imported() {
        return Err(Failure::input(format!("{} was imported: nobody can go on with it", path.display()))
            .help("iopslab report shows it; add files to its map and import it again"));
    }
    check_measurable(&directory)?;
    let prices = resumed::check(&directory)?;
    if user.args.retry_skipped {
        take_up(&directory, user)?;
    }
    let again = to_repeat(&directory, user.args.retry_invalid)?;
    user.say(&format!("{}: {}", path.display(), how_far(&directory, &again)?));
    let is_done = directory.is_finished().map_err(Failure::work)? && again.is_empty();
    let hands = match prices {
        Some(settings) => {
            // Nothing is made where nothing is left to measure; what is left of its machines goes as after any run.
            if !is_done {
                Aws::check_program().map_err(Failure::work)?;
                let cells = again.iter().map(|(trial, _)| trial.cell.as_str()).collect();
                let batches = aws::to_make(&directory, &settings, &cells)?;
                let may_stand = aws::may_stand(&directory, &settings);
                user.may_make(directory.job(), &settings, &batches)
                    .map_err(|failure| if may_stand { with_destroy(failure, &directory) } else { failure })?;
            }
            Hands::Sites(Box::new(settings), channel)
        }
        None => {
            user.refuse_for_aws()?;
            let goes_beside = controller::goes_beside(&directory)?;
            let mut agents = user.agents(directory.job(), goes_beside, channel)?;
            let goes_on = go_on(&directory, &mut agents, user, is_done);
            goes_on.inspect_err(|_| agents.close())?;
            Hands::Agents(Box::new(agents))
        }
    };
    directory.journal(JournalEvent::Resumed).map_err(Failure::work)?;
    set_aside(&directory, &again, user)?;
    Ok((directory, hands))
}

/// A refusal before machines were looked for says how those that may stand are taken away.
fn with_destroy(failure: Failure, directory: &RunDirectory) -> Failure {
    let run = guarded::shell_path(directory.path());
    let left = format!("machines of the run may stand, and cost money until: iopslab destroy {run}");
    let help = failure.help.as_ref().map_or_else(|| left.clone(), |help| format!("{help}\n       {left}"));
    failure.help(help)
}

/// How many trials are done of those that are to be had; those that are repeated are not.
fn how_far(directory: &RunDirectory, again: &[(PlannedTrial, String)]) -> Result<String, Failure> {
    let (all, done) = (directory.called_for().map_err(Failure::work)?, directory.done());
    let skipped = directory.skipped().map_err(Failure::work)?;
    let is_done = |trial: &&PlannedTrial| done.contains(trial) && again.iter().all(|(repeated, _)| repeated != *trial);
    let is_skipped = |trial: &&PlannedTrial| skipped.contains(&trial.cell) && !done.contains(trial);
    let far = format!("{} of {} trials are done", all.iter().filter(is_done).count(), all.len());
    Ok(match all.iter().filter(is_skipped).count() {
        0 => far,
        n => format!("{far}, {n} are skipped (--retry-skipped measures them)"),
    })
}

/// Cells that were skipped are measured again.
fn take_up(directory: &RunDirectory, user: &User<'_>) -> Result<(), Failure> {
    for cell in directory.skipped().map_err(Failure::work)? {
        user.say(&format!("{cell} was skipped, and is measured again"));
        directory.journal(JournalEvent::CellTakenUp { cell }).map_err(Failure::work)?;
    }
    Ok(())
}

/// The hosts of a run are there again, and they are what they were.
fn go_on(directory: &RunDirectory, agents: &mut Agents, user: &User<'_>, is_done: bool) -> Result<(), Failure> {
    let job = directory.job();
    let hosts = controller::greet(agents, job)?;
    controller::check(job, agents, &settings_for(&job.plan))?;
    if !is_done {
        user.wait_for_work_directory(&job.plan)?;
    }
    same_machine(directory, &hosts, &agents.screen)
}

/// Trials that are in place and done again, each with what was wrong with it: those whose database did not start, or
/// all that are invalid.
fn to_repeat(directory: &RunDirectory, all_invalid: bool) -> Result<Vec<(PlannedTrial, String)>, Failure> {
    if all_invalid {
        let measured = Measured::read(directory)?;
        let invalid = measured.trials().iter().filter(|t| !t.is_valid());
        return Ok(invalid
            .map(|t| {
                let trial = PlannedTrial { block: t.record.block, cell: t.record.cell.clone() };
                (trial, t.invalid_reason().unwrap_or_default())
            })
            .collect());
    }
    let did_not_start = |trial: PlannedTrial| match directory.record(&trial).ok()?.validity {
        Validity::Invalid { cause, reason, .. } if cause.is_before_load() => Some((trial, reason)),
        Validity::Valid | Validity::Invalid { .. } => None,
    };
    Ok(directory.done().into_iter().filter_map(did_not_start).collect())
}

fn set_aside(directory: &RunDirectory, again: &[(PlannedTrial, String)], user: &User<'_>) -> Result<(), Failure> {
    for (trial, reason) in again {
        directory.set_aside(trial, reason).map_err(Failure::work)?;
        // The first line says what is wrong; a log may follow.
        let reason = reason.lines().next().unwrap_or_default();
        user.say(&format!("repeating {} block {}: {reason}", trial.cell, trial.block));
    }
    Ok(())
}
