//! How far a run is.

use crate::progress::human_duration;

/// Where in the run a trial is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub number: usize,
    pub of: usize,
    pub eta_s: f64,
}

/// `12 of 24, about 14m 10s left`.
pub(super) fn position_text(position: Position) -> String {
    format!(
        "{} of {}, about {} left",
        position.number,
        position.of,
        human_duration(position.eta_s)
    )
}
