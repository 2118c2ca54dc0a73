//! Throughput over nodes: clusters that differ in nothing else are one scaling, all others are none.

use crate::story::{Reported, measured, record, run};
use analysis::{AnswerOutcome, TrialMeasurement, analyse};
use experiment::{Basis, ConfigurationMoney, Job, Money, Placement};

/// Names of configurations by nodes.
const SIZES: [(u32, &str); 4] = [(1, "one"), (3, "three"), (6, "six"), (9, "nine")];

fn name(nodes: u32) -> &'static str {
    SIZES.iter().find(|(n, _)| *n == nodes).unwrap().1
}

/// Clusters of these sizes, three blocks.
fn job(sizes: &[u32]) -> Job {
    let mut job = crate::story::job();
    let (setup, cell) = (job.setups[0].clone(), job.plan.cells[0].clone());
    job.setups.setups.clear();
    job.plan.cells.clear();
    job.plan.trials.clear();
    for nodes in sizes {
        let mut setup = setup.clone();
        setup.configuration = name(*nodes).to_owned();
        setup.placement = Placement { nodes: *nodes, ..Placement::ONE_NODE };
        setup.data.size_bytes /= u64::from(*nodes);
        job.setups.setups.push(setup);
        let mut cell = cell.clone();
        cell.id = format!("{}.read-heavy.c100", name(*nodes));
        cell.configuration = name(*nodes).to_owned();
        job.plan.trials.extend((1..=3).map(|block| experiment::PlannedTrial { block, cell: cell.id.clone() }));
        job.plan.cells.push(cell);
    }
    job
}

/// Each size has this many times the throughput of one node, a little more or less from block to block.
fn trials(job: &Job, times: impl Fn(f64) -> f64) -> Vec<TrialMeasurement> {
    let trial = |setup: &experiment::Setup, block: u32| {
        let nodes = f64::from(setup.placement.nodes);
        let noise =
            1.0 + 0.02 * (f64::from(block) - 2.0) * if block.is_multiple_of(2) { 0.0 } else { (nodes * 0.9).sin() };
        let reported = Reported {
            configuration: name(setup.placement.nodes),
            block,
            operations: (60_000.0 * times(nodes) * noise) as u64,
            device_reads: 9_600.0,
            probe_read_iops: 625.0,
        };
        measured(&record(reported), 9_600.0)
    };
    job.setups.iter().flat_map(|setup| (1..=3).map(|block| trial(setup, block)).collect::<Vec<_>>()).collect()
}

fn analysed(job: &Job, trials: &[TrialMeasurement]) -> analysis::Analysis {
    analyse(&run(job, trials))
}

#[test]
fn the_law_is_found_with_bounds_that_hold_it() {
    let job = job(&[1, 3, 6, 9]);
    let law = |n: f64| n / (1.0 + 0.08 * (n - 1.0) + 0.004 * n * (n - 1.0));
    let analysis = analysed(&job, &trials(&job, law));
    let [scaling] = analysis.scaling.as_slice() else { panic!("{:?}", analysis.scaling) };
    assert_eq!(scaling.points.iter().map(|p| p.nodes).collect::<Vec<_>>(), [1, 3, 6, 9]);
    for point in &scaling.points {
        let nodes = f64::from(point.nodes);
        assert_eq!(scaling.by_law_ops_per_s(nodes), point.by_law_ops_per_s);
    }
    let range = scaling.efficiency_range.unwrap();
    let truth = law(9.0) / 9.0;
    assert!((range.low..=range.high).contains(&truth), "{range:?} {truth}");
    assert!(range.high - range.low < 0.1, "{range:?}");
    let contention = scaling.contention_range.unwrap();
    assert!((contention.low..=contention.high).contains(&0.08), "{contention:?}");
    assert!((10.0..22.0).contains(&scaling.peak_nodes.unwrap()), "{:?}: the truth is 15", scaling.peak_nodes);
}

/// Clusters that cost what they bring, of which the smallest was measured badly: what is shown to be alike is not asked
/// to be decided, and the repetitions are those that the other one needs.
#[test]
fn repetitions_are_for_what_is_open_and_not_for_what_is_break_even() {
    let mut job = job(&[1, 3, 6]);
    let price = |nodes: u32| ConfigurationMoney {
        configuration: name(nodes).to_owned(),
        usd_per_month: Some(f64::from(nodes) * 500.0),
        lines: Vec::new(),
        missing: None,
    };
    job.plan.money = Money { basis: Basis::default(), configurations: [1, 3, 6].map(price).to_vec() };
    let answer = |one: f64, spread: f64| {
        let trial = |nodes: u32, block: u32, throughput: f64| {
            let reported = Reported {
                configuration: name(nodes),
                block,
                operations: (60_000.0 * throughput) as u64,
                device_reads: 42_000.0 * throughput,
                probe_read_iops: 625.0,
            };
            measured(&record(reported), 42_000.0 * throughput)
        };
        let trials: Vec<TrialMeasurement> = (1..=3)
            .flat_map(|block| {
                let wave = f64::from(block) - 2.0;
                [
                    trial(1, block, one + spread * wave),
                    trial(3, block, 3.0 + 0.003 * wave),
                    trial(6, block, 6.03 - 0.004 * wave),
                ]
            })
            .collect();
        let mut places = analysed(&job, &trials).recommendation.places;
        places.remove(0).outcome
    };
    let AnswerOutcome::Between { configurations, break_even, alike, repetitions } = answer(0.93, 0.06) else {
        panic!("{:?}", answer(0.93, 0.06));
    };
    assert_eq!(configurations, ["six", "one", "three"]);
    assert_eq!((break_even, alike), (false, vec!["three".to_owned()]));
    // Between six and three no number would: they are 0.5 % apart, and the margin is 5 %.
    assert!(repetitions.is_some_and(|n| (4..40).contains(&n)), "{repetitions:?}");
    // Measured as well as the others it is break-even, too.
    let AnswerOutcome::Between { break_even, alike, repetitions, .. } = answer(1.0, 0.001) else {
        panic!("{:?}", answer(1.0, 0.001));
    };
    assert_eq!((break_even, alike.len(), repetitions), (true, 0, None));
}

#[test]
fn clusters_that_differ_in_more_than_nodes_are_not_one_law() {
    // Two sizes alone; or three, of which one keeps more replicas, or has another volume.
    let two = job(&[1, 3]);
    assert!(analysed(&two, &trials(&two, |n| n)).scaling.is_empty());
    let mut other_replicas = job(&[1, 3, 6]);
    other_replicas.setups[2].placement.replication_factor = 3;
    assert!(analysed(&other_replicas, &trials(&other_replicas, |n| n)).scaling.is_empty());
    let mut other_volume = job(&[1, 3, 6]);
    other_volume.setups[0].data.limits = experiment::IoLimits::symmetric(Some(61.0), None);
    assert!(analysed(&other_volume, &trials(&other_volume, |n| n)).scaling.is_empty());
}
