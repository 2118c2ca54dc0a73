//! Which volume of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a volume in a configuration. Where several volumes hold the data they are counted: `data` is the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolumeRole {
    /// Data directory.
    Data,
    /// The second data directory.
    #[serde(rename = "data-2")]
    Data2,
    /// The third.
    #[serde(rename = "data-3")]
    Data3,
    /// The fourth.
    #[serde(rename = "data-4")]
    Data4,
    /// The fifth.
    #[serde(rename = "data-5")]
    Data5,
    /// The sixth.
    #[serde(rename = "data-6")]
    Data6,
    /// The seventh.
    #[serde(rename = "data-7")]
    Data7,
    /// The eighth.
    #[serde(rename = "data-8")]
    Data8,
    /// Commit log.
    Commitlog,
}

impl VolumeRole {
    /// Every role: those of data volumes, then the commit log's.
    pub const ALL: [Self; 9] = [
        Self::Data,
        Self::Data2,
        Self::Data3,
        Self::Data4,
        Self::Data5,
        Self::Data6,
        Self::Data7,
        Self::Data8,
        Self::Commitlog,
    ];

    /// Those of data volumes, in the order of their directories.
    pub const DATA: [Self; 8] = {
        let [data @ .., _] = Self::ALL;
        data
    };

    /// Name in files and mount points.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Data2 => "data-2",
            Self::Data3 => "data-3",
            Self::Data4 => "data-4",
            Self::Data5 => "data-5",
            Self::Data6 => "data-6",
            Self::Data7 => "data-7",
            Self::Data8 => "data-8",
            Self::Commitlog => "commitlog",
        }
    }

    /// The role of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// For people: `the data volume`; of several `the data volume data-2`.
    pub const fn of_node(self) -> &'static str {
        match self {
            Self::Data => "the data volume",
            Self::Data2 => "the data volume data-2",
            Self::Data3 => "the data volume data-3",
            Self::Data4 => "the data volume data-4",
            Self::Data5 => "the data volume data-5",
            Self::Data6 => "the data volume data-6",
            Self::Data7 => "the data volume data-7",
            Self::Data8 => "the data volume data-8",
            Self::Commitlog => "the commit-log volume",
        }
    }

    /// Whether it holds data.
    pub const fn is_data(self) -> bool {
        !matches!(self, Self::Commitlog)
    }

    /// Number of a data volume among those of its node, from 0.
    pub fn place(self) -> Option<usize> {
        Self::DATA.into_iter().position(|role| role == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_called_the_same_in_json_and_in_files() {
        for role in VolumeRole::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
            assert_eq!(VolumeRole::named(role.name()), Some(role));
        }
        assert_eq!(VolumeRole::Data2.place(), Some(1));
        assert_eq!(VolumeRole::Commitlog.place(), None);
    }
}
