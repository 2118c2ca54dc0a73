//! `repetitions = "auto"`: after each whole block, is it known well enough, or is a budget spent?
//!
//! Only whole blocks are looked at, because ratios pair the trials of a block; and stopping looks at how *narrow*
//! intervals are and how *clear* of their thresholds, not at whether a difference has just become significant, which
//! would make false winners in 23 % of experiments.

use analysis::Widest;
use archive::JournalEvent;
use experiment::{Adaptive, PlannedTrial};

use super::failure::Failure;
use super::run::Run;
use crate::measured::Measured;

/// Called after a trial. Returns whether the run may stop; then the journal says why.
pub(super) fn enough(run: &Run<'_>, after: &PlannedTrial, elapsed_s: f64) -> Result<bool, Failure> {
    let (directory, plan) = (run.directory, run.plan());
    let Some(adaptive) = &plan.adaptive else { return Ok(false) };
    let remaining = directory.remaining()?;
    if remaining.is_empty() || remaining.iter().any(|t| t.block <= after.block) {
        return Ok(false);
    }
    let blocks = after.block;
    let measured = Measured::read(directory)?;
    let known = analysis::precision(&analysis::analyse(&measured.evidence(directory)), adaptive, blocks);
    let widest = in_words(known.widest.as_ref());
    let begun = || plan.trials.iter().filter(|t| t.block <= blocks);
    let spent = spent(adaptive, elapsed_s, || plan.usd_of(begun()));
    let reason = if known.enough && blocks >= adaptive.blocks_min {
        format!(
            "after {blocks} blocks every ratio is known to +-{:.0} % or is clear of 1 by twice its interval (widest: \
             {})",
            adaptive.precision * 100.0,
            widest
        )
    } else if let Some(budget) = spent {
        format!(
            "after {blocks} blocks the budget of {budget} was spent before every ratio was known to +-{:.0} % (widest: \
             {})",
            adaptive.precision * 100.0,
            widest
        )
    } else {
        run.say(&format!("after {blocks} blocks: not known well enough yet (widest: {})", widest));
        return Ok(false);
    };
    run.say(&format!("enough repetitions: {reason}"));
    run.note(JournalEvent::Enough { blocks, reason })?;
    Ok(true)
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

/// Which budget is spent, if one is.
fn spent(adaptive: &Adaptive, elapsed_s: f64, usd: impl Fn() -> Option<f64>) -> Option<String> {
    let time = adaptive.budget_s.filter(|budget| elapsed_s >= *budget);
    let money = adaptive.budget_usd.filter(|budget| usd().is_some_and(|usd| usd >= *budget));
    time.map(|s| format!("{:.0} minutes", s / 60.0)).or_else(|| money.map(|usd| format!("${usd:.2}")))
}
