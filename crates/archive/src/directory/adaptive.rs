//! A run that decides for itself how often it repeats: what its journal says of that.

use std::collections::BTreeMap;

use experiment::{Adaptive, NextBlock, PlannedTrial, Resting};
use jiff::Timestamp;

use super::RunDirectory;
use crate::{JournalEvent, Result};

/// A trial may take twice as long as planned and so many seconds; one that takes longer is given up.
const LATE_S: f64 = 300.0;

impl RunDirectory {
    /// Whether cells of the run may rest, and nothing yet says that it needs no further block.
    pub(super) fn is_undecided(&self) -> Result<bool> {
        let rests_cells = self.job.plan.adaptive.as_ref().is_some_and(Adaptive::rests_cells);
        Ok(rests_cells && self.enough()?.is_none())
    }

    /// After which block an adaptive run stopped, why, and what rested then. What was enough without a cell may not be
    /// once the user has taken it up again: then nothing is known of that until the run stops anew.
    pub fn enough(&self) -> Result<Option<(u32, String, Vec<Resting>)>> {
        let mut enough = None;
        for entry in self.journal_entries()? {
            match entry.event {
                JournalEvent::Enough { blocks, reason, resting } => enough = enough.or(Some((blocks, reason, resting))),
                JournalEvent::CellTakenUp { .. } => enough = None,
                _ => {}
            }
        }
        Ok(enough)
    }

    /// Blocks that an adaptive run was called to, in their order.
    fn next_blocks(&self) -> Result<Vec<NextBlock>> {
        self.events(|event| match event {
            JournalEvent::NextBlock(next) => Some(next),
            _ => None,
        })
    }

    /// What an adaptive run has come to so far; `None` where the number of repetitions is fixed.
    pub fn adaptive(&self) -> Result<Option<Adaptive>> {
        let Some(planned) = &self.job.plan.adaptive else {
            return Ok(None);
        };
        let mut adaptive = Adaptive { called: self.next_blocks()?, ..planned.clone() };
        if let Some((_, reason, resting)) = self.enough()? {
            (adaptive.stopped, adaptive.resting) = (Some(reason), resting);
        }
        Ok(Some(adaptive))
    }

    /// Seconds that were spent on trials, those that failed among them; of a simulation those that they stand for.
    pub fn seconds_of_trials(&self) -> Result<f64> {
        let plan = &self.job.plan;
        if plan.place.is_simulated() {
            return Ok(self.done().len() as f64 * (plan.shape.warmup_s + plan.shape.duration_s));
        }
        let mut began: BTreeMap<(String, u32), Timestamp> = BTreeMap::new();
        let mut seconds = 0.0;
        for entry in self.journal_entries()? {
            let Ok(at) = entry.at.parse::<Timestamp>() else {
                continue;
            };
            match entry.event {
                JournalEvent::TrialStarted { cell, block } => {
                    began.insert((cell, block), at);
                }
                JournalEvent::TrialDone { cell, block, .. } | JournalEvent::TrialFailed { cell, block, .. } => {
                    if let Some((trial, since)) = began.remove_entry(&(cell, block)) {
                        let trial = PlannedTrial { cell: trial.0, block: trial.1 };
                        // A line that was added after a kill is as late as whoever resumed the run.
                        let most = 2.0 * plan.seconds_of(&trial) + LATE_S;
                        seconds += at.duration_since(since).as_secs_f64().max(0.0).min(most);
                    }
                }
                _ => {}
            }
        }
        Ok(seconds)
    }
}
