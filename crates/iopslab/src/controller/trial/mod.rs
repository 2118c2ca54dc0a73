//! One trial: from a prepared configuration to a stored record, whatever happens in between.

mod clients;
mod database;
mod evidence;
mod faults;
mod lag;
mod live;
mod logs;
mod probing;
mod rest;
mod state;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{Cause, HostId, Validity};
use archive::{JournalEvent, RunDirectory};
use experiment::{NodeFault, PlannedTrial};
use wire::{ClientRequest, Event, Reply, Request};

use super::agents::{Agents, HostFailure, gravest, unexpected};
use super::hosts;
use super::journal::note;
use super::position::{Position, position_text};
use super::target::Target;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Screen;
use clients::Measured;
use database::{Parts, ended, parts, prepare, start, stop, task, volumes_lost};
use faults::{FailedDisks, Faults, MeasurementStart};
use lag::Lag;
use live::{LiveFigures, summary};
pub(super) use probing::search;
use state::TrialState;

/// Most samples of a host in a trial, which come once a second: two weeks of them. What an agent sends beyond is passed over.
const MOST_SAMPLES: usize = ::evidence::LONGEST_S as usize;

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Completion {
    Completed,
    Failed(String),
}

/// Runs one planned trial and stores it; its database may serve the `next` one. An error ends the run.
pub(super) fn run(
    directory: &RunDirectory,
    agents: &mut Agents,
    (planned, next): (&PlannedTrial, Option<&PlannedTrial>),
    target: &Target,
    position: Position,
    screen: &mut Screen,
) -> Result<Completion, Failure> {
    let parts = parts(directory.job(), planned)?;
    let cell = parts.cell;
    let label = format!("[{}] {} block {}", position_text(position), cell.id, planned.block);
    screen.about(&label);
    prepare(agents, directory.job(), parts.setup, screen)?;
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
    let mut state = TrialState::new();
    let worked = execute(agents, parts, target, &mut state, screen).and_then(|()| {
        state.clocks_at_end = agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
        let keeps = state.validity == Validity::Valid && parts.keeps_process_for(directory.job(), next);
        let stopped = stop(agents, parts.setup, keeps, screen)?;
        volumes_lost(&mut state, &stopped);
        let logs = logs::fetch(agents, directory, planned, &stopped, screen)?;
        Ok((stopped, logs))
    });
    let ((stopped, logs), lost) = match (worked, agents.cut_off()) {
        (Ok(collected), _) => (collected, None),
        (Err(failure), Some(how)) => {
            if state.validity == Validity::Valid {
                state.invalidate(Cause::HostLost, format!("a host was lost: {how}"), Vec::new());
            }
            let none = directory.logs(&cell.id, planned.block).map_err(Failure::work)?;
            ((BTreeMap::new(), none), Some(failure))
        }
        (Err(failure), None) => return Err(failure),
    };
    let record = evidence::record((planned, cell, &parts.setup_of_trial()), &state, &stopped);
    evidence::store(directory, &record, state, logs)?;
    screen.publish(|live| live.stored(record.validity == Validity::Valid));
    if !agents.is_simulated() {
        screen.say(&summary(&label, &record));
    }
    let notes = record.client.iter().flat_map(|client| &client.notes);
    notes.for_each(|note| screen.note(note));
    lost.map_or_else(|| Ok(completion(&record.validity)), Err)
}

fn completion(validity: &Validity) -> Completion {
    match validity {
        Validity::Invalid {
            cause: Cause::DidNotStart | Cause::ClientLost,
            reason,
            ..
        } => Completion::Failed(reason.clone()),
        _ => Completion::Completed,
    }
}

fn execute(
    agents: &mut Agents,
    parts: Parts<'_>,
    target: &Target,
    state: &mut TrialState,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = parts.plan;
    // Before anything is under way: what a host says while its clock is read is passed over.
    state.clocks_at_start = agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    start(agents, parts, state, screen)?;
    rest::bring(agents, parts, target, state, screen)?;
    if state.validity != Validity::Valid {
        return Ok(());
    }
    let first = state.started.values().next();
    if let Some(began) = first.and_then(|s| jiff::Timestamp::from_millisecond(s.began_unix_ms).ok()) {
        state.started_at = began;
    }
    let whole = task(parts, target, state);
    let now_unix_ms = machine::unix_ms();
    let clients = hosts::clients_of(plan, parts.setup);
    let tasks = clients::tasks(
        &whole,
        &clients,
        now_unix_ms,
        |client| state.offset_ms(client),
        |client| hosts::database_cpus(parts.setup, client, agents),
    );
    let mut death = None;
    let mut figures = LiveFigures::default();
    let mut lag = Lag::new();
    let offsets = state.offsets_ms();
    let samples = &mut state.samples;
    let (measurement_start, failed_disks) = (MeasurementStart::default(), FailedDisks::default());
    let steps = RefCell::new(Vec::new());
    screen.doing("connecting the client", "");
    let request = |(client, task)| (client, Request::Client(ClientRequest::Trial(Box::new(task))));
    let requests = tasks.into_iter().map(request).collect();
    let host_of = |fault: &NodeFault| HostId::database(parts.setup.host_of(fault));
    let say = |step: &str| steps.borrow_mut().push(step.to_owned());
    let with_backlogs = parts.setup.backlog.map(|_| hosts::nodes_of(parts.setup));
    let with_backlogs = with_backlogs.unwrap_or_default();
    let mut faults = Faults::new(&plan.faults, host_of, (&measurement_start, &failed_disks), say)
        .after_backlogs_of(with_backlogs.iter().copied());
    let on_event = &mut |host, event| {
        steps.take().iter().for_each(|step: &String| screen.say(step));
        match event {
            Event::Second(second) => {
                measurement_start.second_over(second.t_s, Instant::now());
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
            Event::DatabaseDied { how, .. } if failed_disks.ended(host, &how, &measurement_start, Instant::now()) => {
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
    let answers = agents.converse_beside(requests, on_event, &mut faults)?;
    lag.log();
    if let Some((host, how, log_tail)) = death {
        ended(state, parts.setup, host, &how, log_tail);
        return Ok(());
    }
    if let Some((cause, reason)) = faults.failed() {
        state.invalidate(*cause, reason.clone(), Vec::new());
        return Ok(());
    }
    let mut results = BTreeMap::new();
    let mut host_failures = Vec::new();
    for (client, answer) in answers {
        match answer {
            Ok(Reply::Trial(result)) => drop(results.insert(client, *result)),
            Ok(other) => return Err(unexpected(&other)),
            Err(host_failure) => host_failures.push((client, host_failure)),
        }
    }
    match gravest(host_failures) {
        None => {}
        Some((_, HostFailure::ClientLost(how))) => state.invalidate(Cause::ClientLost, how, Vec::new()),
        Some((client, HostFailure::Request(error))) => {
            let reason = format!("the {client} failed: {}", error.message);
            state.invalidate(Cause::ClientFailed, reason, Vec::new());
        }
    }
    if state.validity == Validity::Valid {
        if results.len() < plan.clients as usize {
            return Err(Failure::work("a client agent does not answer"));
        }
        state.measured = Measured::of(results, |client| state.offset_ms(client)).map_err(Failure::work)?;
        state.backlogs = faults.backlogs(|host| state.measurement_began_ms(host));
        state.faults = faults.records(|host| state.measurement_began_ms(host));
        if let Some(host) = with_backlogs.iter().find(|host| !state.backlogs.contains_key(*host)) {
            let reason = format!("the trial was over before {host} was left to compact its backlog");
            state.invalidate(Cause::BacklogNotAsPlanned, reason, Vec::new());
        }
    }
    Ok(())
}
