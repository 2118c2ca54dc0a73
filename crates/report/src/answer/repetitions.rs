//! How many repetitions would decide: how surely, and how long that takes.

use analysis::{Analysis, POWER};

use crate::figures::{about, given};

/// `in 80 of 100 new runs`. Beside it stands that what was seen is taken for the truth.
pub fn chance(of: &str) -> String {
    format!("in {} of 100 {of}", given(100.0 * POWER))
}

/// ` in 80 of 100 new runs (4.5 hours of trials each)`, behind what repetitions of each cell would do.
pub fn in_new_runs(analysis: &Analysis, repetitions: u32) -> String {
    let trials = analysis.seconds_of(repetitions);
    let trials = trials.map_or_else(String::new, |seconds| format!(" ({} of trials each)", about(seconds)));
    format!("{}{trials}", chance("new runs"))
}

/// `; if that is the truth, about 9 repetitions of each cell would decide in 80 of 100 new runs (4.5 hours of trials
/// each)`.
pub fn would_decide(analysis: &Analysis, repetitions: u32) -> String {
    let surely = in_new_runs(analysis, repetitions);
    format!("; if that is the truth, about {repetitions} repetitions of each cell would decide {surely}")
}
