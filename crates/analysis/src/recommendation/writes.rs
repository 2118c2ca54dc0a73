//! A configuration that lost acknowledged writes is not recommended, however fast and cheap it is. One loss is a proof:
//! no number of repetitions takes it back.

use experiment::LoadLevel;

use super::{Answer, place};
use crate::document::{AnswerOutcome, DecidedBy, WorkloadAnswer};

impl Answer<'_> {
    /// Those of the cells whose configurations lost no write under any workload and load, and whether there were
    /// others.
    pub(super) fn without_losers(&self, members: &[usize]) -> (Vec<usize>, bool) {
        let kept = |cell: &usize| self.lost_writes(&self.cells[*cell].configuration).is_none();
        let left: Vec<usize> = members.iter().copied().filter(kept).collect();
        let lost = left.len() < members.len();
        (left, lost)
    }

    /// The place of a single configuration left, where all others lost writes: it is the answer, if it was measured.
    pub(super) fn only_one_left(&self, workload: String, load: LoadLevel, only: usize) -> WorkloadAnswer {
        let cell = &self.cells[only];
        let outcome = match (cell.valid_trials, cell.withheld) {
            (0, _) => AnswerOutcome::Nothing,
            (_, Some(why)) => AnswerOutcome::Withheld { configurations: vec![(cell.configuration.clone(), why)] },
            (_, None) => AnswerOutcome::run(&cell.configuration, None),
        };
        place(workload, load, DecidedBy::Writes, outcome)
    }
}
