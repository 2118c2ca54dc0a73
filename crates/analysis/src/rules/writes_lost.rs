//! Was every acknowledged write still there? A database that says "done" and forgets has failed, whatever its speed.

use crate::document::{CellAnalysis, WritesAnalysis};
use crate::finding::{Finding, Scope};
use crate::rule::Rule;

/// Lost writes, and values of which nobody knows because they could not be read.
pub fn findings(cell: &CellAnalysis) -> Vec<Finding> {
    let Some(writes) = &cell.writes else {
        return Vec::new();
    };
    let scope = || Scope::Cell(cell.id.clone());
    let lost = (writes.lost() > 0).then(|| {
        let numbers = [
            ("values", writes.values as f64),
            ("lost", writes.lost() as f64),
            ("older", writes.older as f64),
            ("missing", writes.missing as f64),
            ("foreign", writes.foreign as f64),
            ("trials", writes.trials as f64),
            ("trials_with_loss", writes.trials_with_loss as f64),
        ];
        let found = Finding::new(Rule::WritesLost, scope(), numbers).with("consistency", level(writes));
        match &writes.example {
            Some(example) => found.with("example", example.as_str()),
            None => found,
        }
    });
    let unread = (writes.unreadable > 0).then(|| {
        let numbers = [
            ("values", writes.values as f64),
            ("unreadable", writes.unreadable as f64),
            ("trials", writes.trials as f64),
        ];
        Finding::new(Rule::WritesUnread, scope(), numbers).with("consistency", level(writes))
    });
    lost.into_iter().chain(unread).collect()
}

fn level(writes: &WritesAnalysis) -> String {
    writes.consistency.name().to_uppercase()
}
