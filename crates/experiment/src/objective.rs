//! `[objective]`: what good enough means.

use serde::{Deserialize, Serialize};
use workload::OperationKind;

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

/// A figure of a latency distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyFigure {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
}

impl LatencyFigure {
    /// Every figure, in the order in which reports show them.
    pub const ALL: [Self; 5] = [Self::Mean, Self::P50, Self::P95, Self::P99, Self::P999];

    /// The name used in files and reports, the same as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

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
}
