//! What of a volume can be modified while it is in use: its level.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::VolumeType;

/// How often a volume may be modified within 24 hours; each modification must be completed before the next is asked
/// for. Source: "You can modify a volume up to four times within a rolling 24-hour period" (EC2 API Reference,
/// ModifyVolume, in botocore 1.44.8; seen 2026-11-27). Older versions of that page (boto3 1.28.28) allowed one in six
/// hours.
pub const MODIFICATIONS_A_DAY: u32 = 4;

/// Seconds until a modification of IOPS or MiB/s is completed, for each GiB: "Typically, a fully used 1-TiB volume can
/// take about 6 hours to migrate to a new performance configuration" (EBS User Guide, "Monitor the progress of Amazon
/// EBS volume modifications"; seen 2026-11-27). AWS says besides that it takes "from a few minutes to a few hours", and
/// "more than 24 hours" of a volume that is not initialised.
const MODIFIED_S_A_GIB: f64 = 6.0 * 3_600.0 / 1_024.0;

/// Seconds that a modification of a volume of this size typically takes, as AWS states it.
pub fn modification_s(size_gib: f64) -> f64 {
    size_gib * MODIFIED_S_A_GIB
}

/// Type, IOPS and MiB/s of a volume whose IOPS are provisioned: what a modification changes of it. Its size can only
/// grow (EC2 API Reference, ModifyVolume), and so is no part of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeLevel {
    /// Type.
    pub kind: VolumeType,
    /// Provisioned IOPS.
    pub iops: u32,
    /// Provisioned MiB/s, of gp3 alone.
    pub mib_per_s: Option<u32>,
}

impl fmt::Display for VolumeLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} IOPS", self.kind, self.iops)?;
        match self.mib_per_s {
            Some(mib_per_s) => write!(f, ", {mib_per_s} MiB/s"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modification_takes_six_hours_of_a_tib_and_a_level_is_said_in_its_units() {
        assert_eq!((modification_s(1_024.0), modification_s(512.0)), (21_600.0, 10_800.0));
        let gp3 = VolumeLevel { kind: VolumeType::Gp3, iops: 3_000, mib_per_s: Some(125) };
        let io2 = VolumeLevel { kind: VolumeType::Io2, iops: 8_000, mib_per_s: None };
        assert_eq!([gp3.to_string(), io2.to_string()], ["gp3, 3000 IOPS, 125 MiB/s", "io2, 8000 IOPS"]);
    }
}
