//! Throughput over the number of nodes.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};
use stats::Scalability;

use super::Range;

/// How the throughput of a cluster grows with its nodes: configurations that differ in nothing else, under one workload
/// and load, and the Universal Scalability Law fitted to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// Nodes that keep each record, the same in all.
    pub replication_factor: u32,
    /// The cells, fewest nodes first.
    pub points: Vec<ScalingPoint>,
    /// Throughput of one node by the law, operations per second.
    pub of_one_ops_per_s: f64,
    /// Share of the work that is serial (sigma of the law).
    pub contention: f64,
    /// Its 95 % bounds; `None` where nothing was repeated.
    pub contention_range: Option<Range>,
    /// What keeping two nodes coherent costs (kappa of the law).
    pub coherency: f64,
    /// Its 95 % bounds.
    pub coherency_range: Option<Range>,
    /// Throughput of the most nodes over as many times that of one, by the law.
    pub efficiency: f64,
    /// Its 95 % bounds.
    pub efficiency_range: Option<Range>,
    /// Nodes from which on more of them give less, by the law; `None` where there is no such number.
    pub peak_nodes: Option<f64>,
}

impl Scaling {
    /// What the law says of so many nodes, operations per second.
    pub fn by_law_ops_per_s(&self, nodes: f64) -> f64 {
        let law = Scalability { of_one: self.of_one_ops_per_s, contention: self.contention, coherency: self.coherency };
        law.at(nodes)
    }
}

/// A cell of a scaling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ScalingPoint {
    pub configuration: String,
    pub nodes: u32,
    /// Geometric mean of its trials, operations per second.
    pub ops_per_s: f64,
    /// What the law says of as many nodes, operations per second.
    pub by_law_ops_per_s: f64,
}
