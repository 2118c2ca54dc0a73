//! A trial second by second, as the client saw it: what shows that a server stood still.

use std::collections::BTreeMap;

use evidence::{LatencyCounts, OperationKind};

/// One second of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Second {
    /// Operations completed without error.
    pub completed: u64,
    /// The longest response time among them, microseconds; 0 when none completed.
    pub longest_us: u64,
    /// Responses that took more than half as long as the longest. After a stop of the server they are many: all that
    /// waited.
    pub late: u64,
}

/// Seconds by number from the start of measurement, each by kind of operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(BTreeMap<(i64, OperationKind), Second>);

impl Progress {
    /// Takes in the response times of `second`.
    pub fn add(&mut self, second: i64, kind: OperationKind, responses: &LatencyCounts) {
        if second < 0 || responses.is_empty() {
            return;
        }
        let longest_us = responses.longest_us();
        let part = self.0.entry((second, kind)).or_default();
        // A second may come in two intervals; what is late is counted in the one with the longest response.
        if longest_us > part.longest_us {
            part.longest_us = longest_us;
            part.late = responses.at_least(longest_us / 2 + 1);
        }
        part.completed += responses.len();
    }

    /// The whole seconds of a measurement of `measured_s`; the last, partial one is left out: its count is not that of
    /// a second.
    pub fn seconds(&self, measured_s: f64) -> Vec<Second> {
        let mut seconds = vec![Second::default(); measured_s.max(0.0) as usize];
        for ((second, _), part) in &self.0 {
            let Some(all) = usize::try_from(*second).ok().and_then(|s| seconds.get_mut(s)) else { continue };
            all.completed += part.completed;
            // Of a kind that is much faster than the slowest nothing is late by the slowest one's measure.
            if part.longest_us > 2 * all.longest_us {
                (all.longest_us, all.late) = (part.longest_us, part.late);
            } else if 2 * part.longest_us > all.longest_us {
                all.longest_us = all.longest_us.max(part.longest_us);
                all.late += part.late;
            }
        }
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[(u64, u64)]) -> LatencyCounts {
        let mut histogram = evidence::empty_histogram();
        for (value, count) in values {
            histogram.record_n(*value, *count).unwrap();
        }
        LatencyCounts::of(&histogram)
    }

    #[test]
    fn kinds_are_added_and_only_what_is_slow_by_the_slowest_measure_is_late() {
        let mut progress = Progress::default();
        progress.add(-1, OperationKind::Read, &histogram(&[(9_000_000, 5)]));
        progress.add(0, OperationKind::Read, &histogram(&[(1_000, 90), (800_000, 10)]));
        progress.add(0, OperationKind::Update, &histogram(&[(1_000, 20)]));
        progress.add(2, OperationKind::Update, &histogram(&[(1_000, 7)]));
        progress.add(3, OperationKind::Update, &histogram(&[(1_000, 7)]));
        let seconds = progress.seconds(3.4);
        assert_eq!(seconds.len(), 3, "the partial last second is left out");
        assert_eq!((seconds[0].completed, seconds[0].late), (120, 10));
        assert!((799_000..=801_000).contains(&seconds[0].longest_us), "{}", seconds[0].longest_us);
        assert_eq!(seconds[1], Second::default());
        assert_eq!((seconds[2].completed, seconds[2].late), (7, 7));
    }
}
