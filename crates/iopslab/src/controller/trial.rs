//! One trial: from a prepared configuration to a stored record, whatever happens in between.

use std::collections::BTreeMap;

use archive::{JournalEvent, RunDirectory};
use evidence::{
    Cause, Clock, ClockReading, FORMAT_VERSION, HostId, HostSample, NodeFacts, Overhead, TrialRecord, Validity,
};
use spec::{Cell, Definition, Plan, PlannedTrial, Setup, TrialShape, VolumeRole};
use wire::{
    ClientRequest, DatabaseRequest, Event, Reply, Request, Second, StartedTrial, StoppedTrial, TextFile, TrialResult,
    TrialTask,
};

use super::crew::{Crew, Trouble, to_each, unexpected};
use super::dataset::endpoint;
use super::hosts;
use super::journal::note;
use super::position::{Position, position_text};
use crate::failure::Failure;
use crate::live_metrics::LiveSecond;
use crate::progress::{Screen, human_us};

/// Keys looked up in every restored copy.
const SAMPLE_KEYS: u64 = 32;

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Carried {
    Out,
    Not(String),
}

/// What a trial is made of, from the plan.
#[derive(Clone, Copy)]
struct Parts<'a> {
    plan: &'a Plan,
    planned: &'a PlannedTrial,
    cell: &'a Cell,
    setup: &'a Setup,
    workload: &'a Definition,
}

/// What happened in a trial, before it is written down.
struct Happened {
    started_at: jiff::Timestamp,
    started: BTreeMap<HostId, StartedTrial>,
    result: Option<TrialResult>,
    samples: BTreeMap<HostId, Vec<HostSample>>,
    clocks_at_start: BTreeMap<HostId, ClockReading>,
    clocks_at_end: BTreeMap<HostId, ClockReading>,
    validity: Validity,
}

impl Happened {
    fn nothing() -> Self {
        Self {
            started_at: jiff::Timestamp::now(),
            started: BTreeMap::new(),
            result: None,
            samples: BTreeMap::new(),
            clocks_at_start: BTreeMap::new(),
            clocks_at_end: BTreeMap::new(),
            validity: Validity::Valid,
        }
    }

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

    /// What a host's clock showed beyond the controller's, milliseconds: the mean of both ends of the trial.
    fn offset_ms(&self, host: HostId) -> f64 {
        let readings = [&self.clocks_at_start, &self.clocks_at_end];
        let offsets: Vec<f64> = readings
            .iter()
            .filter_map(|at| Some(at.get(&host)?.offset_ms))
            .collect();
        offsets.iter().sum::<f64>() / offsets.len().max(1) as f64
    }

    /// Start of measurement by the clock of a host, Unix milliseconds.
    fn measurement_began_ms(&self, host: HostId) -> Option<f64> {
        let by_client = self.result.as_ref()?.measurement_started_unix_ms as f64;
        Some(by_client - self.offset_ms(HostId::CLIENT) + self.offset_ms(host))
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
    let parts = parts(directory.plan(), planned)?;
    let cell = parts.cell;
    let label = format!("[{}] {} block {}", position_text(position), cell.id, planned.block);
    screen.about(&label);
    prepare(crew, parts.setup, screen)?;
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
    let mut happened = Happened::nothing();
    let worked = execute(crew, parts, &mut happened, screen).and_then(|()| {
        happened.clocks_at_end = crew.clocks(&hosts::of_setup(parts.setup))?;
        stop(crew, parts.setup, screen)
    });
    let (stopped, lost) = match (worked, crew.cut_off()) {
        (Ok(stopped), _) => (stopped, None),
        (Err(failure), Some(how)) => {
            if happened.validity == Validity::Valid {
                happened.spoil(Cause::HostLost, format!("a host was lost: {how}"), Vec::new());
            }
            (BTreeMap::new(), Some(failure))
        }
        (Err(failure), None) => return Err(failure),
    };
    let carried = happened.carried();
    let record = record(parts, &happened, &stopped);
    store(directory, &record, happened, &stopped)?;
    screen.publish(|live| live.stored(record.validity == Validity::Valid));
    if !crew.is_simulated() {
        screen.say(&summary(&label, &record));
    }
    lost.map_or(Ok(carried), Err)
}

fn parts<'a>(plan: &'a Plan, planned: &'a PlannedTrial) -> Result<Parts<'a>, Failure> {
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
    Ok(Parts {
        plan,
        planned,
        cell,
        setup,
        workload,
    })
}

/// The configuration's volumes exist and have been measured (work for its first trial only).
fn prepare(crew: &mut Crew, setup: &Setup, screen: &mut Screen) -> Result<(), Failure> {
    let request = DatabaseRequest::Prepare { setup: setup.clone() };
    for reply in crew
        .ask_each(&hosts::nodes(setup.placement), &request, screen)?
        .into_values()
    {
        if !matches!(reply, Reply::Prepared(_)) {
            return Err(unexpected(&reply));
        }
    }
    Ok(())
}

/// A settled database on every host, or why there is none.
fn start(crew: &mut Crew, parts: Parts<'_>, happened: &mut Happened, screen: &mut Screen) -> Result<(), Failure> {
    let request = DatabaseRequest::StartTrial {
        trial: parts.planned.clone(),
        setup: parts.setup.clone(),
        sample_keys: sample_keys(parts.plan, parts.workload),
    };
    let nodes = hosts::nodes(parts.setup.placement);
    let mut faults = Vec::new();
    for (host, answer) in crew.try_call_all(to_each(&nodes, &request), screen)? {
        match answer {
            Ok(Reply::Started(started)) => drop(happened.started.insert(host, *started)),
            Ok(other) => return Err(unexpected(&other)),
            Err(Trouble::Fault(fault)) => faults.push((host, fault)),
            Err(trouble @ Trouble::ClientLost(_)) => return Err(trouble.into()),
        }
    }
    // Nodes that were called off because of another one say less than that one.
    faults.sort_by_key(|(_, fault)| fault.cancelled);
    if let Some((host, fault)) = faults.into_iter().next() {
        let help = fault.help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let what = subject("the database", parts.setup, host);
        let reason = format!("{what} did not start: {}{help}", fault.message);
        happened.spoil(Cause::DidNotStart, reason, Vec::new());
    }
    Ok(())
}

fn execute(crew: &mut Crew, parts: Parts<'_>, happened: &mut Happened, screen: &mut Screen) -> Result<(), Failure> {
    let Parts { plan, cell, .. } = parts;
    // Before anything is under way: what a host says while its clock is read is passed over.
    happened.clocks_at_start = crew.clocks(&hosts::of_setup(parts.setup))?;
    start(crew, parts, happened, screen)?;
    if happened.validity != Validity::Valid {
        return Ok(());
    }
    let first = happened.started.values().next();
    if let Some(began) = first.and_then(|s| jiff::Timestamp::from_millisecond(s.began_unix_ms).ok()) {
        happened.started_at = began;
    }
    let contact_points = happened.started.values().flat_map(|s| s.contact_points.clone());
    let levels = parts.setup.consistency.unwrap_or(plan.target.consistency);
    let task = TrialTask {
        trial: parts.planned.clone(),
        endpoint: endpoint(contact_points.collect(), levels, plan.shape.request_timeout_s),
        dataset: plan.dataset,
        workload: parts.workload.clone(),
        load: cell.load,
        shape: plan.shape,
        // The same seed for every configuration of a block: they see the same sequence of requests.
        seed: plan.seed.wrapping_add(u64::from(parts.planned.block)),
    };
    let mut death = None;
    let mut errors = 0;
    let mut iops_of = BTreeMap::new();
    let mut device_iops = None;
    let samples = &mut happened.samples;
    screen.doing("connecting the client", "");
    let request = Request::Client(ClientRequest::Trial(Box::new(task)));
    let mut answers = crew.converse(vec![(HostId::CLIENT, request)], &mut |host, event| {
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
                let of_host = samples.entry(host).or_default();
                if let Some(before) = of_host.last()
                    && let Some(iops) = sample.volume_iops_since(before, VolumeRole::Data)
                {
                    iops_of.insert(host, iops);
                    device_iops = Some(iops_of.values().sum());
                }
                of_host.push(*sample);
            }
            Event::DatabaseDied { how, log_tail } => {
                death = death.take().or(Some((host, how, log_tail)));
            }
            Event::Progress(_) | Event::Reply(_) => {}
        }
        death.is_none()
    })?;
    let answer = answers.remove(&HostId::CLIENT);
    match (death, answer) {
        (Some((host, how, log_tail)), _) => {
            let reason = format!(
                "{} ended during the trial: {how}",
                subject("Cassandra", parts.setup, host)
            );
            happened.spoil(Cause::DatabaseEnded, reason, log_tail);
        }
        (None, Some(Ok(Reply::Trial(result)))) => happened.result = Some(*result),
        (None, Some(Ok(other))) => return Err(unexpected(&other)),
        (None, Some(Err(Trouble::Fault(fault)))) => {
            let reason = format!("the client failed: {}", fault.message);
            happened.spoil(Cause::ClientFailed, reason, Vec::new());
        }
        (None, Some(Err(Trouble::ClientLost(how)))) => happened.spoil(Cause::ClientLost, how, Vec::new()),
        (None, None) => return Err(Failure::work("the client agent does not answer")),
    }
    Ok(())
}

/// What a reason is about: which node where there are several.
fn subject(what: &str, setup: &Setup, host: HostId) -> String {
    match setup.placement.is_cluster() {
        true => format!("{what} on {host}"),
        false => what.to_owned(),
    }
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

fn stop(crew: &mut Crew, setup: &Setup, screen: &mut Screen) -> Result<BTreeMap<HostId, StoppedTrial>, Failure> {
    screen.doing("stopping Cassandra and detaching its volumes", "");
    let replies = crew.ask_each(&hosts::nodes(setup.placement), &DatabaseRequest::StopTrial, screen)?;
    let each = replies.into_iter().map(|(host, reply)| match reply {
        Reply::Stopped(stopped) => Ok((host, *stopped)),
        other => Err(unexpected(&other)),
    });
    each.collect()
}

fn record(parts: Parts<'_>, happened: &Happened, stopped: &BTreeMap<HostId, StoppedTrial>) -> TrialRecord {
    let Parts { cell, planned, .. } = parts;
    // The slowest host is what the trial waits for.
    let overheads = happened.started.iter().filter_map(|(host, started)| {
        let stop_s = stopped.get(host).map_or(0.0, |s| s.stop_s);
        started.overhead.map(|o| Overhead { stop_s, ..o })
    });
    let slowest = |a: Overhead, b: Overhead| Overhead {
        restore_s: a.restore_s.max(b.restore_s),
        start_s: a.start_s.max(b.start_s),
        settle_s: a.settle_s.max(b.settle_s),
        stop_s: a.stop_s.max(b.stop_s),
    };
    let clock = |(host, start): (&HostId, &ClockReading)| {
        let end = happened.clocks_at_end.get(host).copied();
        (*host, Clock { start: *start, end })
    };
    TrialRecord {
        format_version: FORMAT_VERSION,
        cell: cell.id.clone(),
        block: planned.block,
        configuration: cell.configuration.clone(),
        workload: cell.workload.clone(),
        load: cell.load,
        validity: happened.validity.clone(),
        started_at: happened.started_at.to_string(),
        client: happened.result.as_ref().map(|r| r.result.clone()),
        nodes: hosts::nodes(parts.setup.placement)
            .into_iter()
            .map(|host| node(host, parts.setup, happened, stopped.get(&host)))
            .collect(),
        clocks: happened.clocks_at_start.iter().map(clock).collect(),
        overhead: overheads.reduce(slowest),
    }
}

fn node(host: HostId, setup: &Setup, happened: &Happened, stopped: Option<&StoppedTrial>) -> NodeFacts {
    let started = happened.started.get(&host);
    let mut volumes = started.map(|s| s.volumes.clone()).unwrap_or_default();
    let began_ms = happened.measurement_began_ms(host);
    let samples = happened.samples.get(&host).map_or(&[][..], Vec::as_slice);
    for volume in &mut volumes {
        let credits = |sample: &HostSample| sample.volumes.get(&volume.role).and_then(|v| v.burst_credits);
        let first = samples
            .iter()
            .find(|s| began_ms.is_none_or(|began| s.unix_ms as f64 >= began))
            .and_then(credits);
        volume.burst_credits = first.zip(samples.iter().rev().find_map(credits));
    }
    NodeFacts {
        host,
        cpus: setup.cpus,
        heap_bytes: setup.heap_bytes,
        memory_limit_bytes: setup.memory_limit_bytes,
        page_cache_budget_bytes: setup.page_cache_budget_bytes,
        data_bytes_on_disk: match (started, stopped) {
            (Some(started), _) => started.data_bytes_on_disk,
            (None, Some(stopped)) => stopped.data_bytes_on_disk,
            (None, None) => 0,
        },
        restored_keys_checked: started.map_or(0, |s| s.keys_checked),
        volumes,
    }
}

fn store(
    directory: &RunDirectory,
    record: &TrialRecord,
    mut happened: Happened,
    stopped: &BTreeMap<HostId, StoppedTrial>,
) -> Result<(), Failure> {
    let mut samples = std::mem::take(&mut happened.samples);
    for node in &record.nodes {
        samples.entry(node.host).or_default();
    }
    let mut intervals = Vec::new();
    if let Some(result) = &mut happened.result {
        samples.insert(HostId::CLIENT, std::mem::take(&mut result.samples));
        for interval in &result.intervals {
            intervals.push(wire::from_wire(interval).map_err(Failure::work)?);
        }
    }
    for (host, of_host) in &mut samples {
        if let Some(began_ms) = happened.measurement_began_ms(*host) {
            for sample in of_host {
                sample.t_s = (sample.unix_ms as f64 - began_ms) / 1e3;
            }
        }
    }
    let logs: Vec<(String, &[u8])> = stopped
        .iter()
        .flat_map(|(host, stopped)| {
            stopped
                .logs
                .iter()
                .map(|log| (log_name(*host, log), log.text.as_bytes()))
        })
        .collect();
    let logs: Vec<(&str, &[u8])> = logs.iter().map(|(name, text)| (name.as_str(), *text)).collect();
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

/// `database.log` of the first host, `database-2.database.log` of the second.
fn log_name(host: HostId, log: &TextFile) -> String {
    match host.index {
        0 => log.name.clone(),
        _ => format!("{host}.{}", log.name),
    }
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
    use evidence::ClientResult;

    use super::*;

    #[test]
    fn the_start_of_measurement_is_found_on_the_clock_of_every_host() {
        let reading = |offset_ms| ClockReading {
            offset_ms,
            round_trip_ms: 1.0,
        };
        let result = ClientResult {
            warmup_s: 1.0,
            measured_s: 1.0,
            operations_sent: 0,
            completed: BTreeMap::new(),
            errors: BTreeMap::new(),
            client_cpu_s: 0.0,
            client_peak_rss_bytes: 0,
            send_lag_us: None,
            threads: 1,
        };
        let mut happened = Happened {
            started_at: jiff::Timestamp::UNIX_EPOCH,
            started: BTreeMap::new(),
            result: Some(TrialResult {
                result,
                intervals: Vec::new(),
                measurement_started_unix_ms: 1_003_000,
                samples: Vec::new(),
            }),
            samples: BTreeMap::new(),
            clocks_at_start: BTreeMap::from([(HostId::CLIENT, reading(3_000.0)), (HostId::DATABASE, reading(-990.0))]),
            clocks_at_end: BTreeMap::from([(HostId::DATABASE, reading(-1_010.0))]),
            validity: Validity::Valid,
        };
        // The client is 3 s ahead of the controller; the database's clock is 1 s behind, in the mean of both ends.
        assert_eq!(happened.measurement_began_ms(HostId::CLIENT), Some(1_003_000.0));
        assert_eq!(happened.measurement_began_ms(HostId::DATABASE), Some(999_000.0));
        // A host whose clock nobody read is taken for right.
        assert_eq!(happened.measurement_began_ms(HostId::database(1)), Some(1_000_000.0));
        happened.result = None;
        assert_eq!(happened.measurement_began_ms(HostId::DATABASE), None);
    }

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
