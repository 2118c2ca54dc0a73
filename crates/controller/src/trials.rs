//! The trials of a run, one after the other, and the searches that make some of them.

use std::time::Instant;

use archive::RunDirectory;
use experiment::{Plan, PlannedTrial};

use super::agents::Agents;
use super::failure::Failure;
use super::forks::by_process;
use super::run::{Run, Settings};
use super::target::Target;
use super::trial::{Completion, Position};
use super::{adaptive, open, searches, trial};

/// Simulated trials between two lines of progress.
const SIMULATED_TRIALS_A_LINE: usize = 50;
/// So many trials that could not be completion out, one after the other, end the run.
const FAILURES_IN_A_ROW: u32 = 3;
/// Trials after which what they took says more than the plan: the first one of a process makes volumes and compiles
/// code.
const TRIALS_KNOWN: usize = 4;

/// Does what is missing.
pub(super) fn through(directory: &RunDirectory, agents: &mut Agents, settings: &Settings) -> Result<(), Failure> {
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

/// What is missing of the trials that are planned.
fn measure(run: &mut Run<'_>) -> Result<(), Failure> {
    let plan = run.plan();
    let began = Instant::now();
    let mut took_s = Vec::new();
    let mut failures_in_a_row = 0;
    let remaining = by_process(run.job(), run.directory.remaining()?);
    for (done, planned) in remaining.iter().enumerate() {
        let position = Position {
            number: plan.trials.len() - remaining.len() + done + 1,
            of: plan.trials.len(),
            eta_s: remaining_time(plan, &took_s, &remaining[done..]),
        };
        run.check_money(plan.seconds_of(planned), remaining.len() - done)?;
        let trial_began = Instant::now();
        let completion = trial::run(run, planned, remaining.get(done + 1), position)?;
        took_s.push(trial_began.elapsed().as_secs_f64());
        match completion {
            Completion::Completed => failures_in_a_row = 0,
            // A database that cannot be started, or a client that is lost, will fail the next time too: stop before
            // hours are wasted.
            Completion::Failed(last) if failures_in_a_row + 1 == FAILURES_IN_A_ROW => {
                return Err(Failure::TrialsFailed {
                    trials: FAILURES_IN_A_ROW,
                    last,
                    run: run.directory.path().to_owned(),
                });
            }
            Completion::Failed(_) => failures_in_a_row += 1,
        }
        let done = done + 1;
        let spent_s = if plan.place.is_simulated() {
            if done.is_multiple_of(SIMULATED_TRIALS_A_LINE) || done == remaining.len() {
                run.say(&format!("[{done} of {}] simulated", remaining.len()));
            }
            done as f64 * (plan.shape.warmup_s + plan.shape.duration_s)
        } else {
            began.elapsed().as_secs_f64()
        };
        if adaptive::enough(run, planned, spent_s)? {
            break;
        }
    }
    Ok(())
}

/// Seconds that remain: what the plan expects of each trial, or what one took in the mean so far.
fn remaining_time(plan: &Plan, took_s: &[f64], remaining: &[PlannedTrial]) -> f64 {
    match took_s.len() >= TRIALS_KNOWN {
        true => took_s.iter().sum::<f64>() / took_s.len() as f64 * remaining.len() as f64,
        false => remaining.iter().map(|trial| plan.seconds_of(trial)).sum(),
    }
}
