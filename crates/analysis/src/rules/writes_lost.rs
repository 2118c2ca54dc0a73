//! Was every acknowledged write still there? A database that says "done" and forgets has failed, whatever its speed.

use experiment::Consistency;
use serde::{Deserialize, Serialize};

use crate::document::WritesAnalysis;
use crate::seen::Seen;

/// Acknowledged writes were gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct WritesLost {
    /// Consistency level of the reads that looked.
    pub consistency: Consistency,
    pub values: u64,
    /// Values that had lost their last acknowledged write.
    pub lost: u64,
    pub older: u64,
    /// Values whose record was not there.
    pub missing: u64,
    /// Values that carried another key, or none.
    pub foreign: u64,
    pub trials: u64,
    pub trials_with_loss: u64,
    /// The first that was lost.
    pub example: Option<String>,
}

/// Acknowledged writes could not be read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritesUnread {
    /// Consistency level of the reads that looked.
    pub consistency: Consistency,
    /// Values that were looked for.
    pub values: u64,
    /// Values that could not be read.
    pub unreadable: u64,
    /// Trials in which it was looked.
    pub trials: u64,
}

/// Writes that were gone.
pub(crate) fn lost(writes: &WritesAnalysis) -> Option<Seen<WritesLost>> {
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
    (writes.lost() > 0).then_some(figures.into())
}

/// Values of which nobody knows because they could not be read.
pub(crate) fn unread(writes: &WritesAnalysis) -> Option<Seen<WritesUnread>> {
    let figures = WritesUnread {
        consistency: writes.consistency,
        values: writes.values,
        unreadable: writes.unreadable,
        trials: writes.trials,
    };
    (writes.unreadable > 0).then_some(figures.into())
}
