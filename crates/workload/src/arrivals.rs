//! When the requests of an open loop arrive.

use serde::{Deserialize, Serialize};

/// How the arrivals of an open loop follow each other. JSON says whether they are a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Arrivals {
    /// Constant gaps.
    Constant,
    /// Exponential gaps: a Poisson process.
    Poisson,
}

impl From<bool> for Arrivals {
    fn from(poisson: bool) -> Self {
        if poisson { Self::Poisson } else { Self::Constant }
    }
}

impl From<Arrivals> for bool {
    fn from(arrivals: Arrivals) -> Self {
        arrivals == Arrivals::Poisson
    }
}
