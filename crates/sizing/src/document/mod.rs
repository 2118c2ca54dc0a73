//! What `iopslab size` answers: the same document for people and for machines.

mod figures;
mod next;
mod note;
mod reason;
mod tier;
mod today;

use catalog::{Basis, CostLine};
use serde::{Deserialize, Serialize};

use crate::target::Target;

pub use figures::{Demand, HeldOut, SstablesOfMix, Utilisation};
pub use next::{
    Effort, Foretold, ForetoldCell, LeadingPlace, Measuring, NextToMeasure, NotPredicted, NotPredictedBecause,
    NothingBecause, Predicted, Together, Unmeasured, Worth,
};
pub use note::{Note, Remark};
pub use reason::{Allowance, Doubt, LeftOut, Limit, NodesBecause, NotCandidates, Obstacle, P99By, P99Unchecked, Range};
pub use tier::CacheTier;
pub use today::{ChangeBecause, Fleet, FleetComparison, FleetDecision, FleetTotals, FleetUse, Undecided};

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sizing {
    /// Version of this document's shape.
    pub format_version: u32,
    /// What was asked for.
    pub target: Target,
    /// What the answer rests on.
    pub evidence: EvidenceFacts,
    /// Which proposals stand for what.
    pub choice: Choice,
    /// Those of which nothing is in doubt, the cheapest first; below them the others, the cheapest of these first.
    pub proposals: Vec<Proposal>,
    /// What was not proposed, by reason.
    pub left_out: Vec<LeftOut>,
    /// Configurations of the evidence that are no candidates of the search, by reason; those from which nothing was
    /// learned because of caches, several data volumes, settings or version are in `notes`. Empty where candidates are
    /// stated.
    pub not_candidates: Vec<NotCandidates>,
    /// The fleet of today beside a proposal, and whether to keep it.
    pub comparison: Option<FleetComparison>,
    /// How money is counted.
    pub basis: Basis,
    /// What a reader must know before trusting the figures.
    pub notes: Vec<Note>,
}

/// The two proposals to choose from: the least money, and the least money without doubts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The cheapest, by its [`Proposal::title`]; whether it holds its `doubts` say.
    pub cheapest: String,
    /// The cheapest of which nothing is in doubt, which may be the same; `None`: something is of every one.
    pub best: Option<String>,
    /// Whether that is [proven](Proposal::is_proven).
    pub best_is_proven: bool,
    /// What the best one costs more than the cheapest, USD a month.
    pub best_costs_more_usd_per_month: Option<f64>,
    /// The cheapest behind a cache; `None`: no cache was asked for, or none carries its requests.
    pub cheapest_with_cache: Option<String>,
    /// The cheapest without one; `None`: no machine meets the target without.
    pub cheapest_without_cache: Option<String>,
}

/// What an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceFacts {
    /// Run directories.
    pub runs: Vec<String>,
    /// Whether any of them was simulated: then the answer is one about a stated truth, not about machines.
    pub is_simulated: bool,
    /// Cells with valid trials.
    pub cells: u64,
    /// Of these, cells that a resource of the database bounded: only they show a capacity.
    pub capacity_cells: u64,
    /// Their valid trials.
    pub trials: u64,
    /// Of these, trials with suspect findings.
    pub suspect_trials: u64,
    /// Share of the reads among operations, as measured.
    pub read_share: Range,
    /// The same for what the target asks of the replicas: reads x replicas read, writes x copies.
    pub replica_read_share: f64,
    /// Share of the data that was in the page cache, as measured.
    pub cache_share: Range,
    /// vCPUs of the measured machines at full scale.
    pub vcpus: Range,
    /// The speed of the CPUs in which demands are counted, beside a vCPU of m5.2xlarge; `None`: not known, or not one
    /// for all that was measured, so that all vCPUs count alike.
    pub cpu_unit: Option<f64>,
    /// Data on a node at full scale, bytes.
    pub data_bytes_per_node: Range,
    /// Bytes on disk for each byte of payload.
    pub on_disk: f64,
    /// Demands for each read and write of a replica.
    pub demand: Demand,
    /// CPU time of a request to a cache, microseconds of the CPU that was measured; `None`: no run measured one.
    pub cache_request_cpu_us: Option<f64>,
    /// How well the model predicts what it has not seen.
    pub held_out: HeldOut,
    /// The highest utilisation at which open-loop cells, or rates that were found, kept the p99 asked for; `None`: none
    /// was, or nothing checks it.
    pub p99_utilisation: Option<f64>,
    /// Configurations of which it is known how much they carry under the p99 asked for, or a lower one.
    pub p99_carried: Vec<String>,
}

experiment::word_enum! {
    /// Where a figure comes from.
    #[derive(PartialOrd, Ord)]
    pub enum Label by word {
        /// This machine with these volumes, at this mix and ratio of memory to data, was measured.
        Measured = "measured",
        /// Between what was measured: mix, ratio of memory to data and vCPUs.
        Interpolated = "interpolated",
        /// Outside what was measured, by the model.
        Modelled = "modelled",
    }
}

/// A cluster that meets the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// In the command line's form, `i4i.2xlarge*9`; of the database alone.
    pub configuration: String,
    /// What the evidence calls a node of it: configurations that were measured on this machine with these volumes;
    /// empty: none.
    pub measured_as: Vec<String>,
    /// The cache before it, whose money is in the sums below; `None`: there is none.
    pub cache: Option<CacheTier>,
    /// Nodes of the database.
    pub nodes: u32,
    /// Nodes of a zone.
    pub nodes_per_zone: u32,
    /// Instance type.
    pub instance: String,
    /// Its disks, for people.
    pub storage: String,
    /// USD a month.
    pub usd_per_month: f64,
    /// USD an hour.
    pub usd_per_hour: f64,
    /// The bill.
    pub cost: Vec<CostLine>,
    /// Where the capacity comes from.
    pub label: Label,
    /// Half-width of what the capacity may really be, per cent: of a measured one its 95 % interval, of others the 90th
    /// percentile of the held-out errors. `None`: not known, as of all that lies outside the measured range.
    pub uncertainty_percent: Option<f64>,
    /// Why it is not known whether it meets the target; empty: it meets it by more than its error, and by evidence that
    /// carries this far.
    pub doubts: Vec<Doubt>,
    /// What checks the p99 that was asked for; `None`: none was asked for, or nothing checks it, which is a doubt.
    pub p99_by: Option<P99By>,
    /// What is not known, not counted or extrapolated.
    pub remarks: Vec<Remark>,
    /// Why it has so many nodes.
    pub nodes_because: NodesBecause,
    /// What set the number of nodes, else what is fullest of what it may be, disks included; `copies`: nothing is even
    /// half as full as it may be.
    pub limit: Limit,
    /// The most client operations per second at the utilisation that the target allows.
    pub operations_per_s: f64,
    /// The fullest resource at the target, ...
    pub busiest: Limit,
    /// ... how full it is, all nodes up: by measurement where there is one, else by the model, ...
    pub used: f64,
    /// ... and how full it may be then.
    pub allowed: f64,
    /// Share of each resource of a node in use at the target, all nodes up, by the model.
    pub utilisation: Utilisation,
    /// `used` with the part down that the target allows for.
    pub utilisation_when_down: f64,
    /// Data of a node at the end, bytes on disk.
    pub data_bytes_per_node: f64,
    /// Share of a node's disks that this fills.
    pub disk_fill: f64,
    /// Share of a node's data that fits its page cache, and the hit ratio of reads that follows.
    pub cache_share: f64,
    /// Hit ratio of reads.
    pub hit_ratio: f64,
    /// What a zone has.
    pub per_zone: FleetTotals,
    /// What all zones have.
    pub total: FleetTotals,
}

impl Proposal {
    /// What it is called among all: its configuration, and the cache before it.
    pub fn title(&self) -> String {
        match &self.cache {
            Some(cache) => format!("{} behind cache {}", self.configuration, cache.configuration),
            None => self.configuration.clone(),
        }
    }

    /// Whether it was measured that it meets the target: nothing is in doubt, this machine did as much in a trial, and,
    /// where a p99 was asked for, under that p99 at full scale. A model keeps what full scale keeps as far as queues
    /// decide, and the pauses of its smaller heap are others.
    pub fn is_proven(&self) -> bool {
        let is_p99_measured = self.p99_by.is_none_or(|by| matches!(by, P99By::Found { scale } if scale <= 1.0));
        self.doubts.is_empty() && self.label == Label::Measured && is_p99_measured
    }
}
