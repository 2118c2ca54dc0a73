//! Caches of several sizes, used by the same requests.

use crate::rules::{Policy, Rules};
use crate::segments::Segments;

/// Caches that hold a sample of the keys.
pub(crate) struct Caches {
    caches: Vec<Segments>,
    policy: Policy,
    /// Of each cache: reads that found what they asked for.
    hits: Vec<f64>,
    reads: f64,
}

impl Caches {
    /// Caches with room for so many items of the sample each, beside so many that are always there.
    pub fn new(rooms: &[u64], resident: u64, rules: &Rules) -> Self {
        let caches: Vec<Segments> = rooms.iter().map(|room| Segments::new(*room, resident, rules)).collect();
        Self { hits: vec![0.0; caches.len()], caches, policy: rules.policy, reads: 0.0 }
    }

    /// A read at a time, counted in operations: what is not there is stored.
    pub fn read(&mut self, slot: usize, now: f64) {
        for (cache, hits) in self.caches.iter_mut().zip(&mut self.hits) {
            if cache.read(slot, now) {
                *hits += 1.0;
            }
        }
        self.reads += 1.0;
    }

    /// A write at a time.
    pub fn write(&mut self, slot: usize, now: f64) {
        match self.policy {
            Policy::Aside => {}
            Policy::Invalidate => self.caches.iter_mut().for_each(|cache| cache.remove(slot)),
            Policy::WriteThrough => self.store(slot, now),
        }
    }

    /// Stores an item that somebody has.
    pub fn store(&mut self, slot: usize, now: f64) {
        self.caches.iter_mut().for_each(|cache| cache.store(slot, now));
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
}
