//! Zipfian ranks, and YCSB's way to spread the popular ones over all records.
//!
//! Source: J. Gray and others, "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, as coded in YCSB
//! 0.17.0 (`ZipfianGenerator`, `ScrambledZipfianGenerator`).

use crate::key::fnv_hash64;
use crate::zeta::{extend, zeta, zeta_of_large_space};

/// From a uniform number to a rank: 0 is the most popular, rank k has a weight of about 1 / (k + 1)^constant.
///
/// The first two ranks are exact, the others Gray's approximation.
#[derive(Debug, Clone)]
pub struct Zipfian {
    /// Ranks at the beginning. `grow_to` leaves it: YCSB goes on using it in `eta`.
    items: u64,
    /// Ranks now.
    current_items: u64,
    theta: f64,
    zeta_2: f64,
    zeta_n: f64,
    alpha: f64,
    eta: f64,
    /// Below this `u * zeta_n` the rank is 1 (or 0, below 1).
    second_bound: f64,
}

impl Zipfian {
    /// Over `items` ranks. Costs one power per rank the first time, at most about a second (see `zeta`).
    pub fn new(items: u64, constant: f64) -> Self {
        Self::with_zeta(items, constant, zeta(items, constant))
    }

    /// Over `items` ranks whose total weight is known.
    fn with_zeta(items: u64, constant: f64, zeta_n: f64) -> Self {
        let mut zipfian = Self {
            items,
            current_items: items,
            theta: constant,
            zeta_2: extend(0.0, 0, 2, constant),
            zeta_n,
            alpha: 1.0 / (1.0 - constant),
            eta: 0.0,
            second_bound: 1.0 + 0.5f64.powf(constant),
        };
        zipfian.update_eta();
        zipfian
    }

    fn update_eta(&mut self) {
        self.eta = (1.0 - (2.0 / self.items as f64).powf(1.0 - self.theta)) / (1.0 - self.zeta_2 / self.zeta_n);
    }

    /// Adds ranks, at one power each; fewer ranks than before are ignored, as in YCSB.
    #[inline]
    pub fn grow_to(&mut self, items: u64) {
        if items > self.current_items {
            self.zeta_n = extend(self.zeta_n, self.current_items, items, self.theta);
            self.current_items = items;
            self.update_eta();
        }
    }

    /// The rank for a uniform `u` in `[0, 1)`.
    ///
    /// Nearly always below the number of items; `u` within rounding of 1 may give the number itself, as in YCSB.
    #[inline]
    pub fn item(&self, u: f64) -> u64 {
        let weight = u * self.zeta_n;
        if weight < 1.0 {
            return 0;
        }
        if weight < self.second_bound {
            return 1;
        }
        (self.current_items as f64 * self.popularity(u)) as u64
    }

    /// The share of the ranks up to which the weight `u` reaches.
    #[inline]
    fn popularity(&self, u: f64) -> f64 {
        if self.alpha.is_finite() {
            (self.eta * u - self.eta + 1.0).powf(self.alpha)
        } else {
            // The limit for a constant of exactly 1, where alpha has a pole (YCSB returns nonsense there).
            ((2.0 / self.items as f64).ln() * (1.0 - u) / (1.0 - self.zeta_2 / self.zeta_n)).exp()
        }
    }

    /// The share of the choices that are one of the first `ranks` ranks: [`Self::item`] the other way round.
    pub fn share_below(&self, ranks: u64) -> f64 {
        let share = match ranks {
            0 => 0.0,
            1 => 1.0 / self.zeta_n,
            2 => self.second_bound / self.zeta_n,
            _ if ranks >= self.current_items => 1.0,
            _ => {
                let popularity = ranks as f64 / self.current_items as f64;
                if self.alpha.is_finite() {
                    1.0 - (1.0 - popularity.powf(1.0 - self.theta)) / self.eta
                } else {
                    let scale = (2.0 / self.items as f64).ln() / (1.0 - self.zeta_2 / self.zeta_n);
                    1.0 - popularity.ln() / scale
                }
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// Total weight of all ranks and Gray's `eta`, to be compared with YCSB's.
    pub fn zeta_and_eta(&self) -> (f64, f64) {
        (self.zeta_n, self.eta)
    }
}

/// Zipfian over a fixed space of 10^10 ranks, each hashed to a record: popular records lie anywhere.
///
/// As the space is far greater than the data set, the popularity of the head does not depend on the number of records,
/// and the long tail falls on all records alike.
#[derive(Debug, Clone)]
pub struct ScrambledZipfian {
    ranks: Zipfian,
    records: u64,
}

impl ScrambledZipfian {
    /// YCSB's only constant in practice.
    pub const CONSTANT_OF_YCSB: f64 = 0.99;
    /// `ScrambledZipfianGenerator.ZETAN`, for 0.99.
    const ZETA_OF_YCSB: f64 = 26.469_028_201_783_02;
    /// `ScrambledZipfianGenerator.ITEM_COUNT`, used as an inclusive bound: one more rank.
    pub const RANKS: u64 = 10_000_000_000 + 1;

    /// Over `records` records.
    ///
    /// YCSB carries the total weight for 0.99 as a constant, and for other constants sums 10^10 terms in several
    /// minutes. This computes the same weight at once (see `zeta`), over the same space, so that a constant of 0.98
    /// differs from
    /// 0.99 by 0.01 and not by another distribution.
    pub fn new(records: u64, constant: f64) -> Self {
        Self { ranks: Zipfian::with_zeta(Self::RANKS, constant, Self::weight(constant)), records }
    }

    /// Weight of all ranks together: rank r is chosen with probability `r^-constant / weight`.
    pub(crate) fn weight(constant: f64) -> f64 {
        if constant == Self::CONSTANT_OF_YCSB { Self::ZETA_OF_YCSB } else { zeta_of_large_space(Self::RANKS, constant) }
    }

    /// The record for a uniform `u` in `[0, 1)`; 0 when there are no records.
    #[inline]
    pub fn item(&self, u: f64) -> u64 {
        fnv_hash64(self.ranks.item(u)).checked_rem(self.records).unwrap_or(0)
    }

    /// The share of the choices that are one of the first `ranks` ranks, before they are hashed.
    pub fn share_below(&self, ranks: u64) -> f64 {
        self.ranks.share_below(ranks)
    }

    /// The rank for `u`, before it is hashed.
    pub fn rank(&self, u: f64) -> u64 {
        self.ranks.item(u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_may_be_exactly_one() {
        let (below, one, above) = (Zipfian::new(1000, 0.9999), Zipfian::new(1000, 1.0), Zipfian::new(1000, 1.0001));
        for u in [0.0, 0.2, 0.5, 0.7, 0.9, 0.999] {
            let (low, item, high) = (above.item(u), one.item(u), below.item(u));
            assert!(low <= item && item <= high, "u = {u}: {low} <= {item} <= {high}");
        }
    }

    #[test]
    fn a_constant_of_zero_is_uniform() {
        let zipfian = Zipfian::new(1000, 0.0);
        for rank in 2..1000 {
            let u = (rank as f64 + 0.5) / 1000.0;
            assert_eq!(zipfian.item(u), rank);
        }
    }

    #[test]
    fn shares_are_the_choice_the_other_way_round() {
        for constant in [0.0, 0.5, 0.99, 1.0, 1.2] {
            let zipfian = Zipfian::new(1000, constant);
            for step in 0..5000 {
                let u = (f64::from(step) + 0.5) / 5000.0;
                let rank = zipfian.item(u);
                let (below, with) = (zipfian.share_below(rank), zipfian.share_below(rank + 1));
                assert!(below <= u + 1e-9 && u <= with + 1e-9, "constant {constant}, u = {u}: {below} to {with}");
            }
            assert_eq!((zipfian.share_below(0), zipfian.share_below(1000)), (0.0, 1.0));
        }
    }

    #[test]
    fn other_constants_are_neighbours_of_the_usual_one() {
        let (usual, near) = (ScrambledZipfian::new(1000, 0.99), ScrambledZipfian::new(1000, 0.989_999));
        for step in 0..1000 {
            let u = f64::from(step) / 1000.0;
            let (a, b) = (usual.rank(u) as f64, near.rank(u) as f64);
            assert!((a - b).abs() <= 1.0 + 0.001 * a, "u = {u}: {a} and {b}");
        }
    }
}
