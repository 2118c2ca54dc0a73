//! Several nodes: how they and their machines differ.

use evidence::HostId;
use experiment::VolumeRole;
use serde::{Deserialize, Serialize};

use crate::fact::{HostFact, NodeFigure};

/// The nodes of a configuration differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnequalNodes {
    /// In what.
    pub figure: NodeFigure,
    /// Of which volume, where it is one of volumes.
    pub volume: Option<VolumeRole>,
    /// The node with most of it.
    pub most_of: HostId,
    /// How much, by `figure`.
    pub most: f64,
    /// The node with least of it.
    pub least_of: HostId,
    /// How much.
    pub least: f64,
    /// The difference as a share of the larger.
    pub less_by_share: f64,
    /// Nodes.
    pub nodes: u64,
    /// Trials.
    pub trials: u64,
    /// Allowed difference, as a share of the smaller.
    pub threshold: f64,
}

/// The machines of a configuration's nodes differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnequalHosts {
    /// Machines.
    pub hosts: u64,
    /// All in which they do, the most telling first.
    pub differences: Vec<HostDifference>,
}

/// What machines differ in, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostDifference {
    /// In what.
    pub fact: HostFact,
    /// How.
    #[serde(flatten)]
    pub how: DifferenceKind,
}

/// How machines differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// In words: each of them with the machines that have it, in the order of the words.
    Words(Vec<(String, Vec<HostId>)>),
    /// In an amount, in the unit of the fact.
    Amount {
        /// The machine with most.
        most_of: HostId,
        /// How much.
        most: f64,
        /// The machine with least.
        least_of: HostId,
        /// How much.
        least: f64,
    },
}
