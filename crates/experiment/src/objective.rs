//! `[objective]` and `[decision]`: what good enough means, and the rules by which an answer is made where they are a
//! matter of taste.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::OperationKind;

use crate::words::words;

/// Share of capacity that stays free where a demand is stated without `headroom`: room for a lost node's load, for
/// growth until the next purchase, and for queueing, which grows steeply beyond 70 % use. Practice.
pub const DEFAULT_HEADROOM: f64 = 0.3;

/// A trial in which more than this share of the operations failed is invalid: what failed fast or timed out did not do
/// the work whose speed is compared. So no objective can allow more. Practice.
pub const ERROR_SHARE_MAX: f64 = 0.001;

/// What good enough means: every part of it must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// Bounds on latency; all must hold.
    pub latency: Vec<LatencyObjective>,
    /// Most operations that may fail, as a share of all, 0..1.
    pub error_share: Option<f64>,
    /// The demand: operations/s of the full-size system.
    pub throughput: Option<f64>,
    /// Share of capacity that stays free when the demand is carried, 0..1. Means nothing without `throughput`.
    pub headroom: f64,
}

impl Objective {
    /// Share of a capacity that a demand may take, 0..1.
    pub fn usable_share(&self) -> f64 {
        1.0 - self.headroom
    }

    /// The least capacity that carries the demand with its headroom, whole operations/s of the full-size system; `None`
    /// without a demand.
    pub fn capacity_needed(&self) -> Option<f64> {
        let needed = self.throughput? / self.usable_share();
        // 2,100 / 0.7 is 3,000, and not a hair more.
        Some(((needed * 1e6).round() / 1e6).ceil())
    }

    /// The rate to offer so that holding it shows the demand with its headroom, whole operations/s of the full-size
    /// system: what is completed of a rate that is held scatters around it, so 5 % above [`Self::capacity_needed`]
    /// (practice), rounded up to three digits; `None` without a demand.
    pub fn rate_to_offer(&self) -> Option<f64> {
        let rate = self.capacity_needed()? * 105.0 / 100.0;
        let unit = 10_f64.powi(rate.log10().floor() as i32 - 2).max(1.0);
        Some((rate / unit).ceil() * unit)
    }
}

/// A bound on one figure of the latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyObjective {
    /// Of this kind of operation; `None`: of the worst kind.
    pub operation: Option<OperationKind>,
    /// Which figure.
    pub figure: LatencyFigure,
    /// Its bound, microseconds: at most this much is good enough.
    pub limit_us: f64,
}

words! {
    /// A figure of a latency distribution.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum LatencyFigure {
        /// Arithmetic mean.
        Mean = "mean",
        /// Median.
        P50 = "p50",
        /// 95th percentile.
        P95 = "p95",
        /// 99th percentile.
        P99 = "p99",
        /// 99.9th percentile.
        P999 = "p999",
    }
}

impl LatencyFigure {
    /// Share of the operations that are slower than this percentile: 0.01 for `p99`. `None`: the mean is no percentile.
    pub fn tail(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P95 => Some(0.05),
            Self::P99 => Some(0.01),
            Self::P999 => Some(0.001),
        }
    }

    /// Where it lies among the operations, ordered by time: 0.99 for `p99`. `None`: the mean is no percentile.
    pub fn quantile(self) -> Option<f64> {
        self.tail().map(|tail| 1.0 - tail)
    }

    /// For people: `p99.9`.
    pub fn label(self) -> &'static str {
        match self {
            Self::P999 => "p99.9",
            Self::Mean | Self::P50 | Self::P95 | Self::P99 => self.name(),
        }
    }
}

/// Run-to-run noise of public clouds alone is 6 to 12 % (Hulen 2010): a smaller difference is seldom worth a migration.
/// Practice.
const DEFAULT_MARGIN: f64 = 0.05;

/// How an answer is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionRules {
    /// The margin of practical importance, as a share: differences within it are "the same". 0.05 is 5 %.
    pub margin: f64,
    /// What becomes of configurations that differ in what a lost node costs; left out of files where it is the default.
    pub durability: DurabilityRule,
}

/// What becomes of configurations that differ in what a lost node costs: in replicas, or in how many of them a request
/// waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityRule {
    /// They are compared on speed and money, and none is recommended over one that keeps more.
    #[default]
    Separate,
    /// They are chosen from by speed and money alone; the difference is reported.
    Ignore,
}

impl Default for DecisionRules {
    fn default() -> Self {
        Self { margin: DEFAULT_MARGIN, durability: DurabilityRule::default() }
    }
}
