//! Which volume of a node.

use crate::words::words;

words! {
    /// Role of a volume in a configuration. Where several volumes hold the data they are counted: `data` is the first
    /// of them.
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
    pub fn of_node(self) -> String {
        match self {
            Self::Data => "the data volume".to_owned(),
            Self::Commitlog => "the commit-log volume".to_owned(),
            further => format!("the data volume {}", further.name()),
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
