//! Zipfian over recency: the newest record is the most popular one.

use super::Zipfian;

/// YCSB's `SkewedLatestGenerator`: newest record minus a zipfian rank (constant 0.99).
#[derive(Debug, Clone)]
pub struct Latest {
    ranks: Zipfian,
}

impl Latest {
    /// For a data set of `records` records at the start.
    ///
    /// YCSB counts one rank less than there are records, so that the oldest is never chosen.
    pub fn new(records: u64) -> Self {
        Self { ranks: Zipfian::new(records.saturating_sub(1), 0.99) }
    }

    /// The share of the choices that are one of the `newest` records.
    pub fn share_below(&self, newest: u64) -> f64 {
        self.ranks.share_below(newest)
    }

    /// The record for a uniform `u` in `[0, 1)` while `newest` is the greatest record number that exists.
    ///
    /// A greater `newest` than before costs one power per new record.
    #[inline]
    pub fn item(&mut self, newest: u64, u: f64) -> u64 {
        self.ranks.grow_to(newest);
        newest.saturating_sub(self.ranks.item(u))
    }
}
