//! What bounded a cell?
//!
//! ```text
//! trial --uses--> windows (used of what was really there) --typical--> uses of a cell, on each node
//!         cpu, volume                                                      | naming: each resource where it is fullest
//!                                                                          v
//!                          limit, final <--intervention: what more of it gave, elsewhere in the matrix-- limit by use
//! ```
//!
//! [`crate::document::limit`] holds the data; crate `report` puts it into words.

mod cpu;
mod ebs;
mod instance;
mod intervention;
mod naming;
mod pauses;
mod typical;
mod unlike;
mod uses;
mod volume;
mod window;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::made;

pub use crate::document::limit::{
    Counted, Intervention, InterventionOutcome, Limit, LimitKind, Resource, ResourceChange, ResourceUse, SpreadKind,
    Unit,
};
pub(crate) use ebs::{LimitsOfWindow, limits_by_window};
pub use intervention::{CellLimit, NEAR_CAP, by_intervention, interventions};
pub use naming::{at, by_use, named, of_cell};
pub use typical::{Uses, of_nodes};
pub(crate) use window::VOLUME_AT_CAP;
