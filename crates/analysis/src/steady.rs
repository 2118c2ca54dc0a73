//! Which part of a trial counts: the seconds after the load has reached its steady state.
//!
//! The engine's own warm-up ends at a fixed time; whether the database had reached a steady state by then only its
//! throughput can show. The judgement is [`stats::steady_state`] on the completed operations of each second; what it
//! cuts from the start enters no figure. An insert workload has a trajectory and never a steady state; it is judged the
//! same way and its finding says so.

use stats::SteadyState;

/// The seconds of a trial that its figures come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start, seconds from the start of measurement.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// What was judged; `None` when too few seconds were recorded to judge anything.
    pub judged: Option<SteadyState>,
}

impl Window {
    /// All of so many seconds, of which nothing is judged.
    pub fn whole(measured_s: f64) -> Self {
        Self { from_s: 0.0, to_s: measured_s, judged: None }
    }
}

/// Seconds below which nothing is judged: fewer than two batches of five seconds hold no information about their own
/// start.
pub(crate) const JUDGED_FROM_S: usize = 10;

/// Judges a trial by its successful operations in each whole second. What is too short to judge counts whole; what has
/// not stabilised counts from where MSER-5 cuts it.
pub fn window(completed_by_second: &[f64], measured_s: f64) -> Window {
    let whole = Window::whole(measured_s);
    if completed_by_second.len() < JUDGED_FROM_S {
        return whole;
    }
    let judged = stats::steady_state(completed_by_second);
    Window {
        from_s: match judged.verdict {
            stats::SteadyVerdict::TooShort => 0.0,
            _ => judged.from as f64,
        },
        judged: Some(judged),
        ..whole
    }
}
