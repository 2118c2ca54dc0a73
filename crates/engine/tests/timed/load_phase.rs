//! The load phase: every record once, whatever fails on the way.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{EngineError, ErrorKind, LoadPlan};
use workload::KeyFormat;

use crate::fake::Fake;

fn plan(threads: u32) -> LoadPlan {
    LoadPlan {
        first_record: 100,
        records: 5000,
        fields: 3,
        field_length: 12,
        compressibility: 0.0,
        keys: KeyFormat::default(),
        concurrency: 64,
        threads,
        seed: 5,
        overwrites_of: None,
        own_rows: false,
    }
}

fn load(fake: &Fake, plan: &LoadPlan) -> Result<engine::LoadOutcome, EngineError> {
    engine::run_load(fake, plan, &mut |_| {}, &false.into())
}

#[test]
fn every_record_of_the_range_is_inserted_once_although_some_inserts_fail() {
    let fake = Fake::new(|call, _| {
        (Duration::from_micros(100), if call % 50 == 7 { Err(ErrorKind::WriteTimeout) } else { Ok(()) })
    });
    let outcome = load(&fake, &plan(2)).unwrap();
    assert_eq!(outcome.records, 5000);
    assert!(outcome.retries > 50);
    assert_eq!(outcome.errors[&ErrorKind::WriteTimeout], outcome.retries);

    let mut expected: Vec<String> = (100..5100)
        .map(|record| {
            let mut key = String::new();
            workload::write_key(record, KeyFormat::default(), &mut key);
            key
        })
        .collect();
    expected.sort();
    let inserted = fake.inserted();
    assert_eq!(inserted.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), expected);
    assert!(inserted.iter().all(|(_, values)| values.len() == 3 && values.iter().all(|v| v.len() == 12)));
}

#[test]
fn rows_of_ones_own_are_written_until_there_are_none_and_no_counter_twice() {
    let own = LoadPlan { own_rows: true, concurrency: 1, ..plan(1) };
    let fake = Fake::answering_after(Duration::ZERO);
    assert_eq!(load(&fake, &own).unwrap().records, 500);
    let failing = Fake::new(|call, _| (Duration::ZERO, if call == 99 { Err(ErrorKind::WriteTimeout) } else { Ok(()) }));
    let error = load(&failing, &own).unwrap_err();
    assert!(matches!(error, EngineError::Insert { attempts: 1, .. }), "{error}");
    assert!(error.to_string().contains("the last with write_timeout (two replicas sleep);"), "{error}");
    assert_eq!(failing.calls(), 100);
}

#[test]
fn the_same_plan_writes_the_same_data_set_on_any_number_of_threads() {
    let write = |threads| {
        let fake = Fake::answering_after(Duration::ZERO);
        load(&fake, &plan(threads)).unwrap();
        fake.inserted()
    };
    let one = write(1);
    assert_eq!(one, write(3));
    let other = Fake::answering_after(Duration::ZERO);
    load(&other, &LoadPlan { seed: 6, ..plan(1) }).unwrap();
    assert_ne!(one, other.inserted());
}

#[test]
fn records_that_exist_are_written_again_whole_each_once_in_a_part_and_with_new_values() {
    let keys =
        |written: &[(String, Vec<String>)]| -> BTreeSet<String> { written.iter().map(|w| w.0.clone()).collect() };
    let all = LoadPlan { first_record: 0, records: 1_000, ..plan(2) };
    let fake = Fake::answering_after(Duration::ZERO);
    load(&fake, &all).unwrap();
    let inserted = fake.inserted();
    // Four parts of 500 are two rounds: each record twice, and in no part twice.
    for part in 0..4 {
        let again = LoadPlan { first_record: part * 500, records: 500, overwrites_of: Some(1_000), ..all.clone() };
        load(&fake, &again).unwrap();
        let written = fake.updated();
        assert_eq!(keys(&written[part as usize * 500..]).len(), 500);
    }
    let written = fake.updated();
    assert_eq!(keys(&written), keys(&inserted));
    assert_eq!(written.len(), 2_000);
    assert_eq!(fake.inserted().len(), 1_000, "nothing is inserted");
    let values: BTreeSet<&Vec<String>> = written.iter().chain(&inserted).map(|(_, values)| values).collect();
    assert_eq!(values.len(), 3_000, "all are new");
    assert!(written.iter().all(|(_, values)| values.len() == 3));
}

#[test]
fn the_live_line_counts_every_record() {
    let mut live = 0;
    let fake = Fake::answering_after(Duration::from_millis(10));
    engine::run_load(&fake, &plan(2), &mut |second| live += second.operations, &false.into()).unwrap();
    assert_eq!(live, 5000);
}
