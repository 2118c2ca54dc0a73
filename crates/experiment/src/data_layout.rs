//! How the data of a node lies on several volumes.

use serde::{Deserialize, Serialize};

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
    /// Chunks of RAID 0 where none are stated, KiB: the largest request to an SSD volume that EBS counts as one (EBS user guide,
    /// "I/O characteristics"), so that no such request is split in two. mdadm(8) itself would take 512.
    pub const CHUNK_KIB: u32 = 256;

    /// For people: `a directory on each`, `RAID 0, chunks of 256 KiB`.
    pub fn label(self) -> String {
        match self {
            Self::Directories => "a directory on each".to_owned(),
            Self::Raid0 { chunk_kib } => format!("RAID 0, chunks of {chunk_kib} KiB"),
        }
    }
}
