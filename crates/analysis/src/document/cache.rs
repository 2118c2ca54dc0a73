//! What a warm page cache is worth.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use super::Ratio;

/// A configuration that was measured under one workload and load with a cold and with a warm page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CacheEffect {
    pub configuration: String,
    pub workload: String,
    pub load: LoadLevel,
    /// The cell whose trials began cold.
    pub cold: String,
    /// The cell whose trials began warm.
    pub warm: String,
    /// Throughput warm / cold, by pairs of the same block; `None` in the open loop, and without a common block.
    pub throughput: Option<Ratio>,
    /// The same of p99 of the worst operation kind.
    pub p99: Option<Ratio>,
    /// Device reads for each operation that began cold, median over trials.
    pub cold_device_reads_per_operation: Option<f64>,
    /// The same of those that began warm.
    pub warm_device_reads_per_operation: Option<f64>,
    /// Seconds that warming took before a trial, median over trials; of several nodes the slowest.
    pub warming_s: Option<f64>,
}
