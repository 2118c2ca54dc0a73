//! The client agent: the engine in a process of its own, so that its CPU use is measured and cannot be confused with
//! the database's.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use database::memcached::{Cached, CachesAt};
use database::{Client, ClientWork, ExistingError, Found, OwnWork, ReadRecording, TableAt};
use engine::{Connect, LoadPlan, ReadBack, TrialPlan, Writes};
use evidence::{CacheAnswer, HostSample, Series, WriteCheck};
use experiment::{Consistency, Definition, LoadLevel, Mix, Replay};
use monitor::{Annotate, Monitor, Sources};
use process::machine;
use wire::{
    CacheReads, ClientRequest, Endpoint, Event, ExistingDataset, LoadedDataset, OwnRows, Reply, RequestError, Result,
    Second, TrialResult, TrialTask, WarmRound,
};

use super::outbox::Outbox;
use super::sampling;

pub(super) fn handle(request: ClientRequest, outbox: &Outbox) -> Result<Reply> {
    match request.endpoint().map(|endpoint| endpoint.product) {
        Some(product) => database::with_client(product, OfClient { request, outbox }).map_err(RequestError::new)?,
        None => Ok(Reply::Closed),
    }
}

/// What is asked of the client of a product.
struct OfClient<'a> {
    request: ClientRequest,
    outbox: &'a Outbox,
}

impl ClientWork for OfClient<'_> {
    type Output = Result<Reply>;

    fn with<C: Client>(self) -> Self::Output {
        asked::<C>(self.request, self.outbox)
    }
}

fn asked<C: Client>(request: ClientRequest, outbox: &Outbox) -> Result<Reply> {
    match request {
        ClientRequest::Load { endpoint, dataset, keys, first_record, records, concurrency, overwrites, own } => {
            let plan = LoadPlan {
                first_record,
                records,
                fields: dataset.fields,
                field_length: dataset.field_length,
                compressibility: dataset.compressibility,
                keys,
                concurrency,
                threads: 0,
                seed: dataset.seed,
                overwrites_of: overwrites.then_some(dataset.records),
                own_rows: own.is_some(),
            };
            let client = connect::<C>(&endpoint, dataset.fields);
            match own.map(|part| *part) {
                Some(OwnRows { own, number, clients }) => {
                    // What cannot be sent again is refused before a row is written.
                    let recording = own.replay.as_ref().map(|replay| recording(replay, outbox)).transpose()?;
                    let work = OwnWork::rows(own, number, clients).beside(recording);
                    load(&client.with_own(work), &plan, outbox)
                }
                None => load(&client.loading(), &plan, outbox),
            }
        }
        ClientRequest::Take(wanted) => take::<C>(&wanted),
        ClientRequest::Loaded(wanted) => {
            let client = connect::<C>(&wanted.endpoint, wanted.dataset.fields);
            client.loaded(&wanted.dataset, wanted.keys).map_err(refused)?;
            Ok(Reply::Marked)
        }
        ClientRequest::Maintain(wanted) => {
            let client = connect::<C>(&wanted.endpoint, wanted.dataset.fields);
            client.maintain().map(Reply::Maintained).map_err(refused)
        }
        ClientRequest::Warm { task, seconds, in_flight, reads_alone } => {
            warm::<C>(&task, (seconds, in_flight), reads_alone, outbox)
        }
        ClientRequest::Trial(task) => trial::<C>(&task, outbox),
        ClientRequest::Close => Ok(Reply::Closed),
    }
}

fn connect<C: Client>(endpoint: &Endpoint, fields: u32) -> C {
    C::to(TableAt {
        contact_points: endpoint.contact_points.clone(),
        keyspace: endpoint.keyspace.clone(),
        table: endpoint.table.clone(),
        fields,
        consistency: endpoint.consistency,
        request_timeout: Duration::from_secs_f64(endpoint.request_timeout_s),
        access: endpoint.access.clone(),
        driver_only: endpoint.driver_only,
    })
}

/// The client of a trial that asks for what this definition says.
fn of_trial<C: Client>(task: &TrialTask, definition: &Definition, outbox: &Outbox) -> Result<Cached<C>> {
    let client = connect::<C>(&task.endpoint, task.dataset.fields);
    let caches = task.endpoint.cache.as_ref().map(|cache| CachesAt {
        nodes: cache.nodes.clone(),
        ttl_s: cache.ttl_s,
        policy: cache.policy,
        fields: task.dataset.fields,
    });
    if caches.as_ref().is_some_and(|caches| caches.nodes.is_empty()) {
        return Err(RequestError::new("the configuration has a cache_tier, and no host has started its nodes"));
    }
    let Some(own) = &task.own else {
        return Ok(Cached::new(client, caches));
    };
    let own = own.of_workload(definition);
    let work = match &own.replay {
        Some(replay) => {
            let recording = recording(replay, outbox)?;
            OwnWork::replay(own, recording)
        }
        None => OwnWork::requests(own, task.number, task.clients),
    };
    Ok(Cached::new(client.with_own(work), caches))
}

/// The recording that was read last: all trials of an experiment replay the same one.
static LAST_RECORDING: Mutex<Option<Arc<ReadRecording>>> = Mutex::new(None);

fn recording(replay: &Replay, outbox: &Outbox) -> Result<Arc<ReadRecording>> {
    let mut last = LAST_RECORDING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = last.as_ref().filter(|known| (&known.path, &known.sha256) == (&replay.path, &replay.sha256)) {
        return Ok(Arc::clone(known));
    }
    outbox.progress("reading the recording", None);
    let read = Arc::new(ReadRecording::read_again(replay).map_err(RequestError::new)?);
    *last = Some(Arc::clone(&read));
    Ok(read)
}

/// The data set in a cluster that exists: is it there?
fn take<C: Client>(wanted: &ExistingDataset) -> Result<Reply> {
    let client = connect::<C>(&wanted.endpoint, wanted.dataset.fields);
    let taken = client.take(&wanted.dataset, wanted.keys, wanted.replication_factor);
    let (found, left_out) = taken.map_err(refused)?;
    Ok(Reply::Taken { whole: found == Found::Whole, left_out })
}

/// A cluster that cannot be used, with what to do about it.
fn refused(error: ExistingError) -> RequestError {
    let help = match &error {
        ExistingError::Connect { refusal, .. } => refusal.help(),
        ExistingError::Foreign { .. } | ExistingError::NotMade { .. } | ExistingError::Other { .. } => {
            Some("name another keyspace in [target] keyspace (of PostgreSQL schema); iopslab drops nothing".to_owned())
        }
        ExistingError::Replication { .. } => {
            Some("state its replication_factor in every configuration, or name another keyspace".to_owned())
        }
        ExistingError::Statement { .. } | ExistingError::Runtime(_) => None,
    };
    RequestError { help, ..RequestError::new(error) }
}

fn second(s: &engine::Second) -> Event {
    Event::Second(Second { t_s: s.t_s, operations: s.operations, errors: s.errors, p50_us: s.p50_us, p99_us: s.p99_us })
}

fn load<C: Client>(client: &C, plan: &LoadPlan, outbox: &Outbox) -> Result<Reply> {
    let mut written = 0_u64;
    let doing = if plan.overwrites_of.is_some() { "writing records again" } else { "loading records" };
    let loaded = engine::run_load(
        client,
        plan,
        &mut |s| {
            written += s.operations;
            // Of rows of the user's own it is known only in the end how many there are.
            outbox.progress(doing, Some((written.min(plan.records), plan.records)));
        },
        &outbox.cancelled,
    );
    let loaded = unless_cancelled(loaded, outbox)?;
    Ok(Reply::Loaded(LoadedDataset { records: loaded.records, seconds: loaded.seconds }))
}

/// A moment of this host's wall clock; now, where it has passed.
fn moment(unix_ms: f64) -> Instant {
    let now_ms = machine::unix_ms();
    Instant::now() + Duration::from_secs_f64((unix_ms - now_ms).max(0.0) / 1e3)
}

/// What the engine is to do.
fn plan_of(task: &TrialTask) -> TrialPlan {
    TrialPlan {
        definition: task.workload.clone(),
        fields: task.dataset.fields,
        field_length: task.dataset.field_length,
        compressibility: task.dataset.compressibility,
        records: task.dataset.records,
        load: match task.load {
            LoadLevel::Concurrency(concurrency) => engine::Load::Closed { concurrency },
            LoadLevel::Rate { operations_per_s, arrivals } => engine::Load::Open { operations_per_s, arrivals },
        },
        warmup: Duration::from_secs_f64(task.shape.warmup_s),
        duration: Duration::from_secs_f64(task.shape.duration_s),
        operations: task.shape.operations,
        threads: 0,
        seed: task.seed,
        first_insert: task.dataset.records,
        part: engine::Part { number: task.number, of: task.clients },
        check_writes: task.check_writes,
        begin: task.begin_unix_ms.map(moment),
    }
}

/// Asks for what a trial asks for, so many requests at a time, as fast as the database answers. What is measured is
/// thrown away but for the number of operations. Inserts are replaced by updates: the records are as they would be
/// without.
fn warm<C: Client>(
    task: &TrialTask,
    (seconds, in_flight): (f64, u32),
    reads_alone: bool,
    outbox: &Outbox,
) -> Result<Reply> {
    let plan = plan_of(task);
    let warm_up = TrialPlan {
        definition: without_inserts(&plan.definition, reads_alone),
        seed: other_seed(&plan),
        load: engine::Load::Closed { concurrency: in_flight },
        warmup: Duration::ZERO,
        duration: Duration::from_secs_f64(seconds),
        operations: None,
        part: engine::Part::WHOLE,
        check_writes: false,
        begin: None,
        ..plan.clone()
    };
    let connect = of_trial::<C>(task, &warm_up.definition, outbox)?;
    let warmed = engine::run_trial(&connect, &warm_up, &mut |_| {}, &outbox.cancelled);
    let warmed = unless_cancelled(warmed, outbox)?;
    let answered = |answer| {
        let intervals = warmed.intervals.iter().filter(|interval| interval.series == Series::Cache(answer));
        intervals.map(|interval| interval.histogram.len()).sum::<u64>()
    };
    let of = |is_meant: fn(CacheAnswer) -> bool| {
        CacheAnswer::ALL.into_iter().filter(|answer| is_meant(*answer)).map(answered).sum::<u64>()
    };
    let (hits, reads) = (of(CacheAnswer::is_hit), of(|_| true));
    Ok(Reply::Warm(WarmRound {
        operations: warmed.result.completed.values().sum(),
        cache: (reads > 0).then_some(CacheReads { reads, hits }),
    }))
}

/// A workload without what it inserts, or with what it reads alone. Of the user's own statements those that do not
/// write are left then, with shares that sum to 1 again; where all write, or all are wanted, they are asked as they
/// are, and the data is taken in anew afterwards. A recording begins again where it ends.
fn without_inserts(workload: &Definition, reads_alone: bool) -> Definition {
    let mut workload = workload.clone();
    workload.replayed.iter_mut().for_each(|replayed| replayed.again = true);
    let mix = workload.mix;
    if workload.is_own() {
        if reads_alone && workload.statements.iter().any(|statement| !statement.writes) {
            workload.statements.retain(|statement| !statement.writes);
            let sum: f64 = workload.statements.iter().map(|statement| statement.share).sum();
            workload.statements.iter_mut().for_each(|statement| statement.share /= sum);
        }
        return workload;
    }
    workload.mix = match reads_alone {
        true => Mix { read: 1.0, ..Mix::default() },
        false => Mix { update: mix.update + mix.insert, insert: 0.0, ..mix },
    };
    workload
}

fn trial<C: Client>(task: &TrialTask, outbox: &Outbox) -> Result<Reply> {
    // A request waits where the database's threads have the CPU, whatever the client's priority.
    let left = machine::left_beside(task.database_cpus, machine::cpus());
    let _place = left.and_then(machine::OnFirstCpus::new);
    let plan = plan_of(task);
    // A recording is read before anything is watched.
    let connect = of_trial::<C>(task, &plan.definition, outbox)?;
    let samples = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&samples);
    let sources = Sources { root: PathBuf::from("/"), pid: Some(std::process::id()), ..Sources::default() };
    let watch = Monitor::start(
        sources,
        said_of_itself::<C>(task),
        Box::new(move |sample| {
            if let Ok(mut samples) = sink.lock() {
                samples.push(sample);
            }
        }),
    );
    let at_rest = || match task.shape.warmup_max_s {
        None => Ok(()),
        Some(most_s) => until_rest(&connect, &plan, most_s, outbox),
    };
    let began = Instant::now();
    let outcome = at_rest().map(|()| began.elapsed().as_secs_f64()).and_then(|rest_s| {
        let outcome = engine::run_trial(&connect, &plan, &mut |s| outbox.send(&second(s)), &outbox.cancelled);
        Ok((outcome?, rest_s))
    });
    // At once: what comes next takes time.
    let now = jiff::Timestamp::now().as_millisecond();
    watch.stop();
    let (mut outcome, rest_s) = unless_cancelled(outcome, outbox)?;
    outcome.result.warmup_s += if task.shape.warmup_max_s.is_some() { rest_s } else { 0.0 };
    let samples = samples.lock().map(|mut s| std::mem::take(&mut *s)).unwrap_or_default();
    let writes = match outcome.writes {
        Some(writes) => Some(look_for(writes, &connect, &plan, task.endpoint.consistency.read, outbox)?),
        None => None,
    };
    wire::in_pieces(&outcome.intervals, samples, &mut |piece| outbox.send(&Event::Piece(Box::new(piece))));
    Ok(Reply::Trial(Box::new(TrialResult {
        result: outcome.result,
        measurement_started_unix_ms: now - outcome.began_ago.as_millis() as i64,
        writes,
    })))
}

/// What a database says of itself to its clients, of which the first asks, added to the samples of that one.
fn said_of_itself<C: Client>(task: &TrialTask) -> Option<Annotate> {
    let client = connect::<C>(&task.endpoint, task.dataset.fields);
    let mut asked = sampling::Asked::of(client.metrics().filter(|_| task.number == 0)?);
    Some(Box::new(move |sample: &mut HostSample| asked.note(&mut sample.database)))
}

/// Whether what was acknowledged is still there: after everything that is measured.
fn look_for(
    writes: Writes,
    connect: &(impl Connect + Sync),
    plan: &TrialPlan,
    consistency: Consistency,
    outbox: &Outbox,
) -> Result<WriteCheck> {
    let check = engine::read_back(
        connect,
        writes,
        &ReadBack::after(plan, consistency),
        &mut |done, of| outbox.progress("reading back acknowledged writes", Some((done, of))),
        &outbox.cancelled,
    );
    unless_cancelled(check, outbox)
}

/// Who is called off has not failed.
fn unless_cancelled<T>(outcome: Result<T, impl ToString>, outbox: &Outbox) -> Result<T> {
    if outbox.is_cancelled() { Err(RequestError::cancelled()) } else { outcome.map_err(RequestError::new) }
}

/// What comes before a trial asks for other records than the trial: those that have just been asked for would come from
/// memory, in the order in which they were read, until they are used up.
const fn other_seed(plan: &TrialPlan) -> u64 {
    plan.seed ^ 0xA5C3_17E9_4B62_D08F
}

/// Seconds between two looks at whether throughput has stabilised: the batches of the rule.
const LOOK_EVERY: usize = 5;

/// `warmup = "auto"`: the same load until its throughput has stabilised by the rule that also judges the trial
/// afterwards, or for `most_s` seconds. What it measures is thrown away. Workloads that insert are refused when the
/// experiment is read: the keys that they insert here would be missing from the trial's key space. Where writes are
/// checked these are stamped too, but not looked for: one with a timestamp of the database's clock that arrives late
/// could cover a stamped one of the trial.
fn until_rest(
    connect: &(impl Connect + Sync),
    plan: &TrialPlan,
    most_s: f64,
    outbox: &Outbox,
) -> Result<(), engine::EngineError> {
    let warm_up = TrialPlan {
        seed: other_seed(plan),
        warmup: Duration::ZERO,
        duration: Duration::from_secs_f64(most_s),
        operations: None,
        ..plan.clone()
    };
    let at_rest = Arc::new(AtomicBool::new(false));
    let mut completed: Vec<f64> = Vec::new();
    let result = engine::run_trial(
        connect,
        &warm_up,
        &mut |s| {
            completed.push(s.operations as f64);
            let is_at_rest = completed.len().is_multiple_of(LOOK_EVERY)
                && stats::steady_state(&completed).verdict == stats::SteadyVerdict::Steady;
            if is_at_rest || outbox.is_cancelled() {
                at_rest.store(true, Ordering::Relaxed);
            }
            outbox.send(&second(&engine::Second { t_s: s.t_s - most_s, ..*s }));
        },
        &at_rest,
    );
    match result {
        Err(error) if outbox.is_cancelled() || !at_rest.load(Ordering::Relaxed) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::{OperationKind, StatementName, StatementShare};

    fn asked(of: &[(&str, f64, bool)], reads_alone: bool) -> Vec<(String, f64)> {
        let share = |(name, share, writes): &(&str, f64, bool)| StatementShare {
            kind: OperationKind::Statement(StatementName::new(name).unwrap()),
            share: *share,
            reads: !writes,
            writes: *writes,
            grows: false,
        };
        let workload = Definition::of_statements("own", of.iter().map(share).collect());
        let left = without_inserts(&workload, reads_alone).statements;
        left.iter().map(|statement| (statement.kind.name().to_owned(), statement.share)).collect()
    }

    #[test]
    fn the_page_cache_is_filled_by_own_statements_that_do_not_write() {
        let both = [("read_cart", 0.2), ("last_orders", 0.2)].map(|(name, share)| (name, share, false));
        let all = [both[0], both[1], ("put", 0.6, true)];
        assert_eq!(asked(&all, true), [("read_cart".to_owned(), 0.5), ("last_orders".to_owned(), 0.5)]);
        assert_eq!(asked(&all, false).len(), 3);
        // Where all write there is nothing else to ask.
        assert_eq!(asked(&[("put", 1.0, true)], true), [("put".to_owned(), 1.0)]);
    }
}
