//! The load phase: every record of a range is inserted once, in YCSB's layout; or records that exist are written again.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use evidence::{ErrorKind, OperationKind};
use tokio::task::coop::consume_budget;
use tokio::task::spawn_local;
use workload::{EvenOrder, SplitMix, ValuePool, write_key};

use crate::clock::now_ns;
use crate::collect::Collector;
use crate::plan::{Load, LoadOutcome, LoadPlan, Second, thread_count};
use crate::recorder::{Answered, Ended};
use crate::threads::{Occupied, Seat, Span, Work, run_threads};
use crate::{Connect, Driver, EngineError, NextRow};

/// Attempts at one record. With the pauses below that is some two minutes of a database which answers nothing.
const ATTEMPTS: u32 = 40;
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

struct LoadWork<'a> {
    shared: Arc<Shared>,
    plan: &'a LoadPlan,
}

struct Shared {
    next: AtomicU64,
    end: u64,
    /// Rows of the user's own data set that were written.
    rows: AtomicU64,
    values: ValuePool,
    /// Of records that exist: which one comes at which place, and how many they are.
    again: Option<(EvenOrder, u64)>,
    plan: LoadPlan,
}

impl Work for LoadWork<'_> {
    fn begin<D: Driver + 'static>(&self, seat: &Rc<Seat<D>>) -> Result<(), EngineError> {
        for _ in 0..seat.share_of(self.plan.concurrency) {
            spawn_local(slot(Occupied::new(seat), Arc::clone(&self.shared)));
        }
        Ok(())
    }
}

async fn slot<D: Driver>(occupied: Occupied<D>, shared: Arc<Shared>) {
    let (seat, plan) = (occupied.seat(), &shared.plan);
    let mut key = String::with_capacity(64);
    let mut values: Vec<(u32, &str)> = Vec::with_capacity(plan.fields as usize);
    let mut own = D::Own::default();
    loop {
        let place = shared.next.fetch_add(1, Relaxed);
        if place >= shared.end && !plan.own_rows {
            return;
        }
        if plan.own_rows {
            let what = match seat.driver.make_row(&mut own) {
                NextRow::None => return,
                NextRow::Repeatable => Write::Row(&own, ATTEMPTS),
                NextRow::Once => Write::Row(&own, 1),
            };
            if let Err(error) = write(seat, &what, place).await {
                seat.fail(error);
                return;
            }
            shared.rows.fetch_add(1, Relaxed);
            consume_budget().await;
            continue;
        }
        // New values are those that a further record would have.
        let (record, of_values) = match shared.again {
            None => (place, place),
            Some((order, records)) => (order.record(place), records.wrapping_add(place)),
        };
        write_key(record, plan.keys, &mut key);
        let mut random = SplitMix(plan.seed ^ of_values.wrapping_mul(0x9FB2_1C65_1E98_DF25));
        values.clear();
        values.extend((0..plan.fields).map(|field| (field, shared.values.value(random.next_u64()))));
        let texts: Vec<&str> = values.iter().map(|(_, value)| *value).collect();
        let what = match shared.again {
            None => Write::Insert(&key, &texts),
            Some(_) => Write::Update(&key, &values),
        };
        if let Err(error) = write(seat, &what, record).await {
            seat.fail(error);
            return;
        }
        consume_budget().await;
    }
}

/// What is written.
enum Write<'a, R> {
    Insert(&'a str, &'a [&'a str]),
    Update(&'a str, &'a [(u32, &'a str)]),
    /// A row of the user's own data set, with so many attempts at the most.
    Row(&'a R, u32),
}

/// Writes one record, again and again if need be: a data set with a hole would be found much later, as a read error.
///
/// One that exists is updated, not inserted, as a workload's updates do: an insert also marks the row as written whole,
/// and Cassandra then reads no older SSTable for it (`SinglePartitionReadCommand.isRowComplete`).
async fn write<D: Driver>(seat: &Seat<D>, what: &Write<'_, D::Own>, record: u64) -> Result<(), EngineError> {
    let mut pause = FIRST_PAUSE;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let sent_ns = now_ns();
        seat.recorder.borrow_mut().sent();
        let (kind, result) = match what {
            Write::Insert(key, texts) => (OperationKind::Insert, seat.driver.insert(key, texts).await),
            Write::Update(key, values) => (OperationKind::Update, seat.driver.update(key, values).await),
            Write::Row(row, _) => (OperationKind::Insert, seat.driver.send(row).await.map(|_| ())),
        };
        let done_ns = now_ns();
        seat.recorder.borrow_mut().ended(&Ended {
            kind,
            measured: true,
            done_ns,
            response_ns: done_ns - sent_ns,
            service_ns: None,
            result: result.map(|()| Answered::Plain),
        });
        let Err(error) = result else { return Ok(()) };
        let most = if let Write::Row(_, attempts) = what { *attempts } else { ATTEMPTS };
        if attempts >= most {
            return Err(EngineError::Insert { record, attempts, last: error.name().to_owned() });
        }
        seat.retries.set(seat.retries.get() + 1);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A record that could not be written, with what the server said of the first error of that kind.
fn in_words(error: EngineError, first_errors: &BTreeMap<ErrorKind, String>) -> EngineError {
    match error {
        EngineError::Insert { record, attempts, last } => {
            let said = first_errors.iter().find(|(kind, _)| kind.name() == last);
            let last = said.map_or(last.clone(), |(_, said)| format!("{last} ({said})"));
            EngineError::Insert { record, attempts, last }
        }
        other => other,
    }
}

/// Inserts every record of the plan's range exactly once, or writes those at its places again.
///
/// The values of a record depend on the seed and its number only, so the same plan writes the same data set. A failed
/// insert is repeated with growing pauses; after 40 attempts the load fails with [`EngineError::Insert`].
pub fn run_load<C: Connect + Sync>(
    connect: &C,
    plan: &LoadPlan,
    on_second: &mut dyn FnMut(&Second),
    cancelled: &AtomicBool,
) -> Result<LoadOutcome, EngineError> {
    if plan.concurrency == 0 || plan.fields == 0 {
        return Err(EngineError::Plan("loading needs at least one request in flight and one field".into()));
    }
    let load = Load::Closed { concurrency: plan.concurrency };
    let threads = thread_count(plan.threads, load);
    let shared = Arc::new(Shared {
        next: AtomicU64::new(plan.first_record),
        end: plan.first_record + plan.records,
        rows: AtomicU64::new(0),
        values: ValuePool::new(plan.seed, plan.compressibility, plan.field_length),
        again: plan.overwrites_of.map(|records| (EvenOrder::new(records, plan.seed), records)),
        plan: plan.clone(),
    });
    let work = LoadWork { shared: Arc::clone(&shared), plan };
    let span = Span { warmup: Duration::ZERO, duration: None, begin: None };
    let gathered = run_threads(connect, threads, &work, &span, Collector::default(), on_second, cancelled);
    let gathered = gathered.map_err(|error| in_words(error, &connect.first_errors()))?;
    Ok(LoadOutcome {
        records: if plan.own_rows { shared.rows.load(Relaxed) } else { plan.records },
        seconds: gathered.totals.last_done_ns.saturating_sub(gathered.times.start_ns) as f64 / 1e9,
        retries: gathered.totals.retries,
        errors: gathered.collector.errors().clone(),
    })
}
