//! What a volume may do, as one value that can be sent and kept.

use catalog::{Burst, ByteBurst, IoLimits, Latency, ResolvedVolume, VolumeType};
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
    pub const SSD: Self = Self { bytes: 256 << 10, merges: false };
    /// Hard disks: 1 MiB, and those that follow one another are merged (the same source).
    pub const HDD: Self = Self { bytes: 1 << 20, merges: true };

    /// How volumes of a type count. How those of other clouds do was not found: they are counted as EBS's.
    pub fn of(kind: VolumeType) -> Self {
        match kind {
            VolumeType::St1 | VolumeType::Sc1 | VolumeType::Standard => Self::HDD,
            VolumeType::Gp2
            | VolumeType::Gp3
            | VolumeType::Io1
            | VolumeType::Io2
            | VolumeType::RdsGp3
            | VolumeType::RdsIo1
            | VolumeType::RdsIo2
            | VolumeType::PdBalanced
            | VolumeType::PdSsd
            | VolumeType::HyperdiskBalanced
            | VolumeType::HyperdiskExtreme
            | VolumeType::HyperdiskThroughput
            | VolumeType::Premium
            | VolumeType::PremiumV2
            | VolumeType::Ultra => Self::SSD,
        }
    }

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
        Self { limits, together: true, burst: None, byte_burst: None, unit: Unit::SSD, latency: None }
    }

    /// A volume as it is bought, its credits filled by this share (0 to 1).
    pub fn of(bought: &ResolvedVolume, latency: Option<Latency>, share: f64) -> Self {
        let burst = bought.burst.map(|burst| Burst { credits_start: burst.credits_max * share, ..burst });
        let byte_burst =
            bought.byte_burst().map(|burst| ByteBurst { credits_start: burst.credits_max * share, ..burst });
        let mut limits = bought.limits;
        if byte_burst.is_some() {
            (limits.read_bytes_per_s, limits.write_bytes_per_s) = (None, None);
        }
        Self { limits, together: true, burst, byte_burst, unit: Unit::of(bought.request.kind), latency }
    }

    /// A 1:`divisor` model: rates and credits shrink together; the time of one request and how it is counted do not.
    pub fn scaled(&self, divisor: f64) -> Self {
        Self {
            limits: self.limits.scaled(divisor),
            burst: self.burst.map(|burst| burst.scaled(divisor)),
            byte_burst: self.byte_burst.map(|burst| burst.scaled(divisor)),
            ..self.clone()
        }
    }
}
