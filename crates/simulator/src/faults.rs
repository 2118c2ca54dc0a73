//! The faults meant for one trial.

use experiment::{Fault, FaultKind, Truth};

/// Time constant of a decay where the file states none, seconds.
const DECAY_S: f64 = 600.0;

/// What goes wrong in one trial, on one node.
pub struct Faults<'a>(Vec<&'a Fault>);

impl<'a> Faults<'a> {
    /// Those of the truth that name this configuration, block and node (from 0), or none.
    pub fn of(truth: &'a Truth, configuration: &str, block: u32, node: u32) -> Self {
        let meant = |f: &&Fault| {
            f.configuration.as_ref().is_none_or(|c| c == configuration)
                && (f.blocks.is_empty() || f.blocks.contains(&block))
                && f.node.is_none_or(|n| n == node + 1)
        };
        Self(truth.fault.iter().filter(meant).collect())
    }

    /// How much of this kind, in its own unit; `None` where it is not planted.
    pub fn amount(&self, kind: FaultKind) -> Option<f64> {
        let fault = self.0.iter().find(|f| f.kind == kind)?;
        Some(fault.amount.unwrap_or_else(|| default_amount(kind)))
    }

    /// The same, with what holds without the fault.
    pub fn amount_or(&self, kind: FaultKind, without: f64) -> f64 {
        self.amount(kind).unwrap_or(without)
    }

    /// Speed against the true one, `t` seconds from the start of a measurement of `duration_s` after `warmup_s`.
    pub fn trend(&self, t: f64, warmup_s: f64, duration_s: f64) -> f64 {
        let linear = (1.0 - t / duration_s).clamp(0.0, 1.0);
        let decay = self.0.iter().find(|f| f.kind == FaultKind::Decay);
        let constant_s = decay.and_then(|f| f.seconds).unwrap_or(DECAY_S);
        (1.0 + self.amount_or(FaultKind::Drift, 0.0) * linear)
            * (1.0 + self.amount_or(FaultKind::Decay, 0.0) * (-(t + warmup_s) / constant_s).exp())
    }
}

/// What a kind's amount is where the file does not say.
fn default_amount(kind: FaultKind) -> f64 {
    match kind {
        FaultKind::Stall => 2.0,
        FaultKind::SlowDisk
        | FaultKind::OtherWork
        | FaultKind::Drift
        | FaultKind::SmallDataset
        | FaultKind::LostLatencies => 0.5,
        FaultKind::Decay => 0.35,
        FaultKind::SaturatedClient => 100.0,
        FaultKind::Steal => 0.1,
        FaultKind::Throttle | FaultKind::CompactionDebt => 0.2,
        FaultKind::GarbageCollection => 0.3,
        FaultKind::Errors => 0.01,
        FaultKind::NotFound => 0.001,
        FaultKind::ServedFromMemory | FaultKind::Restart | FaultKind::EbsExceeded => 1.0,
        FaultKind::DroppedMessages => 5.0,
        FaultKind::Retransmits => 0.02,
        FaultKind::SendLag => 20.0,
        FaultKind::FewerInFlight => 0.8,
        FaultKind::BusyNode => 1.5,
    }
}
