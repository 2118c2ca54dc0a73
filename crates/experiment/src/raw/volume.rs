//! Volumes as they are typed.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::words::words;

/// A volume by catalog type, or by its limits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Volume {
    /// `gp2`, `gp3`, `io1`, `io2`, `st1`, `sc1`, `standard`; of RDS for PostgreSQL `rds-gp3`, `rds-io1`, `rds-io2`; on
    /// machines of Google Cloud `pd-balanced`, `pd-ssd`, `hyperdisk-balanced`, `hyperdisk-extreme`,
    /// `hyperdisk-throughput`, of Azure `premium`, `premium-v2`, `ultra`. Without it, `iops` and `mib_per_s` are the
    /// limits themselves.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Rules of an earlier time, such as `2015-2018` for gp2 or `2018` for io1. Default: today's.
    pub era: Option<String>,
    /// Size, GiB.
    pub size_gib: Option<f64>,
    /// Provisioned (or, without a type, greatest) I/O operations per second.
    pub iops: Option<f64>,
    /// Provisioned (or, without a type, greatest) throughput, MiB/s.
    pub mib_per_s: Option<f64>,
    /// Instead of `mib_per_s`: the same in MB/s of 10^6 bytes, as Azure states it.
    pub mb_per_s: Option<f64>,
    /// How the burst bucket of this volume starts each trial, instead of `burst` of `[provider.local]`: `baseline`
    /// (empty: what the volume sustains) or `full` (as a new volume). Only for a volume that has one: gp2 below 1,000
    /// GiB; with `volumes = "served"` also st1 and sc1.
    #[schemars(with = "Option<BurstWord>")]
    pub burst: Option<String>,
    /// Only of `data_volume`: volumes of this kind that each node has for its data, 1 (default) to 8. Everything else
    /// that is stated is of each of them.
    pub count: Option<u32>,
    /// Beside a `count` above 1: how the data lies on them. Default: `directories`.
    #[schemars(with = "Option<LayoutWord>")]
    pub layout: Option<String>,
    /// Beside `layout = "raid0"`: KiB that go to one volume before the next one has its turn, a power of two from 4 to
    /// 1024. Default: 256.
    pub chunk_kib: Option<u32>,
    /// Only without a type, and with `volumes = "served"`: the time that a request takes that need not wait, its median
    /// in microseconds. Default: as fast as this machine's disk.
    pub latency_us: Option<f64>,
    /// Beside `latency_us`: its spread, the standard deviation of its natural logarithm. Default: 0, always the same.
    pub latency_sigma: Option<f64>,
    /// Only without a type, and with `volumes = "served"`: whether reads and writes share the limits (as at EBS), or
    /// each have them for themselves. Default: true.
    pub combined: Option<bool>,
}

words! {
    /// Instead of a volume.
    pub(crate) enum LocalWord {
        /// The instance's own disks.
        Local = "local",
    }
}

words! {
    /// How a burst bucket starts.
    pub(crate) enum BurstWord {
        /// Empty.
        Baseline = "baseline",
        /// Full.
        Full = "full",
    }
}

words! {
    /// How the data lies on several volumes.
    pub(crate) enum LayoutWord {
        /// A data directory of the database on each.
        Directories = "directories",
        /// RAID 0 by the kernel's md driver, with one data directory.
        Raid0 = "raid0",
    }
}

impl BurstWord {
    /// The share of its credits with which a bucket starts.
    pub fn share(self) -> f64 {
        match self {
            Self::Baseline => 0.0,
            Self::Full => 1.0,
        }
    }
}
