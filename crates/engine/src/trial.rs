//! One trial: warm-up, measurement, outcome.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evidence::{ClientResult, SendLag, Series};
use workload::{InsertSequence, ValuePool};

use crate::claims::Claims;
use crate::clock::now_ns;
use crate::collect::Collector;
use crate::operate::Source;
use crate::plan::{Load, Second, TrialOutcome, TrialPlan, check, thread_count};
use crate::schedule::{Schedule, expected_operations, thread_seed};
use crate::stamp::TAG_BYTES;
use crate::threads::{Seat, Span, Work, run_threads};
use crate::written::Writes;
use crate::{Connect, Driver, EngineError, closed, open};

struct TrialWork<'a> {
    plan: &'a TrialPlan,
    inserts: Arc<InsertSequence>,
    values: Arc<ValuePool>,
    claims: Claims,
}

impl Work for TrialWork<'_> {
    fn is_stamped(&self) -> bool {
        self.plan.check_writes
    }

    fn begin<D: Driver + 'static>(&self, seat: &Rc<Seat<D>>) -> Result<(), EngineError> {
        let plan = self.plan;
        let expected = expected_operations(plan.load, plan.duration, plan.operations);
        let source = Source::new(plan, &self.inserts, &self.values, expected, seat.thread);
        let claims = Rc::new(self.claims.clone());
        let replayed = plan.definition.replayed.as_ref();
        let recording = |speed: f64, claims| {
            let replayed = replayed?;
            let mut requests = seat.driver.recorded(seat.thread, seat.threads);
            if replayed.again {
                // From its beginning alone, a round would ask for what the one before it asked for.
                let from = thread_seed(plan.seed, seat.thread) % (requests.len() as u64).max(1);
                requests.rotate_left(from as usize);
            }
            Some(Schedule::recorded(requests, (speed, replayed.again), seat.times, claims))
        };
        match plan.load {
            Load::Closed { concurrency } => {
                let limit = seat.driver.max_in_flight(seat.threads);
                let share = seat.share_of(concurrency);
                if share as usize > limit {
                    return Err(EngineError::Plan(format!(
                        "{share} requests in flight on one load thread, but its connections carry {limit}; use more \
                         threads"
                    )));
                }
                // Slots claim what they send.
                let recording = recording(f64::INFINITY, Rc::new(Claims::new(None)));
                closed::begin(seat, source, recording, claims, concurrency);
                Ok(())
            }
            Load::Open { operations_per_s, arrivals } => {
                let place = (seat.thread, seat.threads);
                let speed = replayed.and_then(|replayed| replayed.speed).unwrap_or(1.0);
                let schedule = recording(speed, Rc::clone(&claims))
                    .unwrap_or_else(|| Schedule::new(operations_per_s, arrivals, seat.times, place, plan.seed, claims));
                open::begin(seat, source, schedule)
            }
        }
    }
}

/// Runs one trial.
///
/// Errors of the database are results: they are counted by kind, with their latencies apart. An error is returned only
/// when nothing can be measured (no connection at the start, a plan that makes no sense) or when `cancelled` was set;
/// then it returns within about 0.1 s without waiting for responses.
///
/// `on_second` is called about once a second, also in warm-up. The bound on operations holds exactly. A trial that
/// ended by its duration reports that as `measured_s`; one that ended by its operations, or with its recording, the
/// time to the last response.
pub fn run_trial<C: Connect + Sync>(
    connect: &C,
    plan: &TrialPlan,
    on_second: &mut dyn FnMut(&Second),
    cancelled: &AtomicBool,
) -> Result<TrialOutcome, EngineError> {
    check(plan)?;
    let threads = thread_count(plan.threads, plan.load);
    // A tag and this much text: values are as long as ever.
    let tag_length = if plan.check_writes { TAG_BYTES as u32 } else { 0 };
    let text_length = plan.field_length - tag_length;
    let work = TrialWork {
        plan,
        inserts: Arc::new(InsertSequence::starting_at(plan.first_insert)),
        values: Arc::new(ValuePool::new(plan.seed, plan.compressibility, text_length)),
        claims: Claims::new(plan.operations),
    };
    let span = Span { warmup: plan.warmup, duration: Some(plan.duration), begin: plan.begin };
    let collector = Collector::keeping(expected_series(plan));
    let gathered = run_threads(connect, threads, &work, &span, collector, on_second, cancelled)?;

    let (totals, times) = (gathered.totals, gathered.times);
    let last_done_s = totals.last_done_ns.saturating_sub(times.start_ns) as f64 / 1e9;
    let duration_s = plan.duration.as_secs_f64();
    let open = matches!(plan.load, Load::Open { .. });
    let is_replayed = plan.definition.replayed.is_some();
    if is_replayed && totals.sent == 0 {
        return Err(EngineError::Plan(
            "no recorded request falls into the measurement: the recording, or what a model of this scale has of it, \
             is too short or empty"
                .into(),
        ));
    }
    // A closed loop sends until the end, unless a recording has ended before.
    let has_ended = is_replayed && !open && last_done_s < duration_s;
    let by_operations = plan.operations == Some(totals.sent) || has_ended;
    let measured_s = if by_operations { last_done_s } else { duration_s };
    let result = ClientResult {
        warmup_s: plan.warmup.as_secs_f64(),
        measured_s,
        operations_sent: totals.sent,
        completed: gathered.collector.completed(),
        errors: gathered.collector.errors().clone(),
        client_cpu_s: gathered.cpu_ns as f64 / 1e9,
        client_peak_rss_bytes: gathered.peak_rss_bytes,
        send_lag_us: open.then(|| SendLag {
            p50: totals.lag.value_at_quantile(0.5),
            p99: totals.lag.value_at_quantile(0.99),
            max: totals.lag.max(),
        }),
        threads,
        notes: connect.notes(),
        first_errors: connect.first_errors(),
        imported: None,
    };
    let intervals = gathered.collector.into_intervals(measured_s.max(last_done_s));
    Ok(TrialOutcome {
        result,
        intervals,
        began_ago: Duration::from_nanos(now_ns().saturating_sub(times.start_ns)),
        writes: plan.check_writes.then(|| Writes::of(gathered.notes)),
    })
}

/// The series that a plan leads to, errors aside.
fn expected_series(plan: &TrialPlan) -> Vec<Series> {
    let open = matches!(plan.load, Load::Open { .. });
    plan.definition
        .kinds()
        .flat_map(|kind| std::iter::once(Series::Response(kind)).chain(open.then_some(Series::Service(kind))))
        .collect()
}
