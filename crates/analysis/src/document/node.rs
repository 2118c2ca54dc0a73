//! One node of a cell whose database has several.

use evidence::HostId;
use experiment::VolumeRole;
use serde::{Deserialize, Serialize};

use super::limit::{LimitKind, ResourceUse};

/// One node of a cell: medians of the cell's valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeAnalysis {
    /// Its host.
    pub host: HostId,
    /// CPUs that the database used.
    pub cpus_used: Option<f64>,
    /// Read requests of the data volumes per second.
    pub device_read_iops: Option<f64>,
    /// Write requests of the data volume per second.
    pub device_write_iops: Option<f64>,
    /// Bytes read from the data volume per second.
    pub device_read_bytes_per_s: Option<f64>,
    /// Bytes written to the data volume per second.
    pub device_write_bytes_per_s: Option<f64>,
    /// Page cache of the database at the end of the trial, bytes.
    pub page_cache_bytes: Option<f64>,
    /// Live bytes of the data set on its disks.
    pub bytes_on_disk: f64,
    /// Share of the window spent in garbage collection pauses.
    pub gc_pause_share: Option<f64>,
    /// Each watched resource: how much of it was used here.
    pub uses: Vec<ResourceUse>,
}

/// One of several data volumes of a node: medians of the cell's valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct DataVolumeAnalysis {
    pub host: HostId,
    pub volume: VolumeRole,
    pub read_iops: Option<f64>,
    pub write_iops: Option<f64>,
    pub read_bytes_per_s: Option<f64>,
    pub write_bytes_per_s: Option<f64>,
    /// What a request took on average, microseconds.
    pub await_us: Option<f64>,
    /// Share of the time with at least one request under way.
    pub busy_share: Option<f64>,
}

impl NodeAnalysis {
    /// The use of this kind that is fullest here.
    pub fn fullest(&self, kind: LimitKind) -> Option<&ResourceUse> {
        self.uses.iter().filter(|u| u.kind == kind).max_by(|a, b| a.share().total_cmp(&b.share()))
    }
}
