//! What a reader must know before believing a recommendation.

use evidence::Runtime;
use experiment::{DiskTooSmall, VolumeRole};
use serde::{Deserialize, Serialize};

use super::bound::LimitedHere;
use super::candidate::FleetOf;
use crate::rule::Rule;

/// What a reader must know before believing the recommendation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "doubt")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Doubt {
    /// Nodes whose disks have no room for their part of the data at full scale: nobody would buy them.
    DiskTooSmall { configurations: Vec<DiskTooSmall> },
    /// A bound on latency decided, and latencies are those of a 1:N model.
    LatencyInModel { scale: f64 },
    /// The evidence is simulated.
    Simulated,
    /// The evidence is that of other tools.
    Imported,
    /// Others could measure on the same machine meanwhile, as far as the user was concerned: who did
    /// when the run began, in words.
    Beside { others: Vec<String> },
    /// What runs the database has options besides those of iopslab, in its own words: `TieredStopAtLevel=1`.
    RuntimeOptions { options: Vec<String> },
    /// Not all that ran one version of the database was the same: hosts differ, or the run was resumed with another.
    RuntimesDiffer {
        version: String,
        /// What ran it, in the order in which the run found it.
        runtimes: Vec<Runtime>,
    },
    /// All configurations are single nodes, of a database that production runs with replicas.
    OneCopy,
    /// A 1:N model.
    Scale { scale: f64 },
    /// Page caches that are expected to miss more often, or less, in the model than at full scale.
    ModelMisses {
        all: Vec<MissesInModel>,
        /// Whether `page_cache = "same-misses"` would keep all of them.
        can_be_kept: bool,
        /// The database's own memory for pages, which is left out of it, and with it what updates read;
        /// `shared_buffers`.
        own_buffers: Option<String>,
    },
    /// Configurations that have more CPUs than their part of this machine's, because a database cannot be given less,
    /// compared with cells that CPUs limited: no verdict rests on that.
    CpusRaised {
        configurations: Vec<String>,
        /// The largest N at which each has its part.
        most_scale: f64,
    },
    /// Cells that this machine limited rather than what is emulated on it: their ratios to others are bounds. Each
    /// configuration and limit once.
    LimitedHere { all: Vec<LimitedHere> },
    /// Trials too short to judge whether they had stabilised: half of the valid ones or more.
    TooShort { trials: u64, valid: u64 },
    /// Workloads that write, and no checkpoint of the database in half of their trials or more: production writes what
    /// was not measured.
    NoCheckpoint { configurations: Vec<String> },
    /// The configuration to run, or one of those between which the choice is, keeps its data on disks that are lost
    /// with the instance.
    LocalDisks { configuration: String },
    /// Local disks that were emulated without a limit of bytes, because nobody knows theirs: they may have done more
    /// than those that are bought.
    LocalBytesUnknown {
        /// With the most bytes a second that a node's data volumes did in a cell, read and written together, at full
        /// scale; `None`: not measured.
        configurations: Vec<(String, Option<f64>)>,
    },
    /// Trials that are missing.
    Missing { trials: u64, planned: u64 },
    /// Trials that enter no figure.
    Invalid { trials: u64, done: u64 },
    /// Suspect findings about the cells that the answer rests on: rules, and how often each fired.
    Findings { rules: Vec<(Rule, u64)> },
    /// Volumes that started with burst credits by choice.
    BurstStart { volumes: Vec<(String, VolumeRole)> },
    /// Some places are not decided although the recommendation contradicts none.
    PlacesUndecided { places: u64 },
    /// More of a cheaper configuration would carry the demand for less, if throughput grows with their number.
    FleetCheaper { configuration: String, fleet: FleetOf },
    /// A rate that is shown to miss the objective lies below one that is shown to meet it.
    NotMonotone {
        configuration: String,
        workload: String,
        /// The lowest rate that misses it, operations per second.
        missed_ops_per_s: f64,
        /// The highest that meets it.
        met_ops_per_s: f64,
    },
    /// What excludes configurations is the most that a 1:N model's closed loop did, which one short probe has measured.
    ClosedLoopOnce { configurations: Vec<String> },
    /// Repeating stopped by itself.
    Stopped { why: String },
    /// Cells of which the user wanted no more trials while the run was under way, in the order of the plan.
    Skipped { cells: Vec<SkippedCell> },
    /// Configurations were measured in several batches of machines: at different times, or at different sites.
    Batches {
        /// Configurations that were measured together, with the site where they were.
        batches: Vec<(Vec<String>, Option<String>)>,
    },
}

/// How often a configuration misses its page cache under a workload, by the model of page caches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct MissesInModel {
    pub configuration: String,
    pub workload: String,
    /// Reads that miss for each operation, of the model's records and page cache.
    pub in_model: f64,
    pub at_full_scale: f64,
    /// The one over the other: how many times as often as at full scale volumes are read for an operation.
    pub factor: f64,
}

/// A cell that the user skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SkippedCell {
    pub cell: String,
    pub done: u64,
    pub planned: u64,
}
