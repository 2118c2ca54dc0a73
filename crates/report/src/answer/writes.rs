//! Configurations that lost acknowledged writes: part of every answer.

use analysis::{Analysis, NotJudged};

use crate::figures::{count, listed};

/// `rf1 lost acknowledged writes (214 of 31,004 values)`; `None` where none was lost.
pub fn lost(analysis: &Analysis) -> Option<String> {
    let all: Vec<String> = analysis
        .recommendation
        .not_considered
        .iter()
        .filter_map(|n| match n.why {
            NotJudged::LostWrites { lost, values } => Some(format!("{} {}", n.configuration, words(lost, values))),
            _ => None,
        })
        .collect();
    (!all.is_empty()).then(|| listed(&all))
}

/// `lost acknowledged writes (214 of 31,004 values)`.
pub fn words(lost: u64, values: u64) -> String {
    format!("lost acknowledged writes ({} of {} values)", count(lost), count(values))
}
