//! The load phase: every record of a range is inserted once, in YCSB's layout.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use evidence::OperationKind;
use tokio::task::coop::consume_budget;
use tokio::task::spawn_local;
use workload::{ValuePool, write_key};

use crate::clock::now_ns;
use crate::collect::Collector;
use crate::plan::{Load, LoadOutcome, LoadPlan, Second, thread_count};
use crate::recorder::Ended;
use crate::schedule::SplitMix;
use crate::threads::{Occupied, Seat, Span, Work, run_threads};
use crate::{Connect, Driver, EngineError};

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
    values: ValuePool,
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
    let mut record_values: Vec<&str> = Vec::with_capacity(plan.fields as usize);
    loop {
        let record = shared.next.fetch_add(1, Relaxed);
        if record >= shared.end {
            return;
        }
        write_key(record, plan.keys, &mut key);
        let mut random = SplitMix(plan.seed ^ record.wrapping_mul(0x9FB2_1C65_1E98_DF25));
        record_values.clear();
        record_values.extend((0..plan.fields).map(|_| shared.values.value(random.next())));
        if let Err(error) = insert(seat, &key, &record_values, record).await {
            seat.fail(error);
            return;
        }
        consume_budget().await;
    }
}

/// Inserts one record, again and again if need be: a data set with a hole would be found much later, as a read error.
async fn insert<D: Driver>(seat: &Seat<D>, key: &str, values: &[&str], record: u64) -> Result<(), EngineError> {
    let mut pause = FIRST_PAUSE;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let sent_ns = now_ns();
        seat.recorder.borrow_mut().sent();
        let result = seat.driver.insert(key, values).await;
        let done_ns = now_ns();
        seat.recorder.borrow_mut().ended(&Ended {
            kind: OperationKind::Insert,
            measured: true,
            done_ns,
            response_ns: done_ns - sent_ns,
            service_ns: None,
            result,
        });
        let Err(error) = result else { return Ok(()) };
        if attempts >= ATTEMPTS {
            return Err(EngineError::Insert {
                record,
                attempts,
                last: error.name(),
            });
        }
        seat.retries.set(seat.retries.get() + 1);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Inserts every record of the plan's range exactly once.
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
        return Err(EngineError::Plan(
            "loading needs at least one request in flight and one field".into(),
        ));
    }
    let load = Load::Closed {
        concurrency: plan.concurrency,
    };
    let threads = thread_count(plan.threads, load);
    let shared = Arc::new(Shared {
        next: AtomicU64::new(plan.first_record),
        end: plan.first_record + plan.records,
        values: ValuePool::new(plan.seed, plan.compressibility, plan.field_length),
        plan: plan.clone(),
    });
    let work = LoadWork { shared, plan };
    let span = Span {
        warmup: Duration::ZERO,
        duration: None,
        begin: None,
    };
    let gathered = run_threads(
        connect,
        threads,
        &work,
        &span,
        Collector::counting(),
        on_second,
        cancelled,
    )?;
    Ok(LoadOutcome {
        records: plan.records,
        seconds: gathered.totals.last_done_ns.saturating_sub(gathered.times.start_ns) as f64 / 1e9,
        retries: gathered.totals.retries,
        errors: gathered.collector.errors().clone(),
    })
}
