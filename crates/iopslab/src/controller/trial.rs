//! One trial: from a prepared configuration to a stored record, whatever happens in between.

use std::collections::BTreeMap;

use archive::{JournalEvent, RunDirectory};
use evidence::{Cause, DatabaseFacts, FORMAT_VERSION, HostSample, Overhead, TrialRecord, Validity};
use provider::Role;
use spec::{Cell, Definition, Plan, PlannedTrial, Setup, TrialShape, VolumeRole};
use wire::{
    ClientRequest, DatabaseRequest, Event, Reply, Request, Second, StartedTrial, StoppedTrial, TextFile, TrialResult,
    TrialTask,
};

use super::crew::CallError;
use super::dataset::endpoint;
use super::{Crew, note, position_text, unexpected};
use crate::failure::Failure;
use crate::live_metrics::LiveSecond;
use crate::progress::{Screen, human_us};

/// Keys looked up in every restored copy.
const SAMPLE_KEYS: u64 = 32;

/// Where in the run this trial is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub number: usize,
    pub of: usize,
    pub eta_s: f64,
}

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Carried {
    Out,
    Not(String),
}

/// What happened in a trial, before it is written down.
struct Happened {
    started: Option<StartedTrial>,
    result: Option<TrialResult>,
    samples: Vec<HostSample>,
    validity: Validity,
}

impl Happened {
    /// The trial is invalid.
    fn spoil(&mut self, cause: Cause, reason: String, log_tail: Vec<String>) {
        self.validity = Validity::Invalid {
            cause,
            reason,
            log_tail,
        };
    }

    fn carried(&self) -> Carried {
        match &self.validity {
            Validity::Invalid {
                cause: Cause::DidNotStart | Cause::ClientLost,
                reason,
                ..
            } => Carried::Not(reason.clone()),
            _ => Carried::Out,
        }
    }
}

/// Runs one planned trial and stores it. An error ends the run.
pub(super) fn run(
    directory: &RunDirectory,
    crew: &mut Crew,
    planned: &PlannedTrial,
    position: Position,
    screen: &mut Screen,
) -> Result<Carried, Failure> {
    let plan = directory.plan();
    let (cell, setup, workload) = parts(plan, planned)?;
    let label = format!("[{}] {} block {}", position_text(position), cell.id, planned.block);
    screen.about(&label);
    prepare(crew, setup, screen)?;
    note(
        directory,
        JournalEvent::TrialStarted {
            cell: cell.id.clone(),
            block: planned.block,
        },
    )?;
    screen.publish(|live| {
        live.trial = Some((cell.id.clone(), planned.block));
        (live.second, live.device_iops) = (None, None);
    });
    let started_at = jiff::Timestamp::now();
    let happened = execute(plan, crew, cell, setup, workload, planned, screen)?;
    let stopped = stop(crew, screen)?;
    let carried = happened.carried();
    let record = record(cell, setup, planned, &started_at.to_string(), &happened, &stopped);
    store(directory, &record, happened, &stopped.logs)?;
    screen.publish(|live| live.stored(record.validity == Validity::Valid));
    screen.say(&summary(&label, &record));
    Ok(carried)
}

fn parts<'a>(plan: &'a Plan, planned: &PlannedTrial) -> Result<(&'a Cell, &'a Setup, &'a Definition), Failure> {
    let missing = || Failure::work(format!("plan.json is not whole: cell {} lacks a part", planned.cell));
    let cell = plan.cells.iter().find(|c| c.id == planned.cell).ok_or_else(missing)?;
    let setup = plan
        .setups
        .iter()
        .find(|s| s.configuration == cell.configuration)
        .ok_or_else(missing)?;
    let workload = plan
        .workloads
        .iter()
        .find(|w| w.name == cell.workload)
        .ok_or_else(missing)?;
    Ok((cell, setup, workload))
}

/// The configuration's volumes exist and have been measured (work for its first trial only).
fn prepare(crew: &mut Crew, setup: &Setup, screen: &mut Screen) -> Result<(), Failure> {
    let request = Request::Database(DatabaseRequest::Prepare { setup: setup.clone() });
    match crew.call(Role::Database, request, screen)? {
        Reply::Prepared(_) => Ok(()),
        other => Err(unexpected(&other)),
    }
}

fn execute(
    plan: &Plan,
    crew: &mut Crew,
    cell: &Cell,
    setup: &Setup,
    workload: &Definition,
    planned: &PlannedTrial,
    screen: &mut Screen,
) -> Result<Happened, Failure> {
    let mut happened = Happened {
        started: None,
        result: None,
        samples: Vec::new(),
        validity: Validity::Valid,
    };
    let request = DatabaseRequest::StartTrial {
        setup: setup.clone(),
        sample_keys: sample_keys(plan, workload),
    };
    let started = match crew.try_call(Role::Database, Request::Database(request), screen) {
        Ok(Reply::Started(started)) => *started,
        Ok(other) => return Err(unexpected(&other)),
        Err(CallError::Fatal(failure)) => return Err(failure),
        Err(CallError::ClientLost(how)) => return Err(Failure::work(how)),
        Err(CallError::Fault(fault)) => {
            let help = fault.help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
            let reason = format!("the database did not start: {}{help}", fault.message);
            happened.spoil(Cause::DidNotStart, reason, Vec::new());
            return Ok(happened);
        }
    };
    let task = TrialTask {
        endpoint: endpoint(plan, started.contact_points.clone(), plan.shape.request_timeout_s),
        dataset: plan.dataset,
        workload: workload.clone(),
        load: cell.load,
        shape: plan.shape,
        // The same seed for every configuration of a block: they see the same sequence of requests.
        seed: plan.seed.wrapping_add(u64::from(planned.block)),
    };
    happened.started = Some(started);
    let mut death = None;
    let mut errors = 0;
    let mut device_iops = None;
    let samples = &mut happened.samples;
    screen.doing("connecting the client", "");
    let answer = crew.converse(
        Role::Client,
        Request::Client(ClientRequest::Trial(Box::new(task))),
        &mut |_, event| {
            match event {
                Event::Second(second) => {
                    errors += second.errors;
                    screen.publish(|live| {
                        live.second = Some(LiveSecond {
                            phase: if second.t_s < 0.0 { "warmup" } else { "measurement" },
                            operations: second.operations,
                            errors: second.errors,
                            p50_us: second.p50_us,
                            p99_us: second.p99_us,
                        });
                        live.device_iops = device_iops;
                    });
                    let (doing, how_far) = phase(&second, &plan.shape);
                    screen.doing(doing, &live_line(&how_far, &second, errors, device_iops));
                }
                Event::Sample(sample) => {
                    if let Some(before) = samples.last() {
                        device_iops = sample.volume_iops_since(before, VolumeRole::Data);
                    }
                    samples.push(*sample);
                }
                Event::DatabaseDied { how, log_tail } => {
                    death = Some((how, log_tail));
                }
                Event::Progress(_) | Event::Reply(_) => {}
            }
            death.is_none()
        },
    );
    match (death, answer) {
        // Ctrl-C or a lost agent ends the run, whatever the database did at that moment.
        (_, Err(CallError::Fatal(failure))) => return Err(failure),
        (Some((how, log_tail)), _) => {
            let reason = format!("Cassandra ended during the trial: {how}");
            happened.spoil(Cause::DatabaseEnded, reason, log_tail);
        }
        (None, Ok(Reply::Trial(result))) => happened.result = Some(*result),
        (None, Ok(other)) => return Err(unexpected(&other)),
        (None, Err(CallError::Fault(fault))) => {
            let reason = format!("the client failed: {}", fault.message);
            happened.spoil(Cause::ClientFailed, reason, Vec::new());
        }
        (None, Err(CallError::ClientLost(how))) => happened.spoil(Cause::ClientLost, how, Vec::new()),
    }
    Ok(happened)
}

/// Keys spread over the whole data set.
fn sample_keys(plan: &Plan, workload: &Definition) -> Vec<String> {
    let records = plan.dataset.records;
    let count = SAMPLE_KEYS.min(records);
    (0..count)
        .map(|i| {
            let mut key = String::new();
            workload::write_key(i * records / count, workload.keys, &mut key);
            key
        })
        .collect()
}

fn stop(crew: &mut Crew, screen: &mut Screen) -> Result<StoppedTrial, Failure> {
    screen.doing("stopping Cassandra and detaching its volumes", "");
    match crew.call(Role::Database, Request::Database(DatabaseRequest::StopTrial), screen)? {
        Reply::Stopped(stopped) => Ok(*stopped),
        other => Err(unexpected(&other)),
    }
}

fn record(
    cell: &Cell,
    setup: &Setup,
    planned: &PlannedTrial,
    started_at: &str,
    happened: &Happened,
    stopped: &StoppedTrial,
) -> TrialRecord {
    let started = happened.started.as_ref();
    let mut volumes = started.map(|s| s.volumes.clone()).unwrap_or_default();
    let measurement = happened.result.as_ref().map(|r| r.measurement_started_unix_ms);
    for volume in &mut volumes {
        let credits = |sample: &HostSample| sample.volumes.get(&volume.role).and_then(|v| v.burst_credits);
        let first = happened
            .samples
            .iter()
            .find(|s| measurement.is_none_or(|m| s.unix_ms >= m))
            .and_then(credits);
        volume.burst_credits = first.zip(happened.samples.iter().rev().find_map(credits));
    }
    TrialRecord {
        format_version: FORMAT_VERSION,
        cell: cell.id.clone(),
        block: planned.block,
        configuration: cell.configuration.clone(),
        workload: cell.workload.clone(),
        load: cell.load,
        validity: happened.validity.clone(),
        started_at: started_at.to_owned(),
        client: happened.result.as_ref().map(|r| r.result.clone()),
        database: DatabaseFacts {
            cpus: setup.cpus,
            heap_bytes: setup.heap_bytes,
            memory_limit_bytes: setup.memory_limit_bytes,
            page_cache_budget_bytes: setup.page_cache_budget_bytes,
            data_bytes_on_disk: started.map_or(stopped.data_bytes_on_disk, |s| s.data_bytes_on_disk),
            restored_keys_checked: started.map_or(0, |s| s.keys_checked),
            volumes,
        },
        overhead: started.map(|s| Overhead {
            stop_s: stopped.stop_s,
            ..s.overhead
        }),
    }
}

fn store(directory: &RunDirectory, record: &TrialRecord, happened: Happened, logs: &[TextFile]) -> Result<(), Failure> {
    let mut samples = BTreeMap::new();
    let mut intervals = Vec::new();
    let mut database = happened.samples;
    if let Some(result) = happened.result {
        let zero = result.measurement_started_unix_ms;
        let mut client = result.samples;
        for sample in database.iter_mut().chain(client.iter_mut()) {
            sample.t_s = (sample.unix_ms - zero) as f64 / 1e3;
        }
        samples.insert(Role::Client.name().to_owned(), client);
        for interval in &result.intervals {
            intervals.push(wire::from_wire(interval).map_err(Failure::work)?);
        }
    }
    samples.insert(Role::Database.name().to_owned(), database);
    let logs: Vec<_> = logs
        .iter()
        .map(|log| (log.name.as_str(), log.text.as_bytes()))
        .collect();
    directory
        .write_trial(record, &intervals, &samples, &logs)
        .map_err(Failure::work)?;
    let valid = record.validity == Validity::Valid;
    note(
        directory,
        JournalEvent::TrialDone {
            cell: record.cell.clone(),
            block: record.block,
            valid,
        },
    )
}

/// What the client is doing in this second, and how far it is.
fn phase(second: &Second, shape: &TrialShape) -> (&'static str, String) {
    let t_s = second.t_s;
    match (shape.warmup_max_s, shape.operations) {
        // `warmup = "auto"`: most seconds that the wait for rest may still take, before the warm-up proper.
        (Some(_), _) if t_s < -shape.warmup_s - 0.5 => (
            "warming up until throughput is at rest,",
            format!("at most {:.0} s more", -t_s),
        ),
        _ if t_s < 0.0 => ("warming up,", format!("{:.0} s more", -t_s)),
        (_, Some(_)) => ("measuring,", format!("{t_s:.0} s, at most {:.0} s", shape.duration_s)),
        (_, None) => ("measuring,", format!("{t_s:.0} of {:.0} s", shape.duration_s)),
    }
}

fn live_line(how_far: &str, second: &Second, errors: u64, device_iops: Option<f64>) -> String {
    let device = device_iops.map_or_else(|| "-".to_owned(), |iops| format!("{iops:.0}"));
    format!(
        "{how_far}: {} op/s, p50 {}, p99 {}, {errors} errors, disk {device} IOPS",
        second.operations,
        human_us(second.p50_us),
        human_us(second.p99_us),
    )
}

fn summary(label: &str, record: &TrialRecord) -> String {
    match (&record.validity, &record.client) {
        (Validity::Valid, Some(client)) => {
            let completed: u64 = client.completed.values().sum();
            let failed: u64 = client.errors.values().sum();
            format!(
                "{label}: {:.0} op/s, {failed} errors",
                completed as f64 / client.measured_s
            )
        }
        (Validity::Invalid { reason, .. }, _) => format!("{label}: INVALID, {reason}"),
        (Validity::Valid, None) => format!("{label}: nothing measured"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_line_says_what_the_client_does_and_how_far_it_is() {
        let shape = TrialShape {
            warmup_s: 5.0,
            warmup_max_s: Some(300.0),
            duration_s: 60.0,
            operations: None,
            request_timeout_s: 1.0,
        };
        let at = |t_s, shape: &TrialShape| {
            let second = Second {
                t_s,
                operations: 10,
                errors: 0,
                p50_us: 1,
                p99_us: 2,
            };
            let (doing, how_far) = phase(&second, shape);
            format!("{doing} {how_far}")
        };
        assert_eq!(
            at(-300.0, &shape),
            "warming up until throughput is at rest, at most 300 s more"
        );
        assert_eq!(at(-5.0, &shape), "warming up, 5 s more");
        assert_eq!(at(12.0, &shape), "measuring, 12 of 60 s");
        let fixed = TrialShape {
            warmup_max_s: None,
            warmup_s: 20.0,
            ..shape
        };
        assert_eq!(at(-20.0, &fixed), "warming up, 20 s more");
        let counted = TrialShape {
            operations: Some(1_000),
            ..fixed
        };
        assert_eq!(at(3.0, &counted), "measuring, 3 s, at most 60 s");
    }
}
