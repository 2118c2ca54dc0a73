//! The rows of a table: each value depends on (seed, table, column, partition, row) alone, so that a row can be made
//! again and checked.

mod compile;
mod load;
mod maker;
mod pool;
mod table;
mod texts;
mod unique;

pub(crate) use compile::{Role, usual};
pub use compile::{USUAL_ELEMENTS, USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES};
pub use load::Load;
pub(crate) use maker::{Cell, Maker};
pub use table::{Place, TableRows};
