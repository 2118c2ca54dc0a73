//! What a configuration becomes on the machine that models it.

use catalog::{Burst, IoLimits};
use serde::{Deserialize, Serialize};

/// One configuration as the local provider builds it: everything divided by `scale` that scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The configuration's name.
    pub configuration: String,
    /// CPUs that the database may use.
    pub cpus: f64,
    /// Java heap, bytes (-Xms = -Xmx).
    pub heap_bytes: u64,
    /// Direct memory allowed to the database, bytes.
    pub direct_memory_bytes: u64,
    /// Memory limit with which the database starts, bytes: heap + off-heap + page-cache budget. Once it has settled the
    /// limit follows what the process really holds, plus the budget.
    pub memory_limit_bytes: u64,
    /// What is left for the page cache, bytes.
    pub page_cache_budget_bytes: u64,
    /// The data volume.
    pub data: VolumeSetup,
    /// The commit-log volume, if it is separate.
    pub commitlog: Option<VolumeSetup>,
    /// Database nodes.
    pub nodes: u32,
}

/// A volume as the local provider builds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeSetup {
    /// Which of the configuration's volumes.
    pub role: VolumeRole,
    /// For people, at full scale.
    pub label: String,
    /// Size of the emulated device, bytes.
    pub size_bytes: u64,
    /// Limits on this machine (scaled): min(volume, instance).
    pub limits: IoLimits,
    /// What the volume alone would allow (scaled); where it is more than `limits`, the instance is the narrower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_limits: Option<IoLimits>,
    /// Bucket on this machine (scaled).
    pub burst: Option<Burst>,
}

/// Role of a volume in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VolumeRole {
    /// Data directory.
    Data,
    /// Commit log.
    Commitlog,
}

impl VolumeRole {
    /// Name in files and mount points.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Commitlog => "commitlog",
        }
    }
}
