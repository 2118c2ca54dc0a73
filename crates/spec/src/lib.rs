//! From an experiment file to a checked matrix and a plan.
//!
//! `parse` turns text into an [`Experiment`] or into all its mistakes at once; `plan` turns an experiment into the
//! [`Plan`] of cells and trials for a machine. Both are pure.

mod experiment;
mod plan;
mod setup;

pub use catalog::{Burst, IoLimits};
pub use experiment::{
    Configuration, Consistency, Database, Dataset, Experiment, Instance, Load, LoadLevel, LocalSettings, Target, Volume,
};
pub use plan::{Cell, Plan, PlannedTrial, TrialShape};
pub use setup::{Setup, VolumeRole, VolumeSetup};
pub use workload::{Definition, Distribution, Mix, OperationKind, ScanLength};
