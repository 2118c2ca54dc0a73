//! Which row.

/// A row by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Of the partition in its table, from 0.
    pub partition: u64,
    /// Of the row in its partition, from 0.
    pub row: u64,
}
