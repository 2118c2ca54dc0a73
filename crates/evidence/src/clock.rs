//! A host's clock beside the controller's.
//!
//! A reading is one question and its answer: the controller notes when it asked and when the answer came, the host says
//! what its clock showed in between. The clock's offset is then known to half of the round trip (Cristian, Distributed
//! Computing 3, 1989); of several readings the one with the shortest round trip is kept.

use serde::{Deserialize, Serialize};

/// A host's clock, read once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockReading {
    /// The host's clock less the controller's, milliseconds.
    pub offset_ms: f64,
    /// From the question to its answer, milliseconds; the offset is known to half of this.
    pub round_trip_ms: f64,
}

impl ClockReading {
    /// From the controller's clock when it asked and when the answer came, and what the host's clock showed, all in
    /// Unix milliseconds.
    pub fn new(asked_ms: f64, answered_ms: f64, shown_ms: f64) -> Self {
        Self { offset_ms: shown_ms - (asked_ms + answered_ms) / 2.0, round_trip_ms: answered_ms - asked_ms }
    }

    /// The more certain of two.
    pub fn better(self, other: Self) -> Self {
        if other.round_trip_ms < self.round_trip_ms { other } else { self }
    }
}

/// A host's clock around a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Before the load began.
    pub start: ClockReading,
    /// After the load had ended; `None` where the host did not answer any more.
    pub end: Option<ClockReading>,
}

impl Clock {
    /// How far it moved against the controller's clock from start to end, milliseconds, less what the readings cannot
    /// resolve; 0 where all of it may be their uncertainty.
    pub fn drift_ms(&self) -> Option<f64> {
        let end = self.end?;
        let moved = (end.offset_ms - self.start.offset_ms).abs();
        let unknown = (end.round_trip_ms + self.start.round_trip_ms) / 2.0;
        Some((moved - unknown).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, ClockReading};

    #[test]
    fn an_offset_is_judged_from_the_middle_of_the_round_trip_and_drift_beyond_what_is_uncertain() {
        let start = ClockReading::new(1_000.0, 1_010.0, 1_205.0);
        assert_eq!((start.offset_ms, start.round_trip_ms), (200.0, 10.0));
        assert_eq!(start.better(ClockReading::new(0.0, 4.0, 0.0)).round_trip_ms, 4.0);
        let end = |offset_ms| Clock { start, end: Some(ClockReading { offset_ms, round_trip_ms: 30.0 }) };
        assert_eq!(end(219.0).drift_ms(), Some(0.0));
        assert_eq!(end(100.0).drift_ms(), Some(80.0));
        assert_eq!(Clock { start, end: None }.drift_ms(), None);
    }
}
