//! Reads every acknowledged write of a trial back and counts what is lost.
//!
//! This is no part of the trial: what the trial measured is fixed when it begins, and its reads are measured nowhere.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use evidence::{Consistency, LostValue, WriteCheck};
use tokio::runtime::{Builder, LocalOptions};
use tokio::task::JoinSet;
use tokio::task::coop::consume_budget;
use workload::{KeyFormat, write_key};

use crate::plan::TrialPlan;
use crate::stamp::Mark;
use crate::written::{Wanted, Writes};
use crate::{Connect, Driver, EngineError};

/// How long reads may fail, all of them, until the rest is given up. A node that comes back is used again within 10 s
/// of listening (the driver's longest pause between two attempts to connect) and has to start and be seen by the others
/// before; one that stays away must not hold up a run for long. An engineering threshold.
const PATIENCE: Duration = Duration::from_secs(60);
/// Reads in flight: enough to keep a cluster busy, too few to overload one that has just lost a node. An engineering
/// threshold.
const IN_FLIGHT: usize = 64;
/// How often progress is reported.
const REPORT: Duration = Duration::from_secs(1);
/// How often to look whether somebody wants it to stop.
const TICK: Duration = Duration::from_millis(50);

/// How acknowledged writes are read back.
#[derive(Debug, Clone)]
pub struct ReadBack {
    /// Consistency level of the reads: the driver's, stated here for the record.
    pub consistency: Consistency,
    /// How records are named.
    pub keys: KeyFormat,
    /// Fields of a record.
    pub fields: u32,
    /// First record that did not exist before the trial.
    pub first_insert: u64,
    /// How long reads may fail without any success; then what is left counts as unreadable. Failed reads are repeated
    /// in rounds, a sixtieth of this apart.
    pub patience: Duration,
}

impl ReadBack {
    /// After a trial, with the usual 60 s of patience.
    pub fn after(plan: &TrialPlan, consistency: Consistency) -> Self {
        Self {
            consistency,
            keys: plan.definition.keys,
            fields: plan.fields,
            first_insert: plan.first_insert,
            patience: PATIENCE,
        }
    }
}

/// Reads every record with an acknowledged write once, and again where that fails.
///
/// `on_progress` is called about once a second with the values that were looked at and all of them. A database that
/// cannot be reached is a result (everything is unreadable), not an error; an error is returned when `cancelled` was
/// set (within about 0.1 s) or a thread or timer cannot be had.
pub fn read_back<C: Connect>(
    connect: &C,
    writes: Writes,
    how: &ReadBack,
    on_progress: &mut dyn FnMut(u64, u64),
    cancelled: &AtomicBool,
) -> Result<WriteCheck, EngineError> {
    let began = Instant::now();
    let (acknowledged, unacknowledged) = (writes.acknowledged(), writes.unacknowledged());
    let search = Rc::new(Search::new(writes.into_wanted(how.fields), how));
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let mut reported = Instant::now();
        let mut rounds = pin!(rounds(connect, &search));
        loop {
            tokio::select! {
                ended = &mut rounds => return ended,
                () = tokio::time::sleep(TICK) => {}
            }
            if cancelled.load(Relaxed) {
                return Err(EngineError::Cancelled);
            }
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                on_progress(search.tally.borrow().looked_at(), search.values);
            }
        }
    })?;
    let tally = search.tally.take();
    Ok(WriteCheck {
        consistency: how.consistency,
        acknowledged,
        unacknowledged,
        values: search.values,
        intact: tally.intact,
        older: tally.older,
        missing: tally.missing,
        foreign: tally.foreign,
        unreadable: search.values - tally.looked_at(),
        seconds: began.elapsed().as_secs_f64(),
        examples: tally.examples,
    })
}

/// What the reading slots share.
struct Search {
    wanted: Wanted,
    how: ReadBack,
    /// All values that are looked for.
    values: u64,
    /// Records to read in this round, and those that have failed in it.
    to_read: RefCell<Vec<usize>>,
    failed: RefCell<Vec<usize>>,
    last_success: Cell<Instant>,
    tally: RefCell<Tally>,
}

#[derive(Default)]
struct Tally {
    intact: u64,
    older: u64,
    missing: u64,
    foreign: u64,
    /// The first that were written of those that are lost.
    examples: Vec<LostValue>,
}

impl Tally {
    fn looked_at(&self) -> u64 {
        self.intact + self.older + self.missing + self.foreign
    }
}

impl Search {
    fn new(wanted: Wanted, how: &ReadBack) -> Self {
        let mut to_read = wanted.records();
        let mut fields = Vec::new();
        let mut values = 0;
        for at in &to_read {
            wanted.fields(*at, &mut fields);
            values += fields.len() as u64;
        }
        // They are taken from the end.
        to_read.reverse();
        Self {
            wanted,
            how: how.clone(),
            values,
            to_read: RefCell::new(to_read),
            failed: RefCell::default(),
            last_success: Cell::new(Instant::now()),
            tally: RefCell::default(),
        }
    }

    fn out_of_patience(&self) -> bool {
        self.last_success.get().elapsed() > self.how.patience
    }

    /// Judges the values of a record that was read.
    fn judge(&self, key: &str, record: u64, wanted: &[(u32, i64)], row: Option<&[Option<String>]>) {
        let mut tally = self.tally.borrow_mut();
        for (field, acknowledged) in wanted {
            let (count, found) = match row {
                None => (&mut tally.missing, None),
                Some(values) => {
                    let value = values.get(*field as usize).and_then(Option::as_deref);
                    match value.map(Mark::read) {
                        Some(Mark::Of { record: own, micros }) if own == record && micros >= *acknowledged => {
                            tally.intact += 1;
                            continue;
                        }
                        Some(Mark::Of { record: own, micros }) if own == record => (&mut tally.older, Some(micros)),
                        Some(Mark::Of { micros, .. }) => (&mut tally.foreign, Some(micros)),
                        Some(Mark::Damaged) => (&mut tally.foreign, None),
                        // Nobody but this trial has written there.
                        Some(Mark::None) if record >= self.how.first_insert => (&mut tally.foreign, None),
                        Some(Mark::None) | None => (&mut tally.older, None),
                    }
                }
            };
            *count += 1;
            tally.name(LostValue { key: key.to_owned(), field: *field, acknowledged: *acknowledged, found });
        }
    }
}

impl Tally {
    /// Keeps a lost value if it is among the first that were written.
    fn name(&mut self, lost: LostValue) {
        let before = |other: &LostValue| (other.acknowledged, other.field) < (lost.acknowledged, lost.field);
        let position = self.examples.partition_point(before);
        if position < WriteCheck::EXAMPLES {
            self.examples.insert(position, lost);
            self.examples.truncate(WriteCheck::EXAMPLES);
        }
    }
}

/// Reads in rounds until everything was read or patience has run out.
async fn rounds<C: Connect>(connect: &C, search: &Rc<Search>) -> Result<(), EngineError> {
    let pause = search.how.patience / 60;
    if search.values == 0 {
        return Ok(());
    }
    let driver = loop {
        match connect.connect().await {
            Ok(driver) => break Rc::new(driver),
            Err(_) if search.out_of_patience() => return Ok(()),
            Err(_) => tokio::time::sleep(pause).await,
        }
    };
    loop {
        let mut slots = JoinSet::new();
        for _ in 0..IN_FLIGHT.min(search.to_read.borrow().len()) {
            slots.spawn_local(slot(Rc::clone(search), Rc::clone(&driver)));
        }
        while let Some(ended) = slots.join_next().await {
            ended.map_err(|_| EngineError::Panicked)?;
        }
        let failed = search.failed.take();
        if failed.is_empty() || search.out_of_patience() {
            return Ok(());
        }
        search.to_read.replace(failed);
        tokio::time::sleep(pause).await;
    }
}

/// Reads records of this round, one after another.
async fn slot<D: Driver>(search: Rc<Search>, driver: Rc<D>) {
    let mut key = String::with_capacity(64);
    let mut wanted = Vec::new();
    while !search.out_of_patience() {
        let Some(at) = search.to_read.borrow_mut().pop() else { return };
        let record = search.wanted.record(at);
        write_key(record, search.how.keys, &mut key);
        match driver.fetch(&key).await {
            Ok(row) => {
                search.last_success.set(Instant::now());
                search.wanted.fields(at, &mut wanted);
                search.judge(&key, record, &wanted, row.as_deref());
            }
            Err(_) => search.failed.borrow_mut().push(at),
        }
        // A driver that answers without waiting must not keep the thread from its clock.
        consume_budget().await;
    }
}
