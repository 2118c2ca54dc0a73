//! A recording is sent again: at its pace or faster, those of a partition one after the other.

#![allow(clippy::unwrap_used, reason = "this is test code, outside of a function that says so")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::{Condition, Connect, Driver, EngineError, ErrorKind, Load, Recorded, Stamp, TrialPlan, run_trial};
use workload::{Arrivals, Definition, OperationKind, Replayed, StatementName, StatementShare};

use crate::fake::{closed, reads, responses};

/// Requests of one load thread's database: its answers take a while, and it remembers what was sent when.
#[derive(Clone)]
struct Log {
    requests: Arc<Vec<Recorded>>,
    delay: Duration,
    /// Number, when sent, when answered.
    sent: Arc<Mutex<Vec<(u32, Instant, Instant)>>>,
}

impl Log {
    fn new(requests: Vec<Recorded>, delay: Duration) -> Self {
        Self { requests: Arc::new(requests), delay, sent: Arc::default() }
    }

    /// What was sent, in the order of the answers.
    fn sent(&self) -> Vec<(u32, Instant, Instant)> {
        self.sent.lock().unwrap().clone()
    }
}

impl Connect for Log {
    type Driver = Self;

    async fn connect(&self) -> Result<Self, String> {
        Ok(self.clone())
    }
}

impl Driver for Log {
    type Own = u32;

    fn recorded(&self, thread: u32, threads: u32) -> Vec<Recorded> {
        let is_ours = |request: &&Recorded| {
            request.partition.unwrap_or(u64::from(request.number)) % u64::from(threads) == u64::from(thread)
        };
        self.requests.iter().filter(is_ours).copied().collect()
    }

    fn make_recorded(&self, number: u32, request: &mut u32) -> usize {
        *request = number;
        // Every tenth is of the second statement.
        usize::from(number % 10 == 9)
    }

    async fn send(&self, request: &u32) -> Result<Condition, ErrorKind> {
        let (number, began) = (*request, Instant::now());
        tokio::time::sleep(self.delay).await;
        self.sent.lock().unwrap().push((number, began, Instant::now()));
        if number % 10 == 9 { Err(ErrorKind::WriteTimeout) } else { Ok(Condition::Met) }
    }

    async fn read(&self, _: &str, _: Option<u32>) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn update(&self, _: &str, _: &[(u32, &str)]) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn insert(&self, _: &str, _: &[&str]) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn scan(&self, _: &str, _: u32) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        Ok(())
    }

    async fn update_stamped(&self, _: &str, _: &[(u32, &str)], _: &Stamp) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn insert_stamped(&self, _: &str, _: &[&str], _: &Stamp) -> Result<(), ErrorKind> {
        Err(ErrorKind::Other)
    }

    async fn fetch(&self, _: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        Ok(None)
    }
}

fn kind(name: &str) -> OperationKind {
    OperationKind::Statement(StatementName::new(name).unwrap())
}

/// A replay of two statements.
fn replay(load: Load, speed: Option<f64>, duration: Duration) -> TrialPlan {
    let share = |name, share| StatementShare { kind: kind(name), share, reads: true, writes: false, grows: false };
    let statements = vec![share("select_carts", 0.9), share("update_carts", 0.1)];
    let replayed = Replayed { file: "log.jsonl".to_owned(), requests: 0, span_s: 0.0, speed, again: false };
    let definition = Definition { replayed: Some(replayed), ..Definition::of_statements("log", statements) };
    TrialPlan { definition, ..reads(load, duration) }
}

fn as_recorded(speed: f64, duration: Duration) -> TrialPlan {
    let load = Load::Open { operations_per_s: 1.0, arrivals: Arrivals::Recorded };
    replay(load, Some(speed), duration)
}

/// So many requests, one each `gap`, of so many partitions by turns.
fn every(gap: Duration, count: u32, partitions: u32) -> Vec<Recorded> {
    let at = |number: u32| gap.as_nanos() as u64 * u64::from(number);
    let partition = |number| Some(u64::from(number % partitions));
    (0..count).map(|number| Recorded { at_ns: at(number), number, partition: partition(number) }).collect()
}

#[test]
fn requests_are_sent_at_their_times_and_failures_are_counted() {
    for threads in [1, 3] {
        // 10 ms apart at a quarter of their gaps: 400 a second.
        let log = Log::new(every(Duration::from_millis(10), 1_000, 1_000), Duration::from_millis(1));
        let plan = TrialPlan { threads, ..as_recorded(4.0, Duration::from_secs(1)) };
        let outcome = run_trial(&log, &plan, &mut |_| {}, &false.into()).unwrap();
        assert_eq!(outcome.result.operations_sent, 400, "those of the first four seconds of the recording");
        assert_eq!(outcome.result.completed[&kind("select_carts")], 360);
        assert_eq!(outcome.result.completed.get(&kind("update_carts")).copied().unwrap_or(0), 0);
        assert_eq!(outcome.result.errors[&ErrorKind::WriteTimeout], 40);
        assert!(outcome.result.send_lag_us.is_some() && outcome.result.measured_s == 1.0);
        let mut numbers: Vec<u32> = log.sent().iter().map(|(number, ..)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..400).collect::<Vec<u32>>());
    }
}

/// 200 requests a second for a partition that answers 50: each waits for those before it.
#[test]
fn a_request_waits_for_the_one_before_of_its_partition_and_the_wait_is_in_its_response_time() {
    let log = Log::new(every(Duration::from_millis(5), 100, 1), Duration::from_millis(20));
    let plan = as_recorded(1.0, Duration::from_secs(1));
    let outcome = run_trial(&log, &plan, &mut |_| {}, &false.into()).unwrap();
    assert_eq!(outcome.result.operations_sent, 100, "nothing is dropped");
    let sent = log.sent();
    assert_eq!(sent.iter().map(|(number, ..)| *number).collect::<Vec<u32>>(), (0..100).collect::<Vec<u32>>());
    assert!(sent.windows(2).all(|two| two[0].2 <= two[1].1), "never two at a time");
    // The last one is due after 0.5 s and sent after 2 s at the earliest.
    assert!(responses(&outcome).max() >= 1_400_000, "{}", responses(&outcome).max());
    assert!(outcome.result.send_lag_us.unwrap().p50 < 10_000, "the client is not late");
}

#[test]
fn as_fast_as_order_allows_keeps_the_order_and_ends_with_the_recording() {
    let log = Log::new(every(Duration::from_secs(1), 300, 3), Duration::from_millis(2));
    let plan = replay(closed(20), None, Duration::from_secs(60));
    let began = Instant::now();
    let outcome = run_trial(&log, &plan, &mut |_| {}, &false.into()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(30) && outcome.result.measured_s < 30.0);
    assert_eq!(outcome.result.operations_sent, 300);
    for partition in 0..3 {
        let sent: Vec<_> = log.sent().into_iter().filter(|(number, ..)| number % 3 == partition).collect();
        assert!(sent.windows(2).all(|two| two[0].0 < two[1].0 && two[0].2 <= two[1].1), "partition {partition}");
    }
}

#[test]
fn a_database_is_warmed_by_a_recording_however_long_that_takes() {
    let log = Log::new(every(Duration::from_secs(1), 10, 1), Duration::from_millis(1));
    let mut plan = replay(closed(4), Some(1.0), Duration::from_millis(500));
    plan.definition.replayed.iter_mut().for_each(|replayed| replayed.again = true);
    let outcome = run_trial(&log, &plan, &mut |_| {}, &false.into()).unwrap();
    assert!(outcome.result.operations_sent > 10, "{}", outcome.result.operations_sent);
}

/// What a page cache holds has settled once any part of the recording finds it so, not its beginning alone.
#[test]
fn rounds_that_warm_a_database_begin_anywhere_in_the_recording() {
    let begins: BTreeSet<u32> = (0..20)
        .map(|seed| {
            let log = Log::new(every(Duration::from_secs(1), 1_000, 1), Duration::from_millis(1));
            let mut plan = TrialPlan { seed, ..replay(closed(1), Some(1.0), Duration::from_millis(100)) };
            plan.definition.replayed.iter_mut().for_each(|replayed| replayed.again = true);
            run_trial(&log, &plan, &mut |_| {}, &false.into()).unwrap();
            log.sent()[0].0
        })
        .collect();
    assert!(begins.len() > 10 && begins.iter().any(|number| *number > 500), "{begins:?}");
}

#[test]
fn a_recording_of_which_nothing_is_measured_is_no_trial() {
    let log = Log::new(Vec::new(), Duration::ZERO);
    let refused = run_trial(&log, &as_recorded(1.0, Duration::from_secs(1)), &mut |_| {}, &false.into());
    assert!(matches!(refused, Err(EngineError::Plan(why)) if why.contains("no recorded request")));
    let no_recording = TrialPlan {
        definition: Definition::of_statements("log", Vec::new()),
        ..as_recorded(1.0, Duration::from_secs(1))
    };
    let refused = run_trial(&log, &no_recording, &mut |_| {}, &false.into());
    assert!(matches!(refused, Err(EngineError::Plan(why)) if why.contains("no recording")));
}
