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
        /// The error, per cent, where they lie within it: then they may not be too full. `None`: they lie beyond it, or
        /// it is not known.
        within_error_percent: Option<f64>,
    },
    /// So many fewer nodes cannot be.
    NotPossible { fewer: u32, why: Obstacle },
    /// So many fewer nodes would do, but cost more: their volumes would cost more than nodes.
    Price { fewer: u32, usd_per_month: f64 },
    /// So many fewer nodes, the cheapest such cluster, would do, but something of them is in doubt.
    Evidence { fewer: u32, usd_per_month: f64, doubts: Vec<Doubt> },
}

/// Why a cluster is not known to meet the target: what lies outside the measured range, and what the evidence leaves
/// open within it.
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
    /// The p99 that was asked for is not checked.
    P99 { asked_ms: f64, why: P99Unchecked },
    /// How full it would be lies within the error of what it may be, on either side.
    WithinError { limit: Limit, used: f64, allowed: f64, error_percent: f64 },
    /// Its estimate has no error: no cell could be held out, or its machine was measured once.
    ErrorNotKnown,
}

/// Why nothing checks a p99 that was asked for. Uses are shares of what a machine can do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum P99Unchecked {
    /// The evidence has closed-loop cells only, which say nothing about an offered load.
    NoRate,
    /// It is that of a 1:`scale` model, which did not keep it, and by less than shows that full scale does not.
    InModel { scale: f64 },
    /// Cells did not keep it at a lower use than others kept it at.
    Contradicted { failed: f64, kept: f64 },
    /// The cluster would be used more than it was kept at, and that it is missed there is not shown.
    AboveKept { used: f64, kept: f64 },
}

/// What checks a p99 that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum P99By {
    /// This very machine was found to carry so much under it, or under a lower bound (`rate = "find"`), in a model of
    /// 1:`scale`.
    Found { scale: f64 },
    /// Rates of the evidence kept it up to this use of what a machine can do, and none of its resources is used more.
    Kept { used: f64 },
}

impl Doubt {
    /// Whether it says that something lies outside the measured range, so that no error is claimed.
    pub fn is_outside(&self) -> bool {
        !matches!(self, Self::P99 { .. } | Self::WithinError { .. } | Self::ErrorNotKnown)
    }

    /// Whether more nodes of the same machine can take it away: they do less each, and have less data, of which more is
    /// cached.
    pub(crate) fn may_go_with_more_nodes(&self) -> bool {
        match self {
            Self::Mix { .. } | Self::Vcpus { .. } | Self::CpuSpeed | Self::DiskThroughput | Self::Cache { .. } => false,
            Self::P99 { .. } => false,
            Self::NeverTheLimit { .. } | Self::NoDeviceReads | Self::WithinError { .. } | Self::ErrorNotKnown => true,
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
    /// Nobody sells it any more.
    Retired,
    /// Another family or architecture was asked for.
    NotAskedFor,
    /// No valid trial of it says what an operation costs.
    NothingLearned,
    /// It was measured with other workloads than were asked for.
    WorkloadNotAskedFor,
    /// It breaks a rule of the catalog, in the catalog's words.
    Rule(String),
}

/// Configurations of the evidence that are no candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotCandidates {
    /// Their names.
    pub configurations: Vec<String>,
    /// Why.
    pub why: Obstacle,
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
