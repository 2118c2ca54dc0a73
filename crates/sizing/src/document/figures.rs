//! The figures that all parts of the answer share: what operations ask, how well the model predicts, how much is used.

use serde::{Deserialize, Serialize};

use super::reason::Limit;

/// Demands for each read and each write of a replica.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Demand {
    /// Share of an operation's CPU time that is used once for it, by the node that the client asks, whatever the number
    /// of replicas: measured where evidence of clusters asks unlike numbers of replicas. `None`: not measured, and each
    /// replica is charged what the evidence used for one, which is more than it takes where more replicas are asked
    /// than were measured.
    pub coordinator_share: Option<f64>,
    /// CPU time of a read, microseconds; with `coordinator_share` of one that asks one replica. Background work of the
    /// database is charged to the operations.
    pub read_cpu_us: f64,
    /// CPU time of a write, microseconds.
    pub write_cpu_us: f64,
    /// Whether the costs of reads and of writes could be separated: at least two mixes were measured.
    pub cpu_told_apart: bool,
    /// Bytes in which the table is compressed, read and cached: what the settings state, or Cassandra's default.
    pub chunk_bytes: f64,
    /// Whether the settings state them.
    pub chunk_is_stated: bool,
    /// SSTables that the databases merged for a read, as they counted them, by mix; empty: not all of them were asked,
    /// and one is taken for each read.
    pub sstables: Vec<SstablesOfMix>,
    /// Device reads for each look-up in an SSTable that misses the page cache (index pages, rows across chunks; where
    /// SSTables were not counted these too).
    pub reads_per_miss: f64,
    /// Whether any cell read from its device often enough to show it.
    pub misses_measured: bool,
    /// Device reads for each write (compaction).
    pub reads_per_write: f64,
    /// Bytes of a device read.
    pub read_request_bytes: f64,
    /// Device writes of the data directory for each write.
    pub writes_per_write: f64,
    /// Bytes written to the data directory for each write (flush and compaction).
    pub bytes_per_write: f64,
    /// Device writes of the commit log for each write.
    pub log_writes_per_write: f64,
    /// Bytes written to the commit log for each write.
    pub log_bytes_per_write: f64,
    /// Share of its CPUs that a database uses when CPU is what bounds it.
    pub cpu_reach: f64,
}

/// SSTables that were merged for a read under a mix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SstablesOfMix {
    /// Share of the reads among the reads and writes of a replica.
    pub read_share: f64,
    /// SSTables, median over cells.
    pub per_read: f64,
}

/// Cells predicted by a model that had not seen them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Cells predicted.
    pub cells: u64,
    /// Whether whole configurations were held out, or single cells of the only one.
    pub whole_configurations: bool,
    /// Median of |predicted / measured - 1|; `None` without a cell that could be held out.
    pub median_error: Option<f64>,
    /// 90th percentile of it; of fewer than ten cells an interpolation between the two largest.
    pub p90_error: Option<f64>,
    /// The cell that was predicted worst, with predicted / measured - 1.
    pub worst: Option<(String, f64)>,
}

impl HeldOut {
    /// The model is refused above this median (practice), ...
    pub const MOST_MEDIAN_ERROR: f64 = 0.15;
    /// ... or above this 90th percentile.
    pub const MOST_P90_ERROR: f64 = 0.25;
    /// Errors of fewer cells say little of those to come (practice).
    pub const FEW_CELLS: u64 = 5;
    /// What to do where the model is refused, or rests on few cells.
    pub const REMEDY: &'static str = "add another mix to the experiment ([[workload]], for example 50 % reads) or \
                                      another instance size ([[configuration]])";

    pub(crate) fn of(errors: &[(String, f64)], whole_configurations: bool) -> Self {
        let sizes: Vec<f64> = errors.iter().map(|(_, error)| error.abs()).collect();
        Self {
            cells: errors.len() as u64,
            whole_configurations,
            median_error: stats::median(&sizes),
            p90_error: stats::quantile(&sizes, 0.9),
            worst: errors.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).cloned(),
        }
    }

    /// What [`Self::p90_error`] is called: a percentile from ten cells on, else what its interpolation makes of so few.
    pub fn p90_is(&self) -> &'static str {
        match self.cells {
            0 | 1 => "the largest",
            2..=9 => "between the two largest",
            _ => "90th percentile",
        }
    }

    /// Whether the model may be used: not shown to be wrong.
    pub fn is_accepted(&self) -> bool {
        self.median_error.is_none_or(|error| error <= Self::MOST_MEDIAN_ERROR)
            && self.p90_error.is_none_or(|error| error <= Self::MOST_P90_ERROR)
    }
}

/// How much of each resource is used; 1 is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// CPUs, of what a database can use of them.
    pub cpu: f64,
    /// Requests per second of the volumes.
    pub iops: f64,
    /// Bytes per second of the volumes.
    pub throughput: f64,
    /// A commit log on a volume of its own.
    pub commit_log: f64,
    /// Network; 0 where its bandwidth is not known.
    pub network: f64,
    /// Device requests per second.
    pub device_iops: f64,
    /// Device bytes per second.
    pub device_bytes_per_s: f64,
}

impl Utilisation {
    /// The fullest resource and how full it is.
    pub fn busiest(&self) -> (Limit, f64) {
        [
            (Limit::Cpu, self.cpu),
            (Limit::VolumeIops, self.iops),
            (Limit::VolumeThroughput, self.throughput),
            (Limit::CommitLog, self.commit_log),
            (Limit::Network, self.network),
        ]
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((Limit::Cpu, 0.0))
    }
}
