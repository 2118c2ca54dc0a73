//! What a volume may do, and the rule that the smaller of volume and instance wins.

use serde::{Deserialize, Serialize};

/// Bytes in one MiB.
pub const MIB: f64 = 1_048_576.0;
/// Bytes in one GiB, by which AWS sells volumes and memory.
pub const GIB: f64 = 1024.0 * MIB;

/// Ceilings on a block device; `None` means that nothing limits it.
///
/// EBS counts reads and writes together; cgroups count them apart. The same number in `read_*` and `write_*` therefore
/// means "at most this many of either kind".
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct IoLimits {
    /// Read operations per second.
    pub read_iops: Option<f64>,
    /// Write operations per second.
    pub write_iops: Option<f64>,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<f64>,
}

impl IoLimits {
    /// The same ceiling for reads and writes.
    pub fn symmetric(iops: Option<f64>, mib_per_s: Option<f64>) -> Self {
        let bytes = mib_per_s.map(|m| m * MIB);
        Self { read_iops: iops, write_iops: iops, read_bytes_per_s: bytes, write_bytes_per_s: bytes }
    }

    /// The tighter of two ceilings, field by field: effective = min(volume, instance).
    pub fn min(self, other: Self) -> Self {
        let least = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            read_iops: least(self.read_iops, other.read_iops),
            write_iops: least(self.write_iops, other.write_iops),
            read_bytes_per_s: least(self.read_bytes_per_s, other.read_bytes_per_s),
            write_bytes_per_s: least(self.write_bytes_per_s, other.write_bytes_per_s),
        }
    }

    /// A 1:`divisor` model of these limits.
    pub fn scaled(self, divisor: f64) -> Self {
        let by = |v: Option<f64>| v.map(|v| v / divisor);
        Self {
            read_iops: by(self.read_iops),
            write_iops: by(self.write_iops),
            read_bytes_per_s: by(self.read_bytes_per_s),
            write_bytes_per_s: by(self.write_bytes_per_s),
        }
    }
}

/// A volume's burst bucket, as documented for gp2: spends (actual - baseline) I/O credits per second above the
/// baseline, earns (baseline - actual) below it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Sustained IOPS, and the rate at which credits are earned when idle.
    pub baseline_iops: f64,
    /// IOPS while credits last.
    pub burst_iops: f64,
    /// Most credits the bucket holds (I/O operations).
    pub credits_max: f64,
    /// Credits at the start.
    pub credits_start: f64,
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

impl ByteBurst {
    /// A 1:`divisor` model: rates and credits shrink together, so the bucket empties after the same time.
    pub fn scaled(self, divisor: f64) -> Self {
        Self {
            baseline_bytes_per_s: self.baseline_bytes_per_s / divisor,
            burst_bytes_per_s: self.burst_bytes_per_s / divisor,
            credits_max: self.credits_max / divisor,
            credits_start: self.credits_start / divisor,
        }
    }
}

impl Burst {
    /// A 1:`divisor` model: rates and credits shrink together, so the bucket empties after the same time.
    pub fn scaled(self, divisor: f64) -> Self {
        Self {
            baseline_iops: self.baseline_iops / divisor,
            burst_iops: self.burst_iops / divisor,
            credits_max: self.credits_max / divisor,
            credits_start: self.credits_start / divisor,
        }
    }
}
