//! What was left of a resource while the database was not paused.
//!
//! A collection stops all threads of the database: then it asks for nothing, and what is queued at a volume is soon
//! worked off. So in a window of which a tenth are pauses nine tenths of a volume are all that there was of it.

use super::cpu;
use super::window::Window;
use crate::measurement::TrialMeasurement;
use crate::node::Node;

/// Pauses of less than this share take no more than what a full resource is off its limit anyway.
const SHORTEST: f64 = 0.02;
/// Something is left of every window, however long the database stood still in it.
const LONGEST: f64 = 0.95;

/// Share of each window in which the database stood still.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pauses {
    windows: Vec<f64>,
    mean: f64,
}

impl Pauses {
    /// Of a node; none where nobody read its collector.
    pub fn of(node: &Node<'_>) -> Self {
        let windows = cpu::host_windows(node);
        let shares: Option<Vec<f64>> = windows.iter().map(|window| window.pause_share).collect();
        Self { windows: shares.unwrap_or_default(), mean: node.host.pause_share.unwrap_or(0.0) }
    }

    /// Of a window by its place; of one that the host's counters do not have, the mean of the trial.
    pub fn in_window(&self, at: usize) -> f64 {
        counted(self.windows.get(at).copied().unwrap_or(self.mean))
    }

    /// What is common to all nodes of a trial: the client waits for all of them, and they need not stop together.
    pub fn of_all(trial: &TrialMeasurement) -> f64 {
        let shares = trial.nodes().map(|node| node.host.pause_share.unwrap_or(0.0));
        counted(shares.fold(1.0, f64::min))
    }
}

fn counted(share: f64) -> f64 {
    if share < SHORTEST { 0.0 } else { share.min(LONGEST) }
}

impl Window {
    /// The same between pauses of this share, full from a share of what was left on. What was queued may have been done
    /// in a pause: no less was there than was used.
    pub fn between(self, paused: f64, at_cap: f64) -> Self {
        let left = self.capacity * (1.0 - paused);
        Self {
            capacity: left.max(self.used).min(self.capacity),
            at_cap: self.at_cap || (paused > 0.0 && self.used >= at_cap * left),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::limit::LimitKind;

    /// (used of 1,000, paused, what was there, full)
    #[test]
    fn capacity_is_what_was_left() {
        let cases = [
            (918.0, 0.08, 920.0, true),
            (918.0, 0.0, 1000.0, false),
            (840.0, 0.08, 920.0, false),
            // A queue was worked off in the pauses.
            (960.0, 0.08, 960.0, true),
            (690.0, 0.3, 700.0, true),
            (600.0, 0.3, 700.0, false),
            (1010.0, 0.1, 1000.0, true),
        ];
        for (used, paused, left, full) in cases {
            let window = Window::at(LimitKind::VolumeIops, used, 1000.0, 0.95).between(paused, 0.95);
            assert!((window.capacity - left).abs() < 1e-9, "{used} {paused}: {window:?}");
            assert_eq!(window.at_cap, full, "{used} {paused}: {window:?}");
        }
    }
}
