//! `[objective]` and `[decision]` as they are typed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use workload::OperationKind;

use crate::spanned::Spanned;
use crate::{DurabilityRule, LatencyFigure};

/// What good enough means; at least one bound or a demand. All of it must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Objective {
    /// Greatest mean latency of the worst operation kind, milliseconds.
    pub mean_ms: Option<Spanned<f64>>,
    /// Greatest median latency of the worst operation kind, milliseconds.
    pub p50_ms: Option<Spanned<f64>>,
    /// Greatest 95th percentile of the worst operation kind, milliseconds.
    pub p95_ms: Option<Spanned<f64>>,
    /// Greatest 99th percentile of the worst operation kind, milliseconds.
    pub p99_ms: Option<Spanned<f64>>,
    /// Greatest 99.9th percentile of the worst operation kind, milliseconds.
    pub p999_ms: Option<Spanned<f64>>,
    /// Bounds on reads alone, such as `{ p99_ms = 5 }`.
    pub read: Option<Spanned<LatencyBounds>>,
    /// Bounds on updates alone.
    pub update: Option<Spanned<LatencyBounds>>,
    /// Bounds on inserts alone.
    pub insert: Option<Spanned<LatencyBounds>>,
    /// Bounds on scans alone.
    pub scan: Option<Spanned<LatencyBounds>>,
    /// Bounds on read-modify-writes alone.
    pub read_modify_write: Option<Spanned<LatencyBounds>>,
    /// Bounds on statements of your own, by name.
    #[serde(default)]
    pub statements: BTreeMap<Spanned<String>, Spanned<LatencyBounds>>,
    /// Most operations that may fail, as a share of all, 0 to 0.001: a trial with more failed operations is invalid in
    /// any case.
    pub error_share: Option<Spanned<f64>>,
    /// The demand: operations/s of the full-size system (measured throughput is multiplied by `scale`).
    pub throughput: Option<Spanned<f64>>,
    /// With `throughput`: share of capacity that stays free, 0 to 0.99. Default 0.3.
    pub headroom: Option<Spanned<f64>>,
}

/// Bounds on the latency of one operation kind; at least one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LatencyBounds {
    /// Greatest mean, milliseconds.
    pub mean_ms: Option<Spanned<f64>>,
    /// Greatest median, milliseconds.
    pub p50_ms: Option<Spanned<f64>>,
    /// Greatest 95th percentile, milliseconds.
    pub p95_ms: Option<Spanned<f64>>,
    /// Greatest 99th percentile, milliseconds.
    pub p99_ms: Option<Spanned<f64>>,
    /// Greatest 99.9th percentile, milliseconds.
    pub p999_ms: Option<Spanned<f64>>,
}

/// A figure, its key, and the bound that was typed.
pub(crate) type Bounds<'r> = [(LatencyFigure, &'static str, Option<&'r Spanned<f64>>); 5];

macro_rules! bounds {
    ($of:expr) => {
        [
            (LatencyFigure::Mean, "mean_ms", $of.mean_ms.as_ref()),
            (LatencyFigure::P50, "p50_ms", $of.p50_ms.as_ref()),
            (LatencyFigure::P95, "p95_ms", $of.p95_ms.as_ref()),
            (LatencyFigure::P99, "p99_ms", $of.p99_ms.as_ref()),
            (LatencyFigure::P999, "p999_ms", $of.p999_ms.as_ref()),
        ]
    };
}

impl Objective {
    /// The bounds on the worst kind.
    pub fn worst(&self) -> Bounds<'_> {
        bounds!(self)
    }

    /// Each kind of YCSB with its bounds.
    pub fn of_kinds(&self) -> [(OperationKind, &Option<Spanned<LatencyBounds>>); 5] {
        [
            (OperationKind::Read, &self.read),
            (OperationKind::Update, &self.update),
            (OperationKind::Insert, &self.insert),
            (OperationKind::Scan, &self.scan),
            (OperationKind::ReadModifyWrite, &self.read_modify_write),
        ]
    }
}

impl LatencyBounds {
    /// The bounds on this kind.
    pub fn each(&self) -> Bounds<'_> {
        bounds!(self)
    }
}

/// How the answer is made, where that is a matter of taste.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decision {
    /// Margin of practical importance, as a share: differences within it are "the same". Above 0 and below 0.5; default
    /// 0.05.
    pub margin: Option<Spanned<f64>>,
    /// Configurations that differ in what a lost node costs (replicas, consistency): `separate`
    /// recommends none over one that keeps more; `ignore` chooses by speed and money alone. Default: separate.
    pub durability: Option<DurabilityRule>,
}
