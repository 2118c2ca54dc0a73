//! Words and phrases that several parts of the answer use.

/// Stands before everything else where nothing was measured.
pub const SIMULATED: &str =
    "SIMULATED: nothing here was measured; the figures come from a simulation of a stated truth.";

/// Why nothing is tested.
pub const TOO_FEW: &str = "fewer than three valid repetitions of each cell, so that nothing can be tested";
