//! What caches in front of a database answered.

use std::collections::BTreeMap;

use evidence::CacheAnswer;
use serde::{Deserialize, Serialize};

use super::latency::LatencyAnalysis;

/// The caches in front of a cell's database: medians over its valid trials, all nodes of the tier together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheTierAnalysis {
    /// Share of the reads that they answered, as the client saw it.
    pub hit_ratio: Option<f64>,
    /// The same as the workload's keys let expect it of a cache of that memory, full and undisturbed; `None`: it is not
    /// predicted.
    pub predicted_hit_ratio: Option<f64>,
    /// Share of the reads that they answered with a record older than a write that the client had already had
    /// acknowledged: at the least, since each client knows its own writes alone.
    pub stale_share: Option<f64>,
    /// Share of the reads that they did not answer in time, or because a node was lost.
    pub unanswered_share: Option<f64>,
    /// Reads a second that reached the database; those of read-modify-writes and scans are not among them.
    pub database_reads_per_s: Option<f64>,
    /// Time of reads from sent to done by how they were answered; that of the database is in it where it was asked.
    pub latency_us: BTreeMap<CacheAnswer, LatencyAnalysis>,
    /// Records a second that were taken out to make room.
    pub evictions_per_s: Option<f64>,
    /// Bytes of records at the end.
    pub bytes: Option<f64>,
    /// Records at the end.
    pub items: Option<f64>,
    /// Bytes a second that they received from their clients and sent to them.
    pub network_bytes_per_s: Option<f64>,
    /// The larger of the two as a share of what the networks of their machines carry at this scale; nothing holds them
    /// to that. `None`: it is not known how much that is, or nobody watched them.
    pub network_share: Option<f64>,
    /// CPUs that they used.
    pub cpus_used: Option<f64>,
    /// CPU time of a request to them, microseconds of this machine's CPU.
    pub request_cpu_us: Option<f64>,
}
