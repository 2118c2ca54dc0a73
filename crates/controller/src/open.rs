//! The database hosts of a run are taken, and have its data set.

use std::collections::BTreeSet;

use archive::RunDirectory;
use evidence::{HostId, Runtime};
use experiment::{Database, Setup, Started, versions};
use process::failure;
use process::paths::machine_lock;
use storage::Measuring;
use wire::{DatabaseRequest, MachineUse, Reply, Request, Software, UnderTest};

use super::agents::Agents;
use super::run::Run;
use super::run_failure::{Failure, Result, answer};
use super::{dataset, hosts, watched};

/// Of a run's environment: who measured on this machine when a run began that may go on beside others.
pub const BESIDE: &str = "beside";

/// Whether a run may go on beside others.
pub fn goes_beside(directory: &RunDirectory) -> Result<bool, failure::Failure> {
    let environment = directory.environment().map_err(failure::Failure::work)?;
    Ok(environment.get(BESIDE).is_some())
}

/// Takes this machine where clients here load a cluster that exists: a client keeps nothing that outlives a request.
/// Elsewhere the agents of databases take their machines.
pub(super) fn machine(directory: &RunDirectory, agents: &Agents) -> Result<Option<Measuring>> {
    let are_here = directory.plan().place.existing().is_some_and(|cluster| cluster.clients.is_empty());
    let lock = machine_lock().filter(|_| are_here);
    let Some(lock) = lock.filter(|_| !directory.is_finished().unwrap_or(false)) else { return Ok(None) };
    let waiting = |what: &str| {
        agents.screen.doing(what, "");
        !agents.is_interrupted()
    };
    let taken = Measuring::take(&lock, &directory.name(), goes_beside(directory)?, waiting);
    taken.map(Some).map_err(Failure::work)
}

/// Takes the database hosts and makes sure that they have the data set.
pub(super) fn hosts(run: &mut Run<'_>) -> Result<()> {
    let setups = run.setups();
    let Database::Started(started) = &run.plan().target.database else {
        watched::find(setups, run.agents)?;
        return dataset::provide_existing(run);
    };
    let machines = hosts::by_machine(setups, run.agents);
    let beside = goes_beside(run.directory)?;
    for (number, host) in machines.values().flat_map(|hosts| hosts.iter().enumerate()) {
        if run.agents.machine_use(*host).is_none() {
            run.agents.works_here(*host, &run.settings.work_directory_of(number));
        }
    }
    let mut software: BTreeSet<Software> = BTreeSet::new();
    // All machines at the same time, the hosts of one machine in turn: what the first fetches, the next one finds.
    let most = machines.values().map(Vec::len).max().unwrap_or(0);
    for number in 0..most {
        let of_turn = machines.values().filter_map(|hosts| hosts.get(number));
        let request = |host: &HostId| {
            let task = under_test(run, number, *host, started, beside);
            (*host, Request::Database(DatabaseRequest::Open(Box::new(task))))
        };
        let requests = of_turn.map(request).collect();
        let opened = answer!(Reply::Opened { cleaned, software } => (cleaned, software));
        for (cleaned, runs) in run.agents.call_all(requests, opened)?.into_values() {
            say_cleaned(run, cleaned);
            software.extend(runs);
        }
    }
    caches(run, started, beside)?;
    if software.is_empty() {
        // There is nothing to load into where the database is only simulated.
        return Ok(());
    }
    software.iter().for_each(|one| run.say(&one.to_string()));
    record_runtimes(run, software)?;
    dataset::provide(run)
}

/// Takes the hosts of caches, all at the same time: each has a machine of its own.
fn caches(run: &mut Run<'_>, started: &Started, beside: bool) -> Result<()> {
    let request = |host: HostId| {
        let task = UnderTest {
            needed_bytes: 0,
            log_bytes: 0,
            addresses: vec![run.agents.place(host).address],
            index: 0,
            versions: Vec::new(),
            ..under_test(run, 0, host, started, beside)
        };
        (host, Request::Database(DatabaseRequest::Open(Box::new(task))))
    };
    let requests = hosts::caches(run.job()).into_iter().map(request).collect();
    let opened = answer!(Reply::Opened { cleaned, .. } => cleaned);
    let cleaned = run.agents.call_all(requests, opened)?;
    say_cleaned(run, cleaned.into_values().flatten());
    Ok(())
}

fn say_cleaned(run: &Run<'_>, all: impl IntoIterator<Item = String>) {
    all.into_iter().for_each(|what| run.say(&format!("cleaned up after an earlier run: {what}")));
}

/// Keeps what runs each version: where versions need different ones, it is not only the version that differs, and a run
/// may be resumed with another.
fn record_runtimes(run: &Run<'_>, software: BTreeSet<Software>) -> Result<()> {
    let now: Vec<(String, Runtime)> = software.into_iter().map(|one| (one.version, one.runtime)).collect();
    let before = run.directory.add_runtimes(&now)?;
    for (version, runtime) in now {
        let others = before.get(&version).filter(|ran| !ran.contains(&runtime));
        if let Some(others) = others {
            let others: Vec<String> = others.iter().map(Runtime::to_string).collect();
            run.say(&format!("{version} ran on {} in this run before, and now on {runtime}", others.join(" and on ")));
        }
    }
    Ok(())
}

/// What a host is taken for: the nth database host of its machine, from 0.
fn under_test(run: &Run<'_>, on_machine: usize, host: HostId, started: &Started, beside: bool) -> UnderTest {
    let (plan, agents) = (run.plan(), &run.agents);
    let nodes = hosts::companions(run.setups(), host);
    let machine_use: Option<MachineUse> = agents.machine_use(host);
    let (work_directory, cache_directory) = match &machine_use {
        Some(_) => (hosts::work_directory(machine_use.as_ref()), String::new()),
        None => (
            run.settings.work_directory_of(on_machine).display().to_string(),
            run.settings.cache_directory.display().to_string(),
        ),
    };
    let restored = hosts::is_restored(machine_use.as_ref());
    UnderTest {
        needed_bytes: run.job().needed_bytes(host.index, restored),
        log_bytes: run.job().log_bytes(host.index, restored),
        run: run.directory.name(),
        work_directory,
        addresses: nodes.iter().map(|node| agents.place(*node).address).collect(),
        index: nodes.iter().position(|node| *node == host).unwrap_or(0) as u32,
        on_machine: on_machine as u32,
        cache_directory,
        machine_use,
        started: started.clone(),
        versions: versions_of(run.setups(), host, &started.version),
        dataset: plan.dataset,
        own: plan.own.clone(),
        patience: plan.patience,
        beside,
    }
}

/// The versions of the database that configurations of a host need, each once; `usual` is that of those that state
/// none.
fn versions_of(setups: &[Setup], host: HostId, usual: &str) -> Vec<String> {
    let of_host = setups.iter().filter(|setup| setup.database_hosts().contains(&host.index));
    versions(usual, of_host.map(|setup| &setup.version)).into_iter().map(str::to_owned).collect()
}
