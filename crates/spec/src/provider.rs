//! Who carries an experiment out.

use serde::Serialize;

/// Who carries an experiment out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// This machine with emulated volumes.
    Local,
    /// No machine: a simulation of a stated truth.
    Simulated,
}
