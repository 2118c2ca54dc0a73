//! The figures that all parts of the answer share: a range, how well the model predicts, how much is used.

use serde::{Deserialize, Serialize};

use super::reason::Limit;

/// Cells predicted by a model that had not seen them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Cells predicted.
    pub cells: u64,
    /// Whether whole configurations were held out, or single cells of the only one.
    pub whole_configurations: bool,
    /// Median of |predicted / measured - 1|; `None` without a cell that could be held out.
    pub median_error: Option<f64>,
    /// 90th percentile of it.
    pub p90_error: Option<f64>,
    /// The cell that was predicted worst, with predicted / measured - 1.
    pub worst: Option<(String, f64)>,
}

/// The model is refused above these errors.
const MOST_MEDIAN_ERROR: f64 = 0.15;
const MOST_P90_ERROR: f64 = 0.25;

impl HeldOut {
    pub(crate) fn of(errors: &[(String, f64)], whole_configurations: bool) -> Self {
        let sizes: Vec<f64> = errors.iter().map(|(_, error)| error.abs()).collect();
        Self {
            cells: errors.len() as u64,
            whole_configurations,
            median_error: stats::median(&sizes),
            p90_error: stats::quantile(&sizes, 0.9),
            worst: errors.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).cloned(),
        }
    }

    /// Whether the model may be used: not shown to be wrong.
    pub fn is_accepted(&self) -> bool {
        self.median_error.is_none_or(|error| error <= MOST_MEDIAN_ERROR)
            && self.p90_error.is_none_or(|error| error <= MOST_P90_ERROR)
    }
}

/// How much of each resource is used; 1 is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// CPUs, of what a database can use of them.
    pub cpu: f64,
    /// Requests per second of the volumes.
    pub iops: f64,
    /// Bytes per second of the volumes.
    pub throughput: f64,
    /// A commit log on a volume of its own.
    pub commit_log: f64,
    /// Network; 0 where its bandwidth is not known.
    pub network: f64,
    /// Device requests per second.
    pub device_iops: f64,
    /// Device bytes per second.
    pub device_bytes_per_s: f64,
}

impl Utilisation {
    /// The fullest resource and how full it is.
    pub fn busiest(&self) -> (Limit, f64) {
        [
            (Limit::Cpu, self.cpu),
            (Limit::VolumeIops, self.iops),
            (Limit::VolumeThroughput, self.throughput),
            (Limit::CommitLog, self.commit_log),
            (Limit::Network, self.network),
        ]
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((Limit::Cpu, 0.0))
    }
}
