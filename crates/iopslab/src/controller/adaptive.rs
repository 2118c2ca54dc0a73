//! `repetitions = "auto"`: after each whole block, is it known well enough, or is a budget spent?
//!
//! Only whole blocks are looked at, because ratios pair the trials of a block; and stopping looks at how *narrow* intervals are, not at
//! whether a difference has become significant, which would make false winners (METHODS, "Decisions").

use run::{JournalEvent, RunDirectory};
use spec::PlannedTrial;

use super::note;
use crate::cli::{Failure, Measured};
use crate::progress::Screen;

/// Called after a trial. Returns whether the run may stop; then the journal says why.
pub(super) fn enough(
    directory: &RunDirectory,
    after: &PlannedTrial,
    elapsed_s: f64,
    screen: &mut Screen,
) -> Result<bool, Failure> {
    let plan = directory.plan();
    let Some(adaptive) = &plan.adaptive else {
        return Ok(false);
    };
    let remaining = directory.remaining().map_err(Failure::work)?;
    if remaining.is_empty() || remaining.iter().any(|t| t.block <= after.block) {
        return Ok(false);
    }
    let blocks = after.block;
    let measured = Measured::read(directory)?;
    let known = analysis::precision(&analysis::analyse(&measured.evidence(directory)), adaptive);
    let spent = adaptive.budget_s.is_some_and(|budget| elapsed_s >= budget);
    let reason = if known.enough && blocks >= adaptive.blocks_min {
        format!(
            "after {blocks} blocks every ratio is known to +-{:.0} % or clear of 1 by twice its interval (widest: {})",
            adaptive.precision * 100.0,
            known.widest
        )
    } else if spent {
        format!(
            "after {blocks} blocks the budget of {:.0} minutes was spent before every ratio was known to +-{:.0} % (widest: {})",
            adaptive.budget_s.unwrap_or_default() / 60.0,
            adaptive.precision * 100.0,
            known.widest
        )
    } else {
        screen.say(&format!(
            "after {blocks} blocks: not known well enough yet (widest: {})",
            known.widest
        ));
        return Ok(false);
    };
    screen.say(&format!("enough repetitions: {reason}"));
    note(directory, JournalEvent::Enough { blocks, reason })?;
    Ok(true)
}
