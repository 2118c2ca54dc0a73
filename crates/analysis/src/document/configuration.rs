//! Configurations as they were built.

use std::collections::BTreeMap;

use evidence::{HostId, Initialised, ProbeResult};
use experiment::{
    BacklogFiles, BandwidthWeighting, Burst, ByteBurst, ConsistencyLevels, CostLine, CpuShare, DataLayout, IoLimits,
    Placement, Provider, Settings, VolumeRole,
};
use serde::{Deserialize, Serialize};

/// A configuration as it was built on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ConfigurationFacts {
    pub name: String,
    /// Contact points of the cluster that it is the name of; empty where a run made it. Of such a cluster all that
    /// follows is as the experiment states it.
    pub exists_at: Vec<String>,
    /// Whether its machines were bought for the run, as the experiment states them: nothing of them is emulated.
    pub is_bought: bool,
    pub cpus: f64,
    /// What these CPUs stand for; `None`: they are what they are.
    pub stands_for: Option<CpuShare>,
    pub memory_limit_bytes: u64,
    pub heap_bytes: u64,
    /// Memory left for the page cache, bytes.
    pub page_cache_budget_bytes: u64,
    pub nodes: u32,
    /// Its nodes, racks and replicas.
    pub placement: Placement,
    /// Consistency levels of its requests, where it is a cluster, has levels of its own, or all have others than `one`.
    pub consistency: Option<ConsistencyLevels>,
    /// The version of its database, where configurations differ in it; else all have that of the run.
    pub version: Option<String>,
    /// What of its database is otherwise than iopslab starts it; in force in every valid trial.
    pub settings: Settings,
    /// The backlog of compaction with which its trials began; `None`: its data set was at rest.
    pub backlog: Option<BacklogFiles>,
    /// How its data lies on several data volumes; `None` of one.
    pub layout: Option<DataLayout>,
    /// How the bandwidth of its instances is weighted between volumes and network; `None`: as their type has it.
    pub bandwidth_weighting: Option<BandwidthWeighting>,
    /// What the volumes that share a path to the instance have of it together, on this machine: all of them, or those
    /// of each EBS card. `None`: no two share one, a path that is not known, or nobody holds them to it.
    pub instance_limits: Option<IoLimits>,
    /// The caches in front of its database, at full scale, for people; `None`: there are none.
    pub cache_tier: Option<String>,
    pub volumes: Vec<VolumeReport>,
    /// What it costs at full scale; `None` when a price is missing or the configuration names no catalog types.
    pub usd_per_month: Option<f64>,
    /// The parts of that cost, each with the day and the source of its price.
    pub cost_lines: Vec<CostLine>,
    pub cost_missing: Option<String>,
}

impl ConfigurationFacts {
    /// The data volumes of a node, in the order of their directories, or of their chunks.
    pub fn data_volumes(&self) -> impl Iterator<Item = &VolumeReport> {
        self.volumes.iter().filter(|volume| volume.role.is_data())
    }

    /// 4 KiB random reads per second that fio measured on the data volumes of a node, one after the other or on their
    /// array, summed; `None` where it did not on one of them.
    pub fn probed_read_iops(&self) -> Option<f64> {
        let mut each = self.data_volumes().map(|volume| Some(volume.probe?.read_iops)).peekable();
        each.peek()?;
        each.sum()
    }
}

/// Whether volumes of a run were emulated: on this machine, or on hosts that are held to limits; never those of a
/// cluster that exists.
pub(super) fn are_emulated(provider: Provider, configurations: &[ConfigurationFacts]) -> bool {
    let mut made = configurations.iter().filter(|c| c.exists_at.is_empty());
    match provider {
        Provider::Simulated | Provider::Aws | Provider::Imported => false,
        Provider::Local => made.next().is_some(),
        Provider::Hosts => made.flat_map(|c| &c.volumes).any(|v| v.limits.read_iops.is_some()),
    }
}

/// A volume: what was asked for, and what fio measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeReport {
    /// Role in the configuration.
    pub role: VolumeRole,
    /// Full-scale label.
    pub label: String,
    /// Size on this machine, bytes.
    pub size_bytes: u64,
    /// The EBS card that it is on, from 0; `None`: its instance has one, or it is no volume of EBS.
    pub card: Option<u32>,
    /// Limits on this machine.
    pub limits: IoLimits,
    /// Burst bucket on this machine.
    pub burst: Option<Burst>,
    /// Bucket of bytes on this machine (served st1 and sc1).
    pub byte_burst: Option<ByteBurst>,
    /// Whether a process answers for it, rather than the kernel's throttle holds the database to its limits.
    pub is_served: bool,
    /// Whether reads and writes share its limits; `None`: nobody sees to it.
    pub combined: Option<bool>,
    /// fio's measurement, of several nodes that of the one whose reads were slowest; `None` when no trial has one.
    pub probe: Option<ProbeResult>,
    /// fio's measurement on each node; empty where the database has one.
    pub probes: BTreeMap<HostId, ProbeResult>,
    /// How it was made from a snapshot of EBS, each time; empty where it was made empty.
    pub initialised: Vec<Initialised>,
}

impl VolumeReport {
    /// Whether it is known that reads and writes share its limits.
    pub fn is_combined(&self) -> bool {
        self.combined == Some(true)
    }
}
