//! Clusters: replica work lands on as many nodes as the consistency level and the replication factor say, and the
//! slowest node decides.

use evidence::HostId;

use super::*;

/// Three nodes with everything on each, quiet but for what the story adds.
fn three(volume: &str, cluster: &str, truth: &str) -> Story {
    let mut story = quiet(&format!("node_noise = 0\ngc_pause_ms = 0\n{truth}"));
    story.configurations = configuration("a", &format!("{volume}\nnodes = 3\n{cluster}"));
    story
}

/// A volume that bounds a node that only reads, long before its CPUs.
const SLOW: &str = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";

/// Read requests of a node's data volume a second.
fn reads(trial: &SimulatedTrial, node: u32) -> f64 {
    let samples = &trial.samples[&HostId::database(node)];
    let at = |t: f64| samples.iter().find(|s| s.t_s == t).unwrap().volumes[&VolumeRole::Data].reads.unwrap();
    (at(20.0) - at(0.0)) / 20.0
}

fn cpus(trial: &SimulatedTrial, node: u32) -> f64 {
    let samples = &trial.samples[&HostId::database(node)];
    let at = |t: f64| samples.iter().find(|s| s.t_s == t).unwrap().host.cgroup_cpu_s.unwrap();
    (at(20.0) - at(0.0)) / 20.0
}

#[test]
fn each_node_has_its_facts_its_samples_and_its_part_of_the_data() {
    let part = |replicas: u32| {
        let trial = three(SLOW, &format!("replication_factor = {replicas}"), "").trial();
        let nodes = &trial.record.nodes;
        assert_eq!(
            nodes.iter().map(|n| n.host.to_string()).collect::<Vec<_>>(),
            ["database", "database-2", "database-3"]
        );
        assert_eq!(trial.samples.len(), 4, "three nodes and the client");
        nodes.iter().map(|n| n.data_bytes_on_disk as f64).sum::<f64>()
    };
    let whole = quiet("").trial().record.node().data_bytes_on_disk as f64;
    near(part(3), 3.0 * whole, 1e-6);
    near(part(1), whole, 1e-6);
}

/// At ONE each read asks one replica, so that three volumes of 1,000 IOPS read for three times the operations of one;
/// at QUORUM two replicas, at ALL three.
#[test]
fn a_read_asks_as_many_replicas_as_its_level_waits_for() {
    let ops =
        |cluster: &str| three(SLOW, cluster, "").load("concurrency = [600]\nwarmup_s = 2\nduration_s = 20").trial();
    let alone =
        quiet("gc_pause_ms = 0").volume(SLOW).load("concurrency = [600]\nwarmup_s = 2\nduration_s = 20").trial();
    let (one, quorum, all) =
        (ops("consistency = \"one\""), ops("consistency = \"quorum\""), ops("consistency = \"all\""));
    near(one.throughput() / alone.throughput(), 3.0, 0.03);
    near(quorum.throughput() / alone.throughput(), 1.5, 0.03);
    near(all.throughput() / alone.throughput(), 1.0, 0.03);
    for trial in [&one, &quorum, &all] {
        for node in 0..3 {
            near(reads(trial, node), 1000.0, 0.01);
        }
    }
}

/// 10,000 writes a second of 100 us each, half of that once: three replicas take 0.5 + 3 x 0.5 of it, a third on each.
#[test]
fn a_write_goes_to_all_replicas_whatever_it_waits_for() {
    for (level, replicas) in [("one", 3.0), ("quorum", 3.0)] {
        for load in ["rate = [5000]", "concurrency = [2]"] {
            let mut story = three(FAST, &format!("consistency = \"{level}\""), "background_cpus = 0").load(
                if load == "rate = [5000]" {
                    "rate = [5000]\narrival = \"constant\"\nwarmup_s = 2\nduration_s = 20"
                } else {
                    "concurrency = [2]\nwarmup_s = 2\nduration_s = 20"
                },
            );
            story.workload = "update = 1.0\ndistribution = \"uniform\"";
            let trial = story.trial();
            let expected = trial.throughput() * 100e-6 * (0.5 + 0.5 * replicas) / 3.0;
            for node in 0..3 {
                near(cpus(&trial, node), expected, 0.02);
            }
        }
    }
}

#[test]
fn a_slower_volume_of_one_node_bounds_them_all() {
    let load = "concurrency = [600]\nwarmup_s = 2\nduration_s = 20";
    let equal = three(SLOW, "", "").load(load).trial();
    let one_slow = three(SLOW, "", "").load(load).fault("kind = \"slow_disk\"\nnode = 2\namount = 0.5").trial();
    near(one_slow.throughput() / equal.throughput(), 0.5, 0.03);
    for node in 0..3 {
        near(reads(&one_slow, node), 500.0, 0.02);
    }
    let probe = |node: usize| one_slow.record.nodes[node].volumes[0].probe.unwrap().read_iops;
    near(probe(1) / probe(0), 0.5, 1e-6);
    near(probe(2) / probe(0), 1.0, 1e-6);
}

/// The same by the queues of the open loop: at a rate that one node cannot serve, requests pile up.
#[test]
fn a_slower_volume_of_one_node_holds_an_open_loop_up() {
    let load = "rate = [2000]\nwarmup_s = 2\nduration_s = 20";
    let p99 = |story: Story| story.load(load).trial().reads().value_at_quantile(0.99) as f64;
    let equal = p99(three(SLOW, "", ""));
    let slow = p99(three(SLOW, "", "").fault("kind = \"slow_disk\"\nnode = 3\namount = 0.5"));
    assert!(slow > 20.0 * equal, "{equal} {slow}");
}

#[test]
fn a_busy_node_reads_more_than_the_others() {
    for load in ["concurrency = [64]\nwarmup_s = 2\nduration_s = 20", "rate = [3000]\nwarmup_s = 2\nduration_s = 20"] {
        let busy = three(FAST, "", "").load(load).fault("kind = \"busy_node\"\nnode = 2\namount = 1.5").trial();
        near(reads(&busy, 1) / reads(&busy, 0), 1.5, 0.03);
        near(reads(&busy, 2) / reads(&busy, 0), 1.0, 0.03);
    }
}

/// Closed and open loop are two models of one cluster.
#[test]
fn both_loops_agree_on_what_an_operation_asks_of_the_nodes() {
    for level in ["one", "quorum"] {
        let of = |load| {
            let mut story = three(FAST, &format!("consistency = \"{level}\""), "background_cpus = 0").load(load);
            // So many that a page cache which fills faster under more load holds next to nothing of them.
            story.records = 1_000_000_000;
            story.trial()
        };
        let closed = of("concurrency = [16]\nwarmup_s = 2\nduration_s = 20");
        let open = of("rate = [4000]\nwarmup_s = 2\nduration_s = 20");
        let each = |trial: &SimulatedTrial, figure: fn(&SimulatedTrial, u32) -> f64| {
            (0..3).map(|node| figure(trial, node)).sum::<f64>() / trial.throughput()
        };
        near(each(&open, cpus), each(&closed, cpus), 0.02);
        near(each(&open, reads), each(&closed, reads), 0.02);
    }
}

#[test]
fn equal_nodes_differ_by_their_noise() {
    let mut job = three(FAST, "", "").load("concurrency = [16]\nwarmup_s = 1\nduration_s = 20").job();
    job.plan.place.truth_mut().unwrap().node_noise = 0.05;
    let mut ratios = Vec::new();
    for seed in 1..=200 {
        job.plan.place.truth_mut().unwrap().seed = seed;
        let trial = all(&job).remove(0);
        ratios.push(reads(&trial, 1) / reads(&trial, 0));
    }
    // Two nodes, each with 5 %.
    near(variation(&ratios), 0.05 * std::f64::consts::SQRT_2, 0.2);
}
