//! The simulated provider's controller: the same journal, the same evidence, no machine.

use std::sync::atomic::{AtomicBool, Ordering};

use archive::{JournalEvent, RunDirectory};
use evidence::Validity;
use provider::simulated::Simulation;

use super::{adaptive, interrupted_failure, note, run_name};
use crate::failure::Failure;
use crate::progress::Screen;

/// Simulates what is missing of `directory`; at the end every planned trial has its evidence.
pub fn run(directory: &RunDirectory, screen: &mut Screen, interrupted: &AtomicBool) -> Result<(), Failure> {
    let plan = directory.plan();
    let truth = plan.simulated.as_ref().ok_or_else(|| {
        Failure::input("this run has no truth to simulate").help("state it in [provider.simulated] of the experiment")
    })?;
    let simulation = Simulation::new(plan, truth);
    let remaining = directory.remaining().map_err(Failure::work)?;
    screen.publish(|live| {
        live.begin(
            run_name(directory),
            plan.trials.len(),
            plan.trials.len() - remaining.len(),
        )
    });
    let mut simulated_s = 0.0;
    for (done, planned) in remaining.iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            note(directory, JournalEvent::Interrupted)?;
            return Err(interrupted_failure(directory));
        }
        let (cell, block) = (planned.cell.clone(), planned.block);
        note(
            directory,
            JournalEvent::TrialStarted {
                cell: cell.clone(),
                block,
            },
        )?;
        let trial = simulation
            .trial(planned)
            .ok_or_else(|| Failure::work(format!("plan.json is not whole: cell {cell} lacks a part")))?;
        directory
            .write_trial(&trial.record, &trial.intervals, &trial.samples, &[])
            .map_err(Failure::work)?;
        let valid = trial.record.validity == Validity::Valid;
        note(directory, JournalEvent::TrialDone { cell, block, valid })?;
        screen.publish(|live| live.stored(valid));
        simulated_s += plan.shape.warmup_s + plan.shape.duration_s;
        if (done + 1).is_multiple_of(REPORT_EVERY) || done + 1 == remaining.len() {
            screen.say(&format!("[{} of {}] simulated", done + 1, remaining.len()));
        }
        if adaptive::enough(directory, planned, simulated_s, screen)? {
            break;
        }
    }
    note(directory, JournalEvent::RunDone)
}

/// Trials between two lines of progress.
const REPORT_EVERY: usize = 50;
