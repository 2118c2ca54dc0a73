//! The types of volumes and their names.

use std::str::FromStr;

use crate::words::words;
use crate::{Cloud, nearest};

words! {
    /// A type of volume, by the name that its cloud gives it.
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
        /// RDS's general purpose SSD, for PostgreSQL: four volumes from 400 GiB on.
        RdsGp3 = "rds-gp3",
        /// RDS's provisioned IOPS SSD, the previous generation.
        RdsIo1 = "rds-io1",
        /// RDS's provisioned IOPS SSD, Block Express.
        RdsIo2 = "rds-io2",
        /// Google's balanced persistent disk: IOPS and throughput by size.
        PdBalanced = "pd-balanced",
        /// Google's SSD persistent disk: the same, more of it.
        PdSsd = "pd-ssd",
        /// Google's Hyperdisk Balanced: IOPS and throughput bought apart from size.
        HyperdiskBalanced = "hyperdisk-balanced",
        /// Google's Hyperdisk Extreme: IOPS bought apart from size, throughput with them.
        HyperdiskExtreme = "hyperdisk-extreme",
        /// Google's Hyperdisk Throughput: throughput bought within bounds of the size, IOPS with it.
        HyperdiskThroughput = "hyperdisk-throughput",
        /// Azure's Premium SSD: IOPS and throughput by the step that its size belongs to.
        Premium = "premium",
        /// Azure's Premium SSD v2: IOPS and throughput bought apart from size.
        PremiumV2 = "premium-v2",
        /// Azure's Ultra Disk: the same, none of it included.
        Ultra = "ultra",
    }
}

impl VolumeType {
    /// Who offers it.
    pub fn cloud(self) -> Cloud {
        match self {
            Self::Gp2 | Self::Gp3 | Self::Io1 | Self::Io2 | Self::St1 | Self::Sc1 | Self::Standard => Cloud::Aws,
            Self::RdsGp3 | Self::RdsIo1 | Self::RdsIo2 => Cloud::Aws,
            Self::PdBalanced | Self::PdSsd => Cloud::Google,
            Self::HyperdiskBalanced | Self::HyperdiskExtreme | Self::HyperdiskThroughput => Cloud::Google,
            Self::Premium | Self::PremiumV2 | Self::Ultra => Cloud::Azure,
        }
    }

    /// Whether it is storage of RDS, whose machines and volumes have prices of their own.
    pub fn is_of_rds(self) -> bool {
        matches!(self, Self::RdsGp3 | Self::RdsIo1 | Self::RdsIo2)
    }

    /// Whether several of one machine have a part of their limits only once (gcpdiag: "Baseline IOPS per VM").
    pub(crate) fn shares_base(self) -> bool {
        matches!(self, Self::PdBalanced | Self::PdSsd)
    }
}

impl FromStr for VolumeType {
    type Err = UnknownVolumeType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)).ok_or_else(|| UnknownVolumeType {
            given: name.to_owned(),
            nearest: by_seller(name)
                .or_else(|| nearest::by_slips(name, volume_type_names().into_iter(), 1, 1).first().copied()),
        })
    }
}

/// Names that sellers' consoles, APIs and price lists have for a type.
const BY_SELLER: [(&str, VolumeType); 10] = [
    ("premium-ssd", VolumeType::Premium),
    ("premium_lrs", VolumeType::Premium),
    ("premium-ssd-v2", VolumeType::PremiumV2),
    ("premiumssdv2", VolumeType::PremiumV2),
    ("premiumv2_lrs", VolumeType::PremiumV2),
    ("ultra-disk", VolumeType::Ultra),
    ("ultra-ssd", VolumeType::Ultra),
    ("ultrassd_lrs", VolumeType::Ultra),
    ("io2bx", VolumeType::Io2),
    ("io2-block-express", VolumeType::Io2),
];

/// The type that a seller calls so: `PremiumV2_LRS`, or `P30`, a size of Premium SSD.
fn by_seller(name: &str) -> Option<&'static str> {
    let found = BY_SELLER.iter().find(|(sellers, _)| sellers.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind);
    found.or_else(|| premium_gib(name).map(|_| VolumeType::Premium)).map(VolumeType::name)
}

/// Azure's names of the sizes of a Premium SSD, and their GiB (disks-types.md, 2026-08-11).
const PREMIUM_SIZES: [(&str, f64); 14] = [
    ("P1", 4.0),
    ("P2", 8.0),
    ("P3", 16.0),
    ("P4", 32.0),
    ("P6", 64.0),
    ("P10", 128.0),
    ("P15", 256.0),
    ("P20", 512.0),
    ("P30", 1_024.0),
    ("P40", 2_048.0),
    ("P50", 4_096.0),
    ("P60", 8_192.0),
    ("P70", 16_384.0),
    ("P80", 32_767.0),
];

/// GiB of a Premium SSD that Azure calls so, `P30`.
pub(crate) fn premium_gib(name: &str) -> Option<f64> {
    PREMIUM_SIZES.iter().find(|(size, _)| size.eq_ignore_ascii_case(name)).map(|(_, gib)| *gib)
}

/// The names of all volume types.
pub fn volume_type_names() -> [&'static str; VolumeType::ALL.len()] {
    VolumeType::ALL.map(VolumeType::name)
}

/// Those of a cloud.
pub fn volume_type_names_of(cloud: Cloud) -> Vec<&'static str> {
    VolumeType::ALL.into_iter().filter(|kind| kind.cloud() == cloud).map(VolumeType::name).collect()
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
