//! What bounded a cell?
//!
//! ```text
//! trial --uses--> windows (used of what was really there) --naming--> limit by use --intervention--> limit as told
//!         cpu, volume                                                    what more of it gave, elsewhere in the matrix
//! ```
//!
//! [`crate::document::limit`] holds the data; crate `report` puts it into words.

mod cpu;
mod intervention;
mod naming;
mod numbers;
mod uses;
mod volume;
mod window;

#[cfg(test)]
mod tests;

pub use crate::document::limit::{
    Counted, Intervention, Limit, LimitKind, Outcome, Resource, ResourceChange, ResourceUse, Unit,
};
pub use intervention::{CellLimit, by_intervention, interventions};
pub use naming::of_cell;
