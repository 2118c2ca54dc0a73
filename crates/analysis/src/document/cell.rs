//! One cell.

use std::collections::BTreeMap;

use evidence::{ErrorKind, OperationKind};
use experiment::LoadLevel;
use serde::{Deserialize, Serialize};
use stats::{Estimate, Summary};

use super::bound::OfThisMachine;
use super::cache_tier::CacheTierAnalysis;
use super::delivered::Delivered;
use super::faults::{FaultsAnalysis, WritesAnalysis};
use super::latency::LatencyAnalysis;
use super::limit::Limit;
use super::node::{DataVolumeAnalysis, NodeAnalysis};
use super::ratio::Ratio;
use super::withheld::Withheld;
use super::work::DatabaseFigures;
use crate::Finding;

/// One cell: the median of its valid trials with an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CellAnalysis {
    /// Cell identity, the directory under `trials/`.
    pub id: String,
    pub configuration: String,
    /// Number of the batch of machines that it was measured in, from 0: with another batch it shares no block.
    pub batch: u32,
    pub workload: String,
    pub load: LoadLevel,
    /// Trials in place.
    pub trials: u64,
    pub valid_trials: u64,
    /// Why the others are not: trial and reason.
    pub trials_invalid: Vec<InvalidTrial>,
    /// Operations completed without error per second, in the steady window of each trial: geometric mean over trials,
    /// so that the ratio of two cells with the same blocks is the ratio that is tested.
    pub throughput_ops_per_s: Option<Estimate>,
    /// Operations per dollar: throughput at full scale x seconds of a month / cost of a month. `None` without a price.
    pub operations_per_usd: Option<f64>,
    /// Seconds for the planned number of operations at the measured throughput; measured seconds where no number is
    /// planned.
    pub runtime_s: Option<Summary>,
    /// Response times by operation kind.
    pub latency_us: BTreeMap<OperationKind, LatencyAnalysis>,
    /// Open loop: service times (done - sent) by operation kind.
    pub service_us: BTreeMap<OperationKind, LatencyAnalysis>,
    /// Of each conditional statement the share of its answered requests whose condition was not met.
    pub unmet_share: BTreeMap<OperationKind, f64>,
    /// Failed operations of all valid trials, by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Failed operations / all operations.
    pub error_share: Option<f64>,
    /// Read requests of the volumes (data and commit log, all nodes) for each completed operation.
    pub device_reads_per_operation: Option<f64>,
    /// Write requests of the volumes for each completed operation.
    pub device_writes_per_operation: Option<f64>,
    /// Bytes read from the volumes for each completed operation.
    pub device_read_bytes_per_operation: Option<f64>,
    /// Bytes written to the volumes for each completed operation.
    pub device_write_bytes_per_operation: Option<f64>,
    pub database: DatabaseFigures,
    /// Read requests of the data volumes of all nodes per second.
    pub device_read_iops: Option<f64>,
    /// Write requests of the data volumes of all nodes per second.
    pub device_write_iops: Option<f64>,
    /// What was asked of the data volumes beside what fio found them to deliver; `None` where nobody probed them, or
    /// fio's requests cannot be compared with the database's.
    pub delivered: Option<Delivered>,
    /// Page cache of the database at the end of the trial / bytes of the data set on disk.
    pub page_cache_share: Option<f64>,
    /// Page cache of the database at the end of the trial, all nodes, bytes.
    pub page_cache_bytes: Option<f64>,
    /// Live bytes of the data set on the disks of all nodes: every replica counts.
    pub bytes_on_disk: Option<f64>,
    /// CPUs that the database used, all nodes.
    pub database_cpus_used: Option<f64>,
    pub client_cpu_us_per_operation: Option<f64>,
    /// Share of the window spent in garbage collection pauses; of several nodes the largest.
    pub gc_pause_share: Option<f64>,
    /// Throughput against the baseline configuration.
    pub ratio_to_baseline: Option<Ratio>,
    /// Throughput against the slowest configuration under this workload and load level.
    pub ratio_to_slowest: Option<Ratio>,
    /// What was measured instead of this configuration's storage in its sustained state, if anything: then nothing is
    /// said about its value.
    pub withheld: Option<Withheld>,
    /// What of this machine bounded the cell, rather than anything that is emulated on it: the configuration itself
    /// does as much, or more. `None`: its throughput carries over.
    pub limited_here: Option<OfThisMachine>,
    pub limit: Limit,
    /// Node by node; empty where the database has one.
    pub nodes: Vec<NodeAnalysis>,
    /// Each data volume of each node, where a node has several.
    pub data_volumes: Vec<DataVolumeAnalysis>,
    /// What caches in front of its database answered; `None`: there are none.
    pub cache_tier: Option<CacheTierAnalysis>,
    /// Before, during and after planned faults; `None` where none happened.
    pub faults: Option<FaultsAnalysis>,
    /// Whether acknowledged writes were still there at the end; `None` where nobody looked.
    pub writes: Option<WritesAnalysis>,
    /// Money; `None`: not computed.
    pub usd_per_month: Option<f64>,
    pub findings: Vec<Finding>,
}

impl CellAnalysis {
    /// Whether it has fewer trials than an answer takes.
    pub(crate) fn has_few_trials(&self) -> bool {
        self.valid_trials < stats::REPETITIONS_MIN
    }

    /// Whether an acknowledged write was gone at the end of one of its trials.
    pub fn has_lost_writes(&self) -> bool {
        self.writes.as_ref().is_some_and(|w| w.lost() > 0)
    }
}

/// A trial that may not enter comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidTrial {
    /// Block.
    pub block: u32,
    /// Why.
    pub reason: String,
}
