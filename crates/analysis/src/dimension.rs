//! Requests and bytes: a volume counts both, has a limit of each, and credits of one of them.

use experiment::{IoLimits, VolumeSetup};
use serde::{Deserialize, Serialize};

use crate::burst::Bucket;

/// What of a volume is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Requests: rates are IOPS.
    Requests,
    /// Bytes: rates are bytes per second.
    Bytes,
}

impl Dimension {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Requests, Self::Bytes];

    /// The limit of reads, and that of writes.
    pub fn limits(self, of: &IoLimits) -> (Option<f64>, Option<f64>) {
        match self {
            Self::Requests => (of.read_iops, of.write_iops),
            Self::Bytes => (of.read_bytes_per_s, of.write_bytes_per_s),
        }
    }

    /// The burst bucket of a volume.
    pub fn bucket(self, of: &VolumeSetup) -> Option<Bucket> {
        match self {
            Self::Requests => of.burst.map(Bucket::from),
            Self::Bytes => of.byte_burst.map(Bucket::from),
        }
    }
}
