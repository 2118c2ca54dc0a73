//! One resource in one window, and what is watched: the values that all readers of uses share.

use evidence::VolumeRole;

use crate::dimension::Dimension;
use crate::document::limit::{Counted, LimitKind, Unit};

/// A volume is at its cap in a 10 s window when it does at least this share of its limit (practice: >= 95 %).
pub const VOLUME_AT_CAP: f64 = 0.95;

/// One resource in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Which limit it is when it is full.
    pub kind: LimitKind,
    pub used: f64,
    /// What was there to be used.
    pub capacity: f64,
    pub at_cap: bool,
}

impl Window {
    /// At its cap from a share of its capacity on.
    pub fn at(kind: LimitKind, used: f64, capacity: f64, at_cap: f64) -> Self {
        Self { kind, used, capacity, at_cap: used >= at_cap * capacity }
    }

    /// used / capacity.
    pub fn share(&self) -> f64 {
        self.used / self.capacity
    }
}

/// What is watched. The order has no meaning but that of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watched {
    /// Requests or bytes of a volume, counted in one of the ways in which volumes count.
    Volume(VolumeRole, Dimension, Counted),
    /// Requests or bytes of all volumes that share the path of their instance.
    Instance(Dimension),
    Cpu,
    Gc,
    /// Load threads.
    Client,
    /// Debt of compactions.
    Compaction,
    /// CPUs of the caches in front of the database.
    CacheTier,
    /// Open loop: the rate.
    OfferedRate,
}

/// The unit of a rate.
pub fn unit_of(dimension: Dimension) -> Unit {
    match dimension {
        Dimension::Requests => Unit::Iops,
        Dimension::Bytes => Unit::BytesPerS,
    }
}

impl Watched {
    /// The same resource, in whichever way it is counted.
    pub fn resource(self) -> Self {
        match self {
            Self::Volume(role, dimension, _) => Self::Volume(role, dimension, Counted::Reads),
            other => other,
        }
    }

    /// Unit of used and capacity.
    pub fn unit(self) -> Unit {
        match self {
            Self::Volume(_, dimension, _) | Self::Instance(dimension) => unit_of(dimension),
            Self::Cpu | Self::CacheTier => Unit::Cpus,
            Self::Gc => Unit::Share,
            Self::Client => Unit::CpuS,
            Self::Compaction => Unit::Grown,
            Self::OfferedRate => Unit::OpsPerS,
        }
    }
}
