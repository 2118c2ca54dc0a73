//! How many nodes of what, for a target that nobody has measured: capacity planning from measured demands.
//!
//! ```text
//! runs --observe--> Observation --fit--> Demand ----> utilisation law ----> the cheapest, and the best without doubts
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
//!
//! The same model says which configuration that was not measured may be a better choice than what leads in a run
//! ([`next_to_measure`]), and, once it was measured, how right that was ([`foretold`]).

mod candidate;
mod demand;
mod document;
mod fleet;
mod market;
mod observation;
mod page_cache;
mod search;
mod sstables;
mod sustained;
mod target;

pub use document::{
    Allowance, CacheTier, ChangeBecause, Choice, Demand, Doubt, Effort, EvidenceFacts, Fleet, FleetComparison,
    FleetDecision, FleetTotals, FleetUse, Foretold, ForetoldCell, HeldOut, Label, LeadingPlace, LeftOut, Limit,
    Measuring, NextToMeasure, NodesBecause, NotCandidates, NotPredicted, NotPredictedBecause, Note, NothingBecause,
    Obstacle, P99By, P99Unchecked, Predicted, Proposal, Range, Remark, Sizing, SstablesOfMix, Together, Undecided,
    Unmeasured, Utilisation, Worth,
};
pub use fleet::{FleetMachines, compare_fleets};
pub use search::{CacheMachine, CacheOptions, SizingError, SizingOptions, foretold, left_out, next_to_measure, size};
pub use target::{Survive, Target, TargetError};

/// More nodes are not proposed.
pub const MOST_NODES: u32 = 3000;
