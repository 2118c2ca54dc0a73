//! What would be worth measuring next, and what earlier evidence said of what was measured: values, no words.

use analysis::{DecidedBy, LoadLevel};
use catalog::{Basis, ClusterRequest};
use serde::{Deserialize, Serialize};

use super::figures::HeldOut;
use super::note::Note;
use super::reason::{Doubt, LeftOut, Limit, Obstacle};

/// Configurations of the catalog that a run has not measured, by what measuring them may change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NextToMeasure {
    /// Version of this document's shape.
    pub format_version: u32,
    /// The run.
    pub run: String,
    /// Whether it was simulated.
    pub is_simulated: bool,
    /// What leads now, wherever throughput for money decides and the model can say something.
    pub places: Vec<LeadingPlace>,
    /// All other workloads and load levels.
    pub not_predicted: Vec<NotPredicted>,
    /// How well the model predicts what it has not seen, in all places together; where it is refused in one, there.
    /// `None`: it predicts nothing here.
    pub held_out: Option<HeldOut>,
    /// What has to be shown for a configuration to be the better choice, as a share: the experiment's margin.
    pub margin: f64,
    /// Configurations that were predicted: the proposals were picked out of these.
    pub predicted: u64,
    /// Those whose error is known first, the one that is expected to save most before the others; then those whose
    /// error is not known, by what they would save. Of each instance type one.
    pub proposals: Vec<Unmeasured>,
    /// What it takes to measure all of them in the run's experiment; `None`: it was not asked, or cannot have all.
    pub together: Option<Together>,
    /// Why there is none.
    pub because: Option<NothingBecause>,
    /// What was not predicted, by reason.
    pub left_out: Vec<LeftOut>,
    /// How money is counted: as the run's plan has it.
    pub basis: Basis,
    /// What a reader must know before trusting the figures.
    pub notes: Vec<Note>,
}

/// A workload and load level with what leads there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeadingPlace {
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// The configuration that is to be run there, or that leads by its estimate.
    pub leader: String,
    /// Others between which and the leader nothing is decided; empty: it is to be run.
    pub not_decided_against: Vec<String>,
    /// What it did, operations per second at full scale.
    pub operations_per_s: f64,
    /// Half-width of the 95 % interval of that, as a share of it; at least 1 %.
    pub half_width: f64,
    /// What it costs.
    pub usd_per_month: f64,
}

/// A workload and load level of which nothing is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotPredicted {
    /// Workload.
    pub workload: String,
    /// Load level; `None`: all together.
    pub load: Option<LoadLevel>,
    /// Why.
    pub why: NotPredictedBecause,
}

/// Why nothing is predicted of a workload and load level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum NotPredictedBecause {
    /// Something else decides there than throughput for money, which is what the model predicts.
    DecidedBy { by: DecidedBy },
    /// Nothing leads there yet.
    NoLeader,
    /// Nothing is learned from what leads there: it has settings, a version, volumes or caches of which the model has
    /// no evidence.
    NotLearned { leader: String },
    /// No resource of what leads there was at its limit, so that its throughput is no capacity to compare with.
    NotAtLimit { leader: String },
}

/// Why nothing is worth measuring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NothingBecause {
    /// Nothing is predicted anywhere.
    NoPlace,
    /// The model fails its held-out test on this evidence.
    ModelRefused,
    /// Nothing that may be bought gives more for its money than what leads, by more than the margin.
    NothingBetter,
    /// What would be worth measuring this experiment cannot measure where it is carried out.
    NotMeasurable {
        /// Proposals that were refused.
        refused: u64,
        /// Others, of which it was not asked after so many refusals.
        untried: u64,
    },
}

impl NothingBecause {
    /// Whether that there is none is an answer; else the evidence carries none, or nothing is settled yet.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::NothingBetter | Self::NotMeasurable { untried: 0, .. })
    }
}

/// A configuration that was not measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unmeasured {
    /// In the command line's form, with its nodes.
    pub configuration: String,
    /// What is ordered.
    pub request: ClusterRequest,
    /// Its disks, for people.
    pub storage: String,
    /// The measured configuration that it is like in everything but its machine.
    pub like: String,
    /// Whose rules its volume has, where they are not today's: the day of the prices.
    pub era: Option<String>,
    /// Memory that its database may use, GiB, where the experiment leaves the page cache a part of what there is.
    pub memory_limit_gib: Option<f64>,
    /// What it costs.
    pub usd_per_month: f64,
    /// Half-width of what it may really do, as a share: the 90th percentile of the held-out errors. `None`: not known.
    pub error: Option<f64>,
    /// What lies outside the measured range; then its error is not known.
    pub beyond_evidence: Vec<Doubt>,
    /// What it would save for the throughput of what leads, USD a month, as predicted: in the place where it saves
    /// least.
    pub saves_usd_per_month: f64,
    /// What measuring it may change; `None`: the error is not known, and so neither is this.
    pub worth: Option<Worth>,
    /// What it would do, in the order of [`NextToMeasure::places`].
    pub predicted: Vec<Predicted>,
    /// What it takes to measure it; `None`: the experiment was not asked.
    pub measuring: Option<Measuring>,
}

/// What a measurement may change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// The chance that it is the better choice everywhere, by more than the margin: held-out errors with which it is,
    /// of all and one more, which is not; each with what leads in the middle and at both ends of its interval. Of this
    /// prediction alone: of the best of many it is less.
    pub chance: f64,
    /// The mean of what it saves, USD a month, over the same; nothing where it is not the better choice.
    pub expected_usd_per_month: f64,
}

/// What an unmeasured configuration would do in a place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Operations per second at full scale with its fullest resource used in full.
    pub operations_per_s: f64,
    /// Over what leads there.
    pub ratio: f64,
    /// Its fullest resource.
    pub limit: Limit,
}

/// What it takes to measure a configuration in the run's experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measuring {
    /// What it is called there.
    pub name: String,
    /// Its block of the experiment file.
    pub block: String,
    /// By how much the experiment grows.
    pub takes: Effort,
}

/// What a plan takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Its trials; where cells may rest or repetitions are added, the first ones.
    pub trials: u64,
    /// Expected seconds of these, of loading the data sets, and of all that is done before and between them.
    pub seconds: f64,
    /// Whether more trials may follow: repetitions are added where that decides something.
    pub is_least: bool,
}

/// What it takes to measure all proposals in the run's experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// The whole experiment with all of them.
    pub experiment: Effort,
    /// By how much it grows.
    pub proposals: Effort,
}

/// What a run measured beside what earlier evidence alone says of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Foretold {
    /// Version of this document's shape.
    pub format_version: u32,
    /// The run.
    pub run: String,
    /// The earlier run.
    pub against: String,
    /// Whether any of them was simulated.
    pub is_simulated: bool,
    /// How well the model predicts what it has not seen of the earlier run, for the first cell that it predicts;
    /// `None`: it predicts nothing.
    pub held_out: Option<HeldOut>,
    /// Median of |predicted / measured - 1|; `None`: nothing is predicted.
    pub median_off: Option<f64>,
    /// Cells of the run whose configurations the earlier one did not measure.
    pub cells: Vec<ForetoldCell>,
    /// Configurations that both have measured, of which nothing is predicted.
    pub measured_by_both: Vec<String>,
    /// Cells in which no resource of the database was at its limit, so that their throughput is no capacity.
    pub not_at_limit: Vec<String>,
    /// Cells whose rate was given.
    pub given_rate: Vec<String>,
    /// Cells of which nothing is learned: no valid trial, several data volumes, caches in front.
    pub not_observed: Vec<String>,
}

impl Foretold {
    /// Whether anything is predicted.
    pub fn is_answer(&self) -> bool {
        self.median_off.is_some()
    }
}

/// A cell, predicted and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForetoldCell {
    /// Which.
    pub cell: String,
    /// Operations per second at full scale, by the earlier evidence; `None`: not predicted.
    pub predicted_operations_per_s: Option<f64>,
    /// Why it is not predicted.
    pub why_not: Option<Obstacle>,
    /// What the prediction said of its error, as a share; `None`: not known.
    pub error: Option<f64>,
    /// What lay outside the range of the earlier evidence.
    pub beyond_evidence: Vec<Doubt>,
    /// As measured, at full scale.
    pub measured_operations_per_s: f64,
    /// Predicted / measured - 1.
    pub off: Option<f64>,
}

impl ForetoldCell {
    /// Whether the measurement lies within the error that was stated; `None` where none was.
    pub fn is_within(&self) -> Option<bool> {
        Some(self.off?.abs() <= self.error?)
    }
}
