//! Which volume of a node.

use crate::words::words;

words! {
    /// Role of a volume in a configuration. Where several volumes hold the data they are counted: `data` is the first of them.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum VolumeRole {
        /// Data directory.
        Data = "data",
        /// The second data directory.
        Data2 = "data-2",
        /// The third.
        Data3 = "data-3",
        /// The fourth.
        Data4 = "data-4",
        /// The fifth.
        Data5 = "data-5",
        /// The sixth.
        Data6 = "data-6",
        /// The seventh.
        Data7 = "data-7",
        /// The eighth.
        Data8 = "data-8",
        /// Commit log.
        Commitlog = "commitlog",
    }
}

impl VolumeRole {
    /// Those of data volumes, in the order of their directories.
    pub const DATA: [Self; 8] = {
        let [data @ .., _] = Self::ALL;
        data
    };

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
