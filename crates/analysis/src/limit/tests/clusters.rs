//! Clusters: the limit is that of the node that is most limited, and it is named.

use evidence::HostId;

use super::made::{Disk, MIB, Machine, cell, cluster, gained, idle, with};
use crate::limit::LimitKind::{Client, Cpu, NoneFound, OfferedRate, VolumeIops};
use crate::limit::{InterventionOutcome, Limit, by_intervention, interventions, of_cell};
use crate::story::job;

const FIRST: HostId = HostId::DATABASE;
const SECOND: HostId = HostId::database(1);
const THIRD: HostId = HostId::database(2);

fn limit(machines: &[Machine]) -> Limit {
    let trials = [cluster(machines), cluster(machines)];
    of_cell(Some(&machines[0].setup()), &trials.iter().collect::<Vec<_>>())
}

/// A node that reads so often from a volume of 3,000 IOPS.
fn reading(reads: f64) -> Machine {
    with(|m| m.data = Disk::of(reads, 0.0, 3000.0, 160.0))
}

#[test]
fn the_node_whose_volume_is_full_is_named() {
    let reported = limit(&[reading(2000.0), reading(2990.0), reading(2000.0)]);
    assert_eq!((reported.kind, reported.nodes.as_slice()), (VolumeIops, &[SECOND][..]));
    let volume = reported.uses.iter().find(|u| u.kind == VolumeIops).unwrap();
    assert_eq!(volume.node, Some(SECOND), "each resource is reported where it is fullest");
    assert!((volume.used - 2990.0).abs() < 1.0, "{volume:?}");
    assert_eq!(reported.evidence["volume_iops_used"], volume.used);
}

#[test]
fn a_smaller_volume_of_one_node_is_full_at_what_the_others_carry() {
    let small = with(|m| m.data = Disk::of(1490.0, 0.0, 1500.0, 160.0));
    let reported = limit(&[reading(1490.0), reading(1490.0), small]);
    assert_eq!((reported.kind, reported.nodes.as_slice()), (VolumeIops, &[THIRD][..]));
}

#[test]
fn where_all_are_full_all_are_named() {
    let reported = limit(&[reading(2990.0), reading(2995.0), reading(2985.0)]);
    assert_eq!((reported.kind, reported.nodes.as_slice()), (VolumeIops, &[FIRST, SECOND, THIRD][..]));
}

#[test]
fn different_nodes_may_be_full_of_different_things() {
    let busy = with(|m| m.used = 3.7);
    let reported = limit(&[busy, reading(2998.0), reading(1000.0)]);
    assert_eq!((reported.kind, reported.also.as_slice()), (VolumeIops, &[Cpu][..]), "{reported:?}");
    assert_eq!(reported.nodes, [SECOND]);
    let cpu = reported.uses.iter().find(|u| u.kind == Cpu).unwrap();
    assert_eq!((cpu.node, cpu.at_cap), (Some(FIRST), true));
}

#[test]
fn what_is_no_nodes_limit_names_none() {
    let reported = limit(&[with(|m| m.client = 0.97), idle()]);
    assert_eq!((reported.kind, reported.nodes.len()), (Client, 0));
    let client = reported.uses.iter().find(|u| u.kind == Client).unwrap();
    assert_eq!(client.node, None);
    let reported = limit(&[with(|m| m.rate = Some((5000.0, 5000.0))), idle()]);
    assert_eq!((reported.kind, reported.nodes.len()), (OfferedRate, 0));
    let reported = limit(&[idle(), idle()]);
    assert_eq!((reported.kind, reported.nodes.len()), (NoneFound, 0));
}

#[test]
fn one_node_is_not_named() {
    let reported = limit(&[reading(2990.0)]);
    assert_eq!((reported.kind, reported.nodes.len(), reported.of_nodes), (VolumeIops, 0, 0));
    assert!(reported.uses.iter().all(|u| u.node.is_none()), "{reported:?}");
}

/// A node with room must not hide that another one had none: twice the MB/s are no difference beside for the cluster
/// only where no node was short of them. Other CPUs are never beside.
#[test]
fn a_difference_matters_where_one_node_is_short_of_it() {
    let full = reading(2990.0);
    let more = |cpus: f64, mib_per_s: f64| {
        with(|m| {
            m.given = cpus;
            m.data = Disk::of(2990.0, 0.0, 10_000.0, mib_per_s);
        })
    };
    let reported = |third_reads_mib: f64, more: &Machine| {
        let third = with(|m| m.data = Disk { read_bytes: third_reads_mib * MIB, ..full.data });
        let limit = limit(&[full.clone(), full.clone(), third]);
        let there = self::limit(&[more.clone(), more.clone(), more.clone()]);
        let setup =
            |name: &str, machine: &Machine| experiment::Setup { configuration: name.to_owned(), ..machine.setup() };
        let setups = [setup("a", &full), setup("b", more)];
        let gain = |_: &str, _: &str| Some(gained(1.5, 1.4, 1.6));
        let cells = [cell("a", &full.data, &limit), cell("b", &full.data, &there)];
        let found = interventions(&job().plan, &setups, &cells, &gain).remove(0);
        let outcome = found[0].outcome;
        (found[0].more.len(), outcome, by_intervention(limit, found).kind)
    };
    let (confirmed, open) = (InterventionOutcome::Confirmed, InterventionOutcome::NotDecided);
    let mib = more(4.0, 320.0);
    assert_eq!(reported(46.0, &mib), (1, confirmed, VolumeIops), "most of the MB/s were free everywhere");
    assert_eq!(reported(140.0, &mib), (2, open, VolumeIops), "one node's MB/s were nearly used up");
    assert_eq!(reported(46.0, &more(8.0, 160.0)), (2, open, VolumeIops), "another machine");
}
