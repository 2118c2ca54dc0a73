//! The trials of a run, one after the other, and the searches that make some of them.

use std::collections::VecDeque;
use std::time::Instant;

use archive::RunDirectory;
use experiment::{Plan, PlannedTrial};
use process::output;

use super::agents::Agents;
use super::forks::by_process;
use super::live_line::Position;
use super::run::{Run, Settings};
use super::run_failure::{Failure, Result};
use super::target::Target;
use super::time_left::{Pace, TimeLeft};
use super::trial::Completion;
use super::wished::heed;
use super::{adaptive, open, searches, standings, trial};

/// Simulated trials between two lines of progress.
const SIMULATED_TRIALS_A_LINE: usize = 50;
/// So many trials that could not be carried out, one after the other, end the run.
const FAILURES_IN_A_ROW: u32 = 3;
/// Trials that whoever watches sees coming.
const NEXT_SHOWN: usize = 5;

/// Does what is missing.
pub(super) fn through(directory: &RunDirectory, agents: &mut Agents, settings: &Settings) -> Result<()> {
    if directory.is_finished()? {
        return Ok(());
    }
    let mut run = Run { directory, agents, settings, target: Target::of(directory.plan())? };
    open::hosts(&mut run)?;
    if directory.plan().search.is_none() {
        return measure(&mut run);
    }
    let mut grown = searches::through(&mut run)?;
    loop {
        let mut run = run.on(&grown);
        measure(&mut run)?;
        match searches::more(&run)? {
            Some(more) => grown = more,
            None => return Ok(()),
        }
    }
}

/// A trial that is to be done, and the seconds that the plan expects of it.
type Due = VecDeque<(PlannedTrial, f64)>;

/// What is missing of the trials that are planned; of those whose number is found out, until enough is known.
fn measure(run: &mut Run<'_>) -> Result<()> {
    if run.plan().search.is_some() {
        // Searches have added cells.
        learn(run)?;
    }
    let mut so_far = SoFar::default();
    while pass(run, &mut so_far)? && adaptive::goes_on(run)? {
        // So has a look.
        learn(run)?;
    }
    Ok(())
}

/// What earlier trials showed of those to come.
#[derive(Default)]
struct SoFar {
    pace: Pace,
    failures_in_a_row: u32,
}

/// The trials that the run has been called to and that are missing. Returns whether it got to their end.
fn pass(run: &mut Run<'_>, so_far: &mut SoFar) -> Result<bool> {
    let plan = run.plan();
    let mut done = 0;
    let before = run.directory.done().len();
    let mut due = due(run)?;
    loop {
        if heed(run, due.len())? {
            learn(run)?;
            due = self::due(run)?;
            continue;
        }
        let Some((planned, expected_s)) = due.pop_front() else { return Ok(true) };
        let modified = trial::bring(run, &planned, due.len() + 1)?;
        run.check_money(expected_s, due.len() + 1)?;
        let trial_began = Instant::now();
        let left = time_left(&so_far.pace, expected_s, &due, trial_began);
        run.agents.screen.publish_here(|site| {
            site.left = (!plan.place.is_simulated()).then_some(left);
            site.next = due.iter().take(NEXT_SHOWN).map(|(trial, _)| trial.clone()).collect();
        });
        let position = Position { number: before + done + 1, of: before + done + 1 + due.len(), left };
        let screen = run.agents.screen.clone();
        let next = || screen.wishes().first_of(due.iter().map(|(trial, _)| trial)).cloned();
        let completion = trial::run(run, (&planned, modified), &next, position)?;
        so_far.pace.took(trial_began.elapsed().as_secs_f64(), expected_s);
        match completion {
            Completion::Completed => so_far.failures_in_a_row = 0,
            // A database that cannot be started, or a client that is lost, will fail the next time too: stop before
            // hours are wasted.
            Completion::Failed(last) if so_far.failures_in_a_row + 1 == FAILURES_IN_A_ROW => {
                return Err(Failure::TrialsFailed {
                    trials: FAILURES_IN_A_ROW,
                    last,
                    run: run.directory.path().to_owned(),
                });
            }
            Completion::Failed(_) => so_far.failures_in_a_row += 1,
        }
        done += 1;
        (run.settings.evidence_grew)(run.directory);
        if !plan.place.is_simulated() {
            say_standings(run, &planned, &due);
        } else if done.is_multiple_of(SIMULATED_TRIALS_A_LINE) || due.is_empty() {
            run.say(&format!("[{done} of {}] simulated", done + due.len()));
        }
        if adaptive::enough(run)? {
            // Of the trials that were planned none is to come any more.
            learn(run)?;
            return Ok(false);
        }
    }
}

/// Who watches sees where the cells of this plan stand.
fn learn(run: &Run<'_>) -> Result<()> {
    let cells = standings::of(run.directory)?;
    run.agents.screen.publish(|live| live.learn(cells));
    Ok(())
}

/// What is to be done, in its order.
fn due(run: &Run<'_>) -> Result<Due> {
    let trials = by_process(run.job(), run.directory.remaining()?);
    let expected_s = expected_s(run.plan(), &trials);
    Ok(trials.into_iter().zip(expected_s).collect())
}

/// What the plan expects of trials. Of simulated ones nobody asks.
fn expected_s(plan: &Plan, trials: &[PlannedTrial]) -> Vec<f64> {
    match plan.place.is_simulated() {
        true => vec![0.0; trials.len()],
        false => trials.iter().map(|trial| plan.seconds_of(trial)).collect(),
    }
}

fn time_left(pace: &Pace, expected_s: f64, then: &Due, began: Instant) -> TimeLeft {
    let then_s: f64 = then.iter().map(|(_, seconds)| seconds).sum();
    TimeLeft { began, trial_s: expected_s * pace.factor(), then_s: then_s * pace.factor() }
}

/// After the last trial of a block, where others follow: where the cells stand.
fn say_standings(run: &Run<'_>, after: &PlannedTrial, due: &Due) {
    let is_last = due.iter().all(|(trial, _)| trial.block != after.block);
    if !is_last || due.is_empty() {
        return;
    }
    let when = format!("after block {}", after.block);
    let width = output::columns().saturating_sub(1);
    let table = run.agents.screen.look(|live| standings::table(&when, &live.cells, width));
    if let Some(table) = table {
        run.say(&table);
    }
}
