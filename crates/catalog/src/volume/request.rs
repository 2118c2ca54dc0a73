//! A volume as one orders it.

use serde::{Deserialize, Serialize};

use super::VolumeType;

/// A volume as one orders it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VolumeRequest {
    /// Type.
    pub kind: VolumeType,
    /// Size, GiB.
    pub size_gib: f64,
    /// Provisioned IOPS: needed for io1 and io2, possible for gp3.
    pub iops: Option<f64>,
    /// Provisioned MiB/s: possible for gp3.
    pub mib_per_s: Option<f64>,
}

impl VolumeRequest {
    /// For people: `io1 1000 GiB, 10000 IOPS`.
    pub fn label(&self) -> String {
        let mut label = format!("{} {} GiB", self.kind, (self.size_gib * 100.0).round() / 100.0);
        if let Some(iops) = self.iops {
            label += &format!(", {iops} IOPS");
        }
        if let Some(mib_per_s) = self.mib_per_s {
            label += &format!(", {}", self.kind.rate_words(mib_per_s));
        }
        label
    }
}
