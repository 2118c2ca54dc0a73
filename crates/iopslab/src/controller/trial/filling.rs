//! Page caches that are to hold what a workload leaves in them: a client reads by its keys until they do, and then limits come
//! into force.

use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{Cause, HostId, Validity};
use wire::{ClientRequest, DatabaseRequest, Reply, Request, TrialTask};

use super::database::{Parts, ask_nodes, task};
use super::happened::Happened;
use crate::controller::crew::{Crew, Trouble, unexpected};
use crate::controller::hosts;
use crate::controller::target::Target;
use crate::failure::Failure;
use crate::progress::Screen;

/// Seconds of reading between two looks at how far it is.
const READ_S: f64 = 3.0;

/// Fills the page caches of nodes that ask for it, for at most [`spec::FILLING_MAX_S`] seconds: a page cache that holds nearly
/// the whole data set is asked for little that it has not, and what is missing then matters little.
pub fn fill(
    crew: &mut Crew,
    parts: Parts<'_>,
    target: &Target,
    happened: &mut Happened,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let started = happened.started.iter();
    let wanted: BTreeMap<HostId, u64> = started.filter_map(|(host, s)| Some((*host, s.fill_bytes?))).collect();
    if wanted.is_empty() || happened.validity != Validity::Valid {
        return Ok(());
    }
    let clients = hosts::clients_of(parts.plan, parts.setup);
    let client = *clients.first().ok_or_else(|| Failure::work("a run has no client"))?;
    let whole = task(parts, target, happened);
    let began = Instant::now();
    for round in 1.. {
        screen.doing("filling the page cache by the workload's keys", "");
        let task = TrialTask {
            // Other keys than in the round before.
            seed: whole.seed.wrapping_add(round << 40),
            ..whole.clone()
        };
        let read = ClientRequest::Read {
            task: Box::new(task),
            seconds: READ_S,
        };
        if let Err((cause, reason)) = ask(crew, client, read)? {
            happened.spoil(cause, reason, Vec::new());
            // A database that has ended is why, and says so when it is asked.
            return filled(crew, parts, false, happened, screen).map(drop);
        }
        let is_over = began.elapsed().as_secs_f64() > spec::FILLING_MAX_S || {
            let so_far = filled(crew, parts, false, happened, screen)?;
            let is_full = |(host, bytes): (&HostId, &u64)| so_far.get(host).is_some_and(|w| w.by_keys_bytes >= *bytes);
            wanted.iter().all(is_full) || happened.validity != Validity::Valid
        };
        if is_over {
            break;
        }
    }
    if happened.validity != Validity::Valid {
        return Ok(());
    }
    for (host, warmed) in filled(crew, parts, true, happened, screen)? {
        if let Some(started) = happened.started.get_mut(&host) {
            started.warmed = Some(warmed);
        }
    }
    Ok(())
}

/// How far each node's page cache is; of none where a database has ended, which makes the trial invalid.
fn filled(
    crew: &mut Crew,
    parts: Parts<'_>,
    is_over: bool,
    happened: &mut Happened,
    screen: &mut Screen,
) -> Result<BTreeMap<HostId, ::evidence::Warmed>, Failure> {
    let request = |_: HostId, _: &Crew| DatabaseRequest::Filled { is_over };
    let answers = ask_nodes(crew, parts.setup, &request, happened, screen)?;
    let each = answers.into_iter().flatten().map(|(host, answer)| match answer {
        Ok(Reply::Filled(warmed)) => Ok((host, warmed)),
        Ok(other) => Err(unexpected(&other)),
        Err(trouble) => Err(trouble.into()),
    });
    each.collect()
}

/// One round of reads, or why there was none.
fn ask(crew: &mut Crew, client: HostId, read: ClientRequest) -> Result<Result<(), (Cause, String)>, Failure> {
    // No node is watched yet: none says anything.
    let answers = crew.converse(vec![(client, Request::Client(read))], &mut |_, _| true)?;
    match answers.into_values().next() {
        Some(Ok(Reply::Read)) => Ok(Ok(())),
        Some(Ok(other)) => Err(unexpected(&other)),
        Some(Err(Trouble::Fault(fault))) => {
            let reason = format!("the page cache could not be filled: {}", fault.message);
            Ok(Err((Cause::DidNotStart, reason)))
        }
        Some(Err(Trouble::ClientLost(how))) => Ok(Err((Cause::ClientLost, how))),
        None => Err(Failure::work("a client agent does not answer")),
    }
}
