//! The answer as values: which configuration to run, why, and what it does not know. Crate `report` puts it into words.

use experiment::{DiskTooSmall, LatencyFigure, LoadLevel, OperationKind, VolumeRole};
use serde::{Deserialize, Serialize};

use super::bound::LimitedHere;
use super::durability::BestOfAlike;
use super::ratio::{Range, Ratio};
use crate::rule::Rule;

/// Which configuration to run, or that this is not decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// Whether there is an answer.
    pub status: Status,
    /// The configuration to run; `None` unless decided.
    pub run: Option<String>,
    /// Of its hardware and price, with other settings, which may be run as well; `None` where there is no other.
    pub any_of: Option<AnyOf>,
    /// The hardware that is decided: all configurations that have it, in the order of the experiment. Empty where it is
    /// not decided, and where one configuration alone has it. Where `run` is `None`, settings are what is open.
    pub hardware: Vec<String>,
    /// Why; the numbers stand in `places`.
    pub reason: Reason,
    /// The answer of each workload and load level.
    pub places: Vec<WorkloadAnswer>,
    /// Of several places with an objective or a demand, which must be met in each: how each configuration stands in all
    /// of them, cheapest first. Empty where there is one place, or where throughput for money decides.
    pub everywhere: Vec<OverallCandidate>,
    /// What would decide, where more repetitions would.
    pub would_decide: Option<WouldDecide>,
    /// What a reader must know before believing it.
    pub doubts: Vec<Doubt>,
    /// Configurations that could not be judged, with the reason.
    pub not_considered: Vec<NotConsidered>,
}

/// Configurations of one hardware and price, any of which may be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnyOf {
    /// Two or more, in the order of the experiment; the one to run is among them. Every place accepts each, and none is
    /// shown to be faster than another in any place.
    pub configurations: Vec<String>,
    /// The factor of throughput by which two of them may differ at most, by all their intervals in all places; `None`
    /// where throughput was not compared.
    pub apart: Option<f64>,
}

experiment::word_enum! {
    /// Whether there is an answer.
    pub enum Status by words {
        /// Yes.
        Decided = "decided",
        /// The evidence does not decide, or the answer depends on workload or load.
        NotDecided = "not decided",
        /// Too little has been measured.
        NoAnswerYet = "no answer yet",
    }
}

/// Why the recommendation is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Every place that could be judged says the same; or an objective is met in every place.
    Agreement,
    /// Workloads or load levels want different configurations.
    Depends,
    /// Some or all places are not decided.
    Undecided,
    /// No trial is in place.
    NothingMeasured,
    /// Fewer than half of the planned trials are valid, or none is.
    TooFewValidTrials,
    /// Fewer than three repetitions.
    TooFewRepetitions,
    /// Only one configuration could be judged.
    OneConfiguration,
    /// Given rates without an objective say nothing about value.
    NoObjective,
}

/// The answer of one workload at one load level (or, against a demand, at all its load levels).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadAnswer {
    /// Workload.
    pub workload: String,
    /// Load level; `None` where the best of all levels counts.
    pub load: Option<LoadLevel>,
    /// What decides here.
    pub by: DecidedBy,
    /// The answer.
    pub outcome: AnswerOutcome,
    /// Against an objective: how each configuration stands, cheapest first.
    pub candidates: Vec<Candidate>,
}

/// What decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// Throughput for money.
    Value,
    /// Throughput alone: no two configurations have a price.
    Throughput,
    /// The cheapest that meets the objective.
    Objective,
    /// The highest rates that meet the objective, for money where two configurations have a price.
    Capacity,
    /// All others lost acknowledged writes.
    Writes,
}

/// The answer of a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum AnswerOutcome {
    /// Run this.
    Run {
        /// Which.
        configuration: String,
        /// Others that give the same throughput within the margin, for no less money.
        same: Vec<String>,
        /// How others of its hardware and price stand; `None` where no other was judged.
        settings: Option<OtherSettings>,
    },
    /// One of these; the leader by its estimate first.
    Between {
        /// Which.
        configurations: Vec<String>,
        /// They pay for themselves alike within the margin: more repetitions would not decide.
        break_even: bool,
        /// Those that are shown to pay for themselves like the leader within the margin, while others are open.
        alike: Vec<String>,
        /// Repetitions that would decide between the leader and those that are open, if what was seen is the truth.
        repetitions: Option<u32>,
    },
    /// The best by speed and money would keep less of what others keep when a node is lost: of those that keep alike,
    /// the best.
    Unlike {
        /// In the order of the experiment.
        best: Vec<BestOfAlike>,
    },
    /// What was measured is not the storage of these configurations in its sustained state.
    Withheld {
        /// Configuration and reason.
        configurations: Vec<(String, Withheld)>,
    },
    /// Fewer than three pairs of valid trials.
    TooFew {
        /// The most pairs that two configurations have.
        pairs: u64,
    },
    /// Fewer than two configurations could be judged.
    Nothing,
    /// No configuration meets the objective.
    NoneMeets,
    /// A given rate, and no objective that would say what is good enough.
    NoObjective,
    /// Every configuration lost acknowledged writes.
    AllLostWrites,
}

impl AnswerOutcome {
    /// Run this; no other gives the same.
    pub(crate) fn run(configuration: &str, settings: Option<OtherSettings>) -> Self {
        Self::Run { configuration: configuration.to_owned(), same: Vec::new(), settings }
    }

    /// One of these, and no number of repetitions is known that would decide.
    pub(crate) fn between(configurations: Vec<String>) -> Self {
        Self::Between { configurations, break_even: false, alike: Vec::new(), repetitions: None }
    }

    /// Other settings of the hardware to run that may be run as well.
    pub fn any(&self) -> &[String] {
        match self {
            Self::Run { settings: Some(settings), .. } => &settings.any,
            _ => &[],
        }
    }

    /// Whether it says to run this, or that it may be run as well.
    pub fn may_run(&self, name: &str) -> bool {
        let is_run = matches!(self, Self::Run { configuration, .. } if configuration == name);
        is_run || self.any().iter().any(|any| any == name)
    }
}

/// How the others of the hardware and price of the configuration to run stand. They differ in settings, which cost
/// nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherSettings {
    /// May be run as well. By throughput: each is shown to be a better choice than every configuration of other
    /// hardware, or as good for no more money, and none of these and the one to run is shown to be slower than another.
    /// Against an objective: each is shown to meet it.
    pub any: Vec<String>,
    /// Shown to be slower, or to miss the objective.
    pub worse: Vec<WorseSettings>,
    /// Neither of the two is shown.
    pub open: Vec<String>,
}

/// Settings that are shown to be worse than others of the same hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorseSettings {
    /// Which configuration.
    pub configuration: String,
    /// Its throughput against one of the same hardware; `None` where an objective decides, see the candidates of the
    /// place.
    pub throughput_ratio: Option<Ratio>,
}

/// What was measured instead of the storage in its sustained state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Withheld {
    /// The load generator was at its limit.
    Client,
    /// Memory answered the reads.
    PageCache,
    /// Records were missing, or the evidence contradicts itself.
    Data,
    /// The rate was not held: saturated, or draining what had queued before.
    Rate,
    /// The database was not at rest.
    NotAtRest {
        /// What showed it.
        unrest: Unrest,
    },
    /// Burst credits, which end.
    Burst {
        /// Requests per second while they last, on this machine.
        burst_iops: f64,
        /// Requests per second afterwards.
        baseline_iops: f64,
        /// Seconds that a full bucket lasts under the measured load; `None` where that is not known.
        lasts_s: Option<f64>,
    },
    /// The same of a bucket of bytes (st1, sc1).
    BurstOfBytes {
        /// Bytes a second while credits last.
        burst_bytes_per_s: f64,
        /// Bytes a second afterwards.
        baseline_bytes_per_s: f64,
        /// Seconds that a full bucket lasts under this demand; `None`: not known.
        lasts_s: Option<f64>,
    },
    /// A machine, or a node, was sick: what was bought was not there.
    Sick {
        /// What it had.
        sickness: Sickness,
        /// How much, as the sickness says.
        amount: f64,
    },
}

/// What a machine or a node of a cluster had; what explains most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sickness {
    /// fio measured less of a volume than it should deliver; the amount is what it measured / what it should.
    Disk,
    /// A CPU quota that nobody asked for; the amount is the share of its periods in which it held the database back.
    Quota,
    /// The hypervisor took CPU time; the amount is its share.
    Steal,
    /// Programs outside of the run used CPUs of its host; the amount is how many.
    OtherWork,
    /// Garbage collection stopped the database; the amount is the share of the time.
    Pauses,
    /// The nodes of a cluster had unequal work, or did it at unequal cost; the amount is the most of a node / the
    /// least.
    Nodes,
}

/// What shows that a database was not at rest; what explains most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unrest {
    /// Its compilers used the CPU.
    Code,
    /// Device reads for each operation were changing, or differ from those of another cell with the same page cache.
    Cache,
    /// What caches in front of the database missed was changing.
    CacheTier,
    /// Throughput was changing.
    Changing,
    /// Throughput was changing while others took CPU time of the machine.
    Disturbed,
    /// It gained more than it has more of what limits it.
    Gain,
    /// An operation cost far more CPU than elsewhere.
    Costs,
    /// The CPU was the limit of trials that are too short to say that it was not.
    TooShort,
}

/// How a configuration stands against an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which.
    pub configuration: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    /// Whether it meets all of it.
    pub meets: Meets,
    /// Each part of the objective.
    pub checks: Vec<Check>,
    /// Against a demand: how many of it carry the demand with headroom, and for how much; `None` where that is not
    /// known.
    pub fleet: Option<FleetOf>,
}

/// How a configuration stands against an objective in all places together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallCandidate {
    /// Which.
    pub configuration: String,
    /// What it costs; `None`: no price.
    pub usd_per_month: Option<f64>,
    /// Yes: shown to be met in every place. No: shown to be missed in one.
    pub meets: Meets,
    /// Where it stands worst: furthest beyond a bound, or nearest to it. Its workload, ...
    pub worst_workload: String,
    /// ... and its load level; `None` where the best of all levels counts.
    pub worst_load: Option<LoadLevel>,
    /// Against a demand: how many of it carry it in every place; `None` where that is not known of one.
    pub fleet: Option<FleetOf>,
}

/// So many of one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FleetOf {
    /// How many, if throughput grows with their number.
    pub count: u32,
    /// What they cost together, USD a month.
    pub usd_per_month: f64,
}

impl FleetOf {
    /// As many as carry so many times what one does, at the price of one.
    pub(crate) fn carrying(times: f64, usd_per_month: f64) -> Self {
        let count = times.ceil().clamp(1.0, 1e6) as u32;
        Self { count, usd_per_month: f64::from(count) * usd_per_month }
    }
}

experiment::word_enum! {
    /// Whether an objective is met.
    pub enum Meets by words {
        /// The whole interval lies on the good side.
        Yes = "yes",
        /// The whole interval lies on the bad side.
        No = "no",
        /// The interval holds both, or there are too few trials for one.
        NotDecided = "not decided",
    }
}

/// One part of an objective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was asked.
    pub what: Criterion,
    /// What was measured; `None`: nothing.
    pub measured: Option<Range>,
    /// Its interval misses the truth in this share of experiments; `None`: it is none, but what was observed.
    pub level: Option<f64>,
    /// Whether that is good enough.
    pub meets: Meets,
    /// Repetitions that would show on which side of what was asked it lies, if what was seen is the truth; `None` where
    /// it is shown, where something else than repetitions is missing, or where no affordable number would.
    pub repetitions: Option<u32>,
}

impl Check {
    /// How far a latency lies beyond its bound that is not decided all the same: the ends of its interval, as factors
    /// of the bound. `None` where the interval does not lie beyond it.
    pub fn beyond(&self) -> Option<(f64, f64)> {
        let Criterion::Latency { limit_us, .. } = self.what else { return None };
        let range = self.measured.filter(|range| self.meets == Meets::NotDecided && range.low > limit_us)?;
        Some((range.low / limit_us, range.high / limit_us))
    }
}

/// A part of an objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "of")]
pub enum Criterion {
    /// A response time.
    Latency {
        /// Of this kind; where the worst was asked for, the one that is worst here.
        operation: Option<OperationKind>,
        /// Which figure.
        figure: LatencyFigure,
        /// At most, microseconds.
        limit_us: f64,
    },
    /// Failed operations / all operations.
    ErrorShare {
        /// At most.
        limit: f64,
    },
    /// The given rate was held within 1 %.
    RateHeld,
    /// Capacity less headroom, at full scale.
    Throughput {
        /// Operations per second that are demanded.
        demand: f64,
    },
}

/// What would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WouldDecide {
    /// Repetitions of each cell in all.
    pub repetitions: u32,
}

/// What a reader must know before believing the recommendation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "doubt")]
pub enum Doubt {
    /// Nodes whose disks have no room for their part of the data at full scale: nobody would buy them.
    DiskTooSmall {
        /// Those of these configurations.
        configurations: Vec<DiskTooSmall>,
    },
    /// A bound on latency decided, and latencies are those of a 1:N model.
    LatencyInModel {
        /// N.
        scale: f64,
    },
    /// The evidence is simulated.
    Simulated,
    /// The evidence is that of other tools.
    Imported,
    /// Others could measure on the same machine meanwhile, as far as the user was concerned.
    Beside {
        /// Who did when the run began, in words.
        others: Vec<String>,
    },
    /// What runs the database has options besides those of iopslab.
    RuntimeOptions {
        /// In its own words, such as `TieredStopAtLevel=1`.
        options: Vec<String>,
    },
    /// A 1:N model.
    Scale {
        /// N.
        scale: f64,
    },
    /// Page caches that are expected to miss more often, or less, in the model than at full scale.
    ModelMisses {
        /// Where.
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
        /// Which.
        configurations: Vec<String>,
        /// The largest N at which each has its part.
        most_scale: f64,
    },
    /// Cells that this machine limited rather than what is emulated on it: their ratios to others are bounds.
    LimitedHere {
        /// Which configurations, and by what; each once.
        all: Vec<LimitedHere>,
    },
    /// Trials too short to judge whether they had stabilised: half of the valid ones or more.
    TooShort {
        /// How many.
        trials: u64,
        /// Of how many valid.
        valid: u64,
    },
    /// Workloads that write, and no checkpoint of the database in half of their trials or more: production writes what
    /// was not measured.
    NoCheckpoint {
        /// Of these configurations.
        configurations: Vec<String>,
    },
    /// The configuration to run, or one of those between which the choice is, keeps its data on disks that are lost
    /// with the instance.
    LocalDisks {
        /// Which.
        configuration: String,
    },
    /// Trials that are missing.
    Missing {
        /// How many.
        trials: u64,
        /// Of how many.
        planned: u64,
    },
    /// Trials that enter no figure.
    Invalid {
        /// How many.
        trials: u64,
        /// Of how many in place.
        done: u64,
    },
    /// Suspect findings about the cells that the answer rests on.
    Findings {
        /// Rules and how often each fired.
        rules: Vec<(Rule, u64)>,
    },
    /// Volumes that started with burst credits by choice.
    BurstStart {
        /// Configuration and volume.
        volumes: Vec<(String, VolumeRole)>,
    },
    /// Some places are not decided although the recommendation contradicts none.
    PlacesUndecided {
        /// How many.
        places: u64,
    },
    /// More of a cheaper configuration would carry the demand for less, if throughput grows with their number.
    FleetCheaper {
        /// Which.
        configuration: String,
        /// How many and for how much.
        fleet: FleetOf,
    },
    /// A rate that is shown to miss the objective lies below one that is shown to meet it.
    NotMonotone {
        /// Of this configuration, ...
        configuration: String,
        /// ... under this workload.
        workload: String,
        /// The lowest rate that misses it, operations per second.
        missed_ops_per_s: f64,
        /// The highest that meets it.
        met_ops_per_s: f64,
    },
    /// What excludes configurations is the most that a 1:N model's closed loop did, which one short probe has measured.
    ClosedLoopOnce {
        /// These configurations.
        configurations: Vec<String>,
    },
    /// Repeating stopped by itself.
    Stopped {
        /// Why.
        why: String,
    },
    /// Cells of which the user wanted no more trials while the run was under way.
    Skipped {
        /// Which, in the order of the plan.
        cells: Vec<SkippedCell>,
    },
    /// Configurations were measured in several batches of machines: at different times, or at different sites.
    Batches {
        /// Configurations that were measured together, with the site where they were.
        batches: Vec<(Vec<String>, Option<String>)>,
    },
}

/// How often a configuration misses its page cache under a workload, by the model of page caches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissesInModel {
    /// Which configuration.
    pub configuration: String,
    /// Under which workload.
    pub workload: String,
    /// Reads that miss for each operation, of the model's records and page cache, ...
    pub in_model: f64,
    /// ... and of those at full scale.
    pub at_full_scale: f64,
    /// The one over the other: how many times as often as at full scale volumes are read for an operation.
    pub factor: f64,
}

/// A cell that the user skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedCell {
    /// Which.
    pub cell: String,
    /// Trials of it that are in place.
    pub done: u64,
    /// Trials of it that were planned.
    pub planned: u64,
}

/// A configuration that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotConsidered {
    /// Which.
    pub configuration: String,
    /// Why.
    pub why: NotJudged,
}

/// Why a configuration could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotJudged {
    /// It has no price.
    NoPrice,
    /// It has no price, and is shown to be faster than everything that was judged.
    NoPriceThoughFaster,
    /// It has no valid trial.
    NoValidTrial,
    /// It has no valid trial under some of the workloads or load levels.
    NotEverywhere,
    /// Its trials began with another backlog of compaction than those of the baseline, or of the first configuration
    /// where there is no baseline: nobody chooses to be behind.
    OtherBacklog,
    /// It lost acknowledged writes.
    LostWrites {
        /// Values whose last acknowledged write is gone, of all its cells.
        lost: u64,
        /// Of how many.
        values: u64,
    },
}
