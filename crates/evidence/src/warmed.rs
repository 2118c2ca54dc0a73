//! What warming the page cache before a trial came to.

use serde::{Deserialize, Serialize};

/// The data set's files were read into the page cache before the warm-up, by a process in the database's cgroup: a page
/// is charged to the cgroup of whoever brings it in, so that the budget holds these pages as it holds the database's
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warmed {
    /// Whether the experiment asks for it: then it is no surprise that memory answers.
    pub is_asked_for: bool,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes of the data set's files.
    pub of_bytes: u64,
    /// Bytes that reads of the workload's own keys have brought from the volumes after that, where not all of the data
    /// set fits: what stays in memory is then what that workload asks for. 0: no such reads.
    pub by_keys_bytes: u64,
    /// Seconds that all of it took.
    pub seconds: f64,
    /// Page cache charged to the database's cgroup afterwards, bytes; `None` where it has none of its own.
    pub cached_bytes: Option<u64>,
}
