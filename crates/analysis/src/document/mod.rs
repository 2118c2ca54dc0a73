//! `analysis.json`: everything that a report shows, with its numbers and units.
//!
//! Every field is written. What cannot be said is `null` or an empty list, or says so in words (`not comparable`,
//! `none found`): an absent answer, never a guessed one.

mod advice;
mod bound;
mod cache;
mod cache_curve;
mod cache_tier;
mod candidate;
mod capacity;
mod cell;
mod change;
mod configuration;
mod decision;
mod delivered;
mod doubt;
mod durability;
mod faults;
mod free;
mod latency;
pub(crate) mod limit;
mod money;
mod node;
mod ratio;
mod recommendation;
mod scaling;
mod withheld;
pub(crate) mod work;

use evidence::{DataSetOrigin, FORMAT_VERSION, ModifiedVolume};
use experiment::{
    AwsPair, Basis, CacheState, Dataset, LeftOut, LoadLevel, Objective, PageCacheKeeps, Plan, Provider, Rested,
    TrialShape,
};
use serde::{Deserialize, Serialize};

use self::limit::SpreadKind;
use crate::Finding;
pub use advice::{NotTried, Untried};
pub use bound::{Bound, BoundIs, LimitedHere, OfThisMachine};
pub use cache::CacheEffect;
pub use cache_curve::{CacheCurve, CachePoint, CachePrediction};
pub use cache_tier::CacheTierAnalysis;
pub use candidate::{Candidate, Check, Criterion, FleetOf, Meets, OverallCandidate, prices_decide};
pub use capacity::{Capacity, CapacityLevel, CapacityLimit, CapacityOutcome, Missed};
pub use cell::{CellAnalysis, InvalidTrial};
pub use change::{CellChange, Change, Comparison, GateCell, GateOutcome, GateResult, Obstacle};
pub use configuration::{ConfigurationFacts, VolumeReport};
pub use decision::{Caution, Decision, Ranked};
pub use delivered::Delivered;
pub use doubt::{Doubt, MissesInModel, SkippedCell};
pub use durability::{BestOfAlike, Durability};
pub use faults::{
    FaultAnalysis, FaultsAnalysis, HintFiles, PhaseAnalysis, PhaseKind, RecoveryAnalysis, WritesAnalysis,
};
pub use free::{FreeStep, Need, Replaced, Spending, SpendingChange};
pub use latency::{LONGEST, LatencyAnalysis};
pub use money::{ValueOfMoney, ValueVerdict};
pub use node::{DataVolumeAnalysis, NodeAnalysis};
pub use ratio::{Metric, Range, Ratio, Verdict};
pub use recommendation::{
    AnswerOutcome, AnyOf, DecidedBy, NotConsidered, NotJudged, OtherSettings, Reason, Recommendation, Status,
    WorkloadAnswer, WorseSettings, WouldDecide,
};
pub use scaling::{Scaling, ScalingPoint};
pub use withheld::{Sickness, Unrest, Withheld};
pub use work::DatabaseFigures;

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Version of this file's shape.
    pub format_version: u32,
    /// Name of the run directory.
    pub run: String,
    /// Name of the experiment.
    pub experiment: String,
    /// What it asks.
    pub question: Option<String>,
    /// Where the machines came from: `local`, ...
    pub provider: Provider,
    /// Configuration that ratios refer to.
    pub baseline: String,
    /// Whether the experiment states it; `false`: it is the cheapest, or the first of the file.
    pub is_baseline_stated: bool,
    /// 1:N model.
    pub scale: f64,
    /// What of full scale its page caches keep.
    pub page_cache: PageCacheKeeps,
    /// The database, such as `Apache Cassandra 5.0.9`.
    pub database: String,
    /// Data set on the machine that ran it.
    pub dataset: Dataset,
    /// Records of the real data set, where the experiment states that its own stand for more.
    pub stands_for_records: Option<u64>,
    /// Where it was restored from; empty: it was loaded by this run, or by an earlier one on the same hosts.
    pub origins: Vec<DataSetOrigin>,
    /// Configurations that were measured on the same machines, whose volumes were modified between their trials; empty
    /// where each had its own.
    pub shared_volumes: Vec<AwsPair>,
    /// Modifications of these volumes, in the order in which they were asked for.
    pub modifications: Vec<ModifiedVolume>,
    /// The shape of each trial.
    pub shape: TrialShape,
    /// What the experiment states and this run leaves out; `None`: nothing.
    pub left_out: Option<LeftOut>,
    /// Trials planned, in place, and valid.
    pub trials: TrialCounts,
    /// Seconds that one of those in place took in the mean, with restore, start, rest and stop; `None` where none was
    /// measured here.
    pub trial_s: Option<f64>,
    /// Why an adaptive run stopped repeating; `None` where the number of repetitions was fixed.
    pub stopped: Option<String>,
    /// Cells that rested when an adaptive run ended, or so far: since which block, and why. Empty where none did.
    pub rested: Vec<Rested>,
    /// The configurations as they were built, with what their volumes delivered.
    pub configurations: Vec<ConfigurationFacts>,
    /// Workloads, in the order of the experiment.
    pub workloads: Vec<WorkloadFacts>,
    /// All cells, in the order of the experiment.
    pub cells: Vec<CellAnalysis>,
    /// All findings, run-wide ones first.
    pub findings: Vec<Finding>,
    /// The best configuration for each workload, load level and metric.
    pub decision: Vec<Decision>,
    /// What more expensive configurations give for their money. Empty when fewer than two configurations have a price.
    pub value_of_money: Vec<ValueOfMoney>,
    /// What the fastest of several configurations of one price gives against the first of them. Empty where no two have
    /// one.
    pub free_steps: Vec<FreeStep>,
    /// Settings that no configuration varied and that may be worth trying where the data volume of the recommended
    /// configuration (else of the baseline) is the limit: hypotheses, cell by cell.
    pub not_tried: Vec<NotTried>,
    /// What good enough means; `None` where the experiment does not say.
    pub objective: Option<Objective>,
    /// The highest rate that meets the objective, of each configuration and workload; empty where none was searched
    /// for.
    pub capacities: Vec<Capacity>,
    /// Throughput over the number of nodes, where clusters differ in nothing else.
    pub scaling: Vec<Scaling>,
    /// Cells that began cold against those that began warm; empty where not both were asked for.
    pub cache_effects: Vec<CacheEffect>,
    /// Throughput over data set / page cache, where that was swept.
    pub cache_curves: Vec<CacheCurve>,
    /// Which configuration to run, and why, or that this is not decided.
    pub recommendation: Recommendation,
    /// What "the same" means: a ratio within this share of 1.
    pub margin: f64,
    /// Seed of the trials' order and of the key choosers.
    pub seed: u64,
    /// How money is counted.
    pub basis: Basis,
    /// How far repetitions of a cell lie apart (throughput in closed loops), for each kind of limit that cells have;
    /// none where nothing was repeated.
    pub residual_spreads: Vec<ResidualSpread>,
    /// Host facts, as frozen in `environment.json`.
    pub environment: serde_json::Value,
}

impl Analysis {
    /// Trials that are in place and may not enter comparisons.
    pub fn invalid_trials(&self) -> u64 {
        self.trials.done - self.trials.valid
    }

    /// Seconds that the trials of a new run of so many repetitions of each cell would take, by those of this one.
    pub fn seconds_of(&self, repetitions: u32) -> Option<f64> {
        Some(self.trial_s? * self.cells.len() as f64 * f64::from(repetitions))
    }

    /// The cell of a configuration under a workload and load level.
    pub fn cell(&self, configuration: &str, workload: &str, load: LoadLevel) -> Option<&CellAnalysis> {
        self.cells.iter().find(|c| c.configuration == configuration && c.workload == workload && c.load == load)
    }

    /// The cells under a workload, at one load level or at all.
    pub fn cells_at<'a>(
        &'a self,
        workload: &'a str,
        load: Option<LoadLevel>,
    ) -> impl Iterator<Item = &'a CellAnalysis> {
        self.cells.iter().filter(move |c| c.workload == workload && load.is_none_or(|load| c.load == load))
    }

    /// Whether its volumes were emulated.
    pub fn has_emulated_volumes(&self) -> bool {
        configuration::are_emulated(self.provider, &self.configurations)
    }

    pub(crate) const VERSION: u32 = FORMAT_VERSION;
}

/// How far trials of one cell lie apart, of the cells whose limits are of one kind. What blocks have in common is taken
/// out where it shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResidualSpread {
    /// Of cells with such limits.
    pub kind: SpreadKind,
    /// Standard deviation of ln(throughput): about the coefficient of variation.
    pub deviation: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

/// How many trials there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrialCounts {
    /// In the plan.
    pub planned: u64,
    /// With evidence in place.
    pub done: u64,
    /// That may enter comparisons.
    pub valid: u64,
}

/// A workload, for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Its name.
    pub name: String,
    /// Shares and distribution: `80 % read, 20 % update, zipfian`.
    pub description: String,
    /// Whether the experiment asks for a cold page cache.
    pub begins_cold: bool,
}

/// The workloads of a plan, for people.
pub fn workload_facts(plan: &Plan) -> Vec<WorkloadFacts> {
    plan.workloads
        .iter()
        .map(|w| {
            let shares = w.kinds().map(|k| format!("{} % {}", (w.share(k) * 1e4).round() / 1e2, k.label()));
            let shares: Vec<String> = shares.collect();
            let distribution = match w.distribution {
                // No tool states them.
                _ if plan.place.is_imported() => "keys as the tool chose them".to_owned(),
                _ if w.replayed.is_some() => w.replayed.iter().map(ToString::to_string).collect(),
                _ if w.is_own() => "own statements".to_owned(),
                experiment::Distribution::Uniform => "uniform keys".to_owned(),
                experiment::Distribution::Zipfian { constant } => format!("zipfian keys ({constant})"),
                experiment::Distribution::Latest => "latest keys".to_owned(),
                experiment::Distribution::Hotspot { data_fraction, operation_fraction } => {
                    format!("hotspot: {operation_fraction} of operations on {data_fraction} of keys")
                }
                experiment::Distribution::Exponential { .. } => "exponential keys".to_owned(),
                experiment::Distribution::Sequential => "sequential keys".to_owned(),
            };
            let cache = plan.caches.conditions.get(&w.name);
            let ratio = cache.and_then(|cache| cache.ratio);
            let ratio = ratio.map_or_else(String::new, |ratio| format!(", data set {ratio} times the page cache"));
            let cache =
                cache.map_or_else(String::new, |cache| format!(", page cache {} at the start", cache.state.name()));
            WorkloadFacts {
                begins_cold: plan.caches.state(&w.name) == CacheState::Cold,
                name: w.name.clone(),
                description: format!("{}, {distribution}{ratio}{cache}", shares.join(", ")),
            }
        })
        .collect()
}
