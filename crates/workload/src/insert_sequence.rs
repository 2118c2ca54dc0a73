//! The next record number to insert, and up to which number records are known to exist.
//!
//! Inserts finish out of order. A reader may only ask for a record whose insert, and every insert before it, has been
//! acknowledged; otherwise the benchmark would read records that are not there yet. This is YCSB's
//! `AcknowledgedCounterGenerator` (0.17.0), with one repair: there, an acknowledgement that arrives while another
//! thread moves the watermark may stay uncounted until the next one; here the moving thread looks again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Inserts that may be unacknowledged at once (YCSB: 2^20).
const WINDOW: u64 = 1 << 20;

/// Record numbers of one data set, shared by all load threads.
///
/// Every claimed number must be acknowledged, after a failed insert too (as YCSB does in its `finally` block): a number
/// that is never acknowledged holds the watermark where it is for ever.
#[derive(Debug)]
pub struct InsertSequence {
    next: AtomicU64,
    /// Records `0 .. existing` are known to exist.
    existing: AtomicU64,
    /// One bit per number in `existing .. existing + WINDOW`: acknowledged, but something before it is not.
    acknowledged: Box<[AtomicU64]>,
    /// Held by the one thread that moves the watermark.
    moving: AtomicBool,
    /// Position of the sequential key chooser, which YCSB's threads share as well.
    sequential: AtomicU64,
}

impl InsertSequence {
    /// A sequence for a data set whose records `0 .. records` have been loaded.
    pub fn starting_at(records: u64) -> Self {
        Self {
            next: AtomicU64::new(records),
            existing: AtomicU64::new(records),
            acknowledged: (0..WINDOW / 64).map(|_| AtomicU64::new(0)).collect(),
            moving: AtomicBool::new(false),
            sequential: AtomicU64::new(0),
        }
    }

    /// The next unused record number.
    pub fn claim(&self) -> u64 {
        self.next.fetch_add(1, SeqCst)
    }

    /// Reports that the insert of a claimed record has ended.
    ///
    /// A number more than 2^20 above the watermark cannot be remembered and is lost (YCSB throws "Too many
    /// unacknowledged insertion keys"): the watermark then stops below it, which keeps readers on records that exist.
    pub fn acknowledge(&self, record: u64) {
        let existing = self.existing.load(SeqCst);
        if record < existing || record - existing >= WINDOW {
            return;
        }
        let (word, bit) = self.slot(record);
        word.fetch_or(bit, SeqCst);
        // Whoever holds `moving` looks at the next bit again after letting go, so an acknowledgement that finds it
        // taken cannot be overlooked.
        while self.is_waiting() && !self.moving.swap(true, SeqCst) {
            let mut existing = self.existing.load(SeqCst);
            loop {
                let (word, bit) = self.slot(existing);
                if word.load(SeqCst) & bit == 0 {
                    break;
                }
                word.fetch_and(!bit, SeqCst);
                existing += 1;
                self.existing.store(existing, SeqCst);
            }
            self.moving.store(false, SeqCst);
        }
    }

    /// The greatest record number below which every record is known to exist; 0 also when there is none at all.
    #[inline]
    pub fn newest(&self) -> u64 {
        self.existing().saturating_sub(1)
    }

    /// How many records are known to exist, counted without gaps from 0.
    #[inline]
    pub fn existing(&self) -> u64 {
        self.existing.load(SeqCst)
    }

    /// The next position of the sequential key chooser, counted over all threads.
    pub(crate) fn next_sequential(&self) -> u64 {
        self.sequential.fetch_add(1, SeqCst)
    }

    /// Whether the record just above the watermark has been acknowledged.
    fn is_waiting(&self) -> bool {
        let (word, bit) = self.slot(self.existing.load(SeqCst));
        word.load(SeqCst) & bit != 0
    }

    fn slot(&self, record: u64) -> (&AtomicU64, u64) {
        let position = record % WINDOW;
        (&self.acknowledged[(position / 64) as usize], 1 << (position % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_watermark_waits_for_the_slowest_insert() {
        let sequence = InsertSequence::starting_at(100);
        assert_eq!(sequence.newest(), 99);
        let claimed: Vec<u64> = (0..4).map(|_| sequence.claim()).collect();
        assert_eq!(claimed, [100, 101, 102, 103]);
        sequence.acknowledge(102);
        sequence.acknowledge(101);
        assert_eq!(sequence.newest(), 99);
        sequence.acknowledge(100);
        assert_eq!(sequence.newest(), 102);
        sequence.acknowledge(102);
        assert_eq!(sequence.newest(), 102, "a second acknowledgement changes nothing");
    }

    #[test]
    fn more_than_a_window_passes_through() {
        let sequence = InsertSequence::starting_at(0);
        for _ in 0..WINDOW + 1000 {
            sequence.acknowledge(sequence.claim());
        }
        assert_eq!(sequence.newest(), WINDOW + 999);
    }

    #[test]
    fn a_number_outside_the_window_does_not_pretend_to_be_another() {
        let sequence = InsertSequence::starting_at(10);
        sequence.acknowledge(10 + WINDOW);
        assert_eq!(sequence.newest(), 9);
    }

    #[test]
    fn threads_lose_no_acknowledgement() {
        let sequence = Arc::new(InsertSequence::starting_at(1));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let sequence = Arc::clone(&sequence);
                scope.spawn(move || {
                    let mut held = Vec::new();
                    for round in 0..20_000 {
                        held.push(sequence.claim());
                        if round % 7 == 0 {
                            held.drain(..).rev().for_each(|record| sequence.acknowledge(record));
                        }
                    }
                    held.into_iter().for_each(|record| sequence.acknowledge(record));
                });
            }
        });
        assert_eq!(sequence.newest(), 80_000);
    }
}
