//! The decision matrix.

use evidence::OperationKind;
use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use super::ratio::{Metric, Verdict};

/// The best configuration for a workload by one metric at one load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Decision {
    pub workload: String,
    pub load: LoadLevel,
    /// What is compared. Latencies are those of each configuration's worst operation kind.
    pub metric: Metric,
    pub best: String,
    /// Those that are statistically indistinguishable from it; with too few repetitions that may be all of them.
    pub indistinguishable: Vec<String>,
    /// The cheapest of the best and the indistinguishable; the best where a price is missing.
    pub cheapest_of_best: String,
    /// Every configuration that has a figure, best first.
    pub ranking: Vec<Ranked>,
    /// Whether differences could be tested at all.
    pub tested: bool,
    /// What forbids reading much into this row.
    pub cautions: Vec<Caution>,
}

/// What forbids reading much into a row of the decision matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Only one configuration has a figure.
    OneConfiguration,
    /// Fewer than three pairs: nothing was tested; within 12 % of the best counts as indistinguishable.
    TooFewRepetitions,
    /// Closed loop: latency follows from requests in flight and throughput, each configuration at its own rate.
    ClosedLoopLatency,
    /// A configuration of this row lost acknowledged writes.
    LostWrites,
}

/// A configuration's place in a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Ranked {
    pub configuration: String,
    /// The metric: operations/s, seconds, microseconds, operations per dollar.
    pub value: f64,
    /// value / best value.
    pub to_best: f64,
    pub verdict: Verdict,
    /// For latencies: the operation kind that is worst here.
    pub operation: Option<OperationKind>,
}
