//! What a volume is, and how data lies on several.

use std::fmt;

use catalog::VolumeType;
use serde::{Deserialize, Serialize};

/// What a volume is; frozen by its name (`gp2`, `io1`, ..., `local`, `explicit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum VolumeKind {
    /// An EBS volume of this type.
    Ebs(VolumeType),
    /// The disks of the instance itself.
    Local,
    /// Given by its limits.
    Explicit,
}

impl VolumeKind {
    /// In the experiment file too, where a volume of this kind is given by its name.
    pub const LOCAL: &str = "local";
    const EXPLICIT: &str = "explicit";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ebs(kind) => kind.name(),
            Self::Local => Self::LOCAL,
            Self::Explicit => Self::EXPLICIT,
        }
    }
}

impl fmt::Display for VolumeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<VolumeKind> for &'static str {
    fn from(kind: VolumeKind) -> Self {
        kind.name()
    }
}

impl TryFrom<String> for VolumeKind {
    type Error = catalog::UnknownVolumeType;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match name.as_str() {
            Self::LOCAL => Ok(Self::Local),
            Self::EXPLICIT => Ok(Self::Explicit),
            ebs => ebs.parse().map(Self::Ebs),
        }
    }
}

/// How the data of a node lies on several volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DataLayout {
    /// A data directory of the database on each.
    Directories,
    /// RAID 0 by the kernel (md), with one file system and one data directory on all of them.
    Raid0 {
        /// So many KiB go to one volume before the next one has its turn.
        chunk_kib: u32,
    },
}

impl DataLayout {
    /// Chunks of RAID 0 where none are stated, KiB: the largest request to an SSD volume that EBS counts as one (EBS
    /// user guide, "I/O characteristics"), so that no such request is split in two. mdadm(8) itself would take 512.
    pub const CHUNK_KIB: u32 = 256;

    /// For people: `a directory on each`, `RAID 0, chunks of 256 KiB`.
    pub fn label(self) -> String {
        match self {
            Self::Directories => "a directory on each".to_owned(),
            Self::Raid0 { chunk_kib } => format!("RAID 0, chunks of {chunk_kib} KiB"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_frozen_by_its_name() {
        for (kind, name) in [
            (VolumeKind::Ebs(VolumeType::Gp2), "gp2"),
            (VolumeKind::Local, "local"),
            (VolumeKind::Explicit, "explicit"),
        ] {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<VolumeKind>(&text).unwrap(), kind);
        }
        assert!(serde_json::from_str::<VolumeKind>("\"gp9\"").is_err());
    }
}
