//! The database of a trial, or of a search: prepared, started, loaded, stopped.

use std::collections::BTreeMap;

use ::evidence::{Cause, HostId, Validity};
use experiment::{Cell, Definition, Job, Plan, PlannedTrial, Setup};
use wire::{DatabaseRequest, Event, Reply, Request, StoppedTrial, TrialTask};

use super::state::TrialState;
use crate::controller::agents::{Agents, Answered, HostFailure, unexpected};
use crate::controller::hosts;
use crate::controller::target::Target;
use crate::failure::Failure;
use crate::progress::Screen;

/// Keys looked up in every restored copy.
const SAMPLE_KEYS: u64 = 32;

/// What a trial is made of, from what the run froze.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub plan: &'a Plan,
    pub planned: &'a PlannedTrial,
    pub cell: &'a Cell,
    pub setup: &'a Setup,
    pub workload: &'a Definition,
}

impl Parts<'_> {
    /// The setup with the page cache that this workload asks for.
    pub fn setup_of_trial(&self) -> Setup {
        self.plan
            .caches
            .setup(self.setup, &self.workload.name, &self.plan.dataset)
    }

    /// Whether the process that serves this trial can serve the next one: both belong to one fork of a block, and nothing is done to
    /// a node. What one process has compiled well or badly hits its trials alike, and cancels in their ratio; each block has another
    /// one, or as many as `forks` states.
    pub fn keeps_process_for(&self, job: &Job, next: Option<&PlannedTrial>) -> bool {
        let fork = |trial: &PlannedTrial| (trial.block, self.plan.fork_of(trial));
        let Some(next) = next.filter(|next| fork(next) == fork(self.planned)) else {
            return false;
        };
        let of_next = parts(job, next).map(|next| next.setup.shares_process_with(self.setup));
        self.plan.faults.is_empty() && of_next.unwrap_or(false)
    }
}

/// The parts of a trial of a cell.
pub fn parts_of<'a>(
    Job { plan, setups }: &'a Job,
    planned: &'a PlannedTrial,
    cell: &'a Cell,
) -> Result<Parts<'a>, Failure> {
    let setup = setups.of(&cell.configuration).ok_or_else(|| missing(&cell.id))?;
    let named = |w: &&Definition| w.name == cell.workload;
    let workload = plan.workloads.iter().find(named).ok_or_else(|| missing(&cell.id))?;
    Ok(Parts {
        plan,
        planned,
        cell,
        setup,
        workload,
    })
}

/// The parts of a planned trial.
pub fn parts<'a>(job: &'a Job, planned: &'a PlannedTrial) -> Result<Parts<'a>, Failure> {
    let cell = job.plan.cells.iter().find(|c| c.id == planned.cell);
    parts_of(job, planned, cell.ok_or_else(|| missing(&planned.cell))?)
}

fn missing(cell: &str) -> Failure {
    Failure::work(format!(
        "plan.json or setups.json is not whole: cell {cell} lacks a part"
    ))
}

/// The configuration's volumes exist and have been measured (work for its first trial only). What exists already is as
/// it is.
pub fn prepare(agents: &mut Agents, job: &Job, setup: &Setup, screen: &mut Screen) -> Result<(), Failure> {
    if setup.existing.is_some() {
        return Ok(());
    }
    let sharers = job.setups.iter().filter(|other| setup.shares_process_with(other));
    let request = DatabaseRequest::Prepare {
        setup: Box::new(setup.clone()),
        others: sharers
            .filter(|other| other.configuration != setup.configuration)
            .cloned()
            .collect(),
    };
    for reply in agents
        .ask_each(&hosts::nodes_of(setup), &request, screen)?
        .into_values()
    {
        if !matches!(reply, Reply::Prepared(_)) {
            return Err(unexpected(&reply));
        }
    }
    Ok(())
}

/// A settled database on every host, or why there is none.
pub fn start(
    agents: &mut Agents,
    parts: Parts<'_>,
    state: &mut TrialState,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let request = |host: HostId, agents: &Agents| DatabaseRequest::StartTrial {
        trial: parts.planned.clone(),
        setup: Box::new(parts.setup_of_trial()),
        workload: parts.workload.name.clone(),
        sample_keys: sample_keys(parts.plan, parts.workload),
        database_cpus: hosts::database_cpus(parts.setup, host, agents),
    };
    let mut errors = Vec::new();
    let Some(answers) = ask_nodes(agents, parts.setup, &request, state, screen)? else {
        return Ok(());
    };
    for (host, answer) in answers {
        match answer {
            Ok(Reply::Started(started)) => drop(state.started.insert(host, *started)),
            Ok(other) => return Err(unexpected(&other)),
            Err(HostFailure::Request(error)) => errors.push((host, error)),
            Err(host_failure @ HostFailure::ClientLost(_)) => return Err(host_failure.into()),
        }
    }
    // Nodes that were called off because of another one say less than that one.
    errors.sort_by_key(|(_, error)| error.cancelled);
    if let Some((host, error)) = errors.into_iter().next() {
        let help = error.help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let what = subject("the database", parts.setup, host);
        let how = match parts.setup.existing {
            Some(_) => "cannot be watched",
            None => "did not start",
        };
        let reason = format!("{what} {how}: {}{help}", error.message);
        state.invalidate(Cause::DidNotStart, reason, Vec::new());
    }
    Ok(())
}

/// Asks every node. What one that is watched says meanwhile is kept; where one has ended, the trial is invalid for that, and there are
/// no answers.
pub fn ask_nodes(
    agents: &mut Agents,
    setup: &Setup,
    request: &dyn Fn(HostId, &Agents) -> DatabaseRequest,
    state: &mut TrialState,
    screen: &mut Screen,
) -> Result<Option<Answered>, Failure> {
    let nodes = hosts::nodes_of(setup).into_iter();
    let requests = nodes
        .map(|host| (host, Request::Database(request(host, agents))))
        .collect();
    let mut death = None;
    let samples = &mut state.samples;
    let answers = agents.converse(requests, &mut |host, event| {
        match event {
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::Sample(sample) => samples.entry(host).or_default().push(*sample),
            Event::DatabaseDied { how, log_tail } => death = death.take().or(Some((host, how, log_tail))),
            Event::Second(_) | Event::AtWork | Event::Reply(_) => {}
        }
        death.is_none()
    })?;
    let Some((host, how, log_tail)) = death else {
        return Ok(Some(answers));
    };
    ended(state, setup, host, &how, log_tail);
    Ok(None)
}

/// The whole load of a trial on the databases that were started.
pub fn task(parts: Parts<'_>, target: &Target, state: &TrialState) -> TrialTask {
    let Parts { plan, cell, .. } = parts;
    let contact_points = match &parts.setup.existing {
        Some(hosts) => hosts.clone(),
        None => state.started.values().flat_map(|s| s.contact_points.clone()).collect(),
    };
    let levels = parts.setup.consistency.unwrap_or(plan.target.consistency);
    TrialTask {
        trial: parts.planned.clone(),
        endpoint: target.endpoint(contact_points, levels, plan.shape.request_timeout_s),
        dataset: plan.dataset,
        workload: parts.workload.clone(),
        load: cell.load,
        shape: plan.shape,
        seed: seed(
            plan.seed,
            parts.planned.block,
            plan.cells.iter().position(|other| other.id == cell.id),
            parts.setup.existing.is_some(),
        ),
        number: 0,
        clients: 1,
        check_writes: !plan.faults.is_empty(),
        begin_unix_ms: None,
        database_cpus: 0.0,
    }
}

/// The same seed for every cell of a block: they see the same sequence of requests, each on data that nobody has read. An
/// existing cluster still has what the trial before read in its memory: there each cell asks for records of its own.
fn seed(of_plan: u64, block: u32, cell: Option<usize>, is_existing: bool) -> u64 {
    let own = cell.filter(|_| is_existing).map_or(0, |cell| cell as u64 + 1);
    of_plan.wrapping_add(u64::from(block)).wrapping_add(own << 48)
}

/// A node ended on its own.
pub fn ended(state: &mut TrialState, setup: &Setup, host: HostId, how: &str, log_tail: Vec<String>) {
    let name = match setup.existing {
        Some(_) => "the database",
        None => "Cassandra",
    };
    let subject = subject(name, setup, host);
    let reason = format!("{subject} ended during the trial: {how}");
    state.invalidate(Cause::DatabaseEnded, reason, log_tail);
}

/// Where the process that answers for a database's volumes was lost, that is why the trial is invalid, whatever the database
/// and the client made of the errors.
pub fn volumes_lost(state: &mut TrialState, stopped: &BTreeMap<HostId, StoppedTrial>) {
    let lost = stopped.values().find_map(|stopped| stopped.volumes_lost.as_deref());
    let Some(how) = lost else { return };
    let (after, log_tail) = match &state.validity {
        Validity::Valid => (String::new(), Vec::new()),
        // It is repeated as what it is.
        Validity::Invalid {
            cause: Cause::DidNotStart,
            ..
        } => return,
        // Whoever watches the node has told of it.
        Validity::Invalid {
            cause: Cause::DatabaseEnded,
            log_tail,
            ..
        } => (String::new(), log_tail.clone()),
        Validity::Invalid { reason, log_tail, .. } => (format!("; {reason}"), log_tail.clone()),
    };
    let reason = format!("the volumes were lost during the trial: {how}{after}");
    state.invalidate(Cause::VolumesLost, reason, log_tail);
}

/// What a reason is about: which node where there are several.
fn subject(what: &str, setup: &Setup, host: HostId) -> String {
    match setup.placement.is_cluster() {
        true => format!("{what} on {host}"),
        false => what.to_owned(),
    }
}

/// Keys spread over the whole data set.
pub fn sample_keys(plan: &Plan, workload: &Definition) -> Vec<String> {
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

/// Stops it everywhere, unless it is kept for the next trial.
pub fn stop(
    agents: &mut Agents,
    setup: &Setup,
    keeps: bool,
    screen: &mut Screen,
) -> Result<BTreeMap<HostId, StoppedTrial>, Failure> {
    let doing = match setup.existing {
        Some(_) => "collecting what was seen",
        None if keeps => "collecting logs",
        None => "stopping Cassandra and detaching its volumes",
    };
    screen.doing(doing, "");
    let replies = agents.ask_each(&hosts::nodes_of(setup), &DatabaseRequest::StopTrial { keeps }, screen)?;
    let each = replies.into_iter().map(|(host, reply)| match reply {
        Reply::Stopped(stopped) => Ok((host, *stopped)),
        other => Err(unexpected(&other)),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_whose_volumes_were_lost_is_invalid_for_that_whatever_the_client_made_of_the_errors() {
        let stopped = |volumes_lost: Option<&str>| {
            let stopped = StoppedTrial {
                logs: Vec::new(),
                data_bytes_on_disk: 0,
                stop_s: 0.0,
                volumes_lost: volumes_lost.map(str::to_owned),
                program_cache_bytes: None,
                others: Vec::new(),
            };
            BTreeMap::from([(HostId::DATABASE, stopped)])
        };
        let after = |before: Option<Cause>, lost: Option<&str>| {
            let mut state = TrialState::new();
            if let Some(cause) = before {
                state.invalidate(cause, "no answer".to_owned(), Vec::new());
            }
            volumes_lost(&mut state, &stopped(lost));
            match state.validity {
                Validity::Valid => None,
                Validity::Invalid { cause, reason, .. } => Some((cause, reason)),
            }
        };
        let lost = |reason: &str| {
            Some((
                Cause::VolumesLost,
                format!("the volumes were lost during the trial: {reason}"),
            ))
        };
        assert_eq!(after(None, None), None);
        assert_eq!(after(None, Some("it has ended")), lost("it has ended"));
        let failed = after(Some(Cause::ClientFailed), Some("it has ended"));
        assert_eq!(failed, lost("it has ended; no answer"));
        // That one is repeated by `--resume`.
        let not_started = after(Some(Cause::DidNotStart), Some("it has ended"));
        assert_eq!(not_started, Some((Cause::DidNotStart, "no answer".to_owned())));
    }

    #[test]
    fn cells_of_a_block_see_the_same_requests_where_the_data_is_restored_and_others_where_it_is_not() {
        let restored = |block, cell| seed(7, block, Some(cell), false);
        assert_eq!(restored(1, 0), restored(1, 1));
        assert_ne!(restored(1, 0), restored(2, 0));
        let all: std::collections::BTreeSet<u64> = (1..=5)
            .flat_map(|block| (0..9).map(move |cell| seed(7, block, Some(cell), true)))
            .collect();
        assert_eq!(all.len(), 45);
    }
}
