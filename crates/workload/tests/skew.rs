//! Planted distributions come back from counts of their requests, with an interval that holds them.
//!
//! The sampler shares nothing with the generators or with the fit: Zipf's law by a table of its first ranks and the
//! integral behind them, hashed by another hash.

use std::collections::HashMap;

use proptest::prelude::*;
use workload::chooser::KeyChooser;
use workload::skew::{Constant, Law, Skew, fit};
use workload::{Distribution, InsertSequence, Random, SplitMix};

/// Ranks of YCSB's scrambled zipfian keys.
const RANKS: f64 = 10_000_000_001.0;

/// Zipf's law over so many ranks, to be drawn from.
struct Zipf {
    constant: f64,
    /// Weight of the first ranks together, up to each.
    first: Vec<f64>,
    ranks: f64,
}

impl Zipf {
    fn new(constant: f64, ranks: f64) -> Self {
        let mut weight = 0.0;
        let first = (1..=4_096_u32.min(ranks as u32)).map(|rank| {
            weight += f64::from(rank).powf(-constant);
            weight
        });
        Self { constant, first: first.collect(), ranks }
    }

    /// The integral of the law from behind the first ranks to one.
    fn behind(&self, to: f64) -> f64 {
        let from = self.first.len() as f64 + 0.5;
        let power = 1.0 - self.constant;
        if power == 0.0 { (to / from).ln() } else { (to.powf(power) - from.powf(power)) / power }
    }

    fn rank(&self, random: &mut Random) -> u64 {
        let first = self.first[self.first.len() - 1];
        let drawn = random.next_unit() * (first + self.behind(self.ranks + 0.5));
        if drawn < first {
            return self.first.partition_point(|weight| *weight <= drawn) as u64 + 1;
        }
        let (from, power) = (self.first.len() as f64 + 0.5, 1.0 - self.constant);
        let at = match power == 0.0 {
            true => from * (drawn - first).exp(),
            false => (from.powf(power) + (drawn - first) * power).powf(1.0 / power),
        };
        (at + 0.5) as u64
    }
}

/// What so many requests say of so many keys, each chosen by `key`.
fn seen(requests: u64, keys: u64, seed: u64, mut key: impl FnMut(&mut Random) -> u64) -> Skew {
    let mut random = Random::from_seed(seed);
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for _ in 0..requests {
        *counts.entry(key(&mut random)).or_default() += 1;
    }
    fit(counts.into_values(), keys).unwrap()
}

/// YCSB's scrambled zipfian keys.
fn scrambled(constant: f64, requests: u64, keys: u64, seed: u64) -> Skew {
    let zipf = Zipf::new(constant, RANKS);
    seen(requests, keys, seed, |random| SplitMix(zipf.rank(random)).next_u64() % keys)
}

/// Keys that have ranks of their own.
fn over_keys(constant: f64, requests: u64, keys: u64, seed: u64) -> Skew {
    let zipf = Zipf::new(constant, keys as f64);
    seen(requests, keys, seed, |random| zipf.rank(random))
}

fn hot(requests: u64, keys: u64, (hot_keys, share): (u64, f64)) -> Skew {
    seen(requests, keys, 5, |random| match random.next_unit() < share {
        true => random.next_u64() % hot_keys,
        false => hot_keys + random.next_u64() % (keys - hot_keys),
    })
}

fn holds(constant: Constant, planted: f64) -> bool {
    (constant.low..=constant.high).contains(&planted)
}

#[test]
fn planted_constants_come_back_within_their_intervals() {
    const PLANTED: [f64; 6] = [0.0, 0.5, 0.7, 0.9, 0.99, 1.1];
    const SEEDS: u64 = 5;
    let mut held = 0;
    for planted in PLANTED {
        for seed in 0..SEEDS {
            let skew = scrambled(planted, 100_000, 20_000, seed);
            let Constant { value, low, high } = skew.zipfian;
            held += u64::from(holds(skew.zipfian, planted));
            // Never beyond twice the interval.
            assert!(
                (value - planted).abs() <= 2.0 * (high - value).max(value - low),
                "{planted}: {value}, {low} to {high}"
            );
            if planted >= 0.9 {
                assert!(high - low < 0.02, "{planted}: {low} to {high}");
                assert!(matches!(skew.best.law, Law::Zipfian { .. }), "{planted}: {skew:?}");
                assert_eq!((skew.best, skew.best.is_close()), (skew.made, true), "{planted}: {skew:?}");
            }
        }
    }
    // 95 % of 30 are 28.5; one in 1,500 such tests would have fewer than 25.
    assert!(held >= 25, "{held} of {}", PLANTED.len() as u64 * SEEDS);
}

#[test]
fn keys_that_are_alike_are_uniform_and_the_constant_that_is_not_excluded_is_stated() {
    let skew = scrambled(0.0, 100_000, 20_000, 1);
    assert_eq!((skew.best.law, skew.best.law.distribution()), (Law::Uniform, Some(Distribution::Uniform)));
    assert!(skew.best.is_close() && skew.best.gap < 0.02, "{skew:?}");
    // A scrambled zipfian of 0.5 over 10^10 ranks looks like it, one of 0.9 does not.
    assert!(skew.zipfian.low == 0.0 && (0.4..0.85).contains(&skew.zipfian.high), "{skew:?}");
}

#[test]
fn a_hot_set_is_not_called_zipfian() {
    for (requests, hot_keys, share) in [(60_000, 2_000, 0.8), (200_000, 4_000, 0.8), (60_000, 20, 0.5)] {
        let skew = hot(requests, 20_000, (hot_keys, share));
        let Law::Hotspot { data_fraction, operation_fraction } = skew.best.law else { panic!("{skew:?}") };
        assert!((data_fraction * 20_000.0 / hot_keys as f64 - 1.0).abs() < 0.1, "{skew:?}");
        assert!((operation_fraction - share).abs() < 0.02, "{skew:?}");
        assert!(skew.best.is_close() && skew.made == skew.best, "{skew:?}");
        assert!(matches!(skew.best.law.distribution(), Some(Distribution::Hotspot { .. })));
    }
}

/// Zipf's law over the keys themselves is another one than YCSB's, whose ranks are 10^10 however few keys there are.
#[test]
fn ranks_of_the_keys_themselves_are_told_from_those_of_the_generators() {
    for planted in [0.8, 0.99] {
        let skew = over_keys(planted, 60_000, 20_000, 3);
        let Law::OverKeys { constant } = skew.best.law else { panic!("{skew:?}") };
        assert!((constant.value - planted).abs() < 0.02, "{skew:?}");
        assert_eq!(skew.best.law.distribution(), None);
        assert!(skew.best.is_close() && !skew.made.is_close(), "{skew:?}");
    }
}

/// What an experiment states is what was seen: the generators' own keys, whose third and next ranks are Gray's
/// approximation, come back.
#[test]
fn keys_of_the_generators_come_back() {
    const KEYS: u64 = 20_000;
    for constant in [0.9, 0.99, 1.1] {
        let inserts = InsertSequence::starting_at(KEYS);
        let mut chooser = KeyChooser::new(Distribution::Zipfian { constant }, 0.0, KEYS, 0);
        let skew = seen(100_000, KEYS, 11, |random| chooser.next_record(&inserts, random));
        assert!((skew.zipfian.value - constant).abs() < 0.01, "{constant}: {skew:?}");
        assert!(matches!(skew.made.law, Law::Zipfian { .. }) && skew.made.is_close(), "{skew:?}");
    }
}

/// The first key has a quarter of all requests: what lies between ranks is no difference to them.
#[test]
fn a_steep_law_is_close_to_what_it_makes() {
    let skew = scrambled(1.3, 100_000, 20_000, 1);
    assert!(matches!(skew.made.law, Law::Zipfian { .. }) && skew.made.is_close(), "{skew:?}");
    assert!((skew.zipfian.value - 1.3).abs() < 0.02, "{skew:?}");
}

#[test]
fn a_law_that_nothing_has_is_not_close() {
    // Three kinds of keys, and most are never asked for: no zipfian, and not two kinds.
    let counts = (0..1_000_u64).map(|key| {
        if key < 10 {
            1_000
        } else if key < 100 {
            100
        } else {
            1
        }
    });
    let skew = fit(counts, 100_000).unwrap();
    assert!(!skew.made.is_close(), "{skew:?}");
}

#[test]
fn one_odd_key_decides_no_constant() {
    let zipf = Zipf::new(0.9, RANKS);
    let of = |odd: u64| {
        let mut number = 0;
        seen(100_000, 20_000, 7, |random| {
            number += 1;
            if number % 100 < odd { 0 } else { SplitMix(zipf.rank(random)).next_u64() % 20_000 }
        })
    };
    let (plain, odd) = (of(0).zipfian.value, of(5).zipfian.value);
    // The first of the ranks has one request in a hundred here; five would be those of a constant of 1.03.
    assert!((plain - odd).abs() < 0.05, "{plain} and {odd}");
}

#[test]
fn of_too_little_nothing_is_said() {
    assert_eq!(fit([5; 20], 99), None, "99 keys");
    assert_eq!(fit([5; 19], 1_000), None, "95 requests");
    assert!(fit([5; 20], 100).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever was counted: figures are numbers within their bounds, and what an experiment would state it takes.
    #[test]
    fn any_counts_have_a_law(counts in prop::collection::vec(1_u64..100_000, 1..300), keys in 0_u64..1_000_000) {
        let Some(skew) = fit(counts.iter().copied(), keys) else {
            prop_assert!(keys.max(counts.len() as u64) < 100 || counts.iter().sum::<u64>() < 100);
            return Ok(());
        };
        prop_assert!(skew.keys >= skew.asked && skew.asked == counts.len() as u64);
        let Constant { value, low, high } = skew.zipfian;
        prop_assert!(0.0 <= low && low <= value && value <= high && high < 2.0, "{skew:?}");
        for gap in [skew.best.gap, skew.made.gap] {
            prop_assert!((0.0..=1.0 + 1e-6).contains(&gap), "{skew:?}");
        }
        match skew.made.law.distribution() {
            Some(Distribution::Uniform) => {}
            Some(Distribution::Zipfian { constant }) => prop_assert!(constant > 0.0 && constant < 2.0, "{skew:?}"),
            Some(Distribution::Hotspot { data_fraction, operation_fraction }) => prop_assert!(
                0.0 < data_fraction && data_fraction <= operation_fraction && operation_fraction < 1.0,
                "{skew:?}"
            ),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
