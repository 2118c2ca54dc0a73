//! Which hosts do what, and what they need of their machines.

use std::collections::{BTreeMap, BTreeSet};

use evidence::HostId;
use spec::{NodeFaultKind, Placement, Plan, Setup};
use wire::{Demand, Ground, Needs};

use super::crew::Crew;

/// Bytes on disk for each byte of payload: keys, timestamps, index,
/// bloom filter (measured on usertable with 10 x 100 B).
const ON_DISK: f64 = 1.15;
/// Room besides the data on each configuration's volumes, bytes.
const SPARE_BYTES: f64 = 268_435_456.0;

/// The database hosts of a cluster that a run starts.
pub(super) fn nodes(placement: Placement) -> Vec<HostId> {
    (0..placement.nodes).map(HostId::database).collect()
}

/// The database hosts of a configuration: where its cluster exists already, those that are watched.
pub(super) fn nodes_of(setup: &Setup) -> Vec<HostId> {
    setup.database_hosts().into_iter().map(HostId::database).collect()
}

/// The configurations whose nodes a run starts.
fn started(plan: &Plan) -> impl Iterator<Item = &Setup> {
    plan.setups.iter().filter(|setup| setup.existing.is_none())
}

/// The clients of every trial.
pub(super) fn clients(plan: &Plan) -> Vec<HostId> {
    (0..plan.clients).map(HostId::client).collect()
}

/// All hosts of a configuration's trials.
pub(super) fn of_trial(plan: &Plan, setup: &Setup) -> Vec<HostId> {
    let mut hosts = nodes_of(setup);
    hosts.extend(clients(plan));
    hosts
}

/// The database hosts that a run has to itself: as many as its largest cluster has nodes.
pub(super) fn databases(plan: &Plan) -> Vec<HostId> {
    let largest = started(plan).map(|setup| setup.placement).max();
    largest.map(nodes).unwrap_or_default()
}

/// All hosts of a plan.
pub(super) fn of_plan(plan: &Plan) -> Vec<HostId> {
    let mut hosts: BTreeSet<HostId> = plan.setups.iter().flat_map(nodes_of).collect();
    hosts.extend(clients(plan));
    hosts.into_iter().collect()
}

/// The placements of a plan, each once.
pub(super) fn placements(plan: &Plan) -> Vec<Placement> {
    let mut placements: Vec<Placement> = started(plan).map(|s| s.placement).collect();
    placements.sort_unstable();
    placements.dedup();
    placements
}

/// The database hosts that a run has to itself, by the machine they are on.
pub(super) fn by_machine(plan: &Plan, crew: &Crew) -> BTreeMap<String, Vec<HostId>> {
    let mut machines: BTreeMap<String, Vec<HostId>> = BTreeMap::new();
    for host in databases(plan) {
        machines.entry(crew.place(host).machine).or_default().push(host);
    }
    machines
}

/// What a plan needs of a machine that has these database hosts.
pub(super) fn needs(plan: &Plan, work_directory: String, ground: Option<Ground>, on_machine: &[HostId]) -> Needs {
    let most = |each: fn(&Setup) -> f64| {
        let demand = |setup: &Setup| Demand {
            configuration: setup.configuration.clone(),
            nodes: of_cluster(on_machine, setup.placement),
            each: each(setup),
        };
        let demands = plan.setups.iter().map(demand).filter(|demand| demand.nodes > 0);
        demands.max_by(|a, b| a.total().total_cmp(&b.total()))
    };
    Needs {
        work_directory,
        ground,
        bytes: on_machine.iter().map(|host| needed_bytes(plan, *host)).sum(),
        network_cut: plan
            .faults
            .iter()
            .any(|fault| fault.kind == NodeFaultKind::HostCut && on_machine.contains(&HostId::of_fault(fault))),
        cpus: most(|setup| setup.cpus),
        memory: most(|setup| setup.memory_limit_bytes as f64),
    }
}

/// How many of these hosts are nodes of a cluster.
fn of_cluster(hosts: &[HostId], placement: Placement) -> u32 {
    hosts.iter().map(|host| u32::from(host.index < placement.nodes)).sum()
}

/// Bytes that a database host needs in its work directory: its part of each cluster's data set while it is loaded and
/// as a snapshot, and each configuration's copy, which updates and their compaction may double.
pub(super) fn needed_bytes(plan: &Plan, host: HostId) -> u64 {
    let payload = plan.dataset.payload_bytes() as f64;
    let part = |placement: Placement| match host.index < placement.nodes {
        true => Some(payload * ON_DISK * placement.share_per_node()),
        false => None,
    };
    let snapshots: f64 = placements(plan)
        .into_iter()
        .filter_map(part)
        .map(|bytes| bytes * 2.0)
        .sum();
    let copies = plan.setups.iter().filter_map(|setup| part(setup.placement));
    let copies: f64 = copies.map(|bytes| bytes * 2.0 + SPARE_BYTES).sum();
    (snapshots + copies) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = r#"
            name = "x"
            [dataset]
            records = 1_000_000
            [[configuration]]
            name = "one"
            instance = { vcpus = 1, memory_gib = 8 }
            data_volume = { iops = 100 }
            [[configuration]]
            name = "three"
            instance = { vcpus = 0.5, memory_gib = 4 }
            data_volume = { iops = 100 }
            nodes = 3
            replication_factor = 2
            [[workload]]
            name = "w"
            read = 1.0
            [load]
            concurrency = [2]
        "#;
        let catalog = catalog::Catalog::built_in();
        let no_file = |_: &str| Err("none".to_owned());
        spec::plan(&spec::parse(catalog, "x.toml", text, &no_file).expect("a valid experiment"))
    }

    #[test]
    fn hosts_are_those_of_the_largest_cluster_and_each_trial_has_its_own() {
        let plan = plan();
        let names = |hosts: Vec<HostId>| hosts.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            names(of_plan(&plan)),
            ["database", "database-2", "database-3", "client"]
        );
        assert_eq!(names(of_trial(&plan, &plan.setups[0])), ["database", "client"]);
        assert_eq!(placements(&plan).len(), 2);
    }

    #[test]
    fn nodes_of_one_machine_need_what_they_need_together() {
        let plan = plan();
        let all = nodes(plan.setups[1].placement);
        let needs_of = |hosts: &[HostId]| needs(&plan, String::new(), None, hosts);
        let together = needs_of(&all);
        let cpus = together
            .cpus
            .clone()
            .map(|d| (d.configuration.clone(), d.nodes, d.total()));
        assert_eq!(cpus, Some(("three".to_owned(), 3, 1.5)));
        // A second machine has the second node alone, and nothing of the single one.
        let alone = needs_of(&all[1..2]);
        assert_eq!(alone.cpus.map(|d| (d.nodes, d.total())), Some((1, 0.5)));
        let apart: u64 = all.iter().map(|host| needs_of(std::slice::from_ref(host)).bytes).sum();
        assert_eq!(apart, together.bytes);
        // Two thirds of the data set on each of the three: 1.15 GB payload on disk, twice loaded, twice copied.
        let part = 1e9 * 1.15 * 2.0 / 3.0;
        assert!(
            (alone.bytes as f64 - (part * 4.0 + SPARE_BYTES)).abs() < 10.0,
            "{}",
            alone.bytes
        );
    }
}
