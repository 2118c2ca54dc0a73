//! The writes of a client that the database has acknowledged: a copy that lacks one of them is stale.
//!
//! What is not known makes no copy stale: writes of other clients, those of rounds before the trial, and those whose
//! answer did not come. So stale reads are counted at the least.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::{ClockId, clock_gettime};

/// Parts that threads take one at a time: far more than there are load threads.
const PARTS: usize = 64;

/// When the newest acknowledged write of each record was sent, by the hash of its key; all load threads share it.
#[derive(Debug)]
pub struct Written(Vec<Mutex<HashMap<u64, u64>>>);

impl Default for Written {
    fn default() -> Self {
        Self((0..PARTS).map(|_| Mutex::default()).collect())
    }
}

impl Written {
    fn part(&self, hash: u64) -> MutexGuard<'_, HashMap<u64, u64>> {
        let part = &self.0[(hash % PARTS as u64) as usize];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write that was sent at this moment is acknowledged.
    pub fn note(&self, hash: u64, sent_ns: u64) {
        let mut part = self.part(hash);
        let newest = part.entry(hash).or_default();
        *newest = sent_ns.max(*newest);
    }

    /// When the newest write that is acknowledged by now was sent.
    pub fn newest(&self, hash: u64) -> Option<u64> {
        self.part(hash).get(&hash).copied()
    }
}

/// This machine's monotonic clock, which all of its processes share, nanoseconds.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_write_of_a_record_counts_in_whatever_order_they_are_acknowledged() {
        let written = Written::default();
        assert_eq!(written.newest(3), None);
        for sent_ns in [20, 10] {
            written.note(3, sent_ns);
        }
        // One that shares its part.
        written.note(3 + PARTS as u64, 30);
        assert_eq!((written.newest(3), written.newest(3 + PARTS as u64)), (Some(20), Some(30)));
        assert!(now_ns() > 0);
    }
}
