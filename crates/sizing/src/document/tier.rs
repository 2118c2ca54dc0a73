//! A cache tier before a cluster: values, no words.

use miss_ratio::Policy;
use serde::{Deserialize, Serialize};

/// Cache nodes before the database, and what they leave to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheTier {
    /// In the command line's form, `r7g.large*6`.
    pub configuration: String,
    /// Nodes.
    pub nodes: u32,
    /// Instance type.
    pub instance: String,
    /// What a write does to it.
    pub policy: Policy,
    /// Seconds after which an item expires; `None`: never.
    pub ttl_s: Option<f64>,
    /// Memory for items on all nodes, bytes.
    pub memory_bytes: f64,
    /// Share of the records at the end that it holds.
    pub share_of_records: f64,
    /// Share of the reads that it answers, all nodes up: predicted from the workload's keys.
    pub hit_ratio: f64,
    /// Half-width of the 95 % interval of the prediction's samples.
    pub hit_ratio_half_width: f64,
    /// Share of the reads that it answers while the part of it is down that the target allows for.
    pub hit_ratio_when_down: f64,
    /// Operations per second of the database, a part of the cache being down: what the database is sized for.
    pub database_operations_per_s: f64,
    /// Share of these that read.
    pub database_read_share: f64,
    /// Requests to the cache each second, all nodes up.
    pub requests_per_s: f64,
    /// CPU time of a request, microseconds of one vCPU.
    pub cpu_us: f64,
    /// Whether runs measured it; else it is as it was stated.
    pub cpu_is_measured: bool,
    /// Share of the nodes' CPUs in use, all nodes up.
    pub cpu: f64,
    /// Share of their network in use; `None`: its bandwidth is not known.
    pub network: Option<f64>,
    /// Client operations per second at which the CPUs or the network of its nodes are as full as they may be.
    pub carries_per_s: f64,
}
