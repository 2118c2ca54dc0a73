//! All records in an order in which every stretch is spread evenly over them.

use crate::random::Random;

/// The golden ratio's smaller part: of all steps around a circle the one that leaves the most even gaps, however many
/// are taken (V. T. Sos, "On the distribution mod 1 of the sequence n alpha", 1958).
const STEP: f64 = 0.618_033_988_749_894_9;

/// Records `0 .. records`, each once before the first comes again: steps of one length around the circle of their
/// numbers, from a place that the seed gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvenOrder {
    records: u64,
    step: u64,
    start: u64,
}

impl EvenOrder {
    /// An order of so many records; of none it is that of one.
    pub fn new(records: u64, seed: u64) -> Self {
        let records = records.max(1);
        let mut step = ((records as f64 * STEP) as u64).max(1);
        // Only a step without a common divisor comes to all of them.
        while common_divisor(step, records) > 1 {
            step += 1;
        }
        Self { records, step, start: Random::from_seed(seed).next_u64() % records }
    }

    /// The record at a place of the order, from 0; after the last one they come again.
    pub fn record(&self, place: u64) -> u64 {
        let steps = u128::from(place % self.records) * u128::from(self.step);
        let record = (u128::from(self.start) + steps) % u128::from(self.records);
        // Below `records`.
        record as u64
    }
}

/// Euclid's.
const fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_record_comes_once_before_the_first_comes_again() {
        for records in [1, 2, 3, 10, 99, 1_000, 30_030] {
            let order = EvenOrder::new(records, 7);
            let all: BTreeSet<u64> = (0..records).map(|place| order.record(place)).collect();
            assert_eq!(all.len() as u64, records);
            assert!(all.last() < Some(&records));
            assert_eq!(order.record(records), order.record(0));
        }
        assert_ne!(EvenOrder::new(1_000, 7), EvenOrder::new(1_000, 8));
    }

    /// A sixteenth of the records, from any place: each tenth of their numbers has a tenth of it, but for two or so.
    #[test]
    fn a_stretch_is_spread_evenly() {
        let order = EvenOrder::new(300_000, 1);
        for part in 0..8_u64 {
            let mut tenths = [0_u32; 10];
            (part * 18_750..(part + 1) * 18_750).for_each(|place| tenths[(order.record(place) / 30_000) as usize] += 1);
            assert!(tenths.iter().all(|n| n.abs_diff(1_875) <= 4), "{tenths:?}");
        }
    }
}
