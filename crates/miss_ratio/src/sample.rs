//! A sample of a workload's keys, and in which order they are asked for.
//!
//! As in SHARDS (Waldspurger, Park, Garthwaite & Ahmad, USENIX FAST 2015), distances that are seen among the keys of a
//! sample are divided by the sample's share of all keys. SHARDS takes keys by their hash, because it knows nothing of
//! them. Here a workload's chooser states how often each key is asked for, so that one is taken of each row of keys
//! that are about as popular, and stands for them: the same share of the popular and of the unpopular ones, which
//! chance leaves to luck. And of all operations only those need be made that fall on the sample: a data set of any size
//! takes the same time.
//!
//! The most popular keys of a zipfian workload get more of the operations than a sample can hold: a third of them fall
//! on 2,500 keys, however many there are. Those that every cache holds are left out of the sample and take room in
//! WARM; what becomes of them is computed (`rules`).

use workload::chooser::{KeyChooser, ScrambledZipfian};
use workload::{Distribution, Random};

/// Most keys of a sample (practice: SHARDS is known to do with 8,192; `tests/exact.rs` holds this to caches that are
/// really run).
const MOST_KEYS: u64 = 1 << 14;
/// Scrambled ranks are looked at one by one up to so many for each record; further ones fall on all records alike.
const RANKS_PER_RECORD: u64 = 4;
/// A key that is asked for so often, in the time in which a cache is filled anew, is missed once in 3,000 times (e^8).
const ALWAYS_THERE: f64 = 8.0;
/// Least part of a cache that COLD is: what is asked for is driven out by nothing but so many other items (`segments`).
const COLD_SHARE: f64 = 0.4;
/// Most keys that are left out of the sample.
const MOST_RESIDENT: u64 = 1 << 20;

/// Keys, how popular they are, and what they stand for.
pub(crate) struct Sample {
    order: Order,
    /// Keys; their slots are counted from 0.
    pub keys: usize,
    /// How much of the keys that are not resident it holds.
    pub rate: f64,
    /// Share of the choices that falls on keys that are not resident.
    pub share: f64,
}

/// In which order keys are asked for.
enum Order {
    /// Each with its own chance: sums of these.
    ByChance(Vec<f64>),
    /// By how many keys have been added since: sums of the chances of the newest, of the one before, ...
    ByAge(Vec<f64>),
    /// One after the other.
    InTurn,
}

/// The most popular keys, which every cache holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resident {
    /// Share of the choices that each of them gets.
    pub shares: Vec<f64>,
}

impl Resident {
    /// Those of a workload that a cache of `least` items always holds, where so many records that nobody asks for are
    /// stored for each choice of a key (`unasked`). None where popularity moves with every insert (`is_growing`), or
    /// where there are so few keys that all of them are looked at.
    pub fn of(chooser: &KeyChooser, records: u64, least: f64, unasked: f64, is_growing: bool) -> Self {
        let is_skewed = matches!(chooser, KeyChooser::Zipfian(_) | KeyChooser::Latest(_));
        if !is_skewed || is_growing || records <= MOST_KEYS {
            return Self::default();
        }
        let share_of = |rank: u64| chooser.share_below(rank + 1) - chooser.share_below(rank);
        // While the last of them is asked for that often, at most so many items come to COLD: all of them, and others.
        let fits = |count: u64| {
            let time = ALWAYS_THERE / share_of(count - 1);
            count as f64 + time * (1.0 - chooser.share_below(count) + unasked) <= COLD_SHARE * least
        };
        let (mut low, mut high) = (0, MOST_RESIDENT.min(records / 2));
        while low < high {
            let middle = u64::midpoint(low, high) + 1;
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Self { shares: (0..low).map(share_of).collect() }
    }

    pub fn count(&self) -> u64 {
        self.shares.len() as u64
    }
}

impl Sample {
    /// A sample of a data set of `records` records. `random` says which unpopular keys share a popular rank.
    pub fn new(
        distribution: Distribution,
        chooser: &KeyChooser,
        records: u64,
        resident: &Resident,
        is_growing: bool,
        random: &mut Random,
    ) -> Self {
        let first = resident.count();
        let others = records - first;
        let keys = others.min(MOST_KEYS) as usize;
        let rate = keys as f64 / others as f64;
        let sampled = |order, share| Self { order, keys, rate, share };
        if distribution == Distribution::Sequential {
            return sampled(Order::InTurn, 1.0);
        }
        let chances = match distribution {
            Distribution::Zipfian { .. } => scrambled(chooser, records, first, keys, rate, random),
            _ => rows_of(chooser, first, others, keys).collect(),
        };
        let all: f64 = chances.iter().sum();
        let sums = |chances: Vec<f64>| {
            let mut sum = 0.0;
            let growing = chances.into_iter().map(|chance| {
                sum += chance;
                sum
            });
            growing.collect::<Vec<f64>>()
        };
        let share = all / (all + chooser.share_below(first));
        let is_by_age = matches!(distribution, Distribution::Latest | Distribution::Exponential { .. }) && is_growing;
        sampled(if is_by_age { Order::ByAge(sums(chances)) } else { Order::ByChance(sums(chances)) }, share)
    }

    /// The keys in an order in which they may have been asked for last, the one that was longest ago first.
    pub fn by_last_use(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.keys).collect();
        if let Order::ByChance(sums) = &self.order {
            let chance = |slot: &usize| sums[*slot] - slot.checked_sub(1).map_or(0.0, |before| sums[before]);
            slots.sort_by(|a, b| chance(a).total_cmp(&chance(b)));
        }
        slots
    }

    /// The key that is asked for next: the `turn`th of all; `newest` is the greatest slot.
    pub fn choose(&self, turn: u64, newest: usize, random: &mut Random) -> usize {
        let place = |sums: &Vec<f64>, u: f64| {
            let all = sums.last().copied().unwrap_or(0.0);
            sums.partition_point(|sum| *sum <= u * all).min(sums.len().saturating_sub(1))
        };
        match &self.order {
            Order::ByChance(sums) => place(sums, random.next_unit()),
            Order::ByAge(sums) => newest.saturating_sub(place(sums, random.next_unit())),
            Order::InTurn => (turn % self.keys as u64) as usize,
        }
    }
}

/// The chances of `count` rows of places, from the place `first` on. All are equally long, so that equal keys stay
/// equal: where a row ends within a place, it has that part of it.
fn rows_of(chooser: &KeyChooser, first: u64, places: u64, count: usize) -> impl Iterator<Item = f64> {
    let share_below = move |place: f64| {
        let whole = place.floor();
        let below = chooser.share_below(whole as u64);
        below + (place - whole) * (chooser.share_below(whole as u64 + 1) - below)
    };
    let end_of = move |row: usize| first as f64 + places as f64 * row as f64 / count as f64;
    (0..count).map(move |row| share_below(end_of(row + 1)) - share_below(end_of(row)))
}

/// The chances of keys that popular ranks are hashed to: of each row of ranks one, on a key at random, as the hash does
/// it; the ranks after them are spread evenly.
fn scrambled(chooser: &KeyChooser, records: u64, first: u64, keys: usize, rate: f64, random: &mut Random) -> Vec<f64> {
    let ranks = records.saturating_mul(RANKS_PER_RECORD).min(ScrambledZipfian::RANKS) - first;
    let count = (ranks as f64 * rate).round().max(1.0) as usize;
    let even = (1.0 - chooser.share_below(first + ranks)) / keys as f64;
    let mut chances = vec![even; keys];
    for chance in rows_of(chooser, first, ranks, count) {
        chances[(random.next_unit() * keys as f64) as usize] += chance;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_asks_for_takes_the_room_of_popular_keys() {
        let records = 1_000_000;
        let chooser = KeyChooser::new(Distribution::Zipfian { constant: 0.99 }, 0.0, records, 0);
        let resident = |unasked| Resident::of(&chooser, records, 10_000.0, unasked, false).count();
        let (none, many) = (resident(0.0), resident(9.0));
        assert!(many > 0 && many * 4 < none, "{many} of {none} keys are always there");
    }
}
