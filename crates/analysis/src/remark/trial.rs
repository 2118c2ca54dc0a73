//! Did the trial run, stabilise, and hold enough?

use std::collections::BTreeMap;

use evidence::{ErrorKind, OperationKind};
use serde::{Deserialize, Serialize};

use crate::fact::Trajectory;

/// The trial did not run to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialInvalid {
    /// Why, for people.
    pub reason: String,
}

/// The database process changed in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatabaseRestarted {
    /// Times.
    pub restarts: u64,
}

/// Failed operations above the allowed share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorsAbove {
    /// Operations that failed.
    pub errors: u64,
    /// All operations.
    pub operations: u64,
    /// Their ratio.
    pub error_share: f64,
    /// Allowed share.
    pub threshold: f64,
    /// Errors by kind.
    pub kinds: BTreeMap<ErrorKind, u64>,
}

impl ErrorsAbove {
    /// Kinds in words: `200 read_timeout, 3 overloaded`.
    pub fn by_kind(&self) -> String {
        let each = self.kinds.iter().map(|(kind, n)| format!("{n} {}", kind.name()));
        each.collect::<Vec<_>>().join(", ")
    }
}

/// Reads found no row where one must exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotFound {
    /// Reads that found none.
    pub not_found: u64,
    /// All reads.
    pub reads: u64,
}

/// Counters and histograms contradict each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountsDisagree {
    /// Operations that the client counted.
    pub completed: u64,
    /// Latencies that it recorded.
    pub recorded_latencies: u64,
    /// Difference, as a share of the larger.
    pub difference_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// Throughput was still changing while it was measured. Shares are of the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoSteadyState {
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Seconds that were cut off as start-up.
    pub cut_s: f64,
    /// Change over the window.
    pub change_over_window_share: f64,
    /// Its 95 % interval: low end.
    pub change_low_share: f64,
    /// High end.
    pub change_high_share: f64,
    /// Of the trend test.
    pub trend_p_value: f64,
    /// Range of the five rounds.
    pub rounds_range_share: f64,
    /// Why it changes by plan, if it does.
    pub trajectory: Option<Trajectory>,
}

/// Too short to tell a steady state from a passing one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TooShortToJudge {
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Seconds that it takes at the least.
    pub needed_s: f64,
    /// What made it too short although it was judged; `None`: it has too few seconds to be judged at all.
    pub judged: Option<WorthLittle>,
    /// Whether it could be judged only up to its first planned fault.
    pub until_fault: bool,
    /// Whether the database's code was seen to be compiled.
    pub code_is_warm: bool,
}

/// Seconds that are worth too few independent ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorthLittle {
    /// Seconds that were cut off as start-up.
    pub cut_s: f64,
    /// Independent batches of five seconds that they are worth.
    pub independent_batches: f64,
    /// Change over the window, share of the mean: low end of its 95 % interval.
    pub change_low_share: f64,
    /// High end.
    pub change_high_share: f64,
}

/// No trend was shown, but a large one could hide. Shares are of the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowChangePossible {
    /// Seconds of the window.
    pub window_s: f64,
    /// Change over the window.
    pub change_over_window_share: f64,
    /// Its 95 % interval: low end.
    pub change_low_share: f64,
    /// High end.
    pub change_high_share: f64,
    /// Independent batches of five seconds that the window is worth.
    pub independent_batches: f64,
    /// Largest change that may hide without a word.
    pub threshold: f64,
}

/// The server stopped answering for a while. Moments are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// Stops.
    pub stops: u64,
    /// Length of the longest.
    pub longest_s: f64,
    /// When it began.
    pub longest_at_s: f64,
    /// When the first began.
    pub first_at_s: f64,
    /// Length of all together.
    pub stopped_s: f64,
    /// The same as a share of the window.
    pub window_share: f64,
    /// Median throughput of the window's seconds, operations per second.
    pub median_ops_per_s: f64,
    /// A second with less than this share of that is a stop.
    pub threshold_share: f64,
    /// The shortest stop that is reported.
    pub threshold_s: f64,
}

/// A percentile rests on few samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TooFewSamples {
    /// Of which operation.
    pub operation: OperationKind,
    /// The lowest percentile that is not supported: `p99`. It stands for those above it.
    pub percentile: String,
    /// Samples of a trial.
    pub samples: u64,
    /// Samples that it takes.
    pub needed: f64,
    /// Share of samples beyond the percentile.
    pub tail_share: f64,
    /// Samples wanted beyond it.
    pub threshold: f64,
}

/// Repetitions lie far apart: one of them lies far from what its cell and block have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepetitionsSpread {
    /// Which.
    pub block: u32,
    /// By what share it is off.
    pub off_by: f64,
    /// How the others spread, as a share.
    pub spread_of_others: f64,
    /// What is not worth a word.
    pub threshold: f64,
}
