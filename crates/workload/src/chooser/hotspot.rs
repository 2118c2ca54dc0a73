//! A share of the operations goes to a share of the records.

use super::uniform_item;

/// YCSB's `HotspotIntegerGenerator`: the first records are hot; inside the hot and the cold set all are equally likely.
#[derive(Debug, Clone, Copy)]
pub struct Hotspot {
    hot_records: u64,
    cold_records: u64,
    operation_fraction: f64,
}

impl Hotspot {
    /// `data_fraction` of the `records` is hot and gets `operation_fraction` of the operations (both 0..=1).
    ///
    /// A set without records (YCSB divides by zero there) leaves its operations to the other one.
    pub fn new(records: u64, data_fraction: f64, operation_fraction: f64) -> Self {
        Self::of(records, (records as f64 * data_fraction) as u64, operation_fraction)
    }

    /// So many of the `records` are hot.
    pub fn of(records: u64, hot_records: u64, operation_fraction: f64) -> Self {
        let hot_records = hot_records.min(records);
        let cold_records = records - hot_records;
        Self {
            hot_records,
            cold_records,
            operation_fraction: match (hot_records, cold_records) {
                (0, _) => 0.0,
                (_, 0) => 1.0,
                _ => operation_fraction,
            },
        }
    }

    /// The share of the choices that are one of the first `records` records.
    pub fn share_below(&self, records: u64) -> f64 {
        let of = |part: u64, all: u64| if all == 0 { 0.0 } else { part.min(all) as f64 / all as f64 };
        let cold = records.saturating_sub(self.hot_records);
        self.operation_fraction * of(records, self.hot_records)
            + (1.0 - self.operation_fraction) * of(cold, self.cold_records)
    }

    /// The record for a uniform `u` in `[0, 1)` (hot or cold) and 64 random bits (which of them).
    #[inline]
    pub fn item(&self, u: f64, random: u64) -> u64 {
        if u < self.operation_fraction {
            uniform_item(self.hot_records, random)
        } else {
            self.hot_records + uniform_item(self.cold_records, random)
        }
    }
}
