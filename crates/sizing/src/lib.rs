//! How many nodes of what, for a target that nobody has measured: capacity planning from measured demands.
//!
//! ```text
//! runs --observe--> Observation --fit--> Demand ----> utilisation law ----> the cheapest, and the best proven one
//!                   a cell's figures     per operation   per node             label, uncertainty, limit, money
//!                        |                  |
//!                        +---- held out ----+   each configuration predicted from the others: how wrong is the model?
//! ```
//!
//! The utilisation law (Denning & Buzen 1978): a resource's utilisation is its demand per operation times the
//! throughput, so the most that a node does is the least of capacity / demand over its resources. Demands are measured;
//! reads that reach a device are scaled by the page cache's hit ratio (Che) at the new ratio of memory to data. Nothing
//! is extrapolated silently: every figure is *measured*, *interpolated* or *modelled*, what lies outside the measured
//! range is marked and says in what, and where the model fails its own held-out test (practice: median error above 15
//! %, 90th percentile above 25 %) it is not used at all.

mod candidate;
mod demand;
mod document;
mod fleet;
mod observation;
mod page_cache;
mod search;
mod sstables;
mod sustained;
mod target;

pub use document::{
    Allowance, CacheTier, ChangeBecause, Choice, Demand, Doubt, EvidenceFacts, Fleet, FleetComparison, FleetDecision,
    FleetTotals, FleetUse, HeldOut, Label, LeftOut, Limit, NodesBecause, Note, Obstacle, Proposal, Range, Remark,
    Sizing, SstablesOfMix, Undecided, Utilisation,
};
pub use fleet::compare_fleets;
pub use search::{CacheMachine, CacheOptions, SizingError, SizingOptions, size};
pub use target::{Survive, Target, TargetError};

/// More nodes are not proposed.
pub const MOST_NODES: u32 = 3000;
