//! A statement with what its markers are given.

use crate::data::StatementData;
use crate::rows::{Maker, TableRows};

/// What a statement asks of one table.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) rows: TableRows,
    /// Which of the data's tables.
    pub(super) table: usize,
    /// How many partitions at once: more than one by `IN`.
    pub(super) partitions: usize,
    /// Statements of a batch, each of which has a row of its own.
    pub(super) parts: Vec<u32>,
    /// Whether a partition that is not there is made by it.
    pub(super) makes: bool,
}

/// Which row, from the one that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// So many after it, then the first one again.
    Next(u64),
    /// So many after it, beyond the last one too.
    Beyond(u64),
}

/// What a marker is given.
#[derive(Debug)]
pub(super) enum Bound {
    /// A column's value of a row that is there (or, where a partition is missing, would be).
    Value { asked: usize, column: usize, partition: usize, step: Step },
    /// A new value of a column.
    New { asked: usize, column: usize, step: Step },
    /// An element of a collection of the row, a key of a map or its value; of an empty one what is made otherwise.
    Element { asked: usize, column: usize, is_value: bool, otherwise: Maker },
    /// A list for `IN ?`: of partitions or of rows of one.
    List { asked: usize, columns: Vec<usize>, is_tuple: bool, keys: usize, is_of_partitions: bool },
    /// Several columns of a row as a tuple.
    Tuple { asked: usize, columns: Vec<usize>, step: Step },
    /// Always the same.
    Constant(Vec<u8>),
    /// Microseconds since 1970.
    Now,
    /// Any token.
    Token,
    /// A value that belongs to no row.
    Fresh(Maker),
}

/// A statement with what its markers are given.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) asked: Vec<Asked>,
    pub(super) markers: Vec<Bound>,
    /// The markers that have the whole partition key.
    pub(super) routing: Option<Vec<usize>>,
    pub(super) data: StatementData,
}
