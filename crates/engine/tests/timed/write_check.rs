//! Checked trials: every acknowledged write is found again, and one that is not is reported.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use engine::{EngineError, ErrorKind, Part, ReadBack, Stamp, TrialOutcome, TrialPlan};
use evidence::{Consistency, LostValue, OperationKind, WriteCheck};
use workload::{Distribution, Mix};

use crate::fake::table::{Applied, Table, dropped, kept, key, unanswered};
use crate::fake::{closed, constant, plan};

const FIELD_LENGTH: u32 = 60;
const PATIENCE: Duration = Duration::from_secs(1);
const UPDATES: Mix = mix(1.0, 0.0, 0.0);

const fn mix(update: f64, insert: f64, read_modify_write: f64) -> Mix {
    Mix { read: 0.0, update, insert, scan: 0.0, read_modify_write }
}

/// So many operations, and a little warm-up, over so many records.
fn checked(mix: Mix, records: u64, operations: u64) -> TrialPlan {
    TrialPlan {
        field_length: FIELD_LENGTH,
        records,
        first_insert: records,
        operations: Some(operations),
        warmup: Duration::from_millis(50),
        check_writes: true,
        ..plan(mix, closed(16), Duration::from_secs(60))
    }
}

fn popular(plan: TrialPlan) -> TrialPlan {
    let mut plan = plan;
    plan.definition.distribution = Distribution::Zipfian { constant: 0.99 };
    plan
}

fn run(table: &Table, plan: &TrialPlan) -> TrialOutcome {
    engine::run_trial(table, plan, &mut |_| {}, &false.into()).unwrap()
}

fn look(table: &Table, plan: &TrialPlan, outcome: TrialOutcome) -> WriteCheck {
    let how = ReadBack { patience: PATIENCE, ..ReadBack::after(plan, Consistency::Quorum) };
    let check = engine::read_back(table, outcome.writes.unwrap(), &how, &mut |_, _| {}, &false.into()).unwrap();
    let judged = check.intact + check.older + check.missing + check.foreign + check.unreadable;
    assert_eq!(judged, check.values);
    assert_eq!(check.values, table.acknowledged().len() as u64);
    assert_eq!(check.acknowledged + check.unacknowledged, table.writes());
    assert_eq!(check.unacknowledged, table.refused());
    assert_eq!(check.consistency, Consistency::Quorum);
    check
}

fn run_and_look(table: &Table, plan: &TrialPlan) -> WriteCheck {
    let outcome = run(table, plan);
    look(table, plan, outcome)
}

#[test]
fn every_kind_of_write_is_found_again_and_counted() {
    let table = Table::new(100, |_| kept(1));
    for (write_all_fields, threads) in [(false, 1), (true, 3)] {
        let before = table.writes();
        let mut plan = TrialPlan {
            threads,
            first_insert: 100 + 1000 * u64::from(threads),
            ..checked(mix(0.4, 0.3, 0.3), 100, 600)
        };
        plan.definition.write_all_fields = write_all_fields;
        let outcome = run(&table, &plan);
        assert_eq!(outcome.result.operations_sent, 600);
        let failed = outcome.result.errors[&ErrorKind::ReadTimeout];
        assert!(failed > 10, "reads of read-modify-writes: nothing is written after those");
        let measured = 600 - failed;
        let written = outcome.writes.as_ref().unwrap().acknowledged();
        assert_eq!(written, table.writes() - before);
        assert!(written > measured, "those of the warm-up count too: {written}");

        let how = ReadBack::after(&plan, Consistency::One);
        let check = engine::read_back(&table, outcome.writes.unwrap(), &how, &mut |_, _| {}, &false.into()).unwrap();
        assert_eq!((check.lost(), check.unreadable, check.unacknowledged), (0, 0, 0));
        assert_eq!((check.intact, check.acknowledged), (check.values, written));
        assert_eq!(check.examples, []);
    }
    assert_eq!(table.lengths(), [FIELD_LENGTH as usize], "values are as long as ever");
}

/// Two clients write the same records at the same time, each by its own count; each looks for what it knows of.
#[test]
fn two_clients_find_each_others_later_writes_intact_and_miss_what_is_lost() {
    for drop_every in [u64::MAX, 20] {
        let table = Table::new(300, move |write| if write % drop_every == 7 { dropped(1) } else { kept(1) });
        let client = |number| {
            let plan =
                TrialPlan { part: Part { number, of: 2 }, seed: 40 + u64::from(number), ..checked(UPDATES, 300, 1500) };
            let writes = run(&table, &plan).writes.unwrap();
            (plan, writes)
        };
        let both =
            std::thread::scope(|scope| [0, 1].map(|n| scope.spawn(move || client(n))).map(|t| t.join().unwrap()));
        let found = both.map(|(plan, writes)| {
            let how = ReadBack::after(&plan, Consistency::Quorum);
            engine::read_back(&table, writes, &how, &mut |_, _| {}, &false.into()).unwrap()
        });
        let places = table.acknowledged().len() as u64;
        assert!(found.iter().all(|check| check.values > places / 2 && check.unreadable == 0), "{found:#?}");
        let [first, second] = found;
        let sum = first.and(second);
        assert_eq!(sum.acknowledged, table.writes());
        assert_eq!(sum.intact + sum.lost(), sum.values);
        let lost = table.lost().len() as u64;
        assert_eq!(lost > 0, drop_every == 20);
        assert!((lost..=2 * lost).contains(&sum.lost()), "{lost} are lost: {sum:#?}");
    }
}

#[test]
fn an_open_loop_is_checked_likewise() {
    let table = Table::new(50, |write| if write == 200 { dropped(1) } else { kept(1) });
    let plan =
        TrialPlan { load: constant(1000.0), threads: 2, operations: Some(400), ..popular(checked(UPDATES, 50, 1)) };
    let outcome = run(&table, &plan);
    assert_eq!(outcome.result.completed[&OperationKind::Update], 400);
    let check = look(&table, &plan, outcome);
    assert_eq!((check.acknowledged, check.unacknowledged), (450, 0));
    assert_eq!(check.lost(), table.lost().len() as u64);
}

#[test]
fn a_trial_that_is_not_checked_sends_what_it_always_sent() {
    let table = Table::new(100, |_| kept(1));
    let plan = TrialPlan { check_writes: false, ..checked(mix(0.4, 0.3, 0.3), 100, 300) };
    assert!(run(&table, &plan).writes.is_none());
    assert_eq!((table.writes(), table.fetches()), (0, 0));
    assert!(table.plain_writes() > 200);
    assert_eq!(table.lengths(), [FIELD_LENGTH as usize]);
}

#[test]
fn exactly_the_acknowledged_writes_that_were_dropped_are_lost() {
    let table = Table::new(2000, |write| if write % 20 == 7 { dropped(1) } else { kept(1) });
    let check = run_and_look(&table, &checked(UPDATES, 2000, 1500));
    // Some of them have been written again later, so that nobody misses them.
    let lost = table.lost();
    assert!((30..=90).contains(&lost.len()), "{}", lost.len());
    assert_eq!((check.older, check.missing, check.foreign), (lost.len() as u64, 0, 0));
    assert_eq!(check.unreadable, 0);
    let named: Vec<_> =
        check.examples.iter().map(|example| (example.acknowledged, (example.key.clone(), example.field))).collect();
    assert_eq!(named, lost[..5], "the first that were written, by key, field and timestamp");
}

#[test]
fn what_is_found_instead_is_reported() {
    let table = Table::new(10, |_| kept(1));
    let plan = checked(mix(0.0, 1.0, 0.0), 10, 200);
    let outcome = run(&table, &plan);
    let stamp_of = |record: u64| table.acknowledged()[&(key(record), 0)];
    let another = table.text(60, 2);
    let older = Stamp::now(70); // its time is replaced by an older one below
    let older_text = older.tag().replace(&format!("{:016x}", older.micros()), &format!("{:016x}", stamp_of(70) - 5));
    table.remove(50);
    table.plant(60, 0, Some(another.replace(&key_digits(60), &key_digits(61))));
    table.plant(61, 0, Some(table.text(61, 0)[..20].to_owned()));
    table.plant(62, 0, Some("text of somebody else".into()));
    table.plant(63, 0, None);
    table.plant(70, 1, Some(older_text));
    let newer = Stamp::now(71);
    table.plant(71, 1, Some(newer.tag().to_owned()));

    let (at_60, at_70) = (stamp_of(60), stamp_of(70));
    let check = look(&table, &plan, outcome);
    assert_eq!(
        (check.missing, check.foreign, check.older),
        (3, 3, 2),
        "a row of three fields; another's, a cut and an unmarked value; none and an older one"
    );
    let example = |key: String, field, acknowledged, found| LostValue { key, field, acknowledged, found };
    let missing = |field| example(key(50), field, stamp_of(50), None);
    for expected in [missing(0), missing(2), example(key(60), 0, at_60, Some(at_60))] {
        // Inserts are sent about in order of their numbers, so these are among the first.
        assert!(check.examples.contains(&expected), "{expected:?} in {:?}", check.examples);
    }
    assert_eq!(check.examples.len(), 5);
    assert!(at_70 > at_60);
}

/// How a tag writes a record's number.
fn key_digits(record: u64) -> String {
    format!("{record:016x}.")
}

#[test]
fn inserts_that_are_dropped_are_missing_and_dropped_updates_older_than_the_trial() {
    let table = Table::new(1000, |write| if write % 10 == 3 { dropped(1) } else { kept(1) });
    let inserts = run_and_look(&table, &checked(mix(0.0, 1.0, 0.0), 1000, 500));
    assert_eq!(inserts.missing, table.lost().len() as u64);
    assert_eq!(inserts.missing, 3 * (table.writes() - 3).div_ceil(10), "three fields each");

    let table = Table::new(1, |_| dropped(1));
    let updates = run_and_look(&table, &checked(UPDATES, 1, 50));
    assert_eq!((updates.older, updates.values), (3, 3));
    assert!(updates.examples.iter().all(|lost| lost.found.is_none() && lost.key == key(0)));
}

#[test]
fn a_write_that_failed_for_the_client_but_is_there_is_no_loss() {
    let table = Table::new(5, |write| if write % 2 == 0 { kept(1) } else { unanswered(1, Applied::First) });
    let check = run_and_look(&table, &checked(UPDATES, 5, 400));
    assert!(check.unacknowledged > 190, "{check:?}");
    assert_eq!((check.intact, check.lost()), (check.values, 0));
}

#[test]
fn a_failed_write_that_comes_late_does_not_cover_a_newer_one() {
    let late = |write: u64| {
        if write.is_multiple_of(3) { unanswered(1, Applied::Later(Duration::from_millis(20))) } else { kept(1) }
    };
    let plan = checked(UPDATES, 3, 600);
    let table = Table::new(3, late);
    let outcome = run(&table, &plan);
    std::thread::sleep(Duration::from_millis(100));
    let check = look(&table, &plan, outcome);
    assert_eq!((check.intact, check.lost()), (9, 0));

    // The same without timestamps: what comes last stays, and that is a loss.
    let careless = Table::where_the_last_wins(3, late);
    let outcome = run(&careless, &plan);
    std::thread::sleep(Duration::from_millis(100));
    let check = look(&careless, &plan, outcome);
    assert!(check.older > 0, "{check:?}");
    assert!(check.examples.iter().all(|lost| lost.found.is_some_and(|found| found < lost.acknowledged)));
}

/// Requests overtake each other, fail and come anyway, on a few popular records that many slots of several threads
/// write at once: whatever happens, what the table keeps is no loss.
#[test]
fn slots_that_write_the_same_record_at_once_never_make_a_false_loss() {
    for seed in 0..8 {
        let random = move |write: u64| {
            let bits = (write ^ seed << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let ms = bits % 4;
            match bits / 4 % 8 {
                0 => unanswered(ms, Applied::First),
                1 => unanswered(ms, Applied::Never),
                2 => unanswered(ms, Applied::Later(Duration::from_millis(3))),
                _ => kept(ms),
            }
        };
        let table = Table::new(4, random);
        let mut plan = TrialPlan {
            load: closed(128),
            threads: 3,
            seed,
            warmup: Duration::ZERO,
            ..popular(checked(mix(0.7, 0.1, 0.2), 4, 1500))
        };
        plan.definition.write_all_fields = seed % 2 == 0;
        let check = run_and_look(&table, &plan);
        assert!(check.unacknowledged > 200 && check.acknowledged > 800, "seed {seed}: {check:?}");
        assert_eq!((check.lost(), check.unreadable), (0, 0), "seed {seed}: {check:?}");
    }
}

#[test]
fn reads_that_fail_are_repeated() {
    let table = Table::new(200, |_| kept(1));
    let plan = checked(UPDATES, 200, 400);
    let outcome = run(&table, &plan);
    table.when_fetched(|fetch, _| {
        let answer = if fetch < 300 { Err(ErrorKind::Unavailable) } else { Ok(()) };
        (Duration::ZERO, answer)
    });
    let check = look(&table, &plan, outcome);
    assert_eq!((check.intact, check.unreadable), (check.values, 0));
}

#[test]
fn what_cannot_be_read_is_reported_when_patience_has_run_out() {
    let table = Table::new(200, |write| if write % 10 == 3 { dropped(1) } else { kept(1) });
    let plan = checked(UPDATES, 200, 400);
    let outcome = run(&table, &plan);
    let is_unreadable = |key: &str| key.ends_with(['1', '2', '3']);
    table.when_fetched(move |_, key| {
        let answer = if is_unreadable(key) { Err(ErrorKind::Unavailable) } else { Ok(()) };
        (Duration::from_millis(1), answer)
    });
    let unreadable = table.acknowledged().keys().filter(|place| is_unreadable(&place.0)).count();
    let lost = table.lost().iter().filter(|(_, place)| !is_unreadable(&place.0)).count();
    assert!(unreadable > 20 && lost > 3);
    let check = look(&table, &plan, outcome);
    assert_eq!((check.unreadable, check.lost()), (unreadable as u64, lost as u64));
    assert!((1.0..10.0).contains(&check.seconds), "{}", check.seconds);
}

#[test]
fn a_database_that_is_gone_is_a_result_and_one_that_comes_back_is_read() {
    let table = Table::new(20, |_| kept(1));
    let plan = checked(UPDATES, 20, 100);
    let outcome = run(&table, &plan);
    table.can_be_reached(false);
    let check = look(&table, &plan, outcome.clone());
    assert_eq!((check.unreadable, check.intact), (check.values, 0));

    let check = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(PATIENCE / 2);
            table.can_be_reached(true);
        });
        look(&table, &plan, outcome)
    });
    assert_eq!((check.unreadable, check.intact), (0, check.values));
}

#[test]
fn looking_belongs_to_no_measurement_and_tells_how_far_it_is() {
    let table = Table::new(100, |_| kept(1));
    let plan = TrialPlan { operations: None, duration: Duration::from_millis(500), ..checked(UPDATES, 100, 1) };
    table.when_fetched(|fetch, _| {
        let slow = if fetch >= 50 { 3500 } else { 0 };
        (Duration::from_millis(slow), Ok(()))
    });
    let outcome = run(&table, &plan);
    assert_eq!(table.fetches(), 0, "what is measured is fixed before the first read");
    assert!(outcome.began_ago < Duration::from_secs(2), "{:?}", outcome.began_ago);
    let mut reported = Vec::new();
    let how = ReadBack::after(&plan, Consistency::One);
    let progress = &mut |done, of| reported.push((done, of));
    let check = engine::read_back(&table, outcome.writes.unwrap(), &how, progress, &false.into()).unwrap();
    assert!((2..=5).contains(&reported.len()), "{reported:?}");
    assert!(reported.iter().all(|(done, of)| *of == check.values && (1..*of).contains(done)), "{reported:?}");
    assert!(check.seconds >= 3.5);
}

#[test]
fn cancelling_does_not_wait_for_reads() {
    let table = Table::new(100, |_| kept(1));
    let plan = checked(UPDATES, 100, 200);
    let outcome = run(&table, &plan);
    table.when_fetched(|_, _| (Duration::from_secs(30), Ok(())));
    let cancelled = AtomicBool::new(false);
    let began = Instant::now();
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancelled.store(true, Relaxed);
        });
        let how = ReadBack::after(&plan, Consistency::One);
        engine::read_back(&table, outcome.writes.unwrap(), &how, &mut |_, _| {}, &cancelled)
    });
    assert!(matches!(ended, Err(EngineError::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_trial_without_a_write_has_nothing_to_look_for() {
    let table = Table::new(10, |_| unanswered(1, Applied::Never));
    let check = run_and_look(&table, &checked(UPDATES, 10, 50));
    assert_eq!((check.values, check.acknowledged, check.lost()), (0, 0, 0));
    assert_eq!(table.fetches(), 0);
}

#[test]
fn fields_too_short_for_a_tag_are_refused() {
    let table = Table::new(10, |_| kept(1));
    let short = TrialPlan { field_length: engine::TAG_BYTES as u32, ..checked(UPDATES, 10, 10) };
    let outcome = engine::run_trial(&table, &short, &mut |_| {}, &false.into());
    assert!(matches!(outcome, Err(EngineError::Plan(_))));
    assert_eq!(table.writes(), 0);
}
