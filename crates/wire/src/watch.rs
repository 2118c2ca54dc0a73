//! Nodes of somebody else's, which are only watched.

use experiment::WatchedNode;
use serde::{Deserialize, Serialize};

/// A node of an existing cluster that is to be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchTask {
    /// What is stated of it.
    pub node: WatchedNode,
    /// Ports of the cluster's contact points, on one of which its database listens.
    pub ports: Vec<u16>,
    /// Whether a configuration of this cluster has its commit log on a volume of its own.
    pub commitlog: bool,
}

/// What an agent sees of the node that it watches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchedFacts {
    /// The process with what it runs on, for people.
    pub what: String,
    /// CPUs on which that process may run.
    pub cpus: f64,
    /// What cannot be watched, and why, for people.
    pub missing: Vec<String>,
}

/// What a machine gives to a node that is only watched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GivenByMachine {
    /// CPUs on which its process may run.
    pub cpus: f64,
    /// Memory of the machine, bytes.
    pub memory_bytes: u64,
}

/// What it cost to watch a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// CPU seconds of the agent.
    pub agent_cpu_s: Option<f64>,
    /// Of so many seconds.
    pub seconds: f64,
}
