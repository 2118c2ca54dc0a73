//! Did the machines stay out of the way?

use evidence::{HostId, OtherProgram};
use serde::{Deserialize, Serialize};

/// A host's clock moved during the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// Whose clock moved most.
    pub host: HostId,
    /// Against the controller's, beyond what readings cannot tell, milliseconds.
    pub drift_ms: f64,
    /// Allowed milliseconds.
    pub threshold: f64,
}

/// Clients that share a load did not begin together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientsApart {
    /// Milliseconds between the first and the last.
    pub apart_ms: f64,
    /// Clients.
    pub clients: u64,
    /// Allowed milliseconds.
    pub threshold_ms: f64,
}

/// The hypervisor took CPU time. Shares are of the host's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuSteal {
    /// Mean of the window.
    pub steal_share: f64,
    /// Of the worst 10 s.
    pub steal_share_worst_10_s: f64,
    /// Allowed mean.
    pub threshold: f64,
    /// Allowed in any 10 s.
    pub threshold_10_s: f64,
}

/// A CPU quota that nobody asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuThrottled {
    /// Share of its periods in which the database was held back.
    pub throttled_periods_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// Programs that are no part of the run used the CPUs of a database's host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherWork {
    /// CPUs that they used.
    pub other_cpus: f64,
    /// Allowed CPUs.
    pub threshold: f64,
    /// Those that used most, where they are known.
    pub programs: Vec<OtherProgram>,
}

/// TCP segments were sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkRetransmits {
    /// For each megabyte sent.
    pub retransmits_per_mb: f64,
    /// Allowed for each megabyte.
    pub threshold_per_mb: f64,
}
