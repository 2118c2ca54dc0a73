//! What bounded a cell?
//!
//! ```text
//! trial --uses--> windows (used of what was really there) --naming--> limit by use --intervention--> limit as told
//!         cpu, volume                                                    what more of it gave, elsewhere in the matrix
//! ```
//!
//! [`document`] holds the data and imports nothing of the rest; [`words`] says it to people.

mod cpu;
mod document;
mod intervention;
mod naming;
mod uses;
mod volume;
mod words;

#[cfg(test)]
mod tests;

pub use document::{
    Counted, Gain, Intervention, Limit, LimitKind, Outcome, Resource, ResourceChange, ResourceUse, Unit,
};
pub use intervention::{CellLimit, by_intervention, interventions};
pub use naming::of_cell;
