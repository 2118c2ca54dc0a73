//! A simulated database with known truth: the same evidence as a real trial, in simulated time.
//!
//! Nothing here is random but by its seed, and nothing is measured: [`experiment::Truth`] says what is true, this makes
//! the histograms and the host samples that such a machine would leave, and tests ask whether the analysis finds the
//! truth again.
//!
//! ```text
//! Truth + Plan -> Simulation -> trial by trial: record, latency intervals, host samples
//!   variation   how fast CPU and device are, by trial, block, host and second
//!   share       which part of an operation falls to which node of a cluster
//!   waking      what is not at rest yet: code that is compiled, a memtable that was never flushed
//!   stops       stalls and collection pauses        faults   what goes wrong in this trial
//!   world       what an operation asks of each resource (page cache by Che's approximation)
//!   volume      limits, burst bucket, request rules
//!   closed      a fluid, cut where something changes     open   a true queue, request by request
//!   recorder    the client's histograms and counts       host   the monitor's counters
//! ```

mod agent;
mod calendar;
mod closed;
mod faults;
mod host;
mod latency;
mod noise;
mod open;
mod recorder;
mod share;
mod simulation;
mod stops;
#[cfg(test)]
mod stories;
mod variation;
mod volume;
mod waking;
mod world;

pub use agent::SimulatedHosts;
pub use simulation::{SimulatedTrial, Simulation};
