//! What a volume may do, as one value that can be sent and kept.

use catalog::{Burst, IoLimits, Latency};
use serde::{Deserialize, Serialize};

/// A volume (or what an instance lets through to all of its volumes).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Ceilings a second.
    pub limits: IoLimits,
    /// Whether reads and writes share a ceiling that is the same for both, as at EBS; otherwise each has its own.
    pub together: bool,
    /// Credits of requests (gp2): they bound reads and writes together.
    pub burst: Option<Burst>,
    /// Credits of bytes (st1, sc1, the path of an instance): they bound reads and writes together.
    pub byte_burst: Option<ByteBurst>,
    /// How requests are counted.
    pub unit: Unit,
    /// Service time; `None`: as fast as what is below.
    pub latency: Option<Latency>,
}

/// A bucket of bytes: as [`Burst`] for requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ByteBurst {
    /// Bytes a second that last, and at which credits are earned.
    pub baseline_bytes_per_s: f64,
    /// Bytes a second while credits last.
    pub burst_bytes_per_s: f64,
    /// Most credits that it holds, bytes.
    pub credits_max: f64,
    /// Credits at the start, bytes.
    pub credits_start: f64,
}

/// How requests of different sizes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The largest request that counts as one; a larger one counts as several.
    pub bytes: u64,
    /// Whether requests that follow one another on the volume, and wait at the same time, count as one up to `bytes`.
    pub merges: bool,
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the volume.
    Read,
    /// To the volume.
    Write,
}

impl Unit {
    /// Solid state disks: 256 KiB (EBS user guide, "I/O characteristics and monitoring"). EBS "attempts" to merge
    /// smaller ones there as well; no source says how often that succeeds, so none are merged.
    pub const SSD: Self = Self {
        bytes: 256 << 10,
        merges: false,
    };
    /// Hard disks: 1 MiB, and those that follow one another are merged (the same source).
    pub const HDD: Self = Self {
        bytes: 1 << 20,
        merges: true,
    };

    /// For how many a request of so many bytes counts.
    pub fn count(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.bytes).max(1)
    }
}

impl Model {
    /// A volume without any limit, credits or service time of its own.
    pub fn unlimited() -> Self {
        Self::limited(IoLimits::default())
    }

    /// A solid state volume with ceilings for reads and writes together.
    pub fn limited(limits: IoLimits) -> Self {
        Self {
            limits,
            together: true,
            burst: None,
            byte_burst: None,
            unit: Unit::SSD,
            latency: None,
        }
    }
}
