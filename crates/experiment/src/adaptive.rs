//! Runs that decide for themselves how often they repeat: what they are after, and what they came to.

use serde::{Deserialize, Serialize};

/// `repetitions = "auto"` or `"adaptive"`: blocks are added until enough is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    /// What has to be known.
    pub aim: Aim,
    /// Fewest blocks.
    pub blocks_min: u32,
    /// Most blocks.
    pub blocks_max: u32,
    /// No new block is begun after this many seconds of trials; `None`: no bound.
    pub budget_s: Option<f64>,
    /// No new block is begun once the trials would have cost this much; `None`: no bound.
    pub budget_usd: Option<f64>,
    /// Blocks that the run was called to after the first ones, in their order: from its journal.
    pub called: Vec<NextBlock>,
    /// Why no more blocks were run, once that is so.
    pub stopped: Option<String>,
    /// Cells that rested when it stopped.
    pub resting: Vec<Resting>,
}

/// What has to be known before an adaptive run stops by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// Every ratio to the baseline; blocks are whole.
    Ratios {
        /// Half-width of the interval of each, as a share: 0.05 is +-5 %.
        precision: f64,
    },
    /// The answer; cells that no longer matter to it rest.
    Answer {
        /// Months for which a configuration is chosen: measuring ends where it costs more than a wrong choice would in
        /// this time. `None`: what a wrong choice costs is not weighed.
        horizon_months: Option<f64>,
    },
}

/// What a run repeats next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextBlock {
    /// Which block.
    pub block: u32,
    /// Cells that still matter, in the order of the experiment.
    pub cells: Vec<String>,
    /// All others.
    pub resting: Vec<Resting>,
}

/// A cell that is not repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resting {
    /// Which.
    pub cell: String,
    /// Why.
    pub why: RestsBecause,
}

/// Why a cell is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum RestsBecause {
    /// What to run under its workload and load is decided.
    Decided { run: String },
    /// Another configuration is shown to be the better choice there.
    Beaten { by: String },
    /// Those that are left are shown to pay for themselves alike.
    Alike,
    /// It is shown to meet the objective.
    Meets,
    /// It is shown to miss it, there or in another place.
    Misses,
    /// A cheaper configuration is shown to meet it.
    CheaperMeets,
    /// Of those that keep alike when a node is lost, it is the best.
    BestOfAlike,
    /// With as many blocks as there may be, none would be shown to be the choice there and in all other places.
    OutOfReach,
    /// A bound on latency is missed in a 1:N model, by less than what shows that it is missed at full scale.
    LatencyInModel,
    /// Something else than its configuration was measured there, and would be again.
    Withheld,
    /// Nothing is compared there, or all that it would be compared with is skipped.
    NothingToCompare,
    /// Its configuration is not chosen from: it has no price, lost writes, or another backlog.
    NotConsidered,
    /// None of its trials is valid.
    NoValidTrial,
    /// The user skips it.
    Skipped,
}

/// A cell that rested in the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rested {
    /// Which.
    pub cell: String,
    /// Blocks that the run had done when it began to.
    pub after_block: u32,
    /// Why it did.
    pub why: RestsBecause,
}

impl Adaptive {
    /// Whether cells may rest.
    pub fn rests_cells(&self) -> bool {
        matches!(self.aim, Aim::Answer { .. })
    }

    /// The last block that the run was called to.
    pub fn last_block(&self) -> u32 {
        match (self.rests_cells(), self.called.last()) {
            (false, _) => self.blocks_max,
            (true, None) => self.blocks_min,
            (true, Some(next)) => next.block,
        }
    }

    /// Whether the trial of a cell in a block is one that the run was called to.
    pub fn calls_for(&self, block: u32, cell: &str) -> bool {
        let is_called = |next: &NextBlock| next.block == block && next.cells.iter().any(|called| called == cell);
        !self.rests_cells() || block <= self.blocks_min || self.called.iter().any(is_called)
    }

    /// Cells that rest in the end: since when each does, and why it began to.
    pub fn rested(&self) -> Vec<Rested> {
        let at_the_end = self.stopped.is_some().then_some((self.last_block(), &self.resting));
        let called = self.called.iter().map(|next| (next.block.saturating_sub(1), &next.resting));
        let all: Vec<(u32, &Vec<Resting>)> = called.chain(at_the_end).collect();
        let Some((_, resting)) = all.last() else { return Vec::new() };
        let since = |cell: &str| {
            let of = |(after, resting): &(u32, &Vec<Resting>)| {
                let own = resting.iter().find(|resting| resting.cell == cell)?;
                Some(Rested { cell: cell.to_owned(), after_block: *after, why: own.why.clone() })
            };
            all.iter().rev().map_while(of).last()
        };
        resting.iter().filter_map(|resting| since(&resting.cell)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beaten(cell: &str) -> Resting {
        Resting { cell: cell.to_owned(), why: RestsBecause::Beaten { by: "a".to_owned() } }
    }

    fn adaptive(called: Vec<NextBlock>) -> Adaptive {
        Adaptive {
            aim: Aim::Answer { horizon_months: None },
            blocks_min: 3,
            blocks_max: 10,
            budget_s: None,
            budget_usd: None,
            called,
            stopped: None,
            resting: Vec::new(),
        }
    }

    fn next(block: u32, cells: &[&str], resting: &[&str]) -> NextBlock {
        NextBlock {
            block,
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
            resting: resting.iter().map(|cell| beaten(cell)).collect(),
        }
    }

    #[test]
    fn a_run_is_called_to_its_first_blocks_and_to_what_its_journal_says() {
        let run = adaptive(vec![next(4, &["a", "b"], &["c"])]);
        assert!(run.calls_for(3, "c") && run.calls_for(4, "a"));
        assert!(!run.calls_for(4, "c") && !run.calls_for(5, "a"));
        assert_eq!((run.last_block(), adaptive(Vec::new()).last_block()), (4, 3));
        let whole = Adaptive { aim: Aim::Ratios { precision: 0.05 }, ..run.clone() };
        assert!(whole.calls_for(9, "c"));
    }

    /// `c` rested, came back and rested again: since the second time. What went on to the end did not rest.
    #[test]
    fn a_cell_rests_since_it_was_last_left_out() {
        let mut run = adaptive(vec![
            next(4, &["a", "b"], &["c", "d"]),
            next(5, &["a", "b", "c"], &["d"]),
            next(6, &["a", "b"], &["c", "d"]),
        ]);
        let rested = |run: &Adaptive| -> Vec<(String, u32)> {
            run.rested().into_iter().map(|rested| (rested.cell, rested.after_block)).collect()
        };
        let named = |all: &[(&str, u32)]| all.iter().map(|(cell, at)| ((*cell).to_owned(), *at)).collect::<Vec<_>>();
        assert_eq!(rested(&run), named(&[("c", 5), ("d", 3)]));
        run.stopped = Some("after 6 blocks".to_owned());
        run.resting = ["a", "b", "c", "d"].map(beaten).to_vec();
        assert_eq!(rested(&run), named(&[("a", 6), ("b", 6), ("c", 5), ("d", 3)]));
        assert!(adaptive(Vec::new()).rested().is_empty());
    }
}
