//! Open loop: everything that is due is sent, and latency counts from when it was due.

use std::time::{Duration, Instant};

use engine::{ErrorKind, TrialPlan};
use evidence::OperationKind;

use crate::fake::{Fake, closed, constant, reads, responses, run, service_times};

const STALL_FROM: Duration = Duration::from_millis(800);
const STALL_TO: Duration = Duration::from_millis(1100);

/// Answers in 1 ms, but nothing between 0.8 and 1.1 s.
fn stalling(limit: usize) -> Fake {
    Fake::with_limit(limit, |_, since| {
        let stalled = (STALL_FROM..STALL_TO).contains(&since);
        (if stalled { STALL_TO - since } else { Duration::from_millis(1) }, Ok(()))
    })
}

/// Whether it holds in one of ten attempts: a shared machine adds delays of its own to some of them.
fn undisturbed(mut holds: impl FnMut() -> bool) -> bool {
    (0..10).any(|_| holds())
}

/// 2,000/s for 2 s with a stall of 300 ms: 600 requests wait from 300 ms down to nothing, so the 40 worst of 4,000
/// (beyond the 99th percentile) waited more than 280 ms.
const TRUE_P99_US: std::ops::RangeInclusive<u64> = 268_000..=310_000;

#[test]
fn a_stall_is_charged_to_every_request_that_it_delays() {
    let mut p99 = 0;
    let holds = undisturbed(|| {
        let (outcome, _) = run(&stalling(usize::MAX), &reads(constant(2000.0), Duration::from_secs(2)));
        assert_eq!(outcome.result.operations_sent, 4000, "nothing due is dropped");
        assert_eq!(outcome.result.completed[&OperationKind::Read], 4000);
        p99 = responses(&outcome).value_at_quantile(0.99);
        assert!(p99 >= *TRUE_P99_US.start(), "{p99}");
        p99 <= *TRUE_P99_US.end()
    });
    assert!(holds, "{p99}");
}

/// The classic coordinated omission: a client that can only have ten requests in flight stops sending while the server
/// stalls. Its service times look fine, the users' response times do not.
#[test]
fn a_full_driver_delays_requests_but_neither_loses_nor_flatters_them() {
    let mut service = 0;
    let holds = undisturbed(|| {
        let fake = stalling(10);
        let (outcome, _) = run(&fake, &reads(constant(2000.0), Duration::from_secs(2)));
        assert_eq!(fake.most_in_flight(), 10);
        assert_eq!(outcome.result.operations_sent, 4000);
        let response = responses(&outcome).value_at_quantile(0.99);
        assert!(response >= *TRUE_P99_US.start(), "{response}");
        assert!(outcome.result.send_lag_us.unwrap().p99 > 200_000, "the lag says that the client held requests back");
        service = service_times(&outcome).value_at_quantile(0.99);
        service < 150_000
    });
    assert!(holds, "{service}");
}

#[test]
fn without_a_stall_response_and_service_time_agree() {
    let mut medians = [0, 0];
    let agree = undisturbed(|| {
        let (outcome, seconds) =
            run(&Fake::answering_after(Duration::from_millis(2)), &reads(constant(1000.0), Duration::from_secs(2)));
        assert_eq!(seconds[0].operations + seconds[1].operations, 2000);
        medians = [responses(&outcome), service_times(&outcome)].map(|h| h.value_at_quantile(0.5));
        // Pacing itself is within 0.15 ms; a shared machine adds its own.
        medians[0].abs_diff(medians[1]) < 500
    });
    assert!(agree, "{medians:?}");
}

#[test]
fn a_request_is_sent_soon_after_it_is_due() {
    for rate in [5_000.0, 40_000.0] {
        let (mut lag_us, mut woken_us) = (0, 0);
        let soon = undisturbed(|| {
            let fake = Fake::answering_after(Duration::ZERO);
            let (outcome, _) = run(&fake, &reads(constant(rate), Duration::from_secs(1)));
            assert_eq!(outcome.result.operations_sent, rate as u64);
            lag_us = outcome.result.send_lag_us.unwrap().p50;
            woken_us = median_of_a_sleeper_us();
            lag_us <= 60.max(2 * woken_us)
        });
        assert!(soon, "{rate}/s: median {lag_us} us, where a thread that sleeps is woken {woken_us} us late");
    }
}

/// How late this machine wakes a thread that sleeps for 200 us: on one that is shared, more than the 50 us that Linux
/// allows itself.
fn median_of_a_sleeper_us() -> u64 {
    let asked = Duration::from_micros(200);
    let mut late: Vec<u64> = (0..500)
        .map(|_| {
            let began = Instant::now();
            std::thread::sleep(asked);
            began.elapsed().saturating_sub(asked).as_micros() as u64
        })
        .collect();
    late.sort_unstable();
    late[late.len() / 2]
}

#[test]
fn threads_share_the_schedule_without_changing_it() {
    let fake = Fake::answering_after(Duration::from_millis(1));
    let several =
        TrialPlan { threads: 3, warmup: Duration::from_secs(1), ..reads(constant(1500.0), Duration::from_secs(2)) };
    let (outcome, _) = run(&fake, &several);
    assert_eq!(outcome.result.operations_sent, 3000);
    assert_eq!(fake.calls(), 4500);
}

#[test]
fn the_bound_on_operations_holds_in_the_open_loop_too() {
    let fake = Fake::answering_after(Duration::from_millis(1));
    let bounded = TrialPlan { operations: Some(777), threads: 2, ..reads(constant(2000.0), Duration::from_secs(20)) };
    let (outcome, _) = run(&fake, &bounded);
    assert_eq!((outcome.result.operations_sent, fake.calls()), (777, 777));
    assert!((0.3..1.0).contains(&outcome.result.measured_s), "{}", outcome.result.measured_s);
}

#[test]
fn errors_do_not_slow_an_open_loop_down() {
    let fake = Fake::new(|_, _| (Duration::ZERO, Err(ErrorKind::Connection)));
    let (outcome, _) = run(&fake, &reads(constant(500.0), Duration::from_secs(1)));
    assert_eq!(outcome.result.errors[&ErrorKind::Connection], 500);
}

#[test]
fn a_closed_loop_has_neither_send_lag_nor_service_times() {
    let (outcome, _) = run(&Fake::answering_after(Duration::from_millis(1)), &reads(closed(3), Duration::from_secs(1)));
    assert_eq!(outcome.result.send_lag_us, None);
    assert!(service_times(&outcome).is_empty());
}
