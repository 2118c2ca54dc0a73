//! When the requests of an open loop arrive.

use serde::{Deserialize, Serialize};

/// How the arrivals of an open loop follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Constant gaps.
    Constant,
    /// Exponential gaps: a Poisson process.
    Poisson,
    /// As a recording has them; its rate is a mean.
    Recorded,
}
