//! Cells that a run stopped repeating before others, or at its end, and why.

use analysis::{Analysis, RestsBecause};

use super::columns::{place, placed};
use crate::document::section::Section;
use crate::document::table::Form;

/// Empty where no cell rested.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("rested", "Cells that rested").mostly(Form::ROOMY);
    if analysis.rested.is_empty() {
        return section;
    }
    let each = analysis.rested.iter().filter_map(|rested| {
        let cell = analysis.cells.iter().find(|cell| cell.id == rested.cell)?;
        Some((rested, cell))
    });
    let table = placed("", each, |(_, cell)| place(cell))
        .number("Valid trials", |(_, cell)| cell.valid_trials.to_string())
        .number("Rests after block", |(rested, _)| rested.after_block.to_string())
        .text("Why", |(rested, _)| why(&rested.why));
    let key = "A cell rests once more trials of it would not change the answer, so that cells have unequal numbers of \
               trials; it comes back if later evidence opens what was shown. Ratios are those of the blocks that both \
               cells have.";
    section.key(key).table(table)
}

fn why(why: &RestsBecause) -> String {
    match why {
        RestsBecause::Decided { run } => format!("decided there: run {run}"),
        RestsBecause::Beaten { by } => format!("{by} is shown to be the better choice"),
        RestsBecause::Alike => "those that are left are shown to pay for themselves alike".to_owned(),
        RestsBecause::Meets => "shown to meet the objective".to_owned(),
        RestsBecause::Misses => "shown to miss the objective".to_owned(),
        RestsBecause::CheaperMeets => "a cheaper one is shown to meet the objective".to_owned(),
        RestsBecause::BestOfAlike => "the best of those that keep alike when a node is lost".to_owned(),
        RestsBecause::OutOfReach => "no number of repetitions is likely to show one choice for all places".to_owned(),
        RestsBecause::LatencyInModel => "misses a bound on latency by less than what a model decides".to_owned(),
        RestsBecause::Withheld => "something else than its storage was measured there".to_owned(),
        RestsBecause::NothingToCompare => "nothing is compared there".to_owned(),
        RestsBecause::NotConsidered => "not chosen from".to_owned(),
        RestsBecause::NoValidTrial => "none of its trials is valid".to_owned(),
        RestsBecause::Skipped => "skipped by the user".to_owned(),
    }
}
