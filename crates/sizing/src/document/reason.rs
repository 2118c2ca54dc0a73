//! What bounds a cluster, why it has so many nodes, what is doubted about it, and why a machine was not proposed:
//! values, no words.

use serde::{Deserialize, Serialize};

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Least.
    pub low: f64,
    /// Most.
    pub high: f64,
}

impl Range {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self { low: f64::INFINITY, high: f64::NEG_INFINITY }, |range, value| Self {
            low: range.low.min(value),
            high: range.high.max(value),
        })
    }

    /// Whether a value lies in the range, widened by a factor.
    pub(crate) fn holds(&self, value: f64, factor: f64) -> bool {
        value >= self.low / factor && value <= self.high * factor
    }
}

/// What can bound a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// CPUs.
    Cpu,
    /// Requests per second of the volumes, or of what the instance lets through to them.
    VolumeIops,
    /// Bytes per second of the same.
    VolumeThroughput,
    /// A commit log on a volume of its own.
    CommitLog,
    /// The network.
    Network,
    /// What the disks hold.
    DiskSpace,
    /// The copies of each record and the zones that they lie in.
    Copies,
}

impl Limit {
    /// Its name, errors among what shows it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::VolumeIops => "volume IOPS",
            Self::VolumeThroughput => "volume MB/s",
            Self::CommitLog => "commit log",
            Self::Network => "network",
            Self::DiskSpace => "disk space",
            Self::Copies => "copies",
        }
    }
}

/// What says how much of something may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowance {
    /// The headroom, with all nodes up.
    Headroom,
    /// With a part down the others must do its work too.
    PartDown,
    /// The p99 was kept up to this use only.
    P99,
    /// The share of the disks that data may fill.
    DiskFill,
}

/// Why a cluster has so many nodes: what a cluster with one node fewer in each zone would lack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum NodesBecause {
    /// Nothing: so many are needed to hold every copy in zones of equal size, and to have one left when one is down.
    Copies { replication_factor: u32, zones: u32 },
    /// So many fewer would be too full.
    Full {
        limit: Limit,
        fewer: u32,
        /// How much of it they would use, all nodes up.
        used: f64,
        /// The most that may be used then.
        allowed: f64,
        allowance: Allowance,
    },
    /// So many fewer nodes cannot be.
    NotPossible { fewer: u32, why: Obstacle },
    /// So many fewer nodes would do, but cost more: their volumes would cost more than nodes.
    Price { fewer: u32, usd_per_month: f64 },
    /// So many fewer nodes, the cheapest such cluster, would do, but lie outside the measured range.
    Evidence { fewer: u32, usd_per_month: f64, doubts: Vec<Doubt> },
}

/// What lies outside the measured range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Doubt {
    /// Share of the reads among what replicas do: at the target, and as measured.
    Mix { read_share: f64, measured: Range },
    /// No cell was bounded by what bounds this cluster.
    NeverTheLimit { limit: Limit },
    /// No cell read from its device often enough to show what a miss costs.
    NoDeviceReads,
    /// Share of a node's data that fits the page cache: of this cluster, and as measured.
    CacheShare { share: f64, measured: Range },
    /// Data on a node: of this cluster, and as measured.
    DataPerNode { bytes: f64, measured: Range },
    /// vCPUs of a node: of this machine, and as measured.
    Vcpus { vcpus: u32, measured: Range },
    /// Nobody has published how fast its vCPUs are: they count as those that were measured.
    CpuSpeed,
    /// Nobody has published how many MB/s its local disks do: they were left out of what the target is held against.
    DiskThroughput,
    /// What a cache answers is predicted.
    Cache {
        /// Its predicted hit ratio.
        hit_ratio: f64,
        /// Half-width of the prediction's 95 % interval.
        half_width: f64,
        /// Whether runs measured what a request costs its CPUs; else that is as it was stated.
        cpu_is_measured: bool,
    },
}

impl Doubt {
    /// Whether more nodes of the same machine can take it away: they have less data each, of which more is cached.
    pub(crate) fn may_go_with_more_nodes(&self) -> bool {
        match self {
            Self::Mix { .. } | Self::Vcpus { .. } | Self::CpuSpeed | Self::DiskThroughput | Self::Cache { .. } => false,
            Self::NeverTheLimit { .. } | Self::NoDeviceReads => true,
            Self::CacheShare { share, measured } => *share < measured.low,
            Self::DataPerNode { bytes, measured } => *bytes > measured.high,
        }
    }
}

/// Why a machine is not proposed. No numbers, so that machines can be counted by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// Too little of something even with the most nodes.
    Full(Limit),
    /// No volume is sold that has enough of this.
    NoVolume(Limit),
    /// No disks for the data.
    NoDisks,
    /// What its disks can do is not known.
    DisksUnknown,
    /// Its price is not known on the basis.
    PriceUnknown,
    /// It was not measured under this target, and the model may not be used.
    NotMeasured,
    /// Its CPUs work on credits.
    CpuCredits,
    /// Its CPUs are whole for a part of the day only.
    FlexCpus,
    /// Less memory or fewer vCPUs than the search takes.
    TooSmall,
    /// With the part down that the target allows for, no node would be left.
    NoNodeLeft,
    /// It breaks a rule of the catalog, in the catalog's words.
    Rule(String),
}

/// Types that were not proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why.
    pub why: Obstacle,
    /// How many instance types.
    pub count: u64,
    /// One of them.
    pub example: String,
}
