//! How configurations stand against an objective.

use experiment::{LatencyFigure, LoadLevel, OperationKind};
use serde::{Deserialize, Serialize};

use super::ratio::Range;

/// How a configuration stands against an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which.
    pub configuration: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    /// Whether it meets all of it.
    pub meets: Meets,
    /// Each part of the objective.
    pub checks: Vec<Check>,
    /// Against a demand: how many of it carry the demand with headroom, and for how much; `None` where that is not
    /// known.
    pub fleet: Option<FleetOf>,
}

/// How a configuration stands against an objective in all places together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallCandidate {
    /// Which.
    pub configuration: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    /// Yes: shown to be met in every place. No: shown to be missed in one.
    pub meets: Meets,
    /// Where it stands worst: furthest beyond a bound, or nearest to it. Its workload, ...
    pub worst_workload: String,
    /// ... and its load level; `None` where the best of all levels counts.
    pub worst_load: Option<LoadLevel>,
    /// Against a demand: how many of it carry it in every place; `None` where that is not known of one.
    pub fleet: Option<FleetOf>,
}

/// So many of one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FleetOf {
    /// How many, by the lower end of what one is shown to carry, if throughput grows with their number.
    pub count: u32,
    /// What they cost together, USD a month.
    pub usd_per_month: f64,
}

impl FleetOf {
    /// As many as carry so many times what one does, at the price of one.
    pub(crate) fn carrying(times: f64, usd_per_month: f64) -> Self {
        let count = times.ceil().clamp(1.0, 1e6) as u32;
        Self { count, usd_per_month: f64::from(count) * usd_per_month }
    }
}

/// Whether prices decide between these configurations: something that has one might meet what is asked. What has none
/// is then no choice.
pub fn prices_decide(all: impl IntoIterator<Item = (Option<f64>, Meets)>) -> bool {
    all.into_iter().any(|(usd, meets)| usd.is_some() && meets != Meets::No)
}

experiment::word_enum! {
    /// Whether an objective is met.
    pub enum Meets by words {
        /// The whole interval lies on the good side.
        Yes = "yes",
        /// The whole interval lies on the bad side.
        No = "no",
        /// The interval holds both, or there are too few trials for one.
        NotDecided = "not decided",
    }
}

/// One part of an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was asked.
    pub what: Criterion,
    /// What was measured; `None`: nothing.
    pub measured: Option<Range>,
    /// Its interval misses the truth in this share of experiments; `None`: it is none, but what was observed.
    pub level: Option<f64>,
    /// Whether that is good enough.
    pub meets: Meets,
    /// Repetitions that would show on which side of what was asked it lies, if what was seen is the truth; `None` where
    /// it is shown, where something else than repetitions is missing, or where no affordable number would.
    pub repetitions: Option<u32>,
}

impl Check {
    /// How far a latency lies beyond its bound that is not decided all the same: the ends of its interval, as factors
    /// of the bound. `None` where the interval does not lie beyond it.
    pub fn beyond(&self) -> Option<(f64, f64)> {
        let Criterion::Latency { limit_us, .. } = self.what else { return None };
        let range = self.measured.filter(|range| self.meets == Meets::NotDecided && range.low > limit_us)?;
        Some((range.low / limit_us, range.high / limit_us))
    }
}

/// A part of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "of")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Criterion {
    /// A response time.
    Latency {
        /// Of this kind; where the worst was asked for, the one that is worst here.
        operation: Option<OperationKind>,
        figure: LatencyFigure,
        /// At most, microseconds.
        limit_us: f64,
    },
    /// Failed operations / all operations, at most.
    ErrorShare { limit: f64 },
    /// The given rate was held within 1 %.
    RateHeld,
    /// Capacity less headroom, at full scale, against the operations per second that are demanded.
    Throughput { demand: f64 },
}
