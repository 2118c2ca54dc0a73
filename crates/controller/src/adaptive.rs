//! Runs that decide for themselves how often they repeat: after a block, is enough known, or is a budget spent?
//!
//! `repetitions = "auto"`: only whole blocks are looked at, because ratios pair the trials of a block; and stopping
//! looks at how *narrow* intervals are and how *clear* of their thresholds, not at whether a difference has just become
//! significant, which would make false winners in 23 % of experiments.
//!
//! `repetitions = "adaptive"` stops when what is open is shown, at looks that share out the level, and rests cells:
//! `analysis::next_block`. What it comes to stands in the journal before the next trial begins.

use analysis::{Budget, Next, StopsBecause, Widest};
use archive::JournalEvent;
use experiment::{Aim, NextBlock, PlannedTrial};

use super::run::Run;
use super::run_failure::Result;
use crate::measured::Measured;

/// Called after a trial. Returns whether a run that is after ratios may stop; then the journal says why.
pub(super) fn enough(run: &Run<'_>) -> Result<bool> {
    let (directory, plan) = (run.directory, run.plan());
    let Some((adaptive, Aim::Ratios { precision })) = plan.adaptive.as_ref().map(|a| (a, a.aim)) else {
        return Ok(false);
    };
    let Some(blocks) = whole_blocks(&directory.done(), &directory.remaining()?) else {
        return Ok(false);
    };
    let measured = Measured::read(directory)?;
    let known = analysis::precision(&analysis::judge(&measured.evidence(directory)), precision, blocks);
    let widest = in_words(known.widest.as_ref());
    let begun = || plan.trials.iter().filter(|t| t.block <= blocks);
    let spent = analysis::spent(adaptive, directory.seconds_of_trials()?, || plan.usd_of(begun()));
    let wanted = precision * 100.0;
    let reason = if known.enough && blocks >= adaptive.blocks_min {
        format!(
            "after {blocks} blocks every ratio is known to +-{wanted:.0} % or is clear of 1 by twice its interval \
             (widest: {widest})"
        )
    } else if let Some(budget) = spent {
        format!(
            "after {blocks} blocks {} before every ratio was known to +-{wanted:.0} % (widest: {widest})",
            is_spent(budget)
        )
    } else {
        run.say(&format!("after {blocks} blocks: not known well enough yet (widest: {widest})"));
        return Ok(false);
    };
    run.say(&format!("enough repetitions: {reason}"));
    run.note(JournalEvent::Enough { blocks, reason, resting: Vec::new() })?;
    Ok(true)
}

/// How many blocks are whole, if none is begun and others follow. A cell that is measured again after it was skipped
/// catches up first: what the others did in later blocks counts, too.
fn whole_blocks(done: &[PlannedTrial], remaining: &[PlannedTrial]) -> Option<u32> {
    let last = done.iter().map(|trial| trial.block).max()?;
    (!remaining.is_empty() && remaining.iter().all(|trial| trial.block > last)).then_some(last)
}

/// Called when nothing remains of the trials that a run was called to. Returns whether a run whose cells may rest goes
/// on with another block; the journal says which, or why with none.
pub(super) fn goes_on(run: &Run<'_>) -> Result<bool> {
    let directory = run.directory;
    let rests_cells = run.plan().adaptive.as_ref().is_some_and(|adaptive| adaptive.rests_cells());
    if !rests_cells || directory.enough()?.is_some() || !directory.remaining()?.is_empty() {
        return Ok(false);
    }
    let measured = Measured::read(directory)?;
    let (trials_s, skipped) = (directory.seconds_of_trials()?, directory.skipped()?);
    match analysis::next_block(&measured.evidence(directory), trials_s, &skipped) {
        None => Ok(false),
        Some(Next::Block(next)) => {
            run.say(&called(&next));
            run.note(JournalEvent::NextBlock(next))?;
            Ok(true)
        }
        Some(Next::Stop { after_block: blocks, because, resting }) => {
            let reason = format!("after {blocks} blocks {}", stops(because));
            run.say(&format!("enough repetitions: {reason}"));
            run.note(JournalEvent::Enough { blocks, reason, resting })?;
            Ok(false)
        }
    }
}

/// Which cells the next block holds.
fn called(next: &NextBlock) -> String {
    let (cells, resting) = (next.cells.len(), next.resting.len());
    match resting {
        0 => format!("block {}: all {cells} cells still matter", next.block),
        _ => format!(
            "block {}: {} still matter, {resting} of {} rest",
            next.block,
            next.cells.join(", "),
            cells + resting
        ),
    }
}

/// Why a run whose cells may rest ends, for people.
fn stops(because: StopsBecause) -> String {
    match because {
        StopsBecause::Decided => "nothing is open that repetitions would decide".to_owned(),
        StopsBecause::OutOfReach { blocks_max } => format!(
            "most likely not even the most that there may be ({blocks_max}) would show one configuration to be the \
             choice in every place: more repetitions or less noise may, unless places need different ones"
        ),
        StopsBecause::LatencyInModel => {
            "what is open is a bound that the model misses by less than what shows a miss at full scale: repetitions \
             would not tell"
                .to_owned()
        }
        StopsBecause::Skipped => "nothing is open but what was skipped".to_owned(),
        StopsBecause::MostBlocks => "there were as many as there may be".to_owned(),
        StopsBecause::Spent(budget) => format!("{} before the answer was decided", is_spent(budget)),
        StopsBecause::NotWorthIt { loss_usd, horizon_months, block_usd } => format!(
            "another would cost ${block_usd:.2}, and the choice that leads is expected to lose less than \
             ${loss_usd:.2} in {horizon_months} months"
        ),
    }
}

/// The ratio that is known worst, for people.
fn in_words(widest: Option<&Widest>) -> String {
    match widest {
        None => "nothing to compare".to_owned(),
        Some(Widest { cell, known: None }) => format!("{cell} has no tested ratio"),
        Some(Widest { cell, known: Some((ratio, half)) }) => {
            format!("{cell}: {ratio:.2} times, +-{:.1} %", half * 100.0)
        }
    }
}

/// That a budget is spent, for people.
fn is_spent(budget: Budget) -> String {
    match budget {
        Budget::Seconds(s) => format!("the budget of {:.0} minutes was spent", s / 60.0),
        Budget::Usd(usd) => format!("the budget of ${usd:.2} was spent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was looked at after the block in which a cell caught up, and what the others had done later was left out.
    #[test]
    fn blocks_are_whole_once_none_is_begun_and_a_cell_that_catches_up_has() {
        let trials = |all: &[(u32, &str)]| -> Vec<PlannedTrial> {
            all.iter().map(|(block, cell)| PlannedTrial { block: *block, cell: (*cell).to_owned() }).collect()
        };
        let of = |done: &[(u32, &str)], remaining: &[(u32, &str)]| whole_blocks(&trials(done), &trials(remaining));
        assert_eq!(of(&[(1, "a")], &[(1, "b"), (2, "a"), (2, "b")]), None);
        assert_eq!(of(&[(1, "a"), (1, "b")], &[(2, "a"), (2, "b")]), Some(1));
        let ahead = [(1, "a"), (1, "b"), (2, "a"), (3, "a")];
        assert_eq!(of(&ahead, &[(2, "b"), (3, "b"), (4, "a"), (4, "b")]), None);
        assert_eq!(of(&[(2, "b"), (3, "b"), (3, "a")], &[(4, "a"), (4, "b")]), Some(3));
        assert_eq!(of(&[(1, "a"), (1, "b")], &[]), None, "nothing follows");
        assert_eq!(of(&[], &[(1, "a")]), None);
    }
}
