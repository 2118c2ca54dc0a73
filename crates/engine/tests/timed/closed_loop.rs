//! Closed loop: how many are in flight, how many are counted, and where.

use std::time::{Duration, Instant};

use engine::{EngineError, ErrorKind};
use evidence::{OperationKind, Series};
use workload::{Definition, Mix, StatementName, StatementShare};

use crate::fake::{Fake, closed, constant, measured, plan, reads, responses, run};

#[test]
fn exactly_the_asked_number_is_in_flight_over_several_threads() {
    let fake = Fake::answering_after(Duration::from_millis(3));
    let (outcome, seconds) = run(&fake, &engine::TrialPlan { threads: 3, ..reads(closed(50), Duration::from_secs(2)) });
    assert_eq!(fake.most_in_flight(), 50);
    assert_eq!(seconds[0].in_flight, 50);
    assert_eq!(seconds.last().unwrap().in_flight, 0, "a trial waits for all its requests");
    assert_eq!(outcome.result.threads, 3);
    assert_eq!(outcome.result.measured_s, 2.0);
    // 50 in flight, some 3 to 5 ms each with tokio's millisecond timer: 20,000 on a quiet machine,
    // a good deal fewer on a busy one.
    assert!(outcome.result.operations_sent > 2_000, "{}", outcome.result.operations_sent);
}

#[test]
fn a_trial_begins_when_it_was_reported_to_and_says_when_that_was() {
    let fake = Fake::answering_after(Duration::from_millis(3));
    let called = std::time::Instant::now();
    let (outcome, _) = run(
        &fake,
        &engine::TrialPlan {
            begin: Some(called + Duration::from_secs(1)),
            warmup: Duration::from_millis(500),
            ..reads(closed(4), Duration::from_secs(1))
        },
    );
    let took = called.elapsed();
    assert!(took >= Duration::from_millis(2_500), "1 s of waiting, 0.5 s of warm-up, 1 s of measurement: {took:?}");
    let began_after = took - outcome.began_ago;
    assert!(outcome.began_ago >= Duration::from_secs(1), "{:?}", outcome.began_ago);
    assert!(began_after >= Duration::from_millis(1_490), "{began_after:?}");
}

#[test]
fn the_bound_on_operations_holds_exactly_and_not_for_the_warmup() {
    let fake = Fake::answering_after(Duration::from_millis(1));
    let bounded = engine::TrialPlan {
        operations: Some(4321),
        threads: 3,
        warmup: Duration::from_millis(1300),
        ..reads(closed(20), Duration::from_secs(60))
    };
    let (outcome, _) = run(&fake, &bounded);
    assert_eq!(outcome.result.operations_sent, 4321);
    assert_eq!(outcome.result.completed[&OperationKind::Read], 4321);
    assert_eq!(responses(&outcome).len(), 4321);
    let warmup: u64 = outcome.intervals.iter().filter(|i| i.start_s < 0.0).map(|i| i.histogram.len()).sum();
    assert_eq!(fake.calls(), 4321 + warmup);
    assert!(warmup > 1000);
    assert!(outcome.result.measured_s < 5.0, "the time to the last response, not the time limit");
}

#[test]
fn statements_of_ones_own_are_counted_under_their_names() {
    let statement = |name: &str, share: f64| {
        let kind = OperationKind::Statement(StatementName::new(name).unwrap());
        StatementShare { kind, share, reads: true, writes: false, grows: false }
    };
    let both = vec![statement("read_cart", 0.75), statement("last_orders", 0.25)];
    let kinds = [both[0].kind, both[1].kind];
    let bounded = engine::TrialPlan {
        definition: Definition::of_statements("own", both),
        operations: Some(4000),
        ..reads(closed(10), Duration::from_secs(60))
    };
    let (outcome, _) = run(&Fake::answering_after(Duration::ZERO), &bounded);
    let completed = kinds.map(|kind| outcome.result.completed[&kind]);
    assert_eq!(completed.iter().sum::<u64>(), 4000);
    assert!((2_850..3_150).contains(&completed[0]), "{completed:?}");
    // The condition of the second one is never met: an answer like others, and counted.
    let unmet = kinds.map(|kind| measured(&outcome, |series| series == Series::Unmet(kind)).len());
    assert_eq!(unmet, [0, completed[1]]);
    assert_eq!(measured(&outcome, |series| series == Series::Response(kinds[1])).len(), completed[1]);
}

#[test]
fn intervals_lie_in_order_and_sum_to_the_totals() {
    let fake = Fake::new(|call, _| {
        (Duration::from_millis(1), if call % 10 == 3 { Err(ErrorKind::ReadTimeout) } else { Ok(()) })
    });
    let mixed = engine::TrialPlan {
        threads: 2,
        warmup: Duration::from_millis(1500),
        ..plan(
            Mix { read: 0.5, update: 0.3, read_modify_write: 0.2, ..Mix::default() },
            closed(16),
            Duration::from_millis(2500),
        )
    };
    let (outcome, seconds) = run(&fake, &mixed);
    let result = &outcome.result;
    for kind in [OperationKind::Read, OperationKind::Update, OperationKind::ReadModifyWrite] {
        assert_eq!(measured(&outcome, |s| s == Series::Response(kind)).len(), result.completed[&kind]);
    }
    let failed = measured(&outcome, |s| s == Series::Failed(ErrorKind::ReadTimeout)).len();
    assert_eq!(failed, result.errors[&ErrorKind::ReadTimeout]);
    assert_eq!(result.completed.values().sum::<u64>() + failed, result.operations_sent);

    let of_reads = outcome.intervals.iter().filter(|i| i.series == Series::Response(OperationKind::Read));
    let bounds: Vec<(f64, f64)> = of_reads.map(|i| (i.start_s, i.length_s)).collect();
    let expected = [(-1.5, 0.5), (-1.0, 1.0), (0.0, 1.0), (1.0, 1.0)];
    assert_eq!(bounds[..4], expected);
    let (last_start, last_length) = bounds[4];
    assert_eq!((last_start, bounds.len()), (2.0, 5));
    assert!((0.5..2.0).contains(&last_length), "the last one takes the responses in flight at the end: {last_length}");

    let live: u64 = seconds.iter().map(|s| s.operations + s.errors).sum();
    let kept: u64 = outcome.intervals.iter().map(|i| i.histogram.len()).sum();
    assert_eq!(live, kept);
    assert_eq!(seconds.iter().map(|s| s.t_s).collect::<Vec<_>>(), [-2.0, -1.0, 0.0, 1.0, 2.0]);
}

#[test]
fn what_was_sent_in_warmup_is_never_measured_however_late_its_response_comes() {
    // The first ten calls take 1.2 s, which reaches 0.7 s into the measurement.
    let fake = Fake::new(|call, _| (Duration::from_millis(if call < 10 { 1200 } else { 5 }), Ok(())));
    let (outcome, _) = run(
        &fake,
        &engine::TrialPlan { warmup: Duration::from_millis(500), ..reads(closed(10), Duration::from_secs(2)) },
    );
    assert!(responses(&outcome).max() < 1_000_000);
    let last_of_warmup: u64 = outcome.intervals.iter().filter(|i| i.start_s == -0.5).map(|i| i.histogram.len()).sum();
    assert_eq!(last_of_warmup, 10);
    let silent = outcome.intervals.iter().find(|i| i.start_s >= 0.0).unwrap();
    assert_eq!(silent.length_s, 1.0);
}

#[test]
fn a_second_without_any_response_is_an_empty_interval_not_a_hole() {
    let fake = Fake::new(|_, since| {
        let stalled = (Duration::from_millis(800)..Duration::from_millis(3100)).contains(&since);
        (if stalled { Duration::from_millis(3100) - since } else { Duration::from_millis(2) }, Ok(()))
    });
    let (outcome, seconds) = run(&fake, &reads(closed(4), Duration::from_secs(4)));
    let counts: Vec<u64> = outcome.intervals.iter().map(|i| i.histogram.len()).collect();
    assert_eq!(counts.len(), 4);
    assert_eq!((counts[1], counts[2]), (0, 0));
    assert_eq!((seconds[1].operations, seconds[1].in_flight), (0, 4));
    assert!(responses(&outcome).max() > 2_200_000);
}

#[test]
fn errors_have_their_own_latencies_and_a_lost_connection_does_not_burn_a_core() {
    let fake = Fake::new(|_, _| (Duration::ZERO, Err(ErrorKind::Connection)));
    let (outcome, seconds) = run(&fake, &reads(closed(10), Duration::from_secs(2)));
    let errors = outcome.result.errors[&ErrorKind::Connection];
    // Each slot pauses 10, 20, 40, 80, 160, 320, 320, ... ms: about 9 errors in 2 s.
    assert!((60..=120).contains(&errors), "{errors}");
    assert_eq!(outcome.result.operations_sent, errors);
    assert_eq!(outcome.result.completed.get(&OperationKind::Read), Some(&0));
    assert_eq!(responses(&outcome).len(), 0);
    assert_eq!(seconds.iter().map(|s| s.errors).sum::<u64>(), errors);
}

#[test]
fn a_driver_that_never_waits_still_lets_the_trial_end() {
    let (outcome, _) = run(&Fake::answering_after(Duration::ZERO), &reads(closed(2), Duration::from_secs(1)));
    assert_eq!(outcome.result.completed[&OperationKind::Read], outcome.result.operations_sent);
}

#[test]
fn cancelling_does_not_wait_for_responses() {
    let fake = Fake::answering_after(Duration::from_secs(30));
    let began = Instant::now();
    let cancelled = std::sync::atomic::AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        engine::run_trial(&fake, &reads(closed(5), Duration::from_secs(60)), &mut |_| {}, &cancelled)
    });
    assert!(matches!(outcome, Err(EngineError::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_panicking_driver_is_an_error_and_no_hang() {
    let fake = Fake::new(|call, _| if call == 100 { panic!("planted") } else { (Duration::from_millis(1), Ok(())) });
    let outcome = engine::run_trial(&fake, &reads(closed(5), Duration::from_secs(60)), &mut |_| {}, &false.into());
    assert!(matches!(outcome, Err(EngineError::Panicked)));
}

#[test]
fn plans_that_make_no_sense_are_refused_before_connecting() {
    let fake = Fake::answering_after(Duration::ZERO);
    let second = Duration::from_secs(1);
    for bad in [
        reads(closed(0), second),
        reads(constant(0.0), second),
        reads(constant(f64::NAN), second),
        reads(closed(1), Duration::ZERO),
        engine::TrialPlan { operations: Some(0), ..reads(closed(1), second) },
        engine::TrialPlan { fields: 0, ..reads(closed(1), second) },
    ] {
        let outcome = engine::run_trial(&fake, &bad, &mut |_| {}, &false.into());
        assert!(matches!(outcome, Err(EngineError::Plan(_))));
    }
    assert_eq!(fake.calls(), 0);
}
