//! What was not tried and may be worth it, after all that was measured: hypotheses, each with its source.

use std::mem::discriminant;

use analysis::{Analysis, NotTried};

use super::places;
use crate::wording::cassandra::untried;

/// Settings that are named; the document has them all.
const SHOWN: usize = 2;

/// Each setting once, of the first place that shows it.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut first: Vec<&NotTried> = Vec::new();
    for one in &analysis.not_tried {
        let is_reported = |reported: &&NotTried| discriminant(&reported.setting) == discriminant(&one.setting);
        if !first.iter().any(is_reported) {
            first.push(one);
        }
    }
    first.into_iter().take(SHOWN).map(|one| sentence(analysis, one)).collect()
}

/// The setting, what was seen, and who expects what. The sources stand in docs/method.md.
fn sentence(analysis: &Analysis, one: &NotTried) -> String {
    let at = places::at(analysis, &one.workload, Some(one.load));
    let with = format!("with {}{at}", one.configuration);
    let (what, seen, expected) = untried(one.setting, &with);
    format!("Not tried here: {what}; {seen}; {expected}.")
}
