//! What is analysed.

use evidence::{DataSetOrigin, ModifiedVolume, RateProbe};
use experiment::{Plan, Setups};

use crate::document::SkippedCell;
use crate::measurement::TrialMeasurement;

/// The evidence of a run, trials already measured.
#[derive(Debug, Clone)]
pub struct RunEvidence<'a> {
    /// Name of the run directory.
    pub run: String,
    /// The frozen plan.
    pub plan: &'a Plan,
    /// What the provider made of the plan's configurations.
    pub setups: &'a Setups,
    /// The frozen host facts (`environment.json`).
    pub environment: serde_json::Value,
    /// The trials in place, in any order.
    pub trials: &'a [TrialMeasurement],
    /// What searches for the highest rate have tried.
    pub probes: &'a [RateProbe],
    /// Where its data sets were restored from; empty: they were loaded.
    pub origins: &'a [DataSetOrigin],
    /// Modifications of volumes of EBS, in the order in which they were asked for.
    pub modifications: &'a [ModifiedVolume],
    /// Cells of which the user wanted no more trials: the plan has those in place alone.
    pub skipped: &'a [SkippedCell],
}
