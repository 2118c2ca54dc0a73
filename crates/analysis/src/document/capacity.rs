//! The highest rate that meets the objective.

use serde::{Deserialize, Serialize};

use super::limit::LimitKind;
use super::{Criterion, Meets, Withheld};

/// What a configuration carries under a workload, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Configuration.
    pub configuration: String,
    /// Workload.
    pub workload: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    /// What is known.
    pub outcome: CapacityOutcome,
    /// Estimate: operations per second where the objective begins to be missed. `None` where no trial says so.
    pub ops_per_s: Option<f64>,
    /// The highest of the rates up to which each is shown to meet the objective (97.5 % sure).
    pub at_least_ops_per_s: Option<f64>,
    /// The lowest of the rates from which on each is shown to miss it (97.5 % sure).
    pub below_ops_per_s: Option<f64>,
    /// What is missed at the lowest rate that misses it in the mean.
    pub missed: Option<Missed>,
    /// The fullest resource there.
    pub limit: Option<CapacityLimit>,
    /// Throughput of the closed loop that the search began with, operations per second.
    pub closed_loop_ops_per_s: Option<f64>,
    /// Short loads that were tried, the closed loop included.
    pub probes: u64,
    /// Seconds that they took, without restore and start of the database.
    pub probe_s: f64,
    /// The rates that whole trials measured, ascending.
    pub levels: Vec<CapacityLevel>,
}

/// What is known of a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CapacityOutcome {
    /// Between a rate that meets the objective and one that misses it.
    Found,
    /// No rate was shown to miss it.
    AtLeast,
    /// No rate was shown to meet it.
    Below,
    /// Neither: the trials are too few, or spread too much.
    NotShown,
    /// Next to no load misses it already.
    Floor,
    /// It was not storage in its sustained state that met it.
    Withheld {
        /// Why.
        why: Withheld,
    },
    /// No trial yet.
    NotMeasured,
}

/// A resource at a rate that misses the objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CapacityLimit {
    /// Which.
    pub kind: LimitKind,
    /// How much of it was used (median over trials), as a share.
    pub share: f64,
}

/// A part of the objective that is missed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Missed {
    /// Which.
    pub of: Criterion,
    /// At this rate, operations per second.
    pub at_ops_per_s: f64,
    /// What was measured (median over trials), microseconds or a share; `None` for a rate that was not held.
    pub measured: Option<f64>,
}

/// A rate with its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityLevel {
    /// Its cell.
    pub cell: String,
    /// Operations per second that were offered.
    pub ops_per_s: f64,
    /// Valid trials.
    pub trials: u64,
    /// Whether it is shown to meet the objective.
    pub meets: Meets,
    /// Mean over trials of ln(figure / bound) of the worst part, at most ln 2 either way; above 0 it is missed.
    pub score: Option<f64>,
}
