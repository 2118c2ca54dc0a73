//! What a probe of a search for the highest rate leaves: figures, no evidence to compare by.

use std::collections::BTreeMap;

use experiment::{LatencyFigure, LoadLevel, OperationKind};
use serde::{Deserialize, Serialize};

/// A short load on a database that goes on afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct RateProbe {
    /// Whose: `gp3-3000.reads.find`.
    pub search: String,
    /// From 1.
    pub number: u32,
    /// What was offered, on the machine that ran it.
    pub load: LoadLevel,
    pub seconds: f64,
    pub sent: u64,
    pub completed: u64,
    pub failed: u64,
    /// Response times of completed operations by kind.
    pub response: BTreeMap<OperationKind, LatencyFigures>,
}

/// Response times of one kind of operation, microseconds. A percentile is `None` where the load was another tool's and
/// it did not state it: of a histogram there are all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct LatencyFigures {
    pub mean: f64,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
}

impl LatencyFigures {
    /// All of them as this says.
    pub fn of(each: impl FnMut(LatencyFigure) -> f64) -> Self {
        let [mean, p50, p95, p99, p999] = LatencyFigure::ALL.map(each);
        Self { mean, p50: Some(p50), p95: Some(p95), p99: Some(p99), p999: Some(p999) }
    }

    /// One of the figures, microseconds.
    pub fn figure(&self, figure: LatencyFigure) -> Option<f64> {
        match figure {
            LatencyFigure::Mean => Some(self.mean),
            LatencyFigure::P50 => self.p50,
            LatencyFigure::P95 => self.p95,
            LatencyFigure::P99 => self.p99,
            LatencyFigure::P999 => self.p999,
        }
    }
}

impl RateProbe {
    /// Operations completed a second, on the machine that ran it.
    pub fn completed_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.completed as f64 / self.seconds } else { 0.0 }
    }

    /// Failed operations / all operations.
    pub fn error_share(&self) -> f64 {
        let all = self.completed + self.failed;
        if all == 0 { 0.0 } else { self.failed as f64 / all as f64 }
    }
}
