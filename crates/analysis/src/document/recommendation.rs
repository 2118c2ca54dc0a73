//! The answer as values: which configuration to run, why, and what it does not know. Crate `report` puts it into words.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Meets, OverallCandidate};
use super::cell::CellAnalysis;
use super::doubt::Doubt;
use super::durability::BestOfAlike;
use super::ratio::Ratio;
use super::withheld::Withheld;

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
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct WorkloadAnswer {
    pub workload: String,
    /// Load level; `None` where the best of all levels counts.
    pub load: Option<LoadLevel>,
    pub by: DecidedBy,
    /// Whether prices decide with it: what has none is then not judged. Without, what has a price is none the better.
    pub by_money: bool,
    pub outcome: AnswerOutcome,
    /// Against an objective: how each configuration stands, cheapest first.
    pub candidates: Vec<Candidate>,
}

impl WorkloadAnswer {
    /// Whether it is where a cell was measured, or one of several load levels of it.
    pub fn is_of(&self, cell: &CellAnalysis) -> bool {
        self.workload == cell.workload && self.load.is_none_or(|load| load == cell.load)
    }

    /// Whether one of its candidates can be the cheapest: of those that might meet what is asked two have a price.
    pub fn has_cheapest(&self) -> bool {
        let is_priced = |c: &&Candidate| c.meets != Meets::No && c.usd_per_month.is_some();
        self.by_money && self.candidates.iter().filter(is_priced).count() >= 2
    }
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
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum AnswerOutcome {
    /// Run this.
    Run {
        configuration: String,
        /// Others that give the same throughput within the margin, for no less money.
        same: Vec<String>,
        /// How others of its hardware and price stand; `None` where no other was judged.
        settings: Option<OtherSettings>,
    },
    /// One of these; the leader by its estimate first.
    Between {
        configurations: Vec<String>,
        /// They are shown to pay for themselves alike within the margin: more repetitions decide for the cheapest of
        /// them if they show that all give the same throughput, and else never.
        break_even: bool,
        /// Those that are shown to pay for themselves like the leader within the margin, while others are open.
        alike: Vec<String>,
        /// Repetitions that would decide between the leader and those that are open, or show that those that are
        /// break-even give the same throughput, if what was seen is the truth; `None` where no affordable number would.
        repetitions: Option<u32>,
    },
    /// The best by speed and money would keep less of what others keep when a node is lost: of those that keep alike,
    /// the best.
    Unlike {
        /// In the order of the experiment.
        best: Vec<BestOfAlike>,
    },
    /// What was measured is not the storage of these configurations in its sustained state.
    Withheld { configurations: Vec<(String, Withheld)> },
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

/// What would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WouldDecide {
    /// Repetitions of each cell in all.
    pub repetitions: u32,
}

/// A configuration that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct NotConsidered {
    pub configuration: String,
    pub why: NotJudged,
}

/// Why a configuration could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum NotJudged {
    NoPrice,
    /// It has no price, and is shown to be faster than everything that was judged.
    NoPriceThoughFaster,
    NoValidTrial,
    /// It has no valid trial under some of the workloads or load levels.
    NotEverywhere,
    /// Its trials began with another backlog of compaction than those of the baseline, or of the first configuration
    /// where there is no baseline: nobody chooses to be behind.
    OtherBacklog,
    LostWrites {
        /// Values whose last acknowledged write is gone, of all its cells.
        lost: u64,
        /// Of how many.
        values: u64,
    },
}
