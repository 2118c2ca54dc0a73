//! What generators produce: shares and popularity within wide statistical bounds (fixed seeds), and rules that hold
//! always.

use std::sync::Arc;

use proptest::prelude::*;
use workload::{Definition, Distribution, Generator, InsertSequence, Mix, Operation, OperationKind, ScanLength};

fn definition(mix: Mix, distribution: Distribution) -> Definition {
    let scan_length = ScanLength { min: 3, max: 30, zipfian: false };
    Definition { scan_length, ..Definition::new("test", mix, distribution) }
}

const READS: Mix = Mix { read: 1.0, update: 0.0, insert: 0.0, scan: 0.0, read_modify_write: 0.0 };

fn generator(definition: &Definition, records: u64, seed: u64) -> (Generator, Arc<InsertSequence>) {
    let inserts = Arc::new(InsertSequence::starting_at(records));
    (Generator::new(definition, 10, records, Arc::clone(&inserts), seed), inserts)
}

/// How often each of 1,000 records is read in 200,000 reads.
fn popularity(distribution: Distribution) -> Vec<f64> {
    let (mut generator, _) = generator(&definition(READS, distribution), 1000, 42);
    let mut counts = vec![0.0; 1000];
    for _ in 0..200_000 {
        counts[generator.next_operation().record as usize] += 1.0 / 200_000.0;
    }
    counts
}

#[test]
fn kinds_come_in_their_proportions() {
    let mix = Mix { read: 0.5, update: 0.2, insert: 0.05, scan: 0.15, read_modify_write: 0.1 };
    let (mut generator, inserts) = generator(&definition(mix, Distribution::Zipfian { constant: 0.99 }), 1000, 1);
    let mut counts = [0u32; 5];
    for _ in 0..100_000 {
        let operation = generator.next_operation();
        counts[OperationKind::YCSB.iter().position(|kind| *kind == operation.kind).unwrap()] += 1;
        if operation.kind == OperationKind::Insert {
            inserts.acknowledge(operation.record);
        }
    }
    for (kind, count) in OperationKind::YCSB.into_iter().zip(counts) {
        // Four standard deviations of the widest binomial here: 0.0063.
        assert!((f64::from(count) / 1e5 - mix.share(kind)).abs() < 0.0064, "{kind:?} {count}");
    }
}

#[test]
fn uniform_and_sequential_reach_all_records_alike() {
    for distribution in [Distribution::Uniform, Distribution::Sequential] {
        let counts = popularity(distribution);
        // 200 reads of each expected, standard deviation 14.
        assert!(counts.iter().all(|share| (share - 0.001).abs() < 0.0004), "{distribution:?}");
    }
}

#[test]
fn the_most_popular_record_of_zipfian_has_one_part_in_its_total_weight() {
    let mut counts = popularity(Distribution::Zipfian { constant: 0.99 });
    // Rank 0 has 1/26.469 of the draws; the tail of 10^10 ranks falls on all records alike.
    counts.sort_by(f64::total_cmp);
    assert!((counts[999] - 1.0 / 26.469).abs() < 0.004, "{}", counts[999]);
    assert!(counts[0] > 0.0001, "the least popular record is still read: {}", counts[0]);
    let top_tenth: f64 = counts[900..].iter().sum();
    assert!((0.2..0.5).contains(&top_tenth), "{top_tenth}");
}

#[test]
fn a_greater_zipfian_constant_is_more_skewed() {
    let hottest = |constant| popularity(Distribution::Zipfian { constant }).into_iter().fold(0.0, f64::max);
    let shares: Vec<f64> = [0.5, 0.9, 0.99, 1.0, 1.2].into_iter().map(hottest).collect();
    assert!(shares.is_sorted(), "{shares:?}");
    // zeta(1.2) over the space is 5.54: 18 % of the reads go to one record.
    assert!((shares[4] - 1.0 / 5.54).abs() < 0.01, "{shares:?}");
}

#[test]
fn hotspot_gives_its_share_to_the_first_records() {
    let counts = popularity(Distribution::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 });
    let hot: f64 = counts[..200].iter().sum();
    assert!((hot - 0.8).abs() < 0.005, "{hot}");
}

#[test]
fn exponential_gives_its_percentile_to_the_newest_fraction() {
    let counts = popularity(Distribution::Exponential { percentile: 95.0, fraction: 0.5 });
    let newest: f64 = counts[500..].iter().sum();
    // Draws beyond the oldest record (0.25 % here) are drawn again.
    assert!((newest - 0.95 / 0.9975).abs() < 0.005, "{newest}");
}

#[test]
fn latest_prefers_the_newest_and_follows_inserts() {
    let counts = popularity(Distribution::Latest);
    assert!(counts[999] > counts[998] && counts[998] > counts[990] && counts[990] > counts[500]);
    let (mut generator, inserts) = generator(&definition(READS, Distribution::Latest), 1000, 3);
    for _ in 0..500 {
        inserts.acknowledge(inserts.claim());
    }
    let newest = (0..10_000).filter(|_| generator.next_operation().record == 1499).count();
    // 1/zeta(1499, 0.99) = 0.122
    assert!((1000..1500).contains(&newest), "{newest}");
}

#[test]
fn threads_share_one_sequential_walk() {
    let definition = definition(READS, Distribution::Sequential);
    let (mut first, inserts) = generator(&definition, 5, 1);
    let mut second = Generator::new(&definition, 10, 5, inserts, 2);
    let walk: Vec<u64> = (0..4).flat_map(|_| [first.next_operation().record, second.next_operation().record]).collect();
    assert_eq!(walk, [0, 1, 2, 3, 4, 0, 1, 2]);
}

#[test]
fn inserted_records_come_into_play_once_acknowledged() {
    let mix = Mix { read: 0.5, insert: 0.5, ..Mix::default() };
    let definition = definition(mix, Distribution::Zipfian { constant: 0.99 });
    let (generator, inserts) = generator(&definition, 100, 8);
    let mut generator = generator.with_expected_operations(2_000);
    let (mut held, mut reached) = (Vec::new(), 0);
    for _ in 0..2_000 {
        let operation = generator.next_operation();
        if operation.kind == OperationKind::Insert {
            held.push(operation.record);
            if held.len() == 20 {
                held.drain(..).rev().for_each(|record| inserts.acknowledge(record));
            }
        } else {
            assert!(operation.record <= inserts.newest());
            reached = reached.max(operation.record);
        }
    }
    assert!(reached > 900, "{reached}");
}

#[test]
fn inserts_into_an_empty_data_set() {
    let (mut generator, _) = generator(&definition(Mix { insert: 1.0, ..Mix::default() }, Distribution::Latest), 0, 1);
    let records: Vec<u64> = (0..3).map(|_| generator.next_operation().record).collect();
    assert_eq!(records, [0, 1, 2]);
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        (0.0..1.5f64).prop_map(|constant| Distribution::Zipfian { constant }),
        Just(Distribution::Latest),
        (0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(data_fraction, operation_fraction)| Distribution::Hotspot {
            data_fraction,
            operation_fraction
        }),
        (0.0..=100.0f64, 0.0..=1.0f64)
            .prop_map(|(percentile, fraction)| Distribution::Exponential { percentile, fraction }),
        Just(Distribution::Sequential),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the setting, nothing is read that is not known to exist, fields and lengths are in range, and the call
    /// returns.
    #[test]
    fn only_existing_records_are_asked_for(
        distribution in any_distribution(),
        records in 1..5_000u64,
        shares in proptest::array::uniform5(0.0..1.0f64),
        fields in 1..20u32,
        seed: u64,
    ) {
        let [read, update, insert, scan, read_modify_write] = shares;
        let mut definition = definition(Mix { read, update, insert, scan, read_modify_write }, distribution);
        definition.read_all_fields = seed.is_multiple_of(2);
        let inserts = Arc::new(InsertSequence::starting_at(records));
        let mut generator = Generator::new(&definition, fields, records, Arc::clone(&inserts), seed);
        for _ in 0..200 {
            let Operation { kind, record, field, scan_records } = generator.next_operation();
            prop_assert!(field.is_none_or(|field| field < fields));
            if kind == OperationKind::Insert {
                prop_assert_eq!(field, None);
                if seed % 3 > 0 {
                    inserts.acknowledge(record);
                }
            } else {
                prop_assert!(record <= inserts.newest());
            }
            prop_assert_eq!(kind == OperationKind::Scan, scan_records > 0);
            prop_assert!(scan_records == 0 || (3..=30).contains(&scan_records));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_operations(distribution in any_distribution(), seed: u64) {
        let mix = Mix { read: 0.4, update: 0.4, insert: 0.1, scan: 0.1, ..Mix::default() };
        let definition = definition(mix, distribution);
        let run = |seed| {
            let (mut generator, _) = generator(&definition, 300, seed);
            (0..50).map(|_| generator.next_operation()).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(seed), run(seed));
        prop_assert_ne!(run(seed), run(seed ^ 1));
    }

    #[test]
    fn any_text_is_parsed_or_refused_without_panic(text in "[a-z=:\\\\u0-9 \r\n\t#!é.]{0,200}") {
        if let Err(error) = workload::parse_ycsb("w", &text) {
            prop_assert!(text.get(error.span.clone()).is_some(), "{:?} in {:?}", error, text);
        }
    }
}
