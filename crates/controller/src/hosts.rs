//! Which hosts do what, and what they need of their machines.

use std::collections::{BTreeMap, BTreeSet};

use database::loader;
use evidence::HostId;
use experiment::{
    CacheTierSetup, Cluster, DataSetPlace, Definition, FaultAction, Job, NodeFault, NodeFaultKind, Plan, Setup,
};
use wire::{Demand, MachineUse, Needs};

use super::agents::Agents;
use super::silence::Work;

pub(super) fn nodes_of_cluster(cluster: &Cluster) -> Vec<HostId> {
    cluster.hosts().map(HostId::database).collect()
}

/// The database hosts of a configuration: where its cluster exists already, those that are watched.
pub(super) fn nodes_of(setup: &Setup) -> Vec<HostId> {
    setup.database_hosts().into_iter().map(HostId::database).collect()
}

/// The hosts of a configuration's caches; none where these are beside the database's first node.
pub(super) fn caches_of(plan: &Plan, setup: &Setup) -> Vec<HostId> {
    let tier = setup.cache_tier.as_ref().filter(|_| plan.place.has_cache_machines());
    let first = setup.at.first_cache();
    (first..first + tier.map_or(0, |tier| tier.nodes)).map(HostId::cache).collect()
}

/// All hosts of caches of a run.
pub(super) fn caches(Job { plan, setups }: &Job) -> Vec<HostId> {
    let caches: BTreeSet<HostId> = setups.iter().flat_map(|setup| caches_of(plan, setup)).collect();
    caches.into_iter().collect()
}

/// The host whose agent carries a planned fault out.
pub(super) fn of_fault(plan: &Plan, setup: &Setup, fault: &NodeFault) -> HostId {
    match fault.action {
        FaultAction::CacheKill { cache_node } if plan.place.has_cache_machines() => {
            HostId::cache(setup.cache_host_of(cache_node))
        }
        _ => HostId::database(setup.host_of(fault)),
    }
}

/// The configurations whose nodes a run starts.
fn started(setups: &[Setup]) -> impl Iterator<Item = &Setup> {
    setups.iter().filter(|setup| setup.at.is_started())
}

/// The clients of a configuration's trials: each batch of machines has its own.
pub(super) fn clients_of(plan: &Plan, setup: &Setup) -> Vec<HostId> {
    let first = setup.at.batch() * plan.clients;
    (first..first + plan.clients).map(HostId::client).collect()
}

/// All clients of a run.
pub(super) fn clients(Job { plan, setups }: &Job) -> Vec<HostId> {
    let clients: BTreeSet<HostId> = setups.iter().flat_map(|setup| clients_of(plan, setup)).collect();
    clients.into_iter().collect()
}

/// All hosts of a configuration's trials.
pub(super) fn of_trial(plan: &Plan, setup: &Setup) -> Vec<HostId> {
    let mut hosts = nodes_of(setup);
    hosts.extend(caches_of(plan, setup));
    hosts.extend(clients_of(plan, setup));
    hosts
}

/// The database hosts that a run has to itself.
pub(super) fn databases(setups: &[Setup]) -> Vec<HostId> {
    let hosts: BTreeSet<HostId> = started(setups).flat_map(nodes_of).collect();
    hosts.into_iter().collect()
}

/// The hosts of the largest cluster that this one is a node of: it and those it may have to find.
pub(super) fn companions(setups: &[Setup], host: HostId) -> Vec<HostId> {
    let of_host = started(setups).map(nodes_of).filter(|nodes| nodes.contains(&host));
    of_host.max_by_key(Vec::len).unwrap_or_default()
}

/// All hosts of a run.
pub(super) fn all(job: &Job) -> Vec<HostId> {
    let mut hosts: BTreeSet<HostId> = job.setups.iter().flat_map(nodes_of).collect();
    hosts.extend(caches(job));
    hosts.extend(clients(job));
    hosts.into_iter().collect()
}

/// The database hosts that a run has to itself, by the machine they are on.
pub(super) fn by_machine(setups: &[Setup], agents: &Agents) -> BTreeMap<String, Vec<HostId>> {
    let mut machines: BTreeMap<String, Vec<HostId>> = BTreeMap::new();
    for host in databases(setups) {
        machines.entry(agents.place(host).machine).or_default().push(host);
    }
    machines
}

/// CPUs that the nodes of a configuration were promised of the machine that a host is on.
pub(super) fn database_cpus(setup: &Setup, host: HostId, agents: &Agents) -> f64 {
    if !setup.at.is_started() {
        return 0.0;
    }
    let machine = agents.place(host).machine;
    let there = nodes_of(setup).into_iter().filter(|node| agents.place(*node).machine == machine);
    setup.cpus * there.count() as f64
}

/// What a run needs of a machine that has these database hosts.
pub(super) fn needs(
    job: &Job,
    work_directory: String,
    machine_use: Option<MachineUse>,
    on_machine: &[HostId],
) -> Needs {
    let Job { plan, setups } = job;
    let most = |each: &dyn Fn(&Setup) -> f64| {
        let demand = |setup: &Setup| Demand {
            configuration: setup.configuration.clone(),
            nodes: of_cluster(on_machine, setup),
            each: each(setup),
            loads: false,
        };
        let demands = started(setups).map(demand).filter(|demand| demand.nodes > 0);
        demands.max_by(|a, b| a.total().total_cmp(&b.total()))
    };
    let restored = is_restored(machine_use.as_ref());
    // What the caches in front of a configuration's database need in all, for each of its nodes: they are on its
    // machine.
    let of_caches = |setup: &Setup, need: &dyn Fn(&CacheTierSetup) -> f64| {
        let tier = setup.cache_tier.as_ref().filter(|_| !plan.place.has_cache_machines());
        tier.map_or(0.0, need) / f64::from(setup.placement.nodes.max(1))
    };
    Needs {
        work_directory,
        machine_use,
        bytes: on_machine.iter().map(|host| job.needed_bytes(host.index, restored)).sum(),
        log_bytes: on_machine.iter().map(|host| job.log_bytes(host.index, restored)).sum(),
        network_cut: plan.faults.iter().any(|fault| {
            let is_here = |setup: &Setup| on_machine.contains(&HostId::database(setup.host_of(fault)));
            fault.kind() == NodeFaultKind::HostCut && started(setups).any(is_here)
        }),
        served_volumes: started(setups).any(|setup| setup.data.served.is_some()),
        arrays: started(setups).any(|setup| setup.chunk_kib().is_some()),
        cpus: most(&|setup: &Setup| setup.cpus + of_caches(setup, &CacheTierSetup::all_cpus)),
        memory: larger(
            most(&|setup: &Setup| {
                let of_workload = |w: &Definition| plan.caches.setup(setup, &w.name, &plan.dataset).memory_limit_bytes;
                let of_tier = |caches: &CacheTierSetup| caches.memory_limit_bytes() as f64 * f64::from(caches.nodes);
                plan.workloads.iter().map(of_workload).max().unwrap_or_default() as f64 + of_caches(setup, &of_tier)
            }),
            // It is there before any configuration is.
            most(&|setup: &Setup| loader::memory_bytes(nodes_of(setup).len() as u32) as f64)
                .filter(|_| !restored)
                .map(|demand| Demand { loads: true, ..demand }),
        ),
        data_sets: plan.data_set_store.as_ref().and_then(|store| match &store.place {
            DataSetPlace::Directory { path } => Some((path.clone(), store.keep)),
            DataSetPlace::S3 { .. } => None,
        }),
        caches: !plan.place.has_cache_machines() && started(setups).any(|setup| setup.cache_tier.is_some()),
    }
}

/// What a run needs of the machine of a cache; CPUs only where it is held to those that it was promised.
pub(super) fn needs_of_cache(job: &Job, machine_use: Option<MachineUse>, host: HostId) -> Needs {
    let Job { plan, setups } = job;
    let most = |each: &dyn Fn(&CacheTierSetup) -> f64| {
        let its = setups.iter().filter(|setup| caches_of(plan, setup).contains(&host));
        let demand = |setup: &Setup| {
            let each = each(setup.cache_tier.as_ref()?);
            Some(Demand { configuration: setup.configuration.clone(), nodes: 1, each, loads: false })
        };
        its.filter_map(demand).max_by(|a, b| a.total().total_cmp(&b.total()))
    };
    let limited = machine_use.as_ref().is_some_and(|machine_use| machine_use.limits);
    Needs {
        work_directory: work_directory(machine_use.as_ref()),
        machine_use,
        cpus: most(&|tier| tier.cpus).filter(|_| limited),
        memory: most(&|tier| tier.memory_limit_bytes() as f64),
        caches: true,
        ..Needs::default()
    }
}

/// The work directory that is stated of a machine; empty: its default.
pub(super) fn work_directory(machine_use: Option<&MachineUse>) -> String {
    machine_use.and_then(|machine_use| machine_use.work_directory.clone()).unwrap_or_default()
}

/// The one that needs more.
fn larger(a: Option<Demand>, b: Option<Demand>) -> Option<Demand> {
    a.into_iter().chain(b).max_by(|a, b| a.total().total_cmp(&b.total()))
}

/// How many of these hosts are nodes of a configuration's cluster.
fn of_cluster(hosts: &[HostId], setup: &Setup) -> u32 {
    let nodes = nodes_of(setup);
    hosts.iter().map(|host| u32::from(nodes.contains(host))).sum()
}

/// Whether the data volume was made from a snapshot, with the data set on it.
pub(super) fn is_restored(machine_use: Option<&MachineUse>) -> bool {
    machine_use.is_some_and(|machine_use| machine_use.snapshot.is_some())
}

/// What the work on a job is measured by.
pub(super) fn work(job: &Job) -> Work {
    let volumes = job.setups.iter().flat_map(Setup::volumes);
    Work {
        data_bytes: job.most_data_bytes(),
        volume_bytes: volumes.map(|volume| volume.size_bytes as f64).fold(0.0, f64::max),
        patience: job.plan.patience,
        ..Work::default()
    }
}

#[cfg(test)]
mod tests {
    use experiment::SetupAt;
    use experiment::testing::{self, one_and_three};

    use super::*;

    #[test]
    fn hosts_are_those_of_the_largest_cluster_and_each_trial_has_its_own() {
        let job = one_and_three();
        let names = |hosts: Vec<HostId>| hosts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(all(&job)), ["database", "database-2", "database-3", "client"]);
        assert_eq!(names(of_trial(&job.plan, &job.setups[0])), ["database", "client"]);
        assert_eq!(Cluster::all_of(&job.setups).len(), 2);
    }

    #[test]
    fn configurations_with_machines_of_their_own_have_clusters_of_their_own() {
        let mut job = one_and_three();
        let shared = HostId::database(0);
        assert_eq!(companions(&job.setups, shared).len(), 3);
        let bought = |first_host| SetupAt::Bought { first_host, first_cache: 0, batch: 0 };
        (job.setups[0].at, job.setups[1].at) = (bought(0), bought(1));
        assert_eq!(databases(&job.setups).len(), 4);
        assert_eq!(companions(&job.setups, shared), [shared]);
        assert_eq!(companions(&job.setups, HostId::database(2)), nodes_of(&job.setups[1]));
        let names: Vec<String> = of_trial(&job.plan, &job.setups[1]).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["database-2", "database-3", "database-4", "client"]);
        // Two clusters of the same shape on different hosts are loaded one by one.
        job.setups[0].placement = job.setups[1].placement;
        job.setups[1].at = bought(3);
        assert_eq!(Cluster::all_of(&job.setups).len(), 2);
        // What a host needs is that of its own configuration.
        let alone = needs(&job, String::new(), None, &[HostId::database(3)]);
        assert_eq!(alone.cpus.map(|d| d.configuration), Some("three".to_owned()));
    }

    /// Beside the database they need room there, and are hosts of nobody; by SSH and on AWS each has a machine of its
    /// own.
    #[test]
    fn caches_by_ssh_are_hosts_and_take_nothing_of_the_database() {
        let mut job = one_and_three();
        let tier = CacheTierSetup {
            nodes: 2,
            cpus: 0.25,
            network_bytes_per_s: None,
            memory_bytes: 64 << 20,
            ttl_s: None,
            policy: experiment::CachePolicy::Aside,
        };
        job.setups[0].cache_tier = Some(tier.clone());
        let first = [HostId::DATABASE];
        let memory = |job: &Job| needs(job, String::new(), None, &first).memory.map(|demand| demand.total());
        let cpus = |job: &Job| needs(job, String::new(), None, &first).cpus.map(|demand| demand.total());
        let (cpus_beside, memory_beside) = (cpus(&job), memory(&job));
        let action = FaultAction::CacheKill { cache_node: 2 };
        let kill = NodeFault { action, node: 1, at_s: 10.0, for_s: None };
        assert_eq!((caches(&job), of_fault(&job.plan, &job.setups[0], &kill)), (Vec::new(), HostId::DATABASE));
        assert!(needs(&job, String::new(), None, &first).caches);

        job.plan.place = experiment::Place::AsIs(experiment::HostsSettings::default());
        let own = [HostId::cache(0), HostId::cache(1)];
        assert_eq!(caches(&job), own);
        assert_eq!(of_fault(&job.plan, &job.setups[0], &kill), own[1]);
        assert!(of_trial(&job.plan, &job.setups[0]).contains(&own[1]));
        assert!(!of_trial(&job.plan, &job.setups[1]).contains(&own[1]), "the other one has none");
        assert!(!needs(&job, String::new(), None, &first).caches);
        assert!(cpus(&job) < cpus_beside && memory(&job) <= memory_beside);
        let limited = |limits| Some(MachineUse { limits, ..MachineUse::default() });
        let of_cache = needs_of_cache(&job, limited(true), own[1]);
        assert_eq!(of_cache.memory.map(|demand| demand.total()), Some(tier.memory_limit_bytes() as f64));
        assert_eq!(of_cache.cpus.map(|demand| demand.total()), Some(0.25));
        assert_eq!(needs_of_cache(&job, limited(false), own[1]).cpus.map(|demand| demand.total()), None);

        // Machines that are made for a configuration are nobody else's.
        job.setups[1].cache_tier = Some(CacheTierSetup { memory_bytes: 128 << 20, ..tier });
        job.setups[1].at = SetupAt::Bought { first_host: 1, first_cache: 2, batch: 0 };
        assert_eq!(caches_of(&job.plan, &job.setups[1]), [HostId::cache(2), HostId::cache(3)]);
        assert_eq!((caches(&job).len(), of_fault(&job.plan, &job.setups[1], &kill)), (4, HostId::cache(3)));
        let of_other = needs_of_cache(&job, limited(false), HostId::cache(2)).memory;
        assert_eq!(of_other.map(|demand| demand.configuration), Some(job.setups[1].configuration.clone()));
    }

    #[test]
    fn nodes_of_one_machine_need_what_they_need_together() {
        let job = one_and_three();
        let all = nodes_of(&job.setups[1]);
        let needs_of = |hosts: &[HostId]| needs(&job, String::new(), None, hosts);
        let together = needs_of(&all);
        let cpus = together.cpus.clone().map(|d| (d.configuration.clone(), d.nodes, d.total()));
        assert_eq!(cpus, Some(("three".to_owned(), 3, 1.5)));
        // A data set is loaded before there is a configuration: with more memory than a small one has.
        let memory = together.memory.clone().map(|d| (d.nodes, d.total()));
        assert!(memory.is_some_and(|(nodes, bytes)| nodes == 3 && bytes >= 3.0 * loader::memory_bytes(3) as f64));
        // A second machine has the second node alone, and nothing of the single one.
        let alone = needs_of(&all[1..2]);
        assert_eq!(alone.cpus.map(|d| (d.nodes, d.total())), Some((1, 0.5)));
        let apart: u64 = all.iter().map(|host| needs_of(std::slice::from_ref(host)).bytes).sum();
        assert_eq!(apart, together.bytes);
        assert_eq!((alone.bytes, alone.log_bytes), (job.needed_bytes(1, false), job.log_bytes(1, false)));
        // On a volume that has the data set already less is needed.
        let machine_use = MachineUse { snapshot: Some("snap-0123456789abcdef0".to_owned()), ..MachineUse::default() };
        let restored = needs(&job, String::new(), Some(machine_use), &all[1..2]).bytes;
        assert_eq!(restored, job.needed_bytes(1, true));
    }

    /// It was missing: a machine that could hold every trial, and not the loading before them, was taken.
    #[test]
    fn where_loading_takes_more_memory_than_any_configuration_a_machine_needs_that() {
        let job = testing::job(&testing::reads(&testing::configuration("small", (1.0, 3.0), ""), ""));
        let memory = |machine_use| {
            let memory = needs(&job, String::new(), machine_use, &databases(&job.setups)).memory;
            memory.map(|demand| (demand.nodes, demand.each, demand.loads)).unwrap()
        };
        let loaded = loader::memory_bytes(1) as f64;
        assert_eq!(memory(None), (1, loaded, true));
        // On a volume that has the data set already nothing is loaded.
        let machine_use = MachineUse { snapshot: Some("snap-0123456789abcdef0".to_owned()), ..MachineUse::default() };
        let (_, of_trials, loads) = memory(Some(machine_use));
        assert!(of_trials < loaded && !loads, "{of_trials}");
    }
}
