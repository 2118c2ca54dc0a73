//! A simulated database with known truth: the same evidence as a real trial, in simulated time. A queueing model: the
//! closed loop as a fluid, the open loop request by request.
//!
//! Nothing here is random but by its seed, and nothing is measured: [`experiment::Truth`] says what is true, this makes
//! the histograms and the host samples that such a machine would leave, and tests ask whether the analysis finds the
//! truth again.
//!
//! So it must never share a formula, a threshold or a figure with those who judge evidence (`stats`, `analysis`,
//! `sizing`, `report`): what both had from one place would agree with itself, right or wrong. Mathematics that they
//! have too (the normal distribution) is here a second time, from a source that is named. What is shared does not
//! judge: the plan (`experiment`), the form of evidence (`evidence`), and one model, the hit ratios of a page cache
//! (`workload::PageCache`), from which `sizing` and the analysis of page caches reckon as well. Nor does it know agents
//! and their messages (`wire`): `provider::simulated` tells a controller what was made here.
//!
//! ```text
//! Truth + Job -> Simulation -> trial by trial: record, latency intervals, host samples
//!   variation   how fast CPU and device are, by trial, block, host and second
//!   share       which part of an operation falls to which node of a cluster
//!   waking      what is not at rest yet: code that is compiled, a memtable that was never flushed
//!   stops       stalls and collection pauses        faults   what goes wrong in this trial
//!   world       what an operation asks of each resource (page cache by Che's approximation)
//!   volume      limits, burst bucket, request rules
//!   closed      a fluid, cut where something changes     open   a true queue, request by request
//!   recorder    the client's histograms and counts       host   the monitor's counters
//! ```

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

pub use simulation::{SimulatedTrial, Simulation};
