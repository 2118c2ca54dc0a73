//! What goes wrong with a volume, from when to when.

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VolumeFault {
    /// Since when, seconds.
    pub from_s: f64,
    /// Until when, seconds; `None`: it does not end by itself.
    pub until_s: Option<f64>,
    /// What.
    pub effect: Effect,
}

/// What a fault does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing is answered until it is over; then everything that was due is, at once.
    Stall,
    /// Limits are divided, and service times multiplied, by this.
    Slow {
        /// From 1.
        times: f64,
    },
    /// Requests that begin in this time end with an I/O error.
    Error {
        /// Those of reads.
        reads: bool,
        /// Those of writes.
        writes: bool,
        /// First byte and the one after the last; `None`: anywhere.
        range: Option<(u64, u64)>,
        /// The share of them, 0 to 1.
        share: f64,
    },
    /// Writes that begin in this time end with "no space left on device".
    Full,
}

impl VolumeFault {
    /// Whether it is there at a moment.
    pub fn is_at(&self, moment_s: f64) -> bool {
        self.from_s <= moment_s && self.until_s.is_none_or(|until_s| moment_s < until_s)
    }
}

/// Until when what is due at a moment is held back: the moment itself where nothing stalls, infinity where it does not
/// end by itself.
pub(crate) fn held_until(faults: &[VolumeFault], moment_s: f64) -> f64 {
    let mut until_s = moment_s;
    // A stall may begin within another one and end after it.
    while let Some(stall) = faults.iter().find(|fault| matches!(fault.effect, Effect::Stall) && fault.is_at(until_s)) {
        match stall.until_s {
            Some(end_s) => until_s = end_s,
            None => return f64::INFINITY,
        }
    }
    until_s
}

/// How many times slower everything is at a moment.
pub(crate) fn slowness(faults: &[VolumeFault], moment_s: f64) -> f64 {
    let times = |fault: &VolumeFault| match fault.effect {
        Effect::Slow { times } if fault.is_at(moment_s) => Some(times),
        _ => None,
    };
    faults.iter().filter_map(times).product()
}
