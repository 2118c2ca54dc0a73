//! The matrix and the order in which it is executed.

use serde::{Deserialize, Serialize};
use workload::Definition;

use crate::{Dataset, LoadLevel, Setup, Target};

/// Everything a run needs to know, frozen into `plan.json` before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this file's shape.
    pub format_version: u32,
    /// Experiment name.
    pub experiment: String,
    /// The question asked.
    pub question: Option<String>,
    /// Configuration that ratios refer to, if stated.
    pub baseline: Option<String>,
    /// Database and consistency.
    pub target: Target,
    /// `provider.local.work_directory` (or `None`), kept here so that a resumed run finds its snapshot again.
    pub work_directory: Option<String>,
    /// 1:N model.
    pub scale: f64,
    /// The data set on this machine (records divided by scale).
    pub dataset: Dataset,
    /// Configurations on this machine.
    pub setups: Vec<Setup>,
    /// Workloads.
    pub workloads: Vec<Definition>,
    /// All cells: configuration x workload x load level.
    pub cells: Vec<Cell>,
    /// All trials in the order in which they run.
    pub trials: Vec<PlannedTrial>,
    /// The shape of each trial.
    pub shape: TrialShape,
    /// Seed of orders and key choosers.
    pub seed: u64,
    /// Estimated seconds for the whole run on this machine.
    pub estimated_s: f64,
}

/// Configuration x workload x load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// File-name-safe identity: `gp2-320.read-heavy.c100`.
    pub id: String,
    /// Configuration name.
    pub configuration: String,
    /// Workload name.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
}

/// One trial of the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Shuffled pass over all cells, from 1.
    pub block: u32,
    /// Which cell.
    pub cell: String,
}

/// The shape of each trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialShape {
    /// Seconds of warm-up.
    pub warmup_s: f64,
    /// Measured seconds at most.
    pub duration_s: f64,
    /// Measured operations at most, on this machine (scaled).
    pub operations: Option<u64>,
    /// Client-side request timeout, seconds.
    pub request_timeout_s: f64,
}
