//! The highest rate that meets the objective.

use serde::{Deserialize, Serialize};

use super::limit::LimitKind;
use super::{Criterion, Meets, Withheld};

/// What a configuration carries under a workload, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Capacity {
    pub configuration: String,
    pub workload: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    pub outcome: CapacityOutcome,
    /// Estimate: operations per second where the objective begins to be missed. `None` where no trial says so.
    pub ops_per_s: Option<f64>,
    /// Lower end of its 95 % interval; where the outcome is `at_least`, the highest rate that is shown to meet it.
    pub low_ops_per_s: Option<f64>,
    /// Upper end; where the outcome is `below`, the lowest rate that is shown to miss it.
    pub high_ops_per_s: Option<f64>,
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

impl Capacity {
    /// The most that it may carry under the objective at full scale, operations per second; `None`: not known. Under a
    /// bound on latency a model of 1:`scale` carries less than what it is a model of, whose queues are shorter; the
    /// throughput of its closed loop is that of full scale.
    pub fn utmost_ops_per_s(&self, scale: f64) -> Option<f64> {
        match scale > 1.0 {
            true => self.closed_loop_ops_per_s.map(|most| most.max(self.high_ops_per_s.unwrap_or(0.0))),
            false => self.high_ops_per_s,
        }
    }

    /// Whether it is shown to carry more than another: at least more than the most that the other may carry.
    pub fn carries_more_than(&self, other: &Self, scale: f64) -> bool {
        self.low_ops_per_s.zip(other.utmost_ops_per_s(scale)).is_some_and(|(least, most)| least > most)
    }

    /// Rates that contradict each other: the lowest that is shown to miss the objective, and the highest above it that
    /// is shown to meet it. Then latency depends on more than the rate.
    pub fn contradiction(&self) -> Option<(f64, f64)> {
        let missed = self.levels.iter().find(|level| level.meets == Meets::No)?;
        let met = self.levels.iter().rev().find(|level| level.meets == Meets::Yes)?;
        (met.ops_per_s > missed.ops_per_s).then_some((missed.ops_per_s, met.ops_per_s))
    }
}

/// What is known of a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CapacityOutcome {
    /// Inside the rates that were measured, with an interval.
    Found,
    /// Above all rates that were measured.
    AtLeast,
    /// Below all of them.
    Below,
    /// Inside them, and without an interval: the trials are too few, spread too much, or contradict each other
    /// ([`Capacity::contradiction`]).
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
    /// Trials, or probes, at this rate.
    pub trials: u64,
    /// How many of them miss the objective.
    pub missing: u64,
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
    /// Mean over trials of 1 - bound / figure of the worst part, at least -1; above 0 it is missed.
    pub score: Option<f64>,
}
