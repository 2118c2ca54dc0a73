//! What a document says about limits: data only, nothing of this crate above it.

use std::collections::BTreeMap;

use evidence::HostId;
use serde::{Deserialize, Serialize};

use super::ratio::Range;

/// The resource that bounded a cell, and how that is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limit {
    /// Which.
    pub kind: LimitKind,
    /// Others that were at their cap at the same time, fullest first.
    pub also: Vec<LimitKind>,
    /// The nodes that were at it; empty where the database has one node, and where it is no node's limit.
    pub nodes: Vec<HostId>,
    /// Of so many; 0 with one node.
    pub of_nodes: u32,
    /// Each watched resource: how much of it was used; of several nodes that on which it was fullest.
    pub uses: Vec<ResourceUse>,
    /// What more of a resource gave, where the matrix holds such a configuration.
    pub interventions: Vec<Intervention>,
    /// The numbers of `uses` by name, units in their names.
    pub evidence: BTreeMap<String, f64>,
}

impl Limit {
    /// Whether the CPU was full.
    pub fn is_cpu(&self) -> bool {
        self.kind == LimitKind::Cpu || self.also.contains(&LimitKind::Cpu)
    }

    /// Whether a volume, or the way to it, was full and the CPU was not.
    pub fn is_volume(&self) -> bool {
        self.kind.is_volume() && !self.is_cpu()
    }
}

/// Garbage collection pauses of this share of the time bound a cell whatever the CPUs do ...
pub const GC_DOMINATES: f64 = 0.2;
/// ... and of this share where the CPUs, or something else, had no room between the pauses.
pub const GC_MATTERS: f64 = 0.05;

/// Resources that can bound a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum LimitKind {
    /// Requests per second of the data volume itself.
    VolumeIops,
    /// Bytes per second of the data volume itself.
    VolumeThroughput,
    /// What the instance lets through to its volumes.
    InstanceEbsBandwidth,
    /// The baseline of a bursting volume whose credits are spent.
    BurstSpent,
    Cpu,
    Gc,
    /// Compaction that cannot keep up.
    Compaction,
    Network,
    /// The load generator.
    Client,
    CommitLog,
    /// CPUs of the caches in front of the database.
    CacheTierCpu,
    /// Open loop below saturation: the rate that was asked for.
    OfferedRate,
    /// The CPU was full, of a database that was not at rest: what it would carry is not known.
    NotAtRest,
    NoneFound,
    /// Nobody watched the hosts of the database: a cluster of somebody else, measured from outside.
    NotWatched,
    /// No valid trial.
    #[default]
    NotComparable,
}

impl LimitKind {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::VolumeIops => "volume IOPS",
            Self::VolumeThroughput => "volume MB/s",
            Self::InstanceEbsBandwidth => "instance EBS bandwidth",
            Self::BurstSpent => "burst credits spent",
            Self::Cpu => "CPU",
            Self::Gc => "garbage collection",
            Self::Compaction => "compaction",
            Self::Network => "network",
            Self::Client => "client",
            Self::CommitLog => "commit log",
            Self::CacheTierCpu => "cache tier CPU",
            Self::OfferedRate => "offered rate",
            Self::NotAtRest => "not at rest",
            Self::NoneFound => "none found",
            Self::NotWatched => "not watched",
            Self::NotComparable => "no valid trial",
        }
    }
}

experiment::word_enum! {
    /// What repetitions of a cell have reason to spread like. A volume at its limit repeats within one or two percent,
    /// CPUs within ten to twenty-five.
    #[derive(PartialOrd, Ord)]
    pub enum SpreadKind by name {
        /// Volumes, and the way to them.
        Volume = "volume",
        /// CPUs, and pauses of them.
        Cpu = "cpu",
        /// Anything else, and what is not known.
        Other = "other",
    }
}

impl LimitKind {
    /// Whether it is a volume, or the way to it.
    pub fn is_volume(self) -> bool {
        self.spreads_as() == SpreadKind::Volume
    }

    /// Whose repetitions a cell with this limit resembles.
    pub fn spreads_as(self) -> SpreadKind {
        match self {
            Self::VolumeIops
            | Self::VolumeThroughput
            | Self::InstanceEbsBandwidth
            | Self::BurstSpent
            | Self::CommitLog => SpreadKind::Volume,
            // What is not named for want of rest is a CPU that was full.
            Self::Cpu | Self::Gc | Self::NotAtRest | Self::CacheTierCpu => SpreadKind::Cpu,
            Self::Compaction
            | Self::Network
            | Self::Client
            | Self::OfferedRate
            | Self::NoneFound
            | Self::NotWatched
            | Self::NotComparable => SpreadKind::Other,
        }
    }
}

/// How much of a resource a cell used: the middle window of each trial, median over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// Which limit it is when it is full.
    pub kind: LimitKind,
    /// Unit of `used` and `capacity`.
    pub unit: Unit,
    /// Used.
    pub used: f64,
    /// What was really there to be used.
    pub capacity: f64,
    /// Share of the windows of about 10 s in which it was at its cap.
    pub windows_at_cap: f64,
    /// Whether it counts as full.
    pub at_cap: bool,
    /// What of a volume is counted; `None` for anything else.
    pub counted: Option<Counted>,
    /// Whether it is what all volumes of an instance share on their way to it.
    pub is_shared: bool,
    /// On which node, where the database has several; `None` for what is no node's.
    pub node: Option<HostId>,
}

impl ResourceUse {
    /// used / capacity.
    pub fn share(&self) -> f64 {
        self.used / self.capacity
    }
}

experiment::word_enum! {
    /// Units of resources.
    pub enum Unit by name {
        /// Requests per second.
        Iops = "iops",
        /// Bytes per second.
        BytesPerS = "bytes_per_s",
        /// CPUs.
        Cpus = "cpus",
        /// CPU seconds.
        CpuS = "cpu_s",
        /// Share of the time.
        Share = "share",
        /// Waiting compactions by which the debt grew, beside one.
        Grown = "grown",
        /// Operations per second.
        OpsPerS = "ops_per_s",
    }
}

/// What of a volume's work is counted against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Reads alone (cgroups limit them apart).
    Reads,
    /// Writes alone.
    Writes,
    /// Reads and writes together (EBS).
    Together,
    /// Together, large requests as several.
    InUnits,
}

/// What more of a resource gave: another configuration of the same matrix under the same workload and load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intervention {
    /// The configuration that has more.
    pub to: String,
    /// What it has more of; with several, none of them is judged alone.
    pub more: Vec<ResourceChange>,
    /// What else differs and cannot matter, because there was room.
    pub beside: Vec<ResourceChange>,
    /// Factor in throughput.
    pub gain: Range,
    /// What follows for the resource.
    pub outcome: InterventionOutcome,
}

/// One difference between two configurations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// Of which resource.
    pub resource: Resource,
    /// How much the cell's configuration has, in the resource's unit; `None` without a limit or, for a commit log,
    /// without a volume.
    pub from: Option<f64>,
    /// How much the other has; `None` without a limit.
    pub to: Option<f64>,
    /// to / from where both are known.
    pub factor: Option<f64>,
}

/// What money buys more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum Resource {
    /// Requests per second of the data volume.
    DataIops,
    DataBytesPerS,
    Cpus,
    /// Memory of the database: bytes of page cache, or of heap where that alone differs.
    Memory,
    /// Requests per second of an instance, which its volumes share.
    InstanceIops,
    /// Bytes per second of an instance, which its volumes share.
    InstanceBytesPerS,
    /// A commit-log volume of its own, or a faster one: requests per second, or bytes where they alone differ.
    CommitLog,
}

/// What an intervention says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterventionOutcome {
    /// More of this alone gave more: it was the limit.
    Confirmed,
    /// Much more of it gave nothing: it was not.
    Contradicted,
    /// The repetitions do not say, or several resources changed at once.
    NotDecided,
}
