//! Caches of several sizes, used by the same requests.

use crate::rules::{Policy, Rules};
use crate::stack::Stack;

/// Caches that hold a sample of the keys, whose places stand for `1 / rate` of all keys each.
pub(crate) struct Caches {
    stack: Stack,
    rules: Rules,
    /// Of each cache: how many items of the sample may lie above one that it holds. May be negative: it holds none.
    above: Vec<f64>,
    /// When an item was stored in each of the caches: of slot s in cache c at `s x caches + c`.
    stored_at: Vec<f64>,
    /// Of each cache: reads that found what they asked for.
    hits: Vec<f64>,
    reads: f64,
}

impl Caches {
    /// Caches for so many items of the sample each.
    pub fn new(above: Vec<f64>, rules: Rules) -> Self {
        let hits = vec![0.0; above.len()];
        Self { stack: Stack::default(), rules, above, stored_at: Vec::new(), hits, reads: 0.0 }
    }

    /// A read at a time, counted in operations: what is not there is stored.
    pub fn read(&mut self, slot: usize, now: f64) {
        let above = self.stack.touch(slot).map(|depth| (depth - 1) as f64);
        let ttl = self.rules.ttl_operations.unwrap_or(f64::INFINITY);
        let first = self.room_for(slot);
        let stored_at = &mut self.stored_at[first..first + self.above.len()];
        for ((most, stored_at), hits) in self.above.iter().zip(stored_at).zip(&mut self.hits) {
            if above.is_some_and(|above| above <= *most) && now - *stored_at < ttl {
                *hits += 1.0;
            } else {
                *stored_at = now;
            }
        }
        self.reads += 1.0;
    }

    /// A write at a time.
    pub fn write(&mut self, slot: usize, now: f64) {
        match self.rules.policy {
            Policy::Aside => {}
            Policy::Invalidate => self.stack.remove(slot),
            Policy::WriteThrough => self.store(slot, now),
        }
    }

    /// Stores an item that somebody has.
    pub fn store(&mut self, slot: usize, now: f64) {
        self.stack.touch(slot);
        let first = self.room_for(slot);
        self.stored_at[first..first + self.above.len()].fill(now);
    }

    /// Forgets what was counted, not what is stored.
    pub fn count_from_here(&mut self) {
        self.hits.fill(0.0);
        self.reads = 0.0;
    }

    /// Hit ratio of each cache; 0 where nothing was read.
    pub fn hit_ratios(&self) -> Vec<f64> {
        self.hits.iter().map(|hits| hits / self.reads.max(1.0)).collect()
    }

    /// Where the times of a slot begin.
    fn room_for(&mut self, slot: usize) -> usize {
        let caches = self.above.len();
        if self.stored_at.len() < (slot + 1) * caches {
            self.stored_at.resize((slot + 1) * caches, f64::NEG_INFINITY);
        }
        slot * caches
    }
}
