//! Predicted hit ratios against caches that are really run, item by item, under the operations of the load generator.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests, too")]

use std::collections::BTreeMap;
use std::sync::Arc;

use miss_ratio::{CurveError, Policy, Rules, TierCurve, hit_ratios};
use workload::{
    Definition, Distribution, Generator, InsertSequence, KeyFormat, Mix, OperationKind, StatementName, StatementShare,
};

const RECORDS: u64 = 40_000;
const ZIPFIAN: Distribution = Distribution::Zipfian { constant: 0.99 };
const HOTSPOT: Distribution = Distribution::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 };
const READS: Mix = Mix { read: 1.0, update: 0.0, insert: 0.0, scan: 0.0, read_modify_write: 0.0 };
const MIXED: Mix = Mix { read: 0.6, update: 0.2, insert: 0.0, scan: 0.1, read_modify_write: 0.1 };
/// Nobody reads what is inserted: it takes room where it is stored.
const INSERTING: Mix = Mix { update: 0.15, insert: 0.05, ..MIXED };

/// Where memcached keeps items.
const HOT: usize = 0;
const WARM: usize = 1;
const COLD: usize = 2;

/// A record in a cache.
#[derive(Clone, Copy)]
struct Cached {
    segment: usize,
    /// Its key in the order of its segment.
    place: u64,
    hits: u32,
    is_active: bool,
    stored_at: u64,
    /// Second in which it was stored or became active.
    second: u64,
}

/// A memcached of so many records, which expire so many operations after they were stored.
struct Cache {
    room: usize,
    ttl: u64,
    operations_per_s: f64,
    /// By record: their numbers follow each other.
    items: Vec<Option<Cached>>,
    held: usize,
    /// Of each segment: its records, the oldest first.
    segments: [BTreeMap<u64, u64>; 3],
    moves: u64,
}

impl Cache {
    fn new(room: usize, rules: Rules) -> Self {
        let ttl = rules.ttl_operations.map_or(u64::MAX, |ttl| ttl as u64);
        let operations_per_s = rules.operations_per_s.unwrap_or(1.0);
        Self { room, ttl, operations_per_s, items: Vec::new(), held: 0, segments: Default::default(), moves: 0 }
    }

    fn second(&self, now: u64) -> u64 {
        (now as f64 / self.operations_per_s) as u64
    }

    fn delete(&mut self, record: u64) -> Option<Cached> {
        let item = self.items.get_mut(record as usize)?.take()?;
        self.held -= 1;
        self.segments[item.segment].remove(&item.place);
        Some(item)
    }

    /// One that it does not have.
    fn put(&mut self, record: u64, item: Cached, segment: usize) {
        let at = record as usize;
        self.items.resize(self.items.len().max(at + 1), None);
        self.moves += 1;
        self.held += 1;
        self.items[at] = Some(Cached { segment, place: self.moves, ..item });
        self.segments[segment].insert(self.moves, record);
    }

    fn store(&mut self, record: u64, now: u64) {
        self.delete(record);
        if self.held == self.room {
            let oldest = [COLD, HOT, WARM].into_iter().find_map(|segment| self.oldest(segment)).unwrap();
            self.delete(oldest.0);
        }
        let (segment, place, hits, is_active, second) = (HOT, 0, 0, false, self.second(now));
        self.put(record, Cached { segment, place, hits, is_active, stored_at: now, second }, HOT);
        self.maintain(now);
    }

    fn oldest(&self, segment: usize) -> Option<(u64, Cached)> {
        self.segments[segment].first_key_value().map(|(_, record)| (*record, self.items[*record as usize].unwrap()))
    }

    fn maintain(&mut self, now: u64) {
        let (all, second) = (self.held, self.second(now));
        let cold_age = self.oldest(COLD).map_or(0, |(_, item)| second - item.second);
        for (segment, most, age) in [(HOT, all / 5, cold_age / 5), (WARM, 2 * all / 5, 2 * cold_age)] {
            while let Some((record, item)) = self.oldest(segment) {
                let is_expired = now - item.stored_at >= self.ttl;
                let leaves = self.segments[segment].len() > most || second - item.second > age;
                if !is_expired && !item.is_active && !leaves {
                    break;
                }
                self.delete(record);
                if !is_expired {
                    self.put(record, Cached { is_active: false, ..item }, if item.is_active { WARM } else { COLD });
                }
            }
        }
        while let Some((record, _)) = self.oldest(COLD).filter(|(_, item)| now - item.stored_at >= self.ttl) {
            self.delete(record);
        }
    }

    fn read(&mut self, record: u64, now: u64) -> bool {
        let second = self.second(now);
        let item = self.items.get_mut(record as usize).and_then(Option::as_mut);
        let Some(item) = item.filter(|item| now - item.stored_at < self.ttl) else {
            self.store(record, now);
            return false;
        };
        item.hits += 1;
        if item.hits > 1 && !item.is_active {
            item.second = second;
            item.is_active = item.segment != COLD;
            let item = *item;
            if item.segment == COLD {
                self.delete(record);
                self.put(record, item, WARM);
                self.maintain(now);
            }
        }
        true
    }

    fn write(&mut self, record: u64, now: u64, policy: Policy) {
        match policy {
            Policy::Aside => {}
            Policy::Invalidate => drop(self.delete(record)),
            Policy::WriteThrough => self.store(record, now),
        }
    }
}

/// Share of the reads that a cache answers, once it is full.
fn run(definition: &Definition, room: usize, rules: Rules) -> f64 {
    const BEFORE: u64 = 8 * RECORDS;
    let inserts = Arc::new(InsertSequence::starting_at(RECORDS));
    let mut operations = Generator::new(definition, 1, RECORDS, Arc::clone(&inserts), 99);
    let mut cache = Cache::new(room, rules);
    let (mut reads, mut hits) = (0_u32, 0_u32);
    for now in 0..BEFORE + 8 * RECORDS {
        let operation = operations.next_operation();
        let is_read = matches!(operation.kind, OperationKind::Read | OperationKind::ReadModifyWrite);
        let is_write = !matches!(operation.kind, OperationKind::Read | OperationKind::Scan);
        if is_read {
            let is_hit = cache.read(operation.record, now);
            if now >= BEFORE {
                reads += 1;
                hits += u32::from(is_hit);
            }
        }
        if is_write {
            cache.write(operation.record, now, rules.policy);
        }
        if operation.kind == OperationKind::Insert {
            inserts.acknowledge(operation.record);
        }
    }
    f64::from(hits) / f64::from(reads)
}

/// What a slow cache is used by: a second is short beside the time for which it keeps an item.
fn slowly(policy: Policy, ttl: Option<u64>) -> Rules {
    Rules { policy, ttl_operations: ttl.map(|ttl| ttl as f64), operations_per_s: None }
}

/// Caches of 5, 20 and 60 % of the records: predicted within one point of those that are run.
fn agrees(mix: Mix, distribution: Distribution, rules: Rules) {
    let definition = Definition::new("w", mix, distribution);
    let sizes = [0.05, 0.2, 0.6].map(|share| share * RECORDS as f64);
    let points = hit_ratios(&definition, RECORDS, &rules, &sizes).unwrap();
    for point in points {
        let real = run(&definition, point.items as usize, rules);
        println!(
            "{distribution}, {rules:?}, {:.0} % of the records: {:.4} +- {:.4}, really run {real:.4}",
            point.share_of_records * 100.0,
            point.hit_ratio,
            point.half_width
        );
        assert!((point.hit_ratio - real).abs() < 0.01, "{distribution}, {rules:?}: {point:?} against {real}");
        assert!(point.half_width < 0.01, "{point:?}");
    }
}

#[test]
fn reads_are_found_as_often_as_predicted() {
    for distribution in [Distribution::Uniform, ZIPFIAN, HOTSPOT, Distribution::Latest] {
        agrees(READS, distribution, slowly(Policy::Aside, None));
    }
}

/// Where an item is kept for less than a second nothing grows old, and popular records of zipfian keys stay longer.
#[test]
fn a_cache_that_is_asked_quickly_finds_as_often_as_predicted() {
    let quickly = Rules { operations_per_s: Some(200_000.0), ..slowly(Policy::Aside, None) };
    for distribution in [ZIPFIAN, HOTSPOT] {
        agrees(READS, distribution, quickly);
    }
    let definition = Definition::new("w", READS, ZIPFIAN);
    let of = |rules: Rules| hit_ratios(&definition, RECORDS, &rules, &[0.2 * RECORDS as f64]).unwrap()[0].hit_ratio;
    assert!(of(quickly) > of(slowly(Policy::Aside, None)) + 0.005);
}

/// An item that is older than its time is a miss though the cache is large enough for it.
#[test]
fn what_expires_is_missed() {
    for distribution in [Distribution::Uniform, ZIPFIAN, HOTSPOT] {
        agrees(READS, distribution, slowly(Policy::Aside, Some(RECORDS / 2)));
    }
    // The popular ones, too, where time is short: they are computed, not sampled.
    agrees(READS, ZIPFIAN, slowly(Policy::Aside, Some(RECORDS / 60)));
}

#[test]
fn writes_do_what_the_policy_says() {
    for policy in [Policy::Aside, Policy::Invalidate, Policy::WriteThrough] {
        agrees(MIXED, ZIPFIAN, slowly(policy, None));
        agrees(INSERTING, HOTSPOT, slowly(policy, Some(RECORDS)));
    }
}

/// Every insert is the most popular record of all until the next one.
#[test]
fn popularity_that_moves_with_inserts_is_followed() {
    // So few that the data set hardly grows while it is read.
    let mix = Mix { read: 0.998, insert: 0.002, ..Mix::default() };
    agrees(mix, Distribution::Latest, slowly(Policy::Aside, None));
    agrees(mix, Distribution::Latest, slowly(Policy::WriteThrough, None));
}

/// The record that is driven out next is the next one that is asked for: nothing is found until all of them fit.
#[test]
fn keys_in_turn_need_all_the_room() {
    let definition = Definition::new("w", READS, Distribution::Sequential);
    let rules = slowly(Policy::Aside, None);
    let sizes = [0.0, 0.9, 1.0].map(|share| share * RECORDS as f64);
    let points = hit_ratios(&definition, RECORDS, &rules, &sizes).unwrap();
    assert_eq!(points.iter().map(|point| point.hit_ratio).collect::<Vec<f64>>(), [0.0, 0.0, 1.0]);
}

#[test]
fn a_curve_rises_from_little_to_all_for_data_of_any_size() {
    for records in [1, 1000, 100_000, 5_000_000_000] {
        for distribution in [Distribution::Uniform, ZIPFIAN, HOTSPOT] {
            let definition = Definition::new("w", READS, distribution);
            let rules = slowly(Policy::Aside, None);
            let curve = TierCurve::of(&definition, records, (10, 1000), rules).unwrap();
            let ratios: Vec<f64> = curve.points.iter().map(|point| point.hit_ratio).collect();
            assert!(ratios.is_sorted(), "{records} records, {distribution}: {ratios:?}");
            assert!((ratios[ratios.len() - 1] - 1.0).abs() < 1e-9, "{records} records, {distribution}: {ratios:?}");
            assert!(curve.points.iter().all(|point| point.memory_bytes >= point.items * 1130.0), "{curve:?}");
        }
    }
}

#[test]
fn workloads_without_keys_to_cache_are_refused() {
    let rules = slowly(Policy::Invalidate, None);
    let refused =
        |definition: &Definition, records, bytes| TierCurve::of(definition, records, (10, bytes), rules).unwrap_err();
    let writes = Definition::new("w", Mix { update: 1.0, ..Mix::default() }, ZIPFIAN);
    assert_eq!(refused(&writes, 10, 100), CurveError::NothingRead("w".to_owned()));
    let reads = Definition::new("r", READS, ZIPFIAN);
    assert_eq!(refused(&reads, 0, 100), CurveError::NoRecords("r".to_owned()));
    let large = CurveError::TooLarge { workload: "r".to_owned(), record_bytes: 2_000_000 };
    assert_eq!(refused(&reads, 10, 2_000_000), large);
    let keys = KeyFormat { zero_padding: 247, ..reads.keys };
    let long = CurveError::KeyTooLong { workload: "r".to_owned(), key_bytes: 251 };
    assert_eq!(refused(&Definition { keys, ..reads.clone() }, 10, 100), long);
    let kind = OperationKind::Statement(StatementName::new("get_cart").unwrap());
    let own = StatementShare { kind, share: 1.0, reads: true, writes: false, grows: false };
    let own = Definition::of_statements("o", vec![own]);
    assert_eq!(refused(&own, 10, 100), CurveError::OwnStatements("o".to_owned()));
}
