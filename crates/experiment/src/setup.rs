//! What a configuration becomes on the machine that models it.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use catalog::{Burst, ByteBurst, IoLimits, Latency, through_cards};
use serde::{Deserialize, Serialize};

use crate::cpu_share::CpuShare;
use crate::{BacklogFiles, CacheTierSetup, ConsistencyLevels, DataLayout, NodeFault, Placement, SetupAt, VolumeRole};
use product::Settings;

/// Version of the files of a run directory, and of what is made from them. A program reads its own alone.
pub const FORMAT_VERSION: u32 = 8;

/// What a provider makes of a plan's configurations, each once and in the plan's order: the document `setups.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setups {
    /// Version of this file's shape.
    pub format_version: u32,
    /// One for each configuration.
    pub setups: Vec<Setup>,
}

impl Setups {
    /// These setups, in the shape of today.
    pub fn new(setups: Vec<Setup>) -> Self {
        Self { format_version: FORMAT_VERSION, setups }
    }

    /// What the configuration of this name became.
    pub fn of(&self, configuration: &str) -> Option<&Setup> {
        self.iter().find(|setup| setup.configuration == configuration)
    }
}

impl Deref for Setups {
    type Target = [Setup];

    fn deref(&self) -> &[Setup] {
        &self.setups
    }
}

impl DerefMut for Setups {
    fn deref_mut(&mut self) -> &mut [Setup] {
        &mut self.setups
    }
}

/// One configuration as the local provider builds it: everything divided by `scale` that scales. All figures are of one
/// node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The configuration's name.
    pub configuration: String,
    /// CPUs that the database may use.
    pub cpus: f64,
    /// What these CPUs stand for; `None`: they are what they are.
    pub stands_for: Option<CpuShare>,
    /// Java heap, bytes (-Xms = -Xmx).
    pub heap_bytes: u64,
    /// Direct memory allowed to the database, bytes.
    pub direct_memory_bytes: u64,
    /// Memory for where keys lie in the files (Cassandra's key cache), bytes.
    pub key_cache_bytes: u64,
    /// Memory limit with which the database starts, bytes: heap + off-heap + page-cache budget. Once it has settled the
    /// limit follows what the process really holds, plus the budget.
    pub memory_limit_bytes: u64,
    /// What is left for the page cache, bytes.
    pub page_cache_budget_bytes: u64,
    /// The data volume; of several the first.
    pub data: VolumeSetup,
    /// The further data volumes, in the order of their directories, or of their chunks.
    pub more_data: Vec<VolumeSetup>,
    /// How the data lies on several data volumes; `None` of one.
    pub layout: Option<DataLayout>,
    /// Space of its commit log (scaled), bytes, where its settings state one; `None`: iopslab's own.
    pub commitlog_bytes: Option<u64>,
    /// The commit-log volume, if it is separate.
    pub commitlog: Option<VolumeSetup>,
    /// What the instance lets through to the volumes that share a path, on this machine (scaled): to all of them, or
    /// to those of each EBS card ([`VolumeSetup::card`]). `None`: no two share one, a path that is not known, or nobody
    /// who holds them to it.
    pub instance_limits: Option<IoLimits>,
    /// Database nodes, each with all of the above, and where replicas are.
    pub placement: Placement,
    /// Where its nodes are.
    pub at: SetupAt,
    /// The version of its database, where that is not the target's.
    pub version: Option<String>,
    /// Its consistency levels, where they are not those of the target.
    pub consistency: Option<ConsistencyLevels>,
    /// What of its database is otherwise than iopslab starts it.
    pub settings: Settings,
    /// What its data set has beside that at rest; automatic compaction is off then, until measurement begins.
    pub backlog: Option<BacklogFiles>,
    /// Caches in front of its database, on the machine of its first node or on machines of their own; `None`: the
    /// client asks the database.
    pub cache_tier: Option<CacheTierSetup>,
}

impl Setup {
    /// Its data volumes, in the order of their directories, or of their chunks.
    pub fn data_volumes(&self) -> impl Iterator<Item = &VolumeSetup> + Clone {
        std::iter::once(&self.data).chain(&self.more_data)
    }

    /// How many these are.
    pub fn data_volume_count(&self) -> u32 {
        u32::try_from(self.more_data.len()).map_or(u32::MAX, |more| more.saturating_add(1))
    }

    /// KiB of a chunk where its data volumes are one RAID 0; `None` where each has a file system of its own.
    pub fn chunk_kib(&self) -> Option<u32> {
        match self.layout {
            Some(DataLayout::Raid0 { chunk_kib }) => Some(chunk_kib),
            Some(DataLayout::Directories) | None => None,
        }
    }

    /// Data directories of its database: one on each data volume, or one on their RAID 0.
    pub fn data_directory_count(&self) -> u32 {
        if self.chunk_kib().is_some() { 1 } else { self.data_volume_count() }
    }

    /// All of its volumes: data, then commit log.
    pub fn volumes(&self) -> impl Iterator<Item = &VolumeSetup> + Clone {
        self.data_volumes().chain(&self.commitlog)
    }

    /// The same, to be changed.
    pub fn volumes_mut(&mut self) -> impl Iterator<Item = &mut VolumeSetup> {
        std::iter::once(&mut self.data).chain(&mut self.more_data).chain(&mut self.commitlog)
    }

    /// What some of its volumes do together of a ceiling that the instance sets, where each does so much by itself
    /// (`None`: any amount): those that share a path do no more than it lets through. `None`: any amount.
    pub fn together<'v>(
        &self,
        volumes: impl Iterator<Item = &'v VolumeSetup>,
        each: impl Fn(&VolumeSetup) -> Option<f64>,
        path: impl Fn(&IoLimits) -> Option<f64>,
    ) -> Option<f64> {
        let of_each = volumes.map(|volume| (volume.card, each(volume).unwrap_or(f64::INFINITY)));
        let ceiling = self.instance_limits.as_ref().and_then(path).unwrap_or(f64::INFINITY);
        Some(through_cards(of_each, ceiling)).filter(|sum| sum.is_finite())
    }

    /// Paths to EBS that its data volumes use: the cards on which they are.
    pub fn paths_of_data(&self) -> u32 {
        let cards: BTreeSet<Option<u32>> = self.data_volumes().map(|volume| volume.card).collect();
        u32::try_from(cards.len()).unwrap_or(u32::MAX)
    }

    /// The volume of this role.
    pub fn volume(&self, role: VolumeRole) -> Option<&VolumeSetup> {
        self.volumes().find(|volume| volume.role == role)
    }

    /// Numbers of its nodes' hosts among the database hosts of the run; none where its cluster exists and nobody looks
    /// at it.
    pub fn database_hosts(&self) -> Vec<u32> {
        match &self.at {
            SetupAt::Shared => (0..self.placement.nodes).collect(),
            SetupAt::Bought { first_host, .. } => (*first_host..first_host + self.placement.nodes).collect(),
            SetupAt::Existing { watched, .. } => watched.iter().map(|node| node.host).collect(),
            SetupAt::Imported { .. } => Vec::new(),
        }
    }

    /// Whether its volumes are those of somebody else or of a cloud: what is stated of them is what they should do, and
    /// iopslab holds them to nothing.
    pub fn has_real_volumes(&self) -> bool {
        self.at != SetupAt::Shared
    }

    /// Whether one process of the database can serve trials of both, one after the other: what differs can be changed
    /// while it runs (limits of volumes and CPUs, the size of the page cache).
    pub fn shares_process_with(&self, other: &Self) -> bool {
        let volumes = |setup: &Self| -> Vec<(VolumeRole, bool)> {
            setup.volumes().map(|volume| (volume.role, volume.served.is_some())).collect()
        };
        // A process is given its number of CPUs at its start; nodes of one machine have theirs one after the other.
        let cpus = |setup: &Self| match setup.placement.nodes {
            1 => setup.cpus.ceil(),
            _ => setup.cpus,
        };
        let is_owned = |setup: &Self| setup.at.is_started() && setup.backlog.is_none();
        is_owned(self)
            && is_owned(other)
            && (!self.at.is_bought() || self.configuration == other.configuration)
            && self.at == other.at
            && cpus(self) == cpus(other)
            && (self.heap_bytes, self.direct_memory_bytes) == (other.heap_bytes, other.direct_memory_bytes)
            && self.key_cache_bytes == other.key_cache_bytes
            && volumes(self) == volumes(other)
            && self.layout == other.layout
            && self.placement == other.placement
            && self.version == other.version
            && self.settings == other.settings
    }

    /// Number of the host of the node that a planned fault takes away: a plan counts nodes from 1.
    pub fn host_of(&self, fault: &NodeFault) -> u32 {
        self.at.first_host() + fault.node.saturating_sub(1)
    }

    /// Number of the host of a node of its cache tier, counted from 1, where the tier has machines of its own.
    pub fn cache_host_of(&self, cache_node: u32) -> u32 {
        self.at.first_cache() + cache_node.saturating_sub(1)
    }
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
    pub own_limits: Option<IoLimits>,
    /// Bucket on this machine (scaled).
    pub burst: Option<Burst>,
    /// Bucket of bytes on this machine (scaled); `limits` has what the volume does while it has credits.
    pub byte_burst: Option<ByteBurst>,
    /// The EBS card that it is on, from 0; `None`: its instance has one, or it is no volume of EBS.
    pub card: Option<u32>,
    /// Whether it stands for the instance's own disks, which are lost with it.
    pub is_local: bool,
    /// How a process answers for it; `None`: the kernel's throttle holds the database to its limits.
    pub served: Option<ServedAs>,
    /// Whether reads and writes share its limits; `None`: nobody sees to it.
    pub combined: Option<bool>,
}

/// What a served volume is besides its limits. Nothing of it is divided by the scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ServedAs {
    /// What a request takes that need not wait; `None`: no more than this machine's own disk.
    pub latency: Option<Latency>,
    /// Whether it is a hard disk, which counts requests of up to 1 MiB as one and merges neighbours.
    pub is_hard_disk: bool,
}

/// With how much of its credits a burst bucket starts each trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BurstStart {
    /// Empty: what the volume sustains is measured. The default.
    Baseline,
    /// Full, as a new volume: a choice of the experiment.
    Full,
    /// With this share of its credits, above 0 and below 1: a choice of the experiment.
    Share(f64),
}

/// A bucket in its own unit.
struct Bucket {
    start: f64,
    max: f64,
    /// At full demand.
    spent_per_s: f64,
}

impl VolumeSetup {
    /// Whether it is known that reads and writes share its limits.
    pub fn is_combined(&self) -> bool {
        self.combined == Some(true)
    }

    /// How the volume's bucket starts; `None` where it has none, or none that matters because its baseline reaches its
    /// ceiling.
    pub fn burst_start(&self) -> Option<BurstStart> {
        let bucket = self.bucket()?;
        Some(match bucket.start / bucket.max {
            share if share <= 0.0 => BurstStart::Baseline,
            share if share >= 1.0 => BurstStart::Full,
            share => BurstStart::Share(share),
        })
    }

    /// Seconds until the bucket is empty if the volume is asked for all that it gives; `None` where it starts empty or
    /// has none. More slowly where less is asked for: the bucket loses (what is done - baseline) credits a second.
    pub fn burst_lasts_s(&self) -> Option<f64> {
        let bucket = self.bucket().filter(|_| self.burst_start().is_some_and(|s| s != BurstStart::Baseline))?;
        Some(bucket.start / bucket.spent_per_s)
    }

    /// Its bucket of requests or of bytes, where that matters.
    fn bucket(&self) -> Option<Bucket> {
        let of_requests = self.burst.map(|b| Bucket {
            start: b.credits_start,
            max: b.credits_max,
            spent_per_s: b.burst_iops - b.baseline_iops,
        });
        let of_bytes = self.byte_burst.map(|b| Bucket {
            start: b.credits_start,
            max: b.credits_max,
            spent_per_s: b.burst_bytes_per_s - b.baseline_bytes_per_s,
        });
        let matters = |bucket: &Bucket| bucket.spent_per_s > 0.0 && bucket.max > 0.0;
        of_requests.into_iter().chain(of_bytes).find(matters)
    }
}
