//! The types of EBS volumes and their names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nearest;

/// A type of EBS volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VolumeType {
    /// General purpose SSD: IOPS by size, with a burst bucket.
    Gp2,
    /// General purpose SSD: IOPS and throughput bought apart from size.
    Gp3,
    /// Provisioned IOPS SSD.
    Io1,
    /// Provisioned IOPS SSD, Block Express.
    Io2,
    /// Throughput HDD.
    St1,
    /// Cold HDD.
    Sc1,
    /// Magnetic, the previous generation.
    Standard,
}

impl VolumeType {
    /// Every type, in the order in which lists show them.
    pub const ALL: [Self; 7] = [Self::Gp2, Self::Gp3, Self::Io1, Self::Io2, Self::St1, Self::Sc1, Self::Standard];

    /// AWS's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gp2 => "gp2",
            Self::Gp3 => "gp3",
            Self::Io1 => "io1",
            Self::Io2 => "io2",
            Self::St1 => "st1",
            Self::Sc1 => "sc1",
            Self::Standard => "standard",
        }
    }
}

impl fmt::Display for VolumeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for VolumeType {
    type Err = UnknownVolumeType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)).ok_or_else(|| UnknownVolumeType {
            given: name.to_owned(),
            nearest: nearest::by_slips(name, volume_type_names().into_iter(), 1, 1).first().copied(),
        })
    }
}

/// The names of all volume types.
pub fn volume_type_names() -> [&'static str; VolumeType::ALL.len()] {
    VolumeType::ALL.map(VolumeType::name)
}

/// A name that is no volume type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown volume type `{given}`; expected one of {}{}", volume_type_names().join(", "),
    .nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default())]
pub struct UnknownVolumeType {
    /// What was written.
    pub given: String,
    /// The valid name that is nearest to it.
    pub nearest: Option<&'static str>,
}
