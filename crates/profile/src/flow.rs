//! Requests and bytes in a second.

use serde::Serialize;

/// Requests and bytes, each second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Flow {
    /// Requests.
    pub iops: f64,
    /// MiB.
    pub mib_per_s: f64,
}

impl Flow {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self { iops: self.iops + other.iops, mib_per_s: self.mib_per_s + other.mib_per_s }
    }

    /// So many times as much.
    pub fn times(self, factor: f64) -> Self {
        Self { iops: self.iops * factor, mib_per_s: self.mib_per_s * factor }
    }

    /// The larger of each.
    pub fn max(self, other: Self) -> Self {
        Self { iops: self.iops.max(other.iops), mib_per_s: self.mib_per_s.max(other.mib_per_s) }
    }
}
