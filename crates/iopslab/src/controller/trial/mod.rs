//! One trial: from a prepared configuration to a stored record, whatever happens in between.

mod clients;
mod evidence;
mod faults;
mod happened;
mod lag;
mod live;
mod logs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{Cause, HostId, Validity};
use archive::{JournalEvent, RunDirectory};
use spec::{Cell, Definition, Job, NodeFault, Plan, PlannedTrial, Setup};
use wire::{ClientRequest, DatabaseRequest, Event, Reply, Request, StoppedTrial, TrialTask};

use super::crew::{Crew, Trouble, gravest, to_each, unexpected};
use super::hosts;
use super::journal::note;
use super::position::{Position, position_text};
use super::target::Target;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Screen;
use clients::Measured;
use faults::{Began, Faults};
use happened::Happened;
use lag::Lag;
use live::{LiveFigures, summary};

/// Keys looked up in every restored copy.
const SAMPLE_KEYS: u64 = 32;

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Carried {
    Out,
    Not(String),
}

/// What a trial is made of, from what the run froze.
#[derive(Clone, Copy)]
struct Parts<'a> {
    plan: &'a Plan,
    planned: &'a PlannedTrial,
    cell: &'a Cell,
    setup: &'a Setup,
    workload: &'a Definition,
}

/// Runs one planned trial and stores it. An error ends the run.
pub(super) fn run(
    directory: &RunDirectory,
    crew: &mut Crew,
    planned: &PlannedTrial,
    target: &Target,
    position: Position,
    screen: &mut Screen,
) -> Result<Carried, Failure> {
    let parts = parts(directory.job(), planned)?;
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
    let mut happened = Happened::nothing_yet();
    let worked = execute(crew, parts, target, &mut happened, screen).and_then(|()| {
        happened.clocks_at_end = crew.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
        let stopped = stop(crew, parts.setup, screen)?;
        let logs = logs::fetch(crew, directory, planned, &stopped, screen)?;
        Ok((stopped, logs))
    });
    let ((stopped, logs), lost) = match (worked, crew.cut_off()) {
        (Ok(collected), _) => (collected, None),
        (Err(failure), Some(how)) => {
            if happened.validity == Validity::Valid {
                happened.spoil(Cause::HostLost, format!("a host was lost: {how}"), Vec::new());
            }
            let none = directory.logs(&cell.id, planned.block).map_err(Failure::work)?;
            ((BTreeMap::new(), none), Some(failure))
        }
        (Err(failure), None) => return Err(failure),
    };
    let record = evidence::record((planned, cell, parts.setup), &happened, &stopped);
    evidence::store(directory, &record, happened, logs)?;
    screen.publish(|live| live.stored(record.validity == Validity::Valid));
    if !crew.is_simulated() {
        screen.say(&summary(&label, &record));
    }
    lost.map_or_else(|| Ok(carried(&record.validity)), Err)
}

fn carried(validity: &Validity) -> Carried {
    match validity {
        Validity::Invalid {
            cause: Cause::DidNotStart | Cause::ClientLost,
            reason,
            ..
        } => Carried::Not(reason.clone()),
        _ => Carried::Out,
    }
}

fn parts<'a>(Job { plan, setups }: &'a Job, planned: &'a PlannedTrial) -> Result<Parts<'a>, Failure> {
    let missing = || {
        Failure::work(format!(
            "plan.json or setups.json is not whole: cell {} lacks a part",
            planned.cell
        ))
    };
    let cell = plan.cells.iter().find(|c| c.id == planned.cell).ok_or_else(missing)?;
    let setup = setups.of(&cell.configuration).ok_or_else(missing)?;
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

/// The configuration's volumes exist and have been measured (work for its first trial only). What exists already is as
/// it is.
fn prepare(crew: &mut Crew, setup: &Setup, screen: &mut Screen) -> Result<(), Failure> {
    if setup.existing.is_some() {
        return Ok(());
    }
    let request = DatabaseRequest::Prepare {
        setup: Box::new(setup.clone()),
    };
    for reply in crew.ask_each(&hosts::nodes_of(setup), &request, screen)?.into_values() {
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
        setup: Box::new(parts.setup.clone()),
        sample_keys: sample_keys(parts.plan, parts.workload),
    };
    let nodes = hosts::nodes_of(parts.setup);
    let mut faults = Vec::new();
    let mut death = None;
    let samples = &mut happened.samples;
    // A node that is ready is watched while others still start: what is heard of it is kept.
    let answers = crew.converse(to_each(&nodes, &request), &mut |host, event| {
        match event {
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::Sample(sample) => samples.entry(host).or_default().push(*sample),
            Event::DatabaseDied { how, log_tail } => death = death.take().or(Some((host, how, log_tail))),
            Event::Second(_) | Event::Reply(_) => {}
        }
        death.is_none()
    })?;
    if let Some((host, how, log_tail)) = death {
        ended(happened, parts.setup, host, &how, log_tail);
        return Ok(());
    }
    for (host, answer) in answers {
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
        let how = match parts.setup.existing {
            Some(_) => "cannot be watched",
            None => "did not start",
        };
        let reason = format!("{what} {how}: {}{help}", fault.message);
        happened.spoil(Cause::DidNotStart, reason, Vec::new());
    }
    Ok(())
}

fn execute(
    crew: &mut Crew,
    parts: Parts<'_>,
    target: &Target,
    happened: &mut Happened,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Parts { plan, cell, .. } = parts;
    // Before anything is under way: what a host says while its clock is read is passed over.
    happened.clocks_at_start = crew.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    start(crew, parts, happened, screen)?;
    if happened.validity != Validity::Valid {
        return Ok(());
    }
    let first = happened.started.values().next();
    if let Some(began) = first.and_then(|s| jiff::Timestamp::from_millisecond(s.began_unix_ms).ok()) {
        happened.started_at = began;
    }
    let contact_points = match &parts.setup.existing {
        Some(hosts) => hosts.clone(),
        None => happened
            .started
            .values()
            .flat_map(|s| s.contact_points.clone())
            .collect(),
    };
    let levels = parts.setup.consistency.unwrap_or(plan.target.consistency);
    let whole = TrialTask {
        trial: parts.planned.clone(),
        endpoint: target.endpoint(contact_points, levels, plan.shape.request_timeout_s),
        dataset: plan.dataset,
        workload: parts.workload.clone(),
        load: cell.load,
        shape: plan.shape,
        // The same seed for every configuration of a block: they see the same sequence of requests.
        seed: plan.seed.wrapping_add(u64::from(parts.planned.block)),
        number: 0,
        clients: 1,
        check_writes: !plan.faults.is_empty(),
        begin_unix_ms: None,
    };
    let now_unix_ms = machine::unix_ms();
    let clients = hosts::clients_of(plan, parts.setup);
    let tasks = clients::tasks(&whole, &clients, now_unix_ms, |client| happened.offset_ms(client));
    let mut death = None;
    let mut figures = LiveFigures::default();
    let mut lag = Lag::new();
    let offsets = happened.offsets_ms();
    let samples = &mut happened.samples;
    let began = Began::default();
    let steps = RefCell::new(Vec::new());
    screen.doing("connecting the client", "");
    let request = |(client, task)| (client, Request::Client(ClientRequest::Trial(Box::new(task))));
    let requests = tasks.into_iter().map(request).collect();
    let host_of = |fault: &NodeFault| HostId::database(parts.setup.host_of(fault));
    let say = |step: &str| steps.borrow_mut().push(step.to_owned());
    let mut faults = Faults::new(&plan.faults, host_of, &began, say);
    let on_event = &mut |host, event| {
        steps.take().iter().for_each(|step: &String| screen.say(step));
        match event {
            Event::Second(second) => {
                began.told(second.t_s, Instant::now());
                figures.second(host, second, &plan.shape, screen);
            }
            Event::Sample(sample) => {
                let offset_ms = offsets.get(&host).copied().unwrap_or(0.0);
                lag.handled(&sample, offset_ms, machine::unix_ms());
                let of_host = samples.entry(host).or_default();
                figures.sample(host, of_host.last(), &sample);
                of_host.push(*sample);
            }
            Event::DatabaseDied { how, log_tail } => {
                death = death.take().or(Some((host, how, log_tail)));
            }
            Event::Progress(_) | Event::Reply(_) => {}
        }
        death.is_none()
    };
    tracing::info!("the load begins");
    let answers = crew.converse_beside(requests, on_event, &mut faults)?;
    lag.log();
    if let Some((host, how, log_tail)) = death {
        ended(happened, parts.setup, host, &how, log_tail);
        return Ok(());
    }
    if let Some((host, fault)) = faults.failed() {
        let reason = format!("a planned fault could not be carried out on {host}: {}", fault.message);
        happened.spoil(Cause::FaultFailed, reason, Vec::new());
        return Ok(());
    }
    let mut results = BTreeMap::new();
    let mut troubles = Vec::new();
    for (client, answer) in answers {
        match answer {
            Ok(Reply::Trial(result)) => drop(results.insert(client, *result)),
            Ok(other) => return Err(unexpected(&other)),
            Err(trouble) => troubles.push((client, trouble)),
        }
    }
    match gravest(troubles) {
        None => {}
        Some((_, Trouble::ClientLost(how))) => happened.spoil(Cause::ClientLost, how, Vec::new()),
        Some((client, Trouble::Fault(fault))) => {
            let reason = format!("the {client} failed: {}", fault.message);
            happened.spoil(Cause::ClientFailed, reason, Vec::new());
        }
    }
    if happened.validity == Validity::Valid {
        if results.len() < plan.clients as usize {
            return Err(Failure::work("a client agent does not answer"));
        }
        happened.measured = Measured::of(results, |client| happened.offset_ms(client)).map_err(Failure::work)?;
        happened.faults = faults.records(|host| happened.measurement_began_ms(host));
    }
    Ok(())
}

/// A node ended on its own.
fn ended(happened: &mut Happened, setup: &Setup, host: HostId, how: &str, log_tail: Vec<String>) {
    let name = match setup.existing {
        Some(_) => "the database",
        None => "Cassandra",
    };
    let subject = subject(name, setup, host);
    let reason = format!("{subject} ended during the trial: {how}");
    happened.spoil(Cause::DatabaseEnded, reason, log_tail);
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
    let doing = match setup.existing {
        Some(_) => "collecting what was seen",
        None => "stopping Cassandra and detaching its volumes",
    };
    screen.doing(doing, "");
    let replies = crew.ask_each(&hosts::nodes_of(setup), &DatabaseRequest::StopTrial, screen)?;
    let each = replies.into_iter().map(|(host, reply)| match reply {
        Reply::Stopped(stopped) => Ok((host, *stopped)),
        other => Err(unexpected(&other)),
    });
    each.collect()
}
