//! One trial: from a prepared configuration to a stored record, whatever happens in between.

mod clients;
mod database;
mod evidence;
mod faults;
mod happened;
mod lag;
mod live;
mod logs;
mod probing;
mod rest;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{Cause, HostId, Validity};
use archive::{JournalEvent, RunDirectory};
use spec::{NodeFault, PlannedTrial};
use wire::{ClientRequest, Event, Reply, Request};

use super::crew::{Crew, Trouble, gravest, unexpected};
use super::hosts;
use super::journal::note;
use super::position::{Position, position_text};
use super::target::Target;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Screen;
use clients::Measured;
use database::{Parts, ended, parts, prepare, start, stop, task, volumes_lost};
use faults::{Began, Faults, Spoilt};
use happened::Happened;
use lag::Lag;
use live::{LiveFigures, summary};
pub(super) use probing::search;

/// Most samples of a host in a trial, which come once a second: two weeks of them. What an agent sends beyond is passed over.
const MOST_SAMPLES: usize = ::evidence::LONGEST_S as usize;

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Carried {
    Out,
    Not(String),
}

/// Runs one planned trial and stores it; its database may serve the `next` one. An error ends the run.
pub(super) fn run(
    directory: &RunDirectory,
    crew: &mut Crew,
    (planned, next): (&PlannedTrial, Option<&PlannedTrial>),
    target: &Target,
    position: Position,
    screen: &mut Screen,
) -> Result<Carried, Failure> {
    let parts = parts(directory.job(), planned)?;
    let cell = parts.cell;
    let label = format!("[{}] {} block {}", position_text(position), cell.id, planned.block);
    screen.about(&label);
    prepare(crew, directory.job(), parts.setup, screen)?;
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
        let keeps = happened.validity == Validity::Valid && parts.keeps_process_for(directory.job(), next);
        let stopped = stop(crew, parts.setup, keeps, screen)?;
        volumes_lost(&mut happened, &stopped);
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
    let record = evidence::record((planned, cell, &parts.setup_of_trial()), &happened, &stopped);
    evidence::store(directory, &record, happened, logs)?;
    screen.publish(|live| live.stored(record.validity == Validity::Valid));
    if !crew.is_simulated() {
        screen.say(&summary(&label, &record));
    }
    let notes = record.client.iter().flat_map(|client| &client.notes);
    notes.for_each(|note| screen.note(note));
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

fn execute(
    crew: &mut Crew,
    parts: Parts<'_>,
    target: &Target,
    happened: &mut Happened,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = parts.plan;
    // Before anything is under way: what a host says while its clock is read is passed over.
    happened.clocks_at_start = crew.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    start(crew, parts, happened, screen)?;
    rest::bring(crew, parts, target, happened, screen)?;
    if happened.validity != Validity::Valid {
        return Ok(());
    }
    let first = happened.started.values().next();
    if let Some(began) = first.and_then(|s| jiff::Timestamp::from_millisecond(s.began_unix_ms).ok()) {
        happened.started_at = began;
    }
    let whole = task(parts, target, happened);
    let now_unix_ms = machine::unix_ms();
    let clients = hosts::clients_of(plan, parts.setup);
    let tasks = clients::tasks(
        &whole,
        &clients,
        now_unix_ms,
        |client| happened.offset_ms(client),
        |client| hosts::database_cpus(parts.setup, client, crew),
    );
    let mut death = None;
    let mut figures = LiveFigures::default();
    let mut lag = Lag::new();
    let offsets = happened.offsets_ms();
    let samples = &mut happened.samples;
    let (began, spoilt) = (Began::default(), Spoilt::default());
    let steps = RefCell::new(Vec::new());
    screen.doing("connecting the client", "");
    let request = |(client, task)| (client, Request::Client(ClientRequest::Trial(Box::new(task))));
    let requests = tasks.into_iter().map(request).collect();
    let host_of = |fault: &NodeFault| HostId::database(parts.setup.host_of(fault));
    let say = |step: &str| steps.borrow_mut().push(step.to_owned());
    let with_backlogs = parts.setup.backlog.map(|_| hosts::nodes_of(parts.setup));
    let with_backlogs = with_backlogs.unwrap_or_default();
    let mut faults =
        Faults::new(&plan.faults, host_of, (&began, &spoilt), say).after_backlogs_of(with_backlogs.iter().copied());
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
                if of_host.len() < MOST_SAMPLES {
                    of_host.push(*sample);
                }
            }
            Event::DatabaseDied { how, .. } if spoilt.ended(host, &how, &began, Instant::now()) => {
                screen.say(&format!("{host} ended after its disk had failed: {how}"));
            }
            Event::DatabaseDied { how, log_tail } => {
                death = death.take().or(Some((host, how, log_tail)));
            }
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::AtWork | Event::Reply(_) => {}
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
    if let Some((cause, reason)) = faults.failed() {
        happened.spoil(*cause, reason.clone(), Vec::new());
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
        happened.backlogs = faults.backlogs(|host| happened.measurement_began_ms(host));
        happened.faults = faults.records(|host| happened.measurement_began_ms(host));
        if let Some(host) = with_backlogs.iter().find(|host| !happened.backlogs.contains_key(*host)) {
            let reason = format!("the trial was over before {host} was left to compact its backlog");
            happened.spoil(Cause::BacklogNotAsPlanned, reason, Vec::new());
        }
    }
    Ok(())
}
