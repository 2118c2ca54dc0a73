//! A database that does what a script says, in this process.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, outside of a function that says so")]

pub mod table;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use engine::{Condition, Connect, Driver, ErrorKind, Load, Second, Stamp, TrialOutcome, TrialPlan};
use evidence::{Series, empty_histogram};
use hdrhistogram::Histogram;
use workload::{Arrivals, Definition, Distribution, Mix};

/// How a call ends: after how long, and how.
pub type Ending = (Duration, Result<(), ErrorKind>);
type Script = Box<dyn Fn(u64, Duration) -> Ending + Send + Sync>;

/// The database. Clones are the same one.
#[derive(Clone)]
pub struct Fake(Arc<State>);

struct State {
    script: Script,
    limit: usize,
    first_call: OnceLock<Instant>,
    calls: AtomicU64,
    in_flight: AtomicI64,
    most_in_flight: AtomicI64,
    inserted: Mutex<Vec<(String, Vec<String>)>>,
    updated: Mutex<Vec<(String, Vec<String>)>>,
}

impl Fake {
    /// The script gets the call's number and the time since the first call.
    pub fn new(script: impl Fn(u64, Duration) -> Ending + Send + Sync + 'static) -> Self {
        Self::with_limit(usize::MAX, script)
    }

    /// One that carries only `limit` requests at once.
    pub fn with_limit(limit: usize, script: impl Fn(u64, Duration) -> Ending + Send + Sync + 'static) -> Self {
        Self(Arc::new(State {
            script: Box::new(script),
            limit,
            first_call: OnceLock::new(),
            calls: AtomicU64::new(0),
            in_flight: AtomicI64::new(0),
            most_in_flight: AtomicI64::new(0),
            inserted: Mutex::new(Vec::new()),
            updated: Mutex::new(Vec::new()),
        }))
    }

    /// Answers every call after `delay`.
    pub fn answering_after(delay: Duration) -> Self {
        Self::new(move |_, _| (delay, Ok(())))
    }

    pub fn calls(&self) -> u64 {
        self.0.calls.load(SeqCst)
    }

    pub fn most_in_flight(&self) -> i64 {
        self.0.most_in_flight.load(SeqCst)
    }

    /// Records inserted with success, sorted.
    pub fn inserted(&self) -> Vec<(String, Vec<String>)> {
        let mut inserted = self.0.inserted.lock().unwrap().clone();
        inserted.sort();
        inserted
    }

    /// Records updated with success, in order, with the values of the fields that were named.
    pub fn updated(&self) -> Vec<(String, Vec<String>)> {
        self.0.updated.lock().unwrap().clone()
    }

    async fn call(&self) -> Result<(), ErrorKind> {
        let state = &self.0;
        let since = state.first_call.get_or_init(Instant::now).elapsed();
        let (delay, result) = (state.script)(state.calls.fetch_add(1, SeqCst), since);
        let in_flight = state.in_flight.fetch_add(1, SeqCst) + 1;
        state.most_in_flight.fetch_max(in_flight, SeqCst);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        state.in_flight.fetch_sub(1, SeqCst);
        result
    }
}

impl Connect for Fake {
    type Driver = Self;

    async fn connect(&self) -> Result<Self, String> {
        Ok(self.clone())
    }

    fn first_errors(&self) -> BTreeMap<ErrorKind, String> {
        BTreeMap::from([(ErrorKind::WriteTimeout, "two replicas sleep".to_owned())])
    }
}

impl Driver for Fake {
    /// The statement that was made.
    type Own = usize;

    /// The first of two statements for three of four requests.
    fn make(&self, random: &mut engine::Random, request: &mut usize) -> usize {
        *request = usize::from(random.next_unit() >= 0.75);
        *request
    }

    /// As many rows as were not written before, up to 500; each of them once.
    fn make_row(&self, _: &mut usize) -> engine::NextRow {
        if self.calls() < 500 { engine::NextRow::Once } else { engine::NextRow::None }
    }

    /// The condition of the second statement is never met.
    async fn send(&self, statement: &usize) -> Result<Condition, ErrorKind> {
        self.call().await.map(|()| if *statement == 1 { Condition::Unmet } else { Condition::Met })
    }

    async fn read(&self, _: &str, _: Option<u32>) -> Result<(), ErrorKind> {
        self.call().await
    }

    async fn update(&self, key: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        let record = (key.to_owned(), fields.iter().map(|(_, v)| (*v).to_owned()).collect());
        self.call().await?;
        self.0.updated.lock().unwrap().push(record);
        Ok(())
    }

    async fn insert(&self, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        let record = (key.to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
        self.call().await?;
        self.0.inserted.lock().unwrap().push(record);
        Ok(())
    }

    async fn scan(&self, _: &str, _: u32) -> Result<(), ErrorKind> {
        self.call().await
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        Ok(())
    }

    async fn update_stamped(&self, _: &str, _: &[(u32, &str)], _: &Stamp) -> Result<(), ErrorKind> {
        self.call().await
    }

    async fn insert_stamped(&self, _: &str, _: &[&str], _: &Stamp) -> Result<(), ErrorKind> {
        self.call().await
    }

    async fn fetch(&self, _: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        self.call().await.map(|()| None)
    }

    fn max_in_flight(&self, _: u32) -> usize {
        self.0.limit
    }
}

/// A plan of reads over a thousand records, without warm-up.
pub fn reads(load: Load, duration: Duration) -> TrialPlan {
    plan(Mix { read: 1.0, ..Mix::default() }, load, duration)
}

pub fn plan(mix: Mix, load: Load, duration: Duration) -> TrialPlan {
    let definition = Definition::new("test", mix, Distribution::Uniform);
    TrialPlan { fields: 3, field_length: 10, ..TrialPlan::new(definition, 1000, load, duration) }
}

pub fn closed(concurrency: u32) -> Load {
    Load::Closed { concurrency }
}

pub fn constant(operations_per_s: f64) -> Load {
    Load::Open { operations_per_s, arrivals: Arrivals::Constant }
}

pub fn run(fake: &Fake, plan: &TrialPlan) -> (TrialOutcome, Vec<Second>) {
    let mut seconds = Vec::new();
    let outcome = engine::run_trial(fake, plan, &mut |s| seconds.push(*s), &false.into()).unwrap();
    (outcome, seconds)
}

/// All measured latencies of a series.
pub fn measured(outcome: &TrialOutcome, wanted: impl Fn(Series) -> bool) -> Histogram<u64> {
    let mut all = empty_histogram();
    for interval in outcome.intervals.iter().filter(|i| i.start_s >= 0.0 && wanted(i.series)) {
        all.add(&interval.histogram).unwrap();
    }
    all
}

pub fn responses(outcome: &TrialOutcome) -> Histogram<u64> {
    measured(outcome, |series| matches!(series, Series::Response(_)))
}

pub fn service_times(outcome: &TrialOutcome) -> Histogram<u64> {
    measured(outcome, |series| matches!(series, Series::Service(_)))
}
