//! The database of a trial, or of a search: prepared, started, loaded, stopped.

use std::collections::{BTreeMap, BTreeSet};

use ::evidence::{Cause, HostId, Validity};
use experiment::{Cell, Definition, Job, Plan, PlannedTrial, Product, Setup};
use wire::{CacheEndpoint, DatabaseRequest, Endpoint, Event, Reply, Request, StoppedTrial, TrialTask};

use super::state::TrialState;
use crate::agents::conversation::{Answers, all_or_gravest};
use crate::hosts;
use crate::run::Run;
use crate::run_failure::{Failure, Result, answer};
use crate::target::Target;

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
        self.plan.caches.setup(self.setup, &self.workload.name, &self.plan.dataset)
    }

    /// Whether the process that serves this trial can serve the next one: both belong to one fork of a block, and
    /// nothing is done to a node. What one process has compiled well or badly hits its trials alike, and cancels in
    /// their ratio; each block has another one, or as many as `forks` states.
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
pub fn parts_of<'a>(Job { plan, setups }: &'a Job, planned: &'a PlannedTrial, cell: &'a Cell) -> Result<Parts<'a>> {
    let setup = setups.of(&cell.configuration).ok_or_else(|| missing(&cell.id))?;
    let named = |w: &&Definition| w.name == cell.workload;
    let workload = plan.workloads.iter().find(named).ok_or_else(|| missing(&cell.id))?;
    Ok(Parts { plan, planned, cell, setup, workload })
}

pub fn parts<'a>(job: &'a Job, planned: &'a PlannedTrial) -> Result<Parts<'a>> {
    let cell = job.plan.cells.iter().find(|c| c.id == planned.cell);
    parts_of(job, planned, cell.ok_or_else(|| missing(&planned.cell))?)
}

fn missing(cell: &str) -> Failure {
    Failure::work(format!("plan.json or setups.json is not whole: cell {cell} lacks a part"))
}

/// The configuration's volumes exist and have been measured (work for its first trial only). What exists already is as
/// it is.
pub fn prepare(run: &mut Run<'_>, setup: &Setup) -> Result<()> {
    if !setup.at.is_started() {
        return Ok(());
    }
    let sharers = run.setups().iter().filter(|other| setup.shares_process_with(other));
    let request = DatabaseRequest::Prepare {
        setup: Box::new(setup.clone()),
        others: sharers.filter(|other| other.configuration != setup.configuration).cloned().collect(),
    };
    let prepared = answer!(Reply::Prepared { note } => note);
    let notes = run.agents.ask_each(&hosts::nodes_of(setup), &request, prepared)?;
    let is_one = hosts::by_machine(run.setups(), run.agents).len() < 2;
    let machine = |host| (!is_one).then(|| run.agents.place(host).machine);
    said_of_volumes(notes, machine).iter().for_each(|note| run.agents.screen.note(note));
    Ok(())
}

/// What hosts say that their volumes lack, each by the name of its machine where the run has several.
fn said_of_volumes(
    notes: BTreeMap<HostId, Option<String>>,
    machine: impl Fn(HostId) -> Option<String>,
) -> BTreeSet<String> {
    let said = notes.into_iter().filter_map(|(host, note)| Some((host, note?)));
    let named = |(host, note)| match machine(host) {
        Some(machine) => format!("{machine}: {note}"),
        None => note,
    };
    said.map(named).collect()
}

/// Empty caches that answer, and a settled database on every host, or why there is none.
pub fn start(run: &mut Run<'_>, parts: Parts<'_>, state: &mut TrialState) -> Result<()> {
    start_caches(run, parts, state)?;
    let requests = start_requests(run, parts, hosts::nodes_of(parts.setup));
    let mut errors = Vec::new();
    for (host, answer) in ask_nodes(run, parts.setup, requests, state)? {
        match answer {
            Ok(reply) => {
                let started = answer!(Reply::Started(started) => *started)(reply)?;
                state.started.insert(host, started);
            }
            Err(Failure::Refused { error, .. }) => errors.push((host, error)),
            Err(failure) => return Err(failure),
        }
    }
    // Nodes that were called off because of another one say less than that one.
    errors.sort_by_key(|(_, error)| error.cancelled);
    let Some((host, error)) = errors.into_iter().next() else {
        return Ok(());
    };
    Err(Failure::DidNotStart {
        database: subject("the database", parts.setup, host),
        how: if parts.setup.at.is_started() { "did not start" } else { "cannot be watched" },
        error,
    })
}

/// The same of caches that have machines of their own; those beside the database are started by its first node's agent.
fn start_caches(run: &mut Run<'_>, parts: Parts<'_>, state: &mut TrialState) -> Result<()> {
    let requests = start_requests(run, parts, hosts::caches_of(parts.plan, parts.setup));
    let answers = ask_nodes(run, parts.setup, requests, state)?;
    let replies = all_or_gravest(answers).map_err(|(host, failure)| match failure {
        Failure::Refused { error, .. } => {
            let database = format!("the node of the cache tier on {host}");
            Failure::DidNotStart { database, how: "did not start", error }
        }
        lost => lost,
    })?;
    let started = answer!(Reply::Started(started) => started.caches);
    for reply in replies.into_values() {
        state.caches.extend(started(reply)?);
    }
    Ok(())
}

/// What these hosts are asked for when a trial begins.
fn start_requests(run: &Run<'_>, parts: Parts<'_>, of: Vec<HostId>) -> Vec<(HostId, Request)> {
    let request = |host: HostId| {
        let start = DatabaseRequest::StartTrial {
            trial: parts.planned.clone(),
            setup: Box::new(parts.setup_of_trial()),
            workload: parts.workload.name.clone(),
            sample_keys: sample_keys(parts.plan, parts.workload),
            database_cpus: hosts::database_cpus(parts.setup, host, run.agents),
        };
        (host, Request::Database(start))
    };
    of.into_iter().map(request).collect()
}

/// Asks nodes. What one that is watched says meanwhile is kept; an error where one has ended.
pub fn ask_nodes(
    run: &mut Run<'_>,
    setup: &Setup,
    requests: Vec<(HostId, Request)>,
    state: &mut TrialState,
) -> Result<Answers> {
    let (screen, product) = (run.agents.screen.clone(), run.plan().target.database.product());
    run.agents.converse(requests, &mut |host, event| {
        match event {
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::Sample(sample) => state.samples.keep(host, [*sample]),
            Event::DatabaseDied { how, log_tail } => return Err(ended(product, setup, host, how, log_tail)),
            Event::Second(_) | Event::Piece(_) | Event::AtWork | Event::Reply(_) => {}
        }
        Ok(())
    })
}

/// The whole load of a trial on the databases that were started.
pub fn task(parts: Parts<'_>, target: &Target, state: &TrialState) -> TrialTask {
    let Parts { plan, cell, .. } = parts;
    let contact_points = match parts.setup.at.contact_points() {
        Some(hosts) => hosts.to_vec(),
        None => state.started.values().flat_map(|s| s.contact_points.clone()).collect(),
    };
    let levels = parts.setup.consistency.unwrap_or(plan.target.consistency);
    TrialTask {
        trial: parts.planned.clone(),
        endpoint: Endpoint {
            cache: parts.setup.cache_tier.as_ref().map(|tier| CacheEndpoint {
                nodes: state.started.values().flat_map(|s| &s.caches).chain(&state.caches).cloned().collect(),
                ttl_s: tier.ttl_s,
                policy: tier.policy,
            }),
            ..target.endpoint(contact_points, levels, plan.shape.request_timeout_s)
        },
        dataset: plan.dataset,
        own: plan.own.clone(),
        workload: parts.workload.clone(),
        load: cell.load,
        shape: plan.shape,
        seed: seed(
            plan.seed,
            parts.planned.block,
            plan.cells.iter().position(|other| other.id == cell.id),
            !parts.setup.at.is_started(),
        ),
        number: 0,
        clients: 1,
        // Which value a statement of the user's own leaves behind, nobody knows.
        check_writes: !plan.faults.is_empty() && plan.own.is_none(),
        begin_unix_ms: None,
        database_cpus: 0.0,
    }
}

/// The same seed for every cell of a block: they see the same sequence of requests, each on data that nobody has read.
/// An existing cluster still has what the trial before read in its memory: there each cell asks for records of its own.
fn seed(of_plan: u64, block: u32, cell: Option<usize>, is_existing: bool) -> u64 {
    let own = cell.filter(|_| is_existing).map_or(0, |cell| cell as u64 + 1);
    of_plan.wrapping_add(u64::from(block)).wrapping_add(own << 48)
}

/// A node of this product ended on its own.
pub fn ended(product: &Product, setup: &Setup, host: HostId, how: String, log_tail: Vec<String>) -> Failure {
    let name = if setup.at.is_started() { product.short } else { "the database" };
    Failure::DatabaseEnded { database: subject(name, setup, host), how, log_tail }
}

/// Where the process that answers for a database's volumes was lost, that is why the trial is invalid, whatever the
/// database and the client made of the errors.
pub fn volumes_lost(state: &mut TrialState, stopped: &BTreeMap<HostId, StoppedTrial>) {
    let lost = stopped.values().find_map(|stopped| stopped.volumes_lost.as_deref());
    let Some(how) = lost else { return };
    let (after, log_tail) = match &state.validity {
        Validity::Valid => (String::new(), Vec::new()),
        // It is repeated as what it is.
        Validity::Invalid { cause: Cause::DidNotStart, .. } => return,
        // The agent that watches the node has reported it.
        Validity::Invalid { cause: Cause::DatabaseEnded, log_tail, .. } => (String::new(), log_tail.clone()),
        Validity::Invalid { reason, log_tail, .. } => (format!("; {reason}"), log_tail.clone()),
    };
    let reason = format!("the volumes were lost during the trial: {how}{after}");
    state.invalidate(Cause::VolumesLost, reason, log_tail);
}

/// Where a page cache was not held at its budget, or a cache in front of the database had ended by itself, that is why
/// the trial is invalid, unless something else is.
pub fn not_held_or_lost(state: &mut TrialState, stopped: &BTreeMap<HostId, StoppedTrial>) {
    let not_held = stopped.iter().find_map(|(host, stopped)| {
        let how = stopped.page_cache_off.as_deref()?;
        Some((Cause::PageCacheNotHeld, format!("the page cache of {host} was not held at its budget: {how}")))
    });
    let lost = stopped.values().find_map(|stopped| {
        let how = stopped.caches_lost.as_deref()?;
        Some((Cause::CacheLost, format!("a cache in front of the database ended during the trial: {how}")))
    });
    if let (Some((cause, reason)), Validity::Valid) = (not_held.or(lost), &state.validity) {
        state.invalidate(cause, reason, Vec::new());
    }
}

/// What a reason is about: which node where there are several.
fn subject(what: &str, setup: &Setup, host: HostId) -> String {
    if setup.placement.is_cluster() { format!("{what} on {host}") } else { what.to_owned() }
}

/// Keys spread over the whole data set; none of the user's own, whose agents know their rows.
pub fn sample_keys(plan: &Plan, workload: &Definition) -> Vec<String> {
    if plan.own.is_some() {
        return Vec::new();
    }
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
pub fn stop(run: &mut Run<'_>, setup: &Setup, keeps: bool) -> Result<BTreeMap<HostId, StoppedTrial>> {
    let doing = match setup.at.is_started() {
        false => "collecting what was seen".to_owned(),
        true if keeps => "collecting logs".to_owned(),
        true => format!("stopping {} and detaching its volumes", run.plan().target.database.product().short),
    };
    run.agents.screen.doing(&doing, "");
    let stop = DatabaseRequest::StopTrial { keeps };
    let stopped = answer!(Reply::Stopped(stopped) => *stopped);
    let mut hosts = hosts::nodes_of(setup);
    hosts.extend(hosts::caches_of(run.plan(), setup));
    run.agents.ask_each(&hosts, &stop, stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a trial is invalid that was valid, or invalid for `before`, once `judge` has seen it.
    fn after(before: Option<Cause>, judge: impl FnOnce(&mut TrialState)) -> Option<(Cause, String)> {
        let mut state = TrialState::new();
        if let Some(cause) = before {
            state.invalidate(cause, "no answer".to_owned(), Vec::new());
        }
        judge(&mut state);
        match state.validity {
            Validity::Valid => None,
            Validity::Invalid { cause, reason, .. } => Some((cause, reason)),
        }
    }

    #[test]
    fn a_trial_whose_volumes_were_lost_is_invalid_for_that_whatever_the_client_made_of_the_errors() {
        let after = |before, lost: Option<&str>| {
            let stopped = StoppedTrial { volumes_lost: lost.map(str::to_owned), ..StoppedTrial::default() };
            after(before, |state| volumes_lost(state, &BTreeMap::from([(HostId::DATABASE, stopped)])))
        };
        let lost =
            |reason: &str| Some((Cause::VolumesLost, format!("the volumes were lost during the trial: {reason}")));
        assert_eq!(after(None, None), None);
        assert_eq!(after(None, Some("it has ended")), lost("it has ended"));
        assert_eq!(after(Some(Cause::ClientFailed), Some("it has ended")), lost("it has ended; no answer"));
        // That one is repeated by `--resume`.
        let not_started = after(Some(Cause::DidNotStart), Some("it has ended"));
        assert_eq!(not_started, Some((Cause::DidNotStart, "no answer".to_owned())));
    }

    #[test]
    fn a_page_cache_that_was_not_held_and_a_cache_that_ended_are_why_unless_something_else_is() {
        let off = StoppedTrial { page_cache_off: Some("its limit was refused".to_owned()), ..StoppedTrial::default() };
        let not_held = "the page cache of database-2 was not held at its budget: its limit was refused";
        let lost = StoppedTrial { caches_lost: Some("a: killed by signal 9".to_owned()), ..StoppedTrial::default() };
        let ended = "a cache in front of the database ended during the trial: a: killed by signal 9";
        for (second, expected) in [
            (off, Some((Cause::PageCacheNotHeld, not_held.to_owned()))),
            (lost, Some((Cause::CacheLost, ended.to_owned()))),
            (StoppedTrial::default(), None),
        ] {
            let stopped = BTreeMap::from([(HostId::DATABASE, StoppedTrial::default()), (HostId::database(1), second)]);
            let judged = |before| after(before, |state| not_held_or_lost(state, &stopped));
            assert_eq!(judged(Some(Cause::ClientFailed)), Some((Cause::ClientFailed, "no answer".to_owned())));
            assert_eq!(judged(None), expected);
        }
    }

    #[test]
    fn what_volumes_lack_names_its_machine_where_there_are_several() {
        let note = || Some("no seccomp".to_owned());
        let notes = [None, note(), note()].into_iter().zip(0..);
        let notes: BTreeMap<_, _> = notes.map(|(note, index)| (HostId::database(index), note)).collect();
        assert_eq!(said_of_volumes(notes.clone(), |_| None), BTreeSet::from_iter(note()));
        let of_each = said_of_volumes(notes, |host| Some(format!("db{}", host.index + 1)));
        assert_eq!(of_each.into_iter().collect::<Vec<_>>(), ["db2: no seccomp", "db3: no seccomp"]);
    }

    #[test]
    fn cells_of_a_block_see_the_same_requests_where_the_data_is_restored_and_others_where_it_is_not() {
        let restored = |block, cell| seed(7, block, Some(cell), false);
        assert_eq!(restored(1, 0), restored(1, 1));
        assert_ne!(restored(1, 0), restored(2, 0));
        let all: BTreeSet<u64> =
            (1..=5).flat_map(|block| (0..9).map(move |cell| seed(7, block, Some(cell), true))).collect();
        assert_eq!(all.len(), 45);
    }
}
