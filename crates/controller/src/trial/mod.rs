//! One trial: from a prepared configuration to a stored record, whatever happens in between.

mod clients;
mod database;
mod evidence;
mod failed_disks;
mod faults;
mod lag;
mod levels;
mod live;
mod load;
mod logs;
#[cfg(feature = "aws")]
mod modifying;
mod pieces;
mod probing;
mod rest;
mod state;

use std::collections::BTreeMap;

use ::evidence::{HostId, ModifiedVolume, Validity};
use archive::{JournalEvent, TrialLogs};
use experiment::PlannedTrial;
use wire::StoppedTrial;

use super::hosts;
use super::live::LiveTrial;
use super::live_line::Position;
use super::run::Run;
use super::run_failure::Result;
use super::standings::ops_per_s;
use database::{Parts, not_held_or_lost, parts, prepare, start, stop, volumes_lost};
pub(super) use levels::bring;
use live::summary;
pub(super) use probing::search;
use state::TrialState;

/// Whether the database and the client could do what a trial asks of them, or why not. What the database did under load
/// is another matter.
pub(super) enum Completion {
    Completed,
    Failed(String),
}

impl Completion {
    fn of(validity: &Validity) -> Self {
        match validity {
            Validity::Invalid { cause, reason, .. } if !cause.is_carried_out() => Self::Failed(reason.clone()),
            Validity::Valid | Validity::Invalid { .. } => Self::Completed,
        }
    }
}

/// Which trial comes next, as far as is known when the load of the one before it is over.
pub(super) type Next<'a> = &'a dyn Fn() -> Option<PlannedTrial>;

/// Runs one planned trial and stores it, with the volumes that were modified for it; its database may serve the `next`
/// one. An error ends the run.
pub(super) fn run(
    run: &mut Run<'_>,
    (planned, modified): (&PlannedTrial, Vec<ModifiedVolume>),
    next: Next<'_>,
    position: Position,
) -> Result<Completion> {
    let parts = parts(run.job(), planned)?;
    let cell = parts.cell;
    let about = format!("{} block {}", cell.id, planned.block);
    run.agents.screen.about(Some(position), &about);
    prepare(run, parts.setup)?;
    run.note(JournalEvent::TrialStarted { cell: cell.id.clone(), block: planned.block })?;
    run.agents.screen.publish_here(|site| {
        site.trial = Some(LiveTrial { cell: cell.id.clone(), block: planned.block, ..LiveTrial::default() });
    });
    let data_volumes = levels::volumes(run, parts.setup);
    let mut state = TrialState { modified, data_volumes, ..TrialState::new() };
    let worked = execute(run, parts, &mut state).or_else(|failure| state.befallen_by(failure));
    let (stopped, logs, lost) = match worked.and_then(|()| collect(run, parts, next, &mut state)) {
        Ok((stopped, logs)) => (stopped, logs, None),
        Err(failure) => {
            let Some(validity) = failure.validity() else { return Err(failure) };
            if state.validity == Validity::Valid {
                state.validity = validity;
            }
            let none = run.directory.logs(&cell.id, planned.block)?;
            (BTreeMap::new(), none, Some(failure))
        }
    };
    let record = evidence::record((planned, cell, &parts.setup_of_trial()), &state, &stopped);
    evidence::store(run, &record, state, logs)?;
    let screen = &run.agents.screen;
    screen.publish(|live| live.stored(&cell.id, ops_per_s(&record)));
    screen.publish_here(|site| site.trial.iter_mut().for_each(|trial| trial.is_over = true));
    if !parts.plan.place.is_simulated() {
        let Position { number, of, .. } = position;
        screen.say(&summary(&format!("[{number} of {of}] {about}"), &record));
    }
    let notes = record.client.iter().flat_map(|client| &client.notes);
    notes.for_each(|note| screen.note(note));
    lost.map_or_else(|| Ok(Completion::of(&record.validity)), Err)
}

fn execute(run: &mut Run<'_>, parts: Parts<'_>, state: &mut TrialState) -> Result<()> {
    // Before anything is under way: what a host says while its clock is read is passed over.
    state.clocks_at_start = run.agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    start(run, parts, state)?;
    rest::bring(run, parts, state)?;
    let first = state.started.values().next();
    if let Some(began) = first.and_then(|s| jiff::Timestamp::from_millisecond(s.began_unix_ms).ok()) {
        state.started_at = began;
    }
    load::measure(run, parts, state)
}

/// The load is over, or there was none: the database ends, or is kept for the next trial, and leaves its logs.
fn collect(
    run: &mut Run<'_>,
    parts: Parts<'_>,
    next: Next<'_>,
    state: &mut TrialState,
) -> Result<(BTreeMap<HostId, StoppedTrial>, TrialLogs)> {
    state.clocks_at_end = run.agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    let next = next();
    let keeps = state.validity == Validity::Valid && parts.keeps_process_for(run.job(), next.as_ref());
    let stopped = stop(run, parts.setup, keeps)?;
    volumes_lost(state, &stopped);
    not_held_or_lost(state, &stopped);
    let logs = logs::fetch(run, parts.planned, &stopped)?;
    Ok((stopped, logs))
}
