//! Was every acknowledged write still there? A database that says "done" and forgets has failed, whatever its speed.

use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope};
use crate::remark::faults::{WritesLost, WritesUnread};

/// Lost writes, and values of which nobody knows because they could not be read.
pub fn findings(cell: &CellAnalysis) -> Vec<Finding> {
    let Some(writes) = &cell.writes else {
        return Vec::new();
    };
    let scope = || Scope::Cell(cell.id.clone());
    let lost = (writes.lost() > 0).then(|| {
        let figures = WritesLost {
            consistency: writes.consistency,
            values: writes.values,
            lost: writes.lost(),
            older: writes.older,
            missing: writes.missing,
            foreign: writes.foreign,
            trials: writes.trials,
            trials_with_loss: writes.trials_with_loss,
            example: writes.example.clone(),
        };
        Finding::new(scope(), figures)
    });
    let unread = (writes.unreadable > 0).then(|| {
        let figures = WritesUnread {
            consistency: writes.consistency,
            values: writes.values,
            unreadable: writes.unreadable,
            trials: writes.trials,
        };
        Finding::new(scope(), figures)
    });
    lost.into_iter().chain(unread).collect()
}
