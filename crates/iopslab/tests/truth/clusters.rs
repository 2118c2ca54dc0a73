//! Clusters: the limiting node is named, unequal nodes are reported, and equal ones are not.

use analysis::rules::unequal_nodes::UnequalNodes;
use analysis::{Analysis, Finding, HostId, LimitKind, NodeFigure, Rule};

use crate::story::{NVME, Story, cell, configuration, over_seeds, share, sound};

/// Three nodes, each with everything.
fn three(volume: &str, rest: &str) -> Story {
    Story { configurations: configuration("a", &format!("{volume}\nnodes = 3\n{rest}")), ..sound() }
}

/// A volume that bounds a node that reads.
const SLOW: &str = "data_volume = { iops = 2000, mib_per_s = 500, size_gib = 100 }";

/// The figures by which nodes are reported unequal.
fn unequal(analysis: &Analysis) -> Vec<NodeFigure> {
    let found = analysis.findings.iter().filter_map(Finding::figures::<UnequalNodes>);
    found.map(|f| f.figure).collect()
}

/// The usual noise of a cloud, as in the other tables: 3 % from trial to trial, 5 % from block to block,
/// 2 % of each node.
fn usual(volume: &str, reads: f64) -> Story {
    Story {
        workload: format!("read = {reads}\nupdate = {}", 1.0 - reads),
        load: "concurrency = [64]\nwarmup_s = 2\nduration_s = 45".into(),
        truth: "read_cpu_us = 400\nwrite_cpu_us = 300".into(),
        ..three(volume, "consistency = \"quorum\"")
    }
}

#[test]
fn equal_nodes_are_not_told_unequal() {
    let n = if std::env::var_os("IOPSLAB_TRUTH").is_some() { 300 } else { 40 };
    for (what, volume, reads) in [("CPU-bound", NVME, 0.8), ("IOPS-bound", SLOW, 0.95)] {
        let seen = over_seeds(n, &usual(volume, reads).job(), |analysis| {
            let nodes = &cell(analysis, "a").nodes;
            let reads = nodes.iter().filter_map(|node| node.device_read_iops);
            let (least, most) = reads.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
            (!unequal(analysis).is_empty(), most / least - 1.0)
        });
        let reported = share(&seen.iter().map(|(reported, _)| *reported).collect::<Vec<_>>());
        let mut apart: Vec<f64> = seen.iter().map(|(_, apart)| *apart).collect();
        apart.sort_by(f64::total_cmp);
        println!(
            "| equal nodes, {what}, 3 nodes at QUORUM, 3 repetitions, {n} seeds | called unequal: {:.1} %; device \
             reads of the largest over the smallest: median +{:.1} %, most +{:.1} % |",
            reported * 100.0,
            apart[apart.len() / 2] * 100.0,
            apart[apart.len() - 1] * 100.0
        );
        assert!(reported <= 0.01, "{what}: {reported}");
    }
}

#[test]
fn a_busier_node_is_reported_by_how_much_it_is_busier() {
    let n = if std::env::var_os("IOPSLAB_TRUTH").is_some() { 100 } else { 12 };
    for (amount, least, most) in [(1.1, 0.0, 0.1), (1.3, 0.9, 1.0), (1.5, 0.95, 1.0)] {
        let mut story = usual(NVME, 0.95);
        story.configurations = story.configurations.replace("quorum", "one");
        let story = story.fault(&format!("kind = \"busy_node\"\nnode = 2\namount = {amount:.1}"));
        let reported = over_seeds(n, &story.job(), |analysis| {
            unequal(analysis).contains(&NodeFigure::DeviceReads) || unequal(analysis).contains(&NodeFigure::Cpus)
        });
        let reported = share(&reported);
        println!(
            "| one of 3 nodes asked {amount:.1} times as often, 3 repetitions, {n} seeds | called unequal: {:.0} % |",
            reported * 100.0
        );
        assert!((least..=most).contains(&reported), "{amount}: {reported}");
    }
}

#[test]
fn the_slower_volume_of_one_node_is_named() {
    let equal = three(SLOW, "").workload("read = 1.0").analysis();
    let limit = &cell(&equal, "a").limit;
    assert_eq!((limit.kind, limit.nodes.len(), limit.of_nodes), (LimitKind::VolumeIops, 3, 3), "{limit:?}");
    let slow = three(SLOW, "").workload("read = 1.0").fault("kind = \"slow_disk\"\nnode = 2\namount = 0.6").analysis();
    let limit = &cell(&slow, "a").limit;
    assert_eq!((limit.kind, limit.nodes.as_slice()), (LimitKind::VolumeIops, &[HostId::database(1)][..]), "{limit:?}");
    assert_eq!(unequal(&slow), [NodeFigure::ProbedReads, NodeFigure::ProbedWrites]);
    let off = slow.findings.iter().find(|f| f.rule() == Rule::EmulationOffLimit).unwrap();
    let on = off.nodes.as_ref().unwrap();
    assert_eq!((on.listed().as_str(), on.of), ("database-2", 3));
    let (equal, slow) = (cell(&equal, "a"), cell(&slow, "a"));
    let rate = |c: &analysis::CellAnalysis| c.throughput_ops_per_s.unwrap().median;
    let ratio = rate(slow) / rate(equal);
    assert!((ratio / 0.6 - 1.0).abs() < 0.05, "{ratio}");
}

/// Faults of one node are found there, once a trial, and the others are not blamed.
#[test]
fn what_goes_wrong_on_one_node_is_said_of_that_node() {
    for (fault, rule) in [
        ("steal", Rule::CpuSteal),
        ("throttle", Rule::CpuThrottled),
        ("compaction_debt", Rule::CompactionDebt),
        ("dropped_messages", Rule::DroppedMessages),
        ("retransmits", Rule::NetworkRetransmits),
        ("restart", Rule::DatabaseRestarted),
    ] {
        let analysis = three(NVME, "").fault(&format!("kind = \"{fault}\"\nnode = 3")).analysis();
        let found: Vec<_> = analysis.findings.iter().filter(|f| f.rule() == rule).collect();
        assert_eq!(found.len(), 3, "{fault}: one a trial");
        assert!(
            found.iter().all(|f| f.nodes.as_ref().is_some_and(|on| on.listed() == "database-3")),
            "{fault}: {found:?}"
        );
    }
}

/// Figures for each operation are those of all nodes together: a read at QUORUM misses the page cache of two of them.
#[test]
fn figures_of_an_operation_are_sums_over_the_nodes() {
    let reads = |level: &str| {
        let analysis = three(NVME, &format!("consistency = \"{level}\"")).workload("read = 1.0").analysis();
        let cell = cell(&analysis, "a");
        (cell.device_reads_per_operation.unwrap(), cell.bytes_on_disk.unwrap())
    };
    let ((one, bytes), (quorum, _)) = (reads("one"), reads("quorum"));
    // More requests fill the page cache sooner, so that it is a little less than twice.
    assert!((1.8..=2.0).contains(&(quorum / one)), "{one} {quorum}");
    // Three replicas.
    let whole = sound().analysis();
    let whole = cell(&whole, "a").bytes_on_disk.unwrap();
    assert!((bytes / whole / 3.0 - 1.0).abs() < 1e-6, "{bytes} {whole}");
}
