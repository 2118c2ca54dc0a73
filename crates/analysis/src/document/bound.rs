//! What of a ratio holds for the configurations, and not for this machine alone.

use serde::{Deserialize, Serialize};

/// Why a ratio that was measured here says less about the configurations than its interval does: this machine limited
/// one of the two sides, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// What it says all the same.
    pub is: BoundIs,
    /// What of this machine limited which side.
    pub by: Vec<LimitedHere>,
}

impl Bound {
    /// Whether the truth may lie above the interval.
    pub fn may_be_more(&self) -> bool {
        self.is != BoundIs::AtMost
    }
}

experiment::word_enum! {
    /// What a ratio says where this machine was a limit.
    pub enum BoundIs by words {
        /// The side that is more was limited: the truth is the lower end of the interval or more.
        AtLeast = "at least",
        /// The side that it is compared with was limited: the truth is the upper end of the interval or less.
        AtMost = "at most",
        /// Both were: each of them could do more, and nobody knows how much.
        Nothing = "nothing",
    }
}

/// A configuration that this machine limited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct LimitedHere {
    pub configuration: String,
    pub by: OfThisMachine,
}

/// What of this machine stands in the way of what is emulated on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfThisMachine {
    /// The CPUs that the database was given.
    Cpu,
    /// The disk beneath the emulated volumes, or the CPUs that serve them.
    Disk,
    /// The client.
    Client,
    /// More CPUs than its part of them in a model of 1:N, because a database cannot be given less.
    LeastCpus,
    /// The page cache of a model of 1:N, which misses more often than that at full scale, or less.
    PageCache,
}

impl OfThisMachine {
    /// For people, behind "this machine's".
    pub fn words(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Disk => "disk",
            Self::Client => "client",
            Self::LeastCpus => "least CPUs",
            Self::PageCache => "page cache",
        }
    }
}
