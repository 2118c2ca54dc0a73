//! The types of EBS volumes and their names.

use std::str::FromStr;

use crate::nearest;
use crate::words::words;

words! {
    /// A type of EBS volume, by AWS's name.
    pub enum VolumeType by name {
        /// General purpose SSD: IOPS by size, with a burst bucket.
        Gp2 = "gp2",
        /// General purpose SSD: IOPS and throughput bought apart from size.
        Gp3 = "gp3",
        /// Provisioned IOPS SSD.
        Io1 = "io1",
        /// Provisioned IOPS SSD, Block Express.
        Io2 = "io2",
        /// Throughput HDD.
        St1 = "st1",
        /// Cold HDD.
        Sc1 = "sc1",
        /// Magnetic, the previous generation.
        Standard = "standard",
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
