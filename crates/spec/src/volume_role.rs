//! Which volume of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a volume in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolumeRole {
    /// Data directory.
    Data,
    /// Commit log.
    Commitlog,
}

impl VolumeRole {
    /// Every role.
    pub const ALL: [Self; 2] = [Self::Data, Self::Commitlog];

    /// Name in files and mount points.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Commitlog => "commitlog",
        }
    }

    /// For people: `the data volume`.
    pub const fn of_node(self) -> &'static str {
        match self {
            Self::Data => "the data volume",
            Self::Commitlog => "the commit-log volume",
        }
    }
}
