//! Three nodes, around the thresholds.

use super::*;
use crate::cells::nodes_of_cell;
use crate::limit::made::{Disk, Machine, cluster, idle, probe};

/// Three nodes in as many trials as there are rows: what each reads of its volume of 3,000 IOPS in each.
fn reading(trials: &[[f64; 3]]) -> Vec<NodeFigure> {
    reported(trials, &|reads| Machine { data: Disk::of(reads, 0.0, 3000.0, 160.0), ..idle() })
}

/// The figures by which the nodes are reported unequal.
fn reported(trials: &[[f64; 3]], machine: &dyn Fn(f64) -> Machine) -> Vec<NodeFigure> {
    let measured: Vec<TrialMeasurement> = (1..)
        .zip(trials)
        .map(|(block, nodes)| {
            let mut trial = cluster(&nodes.map(machine));
            trial.record.block = block;
            trial
        })
        .collect();
    let trials: Vec<&TrialMeasurement> = measured.iter().collect();
    let nodes = nodes_of_cell(Some(&machine(1.0).setup()), &trials);
    of_cell(&nodes, &trials).iter().map(|found| found.figure).collect()
}

const READS: [NodeFigure; 1] = [NodeFigure::DeviceReads];
const NOTHING: [NodeFigure; 0] = [];

#[test]
fn fifteen_percent_between_the_largest_and_the_smallest() {
    let at = |more: f64| {
        reading(&[[2000.0, 2000.0 * more, 2050.0], [2010.0, 2010.0 * more, 2060.0], [1990.0, 1990.0 * more, 2040.0]])
    };
    assert_eq!(at(1.0), NOTHING);
    assert_eq!(at(1.14), NOTHING);
    assert_eq!(at(1.16), READS);
    assert_eq!(at(0.85), READS, "the other way around: 2,050 is the largest");
}

#[test]
fn a_figure_that_bounds_nothing_is_not_judged() {
    // A quarter of 3,000 IOPS.
    let at = |most: f64| reading(&[[0.5 * most, most, most]; 3]);
    assert_eq!(at(740.0), NOTHING);
    assert_eq!(at(760.0), READS);
}

#[test]
fn what_changes_from_trial_to_trial_is_noise() {
    // Means 2,000, 2,000 and 2,400: 20 % apart, with 20 % of noise.
    let noisy = [[2400.0, 1700.0, 2400.0], [1700.0, 2300.0, 2900.0], [1900.0, 2000.0, 1900.0]];
    assert_eq!(reading(&noisy), NOTHING);
    let steady = [[2010.0, 1990.0, 2400.0], [1990.0, 2010.0, 2380.0], [2000.0, 2000.0, 2420.0]];
    assert_eq!(reading(&steady), READS);
}

#[test]
fn with_two_trials_both_must_show_it() {
    assert_eq!(reading(&[[2000.0, 2000.0, 2400.0], [2000.0, 2000.0, 2340.0]]), READS);
    assert_eq!(reading(&[[2000.0, 2000.0, 2500.0], [2000.0, 2000.0, 2250.0]]), NOTHING);
    assert_eq!(reading(&[[2000.0, 2000.0, 2400.0]]), READS);
}

#[test]
fn a_node_that_does_nothing_is_unequal() {
    assert_eq!(reading(&[[2000.0, 2000.0, 0.0]; 3]), READS);
}

#[test]
fn cpus_are_judged_where_they_are_used() {
    let using = |used: [f64; 3]| reported(&[used; 3], &|used| Machine { used, ..idle() });
    // Of four CPUs.
    assert_eq!(using([2.0, 2.0, 2.4]), [NodeFigure::Cpus]);
    assert_eq!(using([0.5, 0.5, 0.9]), NOTHING);
}

#[test]
fn data_on_disk_is_a_fact_of_each_trial() {
    let with = |share: f64| {
        let mut trial = cluster(&[idle(), idle(), idle()]);
        let node = &mut trial.record.nodes[2];
        node.data_bytes_on_disk = (node.data_bytes_on_disk as f64 * share) as u64;
        let nodes = nodes_of_cell(Some(&idle().setup()), &[&trial]);
        of_cell(&nodes, &[&trial]).into_iter().next()
    };
    assert_eq!(with(1.14), None);
    let reported = with(1.2).unwrap();
    assert_eq!(reported.figure, NodeFigure::BytesOnDisk);
    assert_eq!((reported.most_of, reported.least_of), (HostId::database(2), HostId::database(0)));
}

#[test]
fn a_slower_volume_of_one_node_shows_in_the_probe() {
    let with = |third: f64| {
        let probes = [3000.0, 2990.0, third];
        let mut facts = crate::analyse(&crate::story::run(&crate::story::job(), &[])).configurations.remove(0);
        facts.volumes[0].probes = (0..).map(HostId::database).zip(probes.map(probe)).collect();
        of_configuration(&facts)
    };
    assert_eq!(with(2700.0), []);
    let found = with(2500.0);
    assert_eq!(found.len(), 1);
    let reported = &found[0];
    assert_eq!(reported.figure, NodeFigure::ProbedReads);
    assert_eq!((reported.least_of, reported.volume), (HostId::database(2), Some(VolumeRole::Data)));
}
