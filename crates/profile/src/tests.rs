//! What is said of clusters whose load is known, around each threshold.

use std::collections::BTreeMap;

use catalog::{Basis, Catalog, ClusterRequest};
use evidence::{EbsFigures, HostFigures, HostSample, VolumeFigures};
use experiment::{Experiment, ParseContext, ReadFor, VolumeRole};

use super::*;

mod hours;
mod keys;
mod lost;
mod own;
mod postgresql;

const TODAY: &str = "r6i.2xlarge+gp3:500GiB:12000:500";
const BLOCK: f64 = 16_384.0;

/// A host that reads and writes so much in each second; both in blocks of 16 KiB.
fn host(name: &str, seconds: u32, asked: impl Fn(u32) -> (f64, f64)) -> HostSeen {
    let mut volume = VolumeFigures {
        reads: Some(1e6),
        read_bytes: Some(1e10),
        read_wait_s: Some(100.0),
        writes: Some(1e6),
        write_bytes: Some(1e10),
        busy_s: Some(100.0),
        weighted_busy_s: Some(100.0),
        ..VolumeFigures::default()
    };
    let mut samples = Vec::new();
    for second in 0..=seconds {
        if second > 0 {
            let (reads, writes) = asked(second - 1);
            let add = |figure: &mut Option<f64>, more: f64| *figure = figure.map(|before| before + more);
            add(&mut volume.reads, reads);
            add(&mut volume.read_bytes, reads * BLOCK);
            // Each read takes 2 ms.
            add(&mut volume.read_wait_s, reads * 0.002);
            add(&mut volume.writes, writes);
            add(&mut volume.write_bytes, writes * BLOCK);
            add(&mut volume.busy_s, 0.5);
            add(&mut volume.weighted_busy_s, 4.0);
        }
        let host = HostFigures { process_cpu_s: Some(f64::from(second) * 1.5), ..HostFigures::default() };
        let volumes = BTreeMap::from([(VolumeRole::Data, volume.clone())]);
        let unix_ms = 1_763_676_000_000 + i64::from(second) * 1_000;
        let sample = HostSample { t_s: f64::from(second), unix_ms, host, volumes, ..HostSample::default() };
        samples.push(Moment::from(&sample));
    }
    HostSeen {
        host: name.to_owned(),
        what: "process 42 (java), data on nvme1n1".to_owned(),
        missing: Vec::new(),
        cpus: 8.0,
        memory_bytes: 64 << 30,
        samples,
        agent_cpu: Some((1.0, f64::from(seconds))),
    }
}

fn orders() -> TableName {
    TableName { keyspace: "shop".to_owned(), table: "orders".to_owned() }
}

/// A node that is read each minute, and what it does in each of them every second: reads and writes.
fn node(name: &str, minutes: &[(f64, f64)]) -> NodeSeen {
    let mut counts = Operations { reads: 5_000.0, scans: 0.0, writes: 7_000.0 };
    let mut readings = Vec::new();
    for minute in 0..=minutes.len() {
        if let Some((reads, writes)) = minute.checked_sub(1).map(|before| minutes[before]) {
            counts = counts.plus(Operations { reads: reads * 60.0, scans: 0.0, writes: writes * 60.0 });
        }
        let table = TableReading {
            clients: Some(counts),
            replicas: Some(counts),
            disk_mib: Some(300_000.0),
            partitions: Some(1e6),
            mean_partition_bytes: Some(2_000.0),
            ..TableReading::default()
        };
        readings.push(NodeReading {
            at_s: minute as f64 * 60.0,
            generation: Some(1),
            tables: BTreeMap::from([(orders(), table)]),
            statements: 13,
            waited_s: 0.013,
            ..NodeReading::default()
        });
    }
    NodeSeen { node: name.to_owned(), readings, not_read: Vec::new() }
}

fn seen(hosts: Vec<HostSeen>, nodes: Vec<NodeSeen>) -> Observation {
    let schema = TableSchema {
        name: orders(),
        partition_key: 1,
        key: vec!["id".to_owned()],
        clustering: 1,
        columns: 8,
        compaction: Some("LeveledCompactionStrategy".to_owned()),
        chunk_kib: Some(16.0),
        compressor: Some("LZ4Compressor".to_owned()),
        ..TableSchema::default()
    };
    Observation {
        cluster: Cluster {
            counted_by: CountedBy::Cassandra,
            name: "shop".to_owned(),
            version: "5.0.9".to_owned(),
            nodes: 3,
            tables: vec![schema],
            types: Vec::new(),
            settings: BTreeMap::from([("concurrent_reads".to_owned(), "32".to_owned())]),
            not_read: vec![NotRead { what: "rows_per_read".to_owned(), why: "no such\ntable".to_owned() }],
        },
        nodes,
        hosts,
        today: Some(ClusterRequest::parse(Catalog::built_in(), TODAY).unwrap()),
        log: None,
        seconds: 660.0,
        ended_early: false,
    }
}

fn judged(observation: &Observation) -> Profile {
    judge(Catalog::built_in(), &Basis::default(), observation)
}

/// Of one host alone.
fn of_host(seconds: u32, asked: impl Fn(u32) -> (f64, f64)) -> Profile {
    judged(&seen(vec![host("db1", seconds, asked)], vec![node("db1", &[(300.0, 100.0); 11])]))
}

fn allowed() -> Flow {
    of_host(660, |_| (1.0, 1.0)).verdict.today.unwrap().allowed.most()
}

fn same_machine(profile: &Profile) -> Vec<&str> {
    let same = profile.verdict.cheaper.iter().filter(|candidate| !candidate.other_type);
    same.map(|candidate| candidate.configuration.as_str()).collect()
}

#[test]
fn a_volume_that_is_hardly_used_could_be_a_smaller_one_for_less_money() {
    let profile = of_host(660, |_| (500.0, 40.0));
    let need = profile.verdict.need.as_ref().unwrap();
    assert!((need.asked.both.iops - 540.0).abs() < 1.0, "{need:?}");
    assert!((need.asked.read.iops - 500.0).abs() < 1.0 && (need.asked.write.iops - 40.0).abs() < 1.0, "{need:?}");
    assert_eq!(profile.verdict.withheld, None);
    assert_eq!(same_machine(&profile), ["r6i.2xlarge+gp3:500GiB"]);
    let today = profile.verdict.today.as_ref().unwrap();
    for candidate in &profile.verdict.cheaper {
        let saves = today.usd_per_month.unwrap() - candidate.usd_per_month;
        assert!(saves > 0.0 && (candidate.saves_usd_per_month - saves).abs() < 1e-9, "{candidate:?}");
        assert!(candidate.used <= 1.0 - profile.verdict.headroom + 1e-9, "{candidate:?}");
    }
    let device = &profile.devices[0];
    assert_eq!((device.gaps, device.left_out, device.at_limit), (0, 0, Some(0.0)));
    let (median_ms, p99_ms) = device.read_ms.unwrap();
    assert!((median_ms - 2.0).abs() < 0.01 && (p99_ms - 2.0).abs() < 0.01);
    assert!((device.cpu.unwrap().busiest_minute - 1.5).abs() < 0.01);
    assert!((device.queue_p99.unwrap() - 4.0).abs() < 0.01 && (device.busy.unwrap() - 0.5).abs() < 0.01);
}

/// So many of a thousand seconds at a rate, spread evenly; the others are calm.
fn at_times(of_thousand: u32, iops: f64) -> Profile {
    of_host(1_000, move |second| {
        let is_loud = (second * of_thousand) / 1_000 != ((second + 1) * of_thousand) / 1_000;
        if is_loud { (iops, 0.0) } else { (500.0, 0.0) }
    })
}

#[test]
fn evidence_at_the_limit_lowers_no_demand() {
    let most = allowed().iops;
    // As many seconds as the 99th percentile does not see; then one more of a thousand than that.
    for (of_thousand, share_of_limit, is_withheld) in
        [(9, 1.0, false), (11, 1.0, true), (11, 0.951, true), (500, 0.949, false), (1_000, 1.0, true)]
    {
        let profile = at_times(of_thousand, most * share_of_limit);
        let case = format!("{of_thousand} of 1000 at {share_of_limit}: {:?}", profile.verdict.withheld);
        match &profile.verdict.withheld {
            Some(Withheld::AtLimit { host, share }) => {
                assert!(is_withheld, "{case}");
                assert_eq!(host, "db1");
                assert!((share - f64::from(of_thousand) / 1e3).abs() < 0.002, "{case}");
                assert!(profile.verdict.cheaper.is_empty() && profile.around.0.is_empty(), "{case}");
                assert!(!profile.around.1.is_empty(), "{case}: what does more is tried");
            }
            other => assert!(!is_withheld && other.is_none(), "{case}"),
        }
    }
}

#[test]
fn a_minute_of_work_counts_though_most_seconds_are_calm() {
    // 60 of 1,320 seconds: the 99th percentile sees it, and so does the busiest minute.
    let burst = of_host(1_320, |second| if (600..660).contains(&second) { (5_000.0, 0.0) } else { (100.0, 0.0) });
    assert!(burst.verdict.need.unwrap().asked.both.iops > 4_990.0);
    // Of two hours it is less than a hundredth, and the busiest minute counts all the same.
    let rare = of_host(7_200, |second| if (600..660).contains(&second) { (5_000.0, 0.0) } else { (100.0, 0.0) });
    let device = &rare.devices[0];
    assert!(device.p99_second.both.iops < 101.0, "{:?}", device.p99_second);
    assert!(rare.verdict.need.unwrap().asked.both.iops > 4_990.0);
}

#[test]
fn less_than_ten_minutes_give_no_advice() {
    for (seconds, is_enough) in [(20, false), (590, false), (595, true), (600, true)] {
        let profile = of_host(seconds, |_| (500.0, 40.0));
        assert_eq!(profile.verdict.cheaper.is_empty(), !is_enough, "{seconds}");
        let is_short = matches!(profile.verdict.withheld, Some(Withheld::TooShort { .. }));
        assert_eq!(is_short, !is_enough, "{seconds}");
    }
    // A limit that was reached is said in whatever time.
    let most = allowed().iops;
    assert!(matches!(of_host(20, |_| (most, 0.0)).verdict.withheld, Some(Withheld::AtLimit { .. })));
}

#[test]
fn the_busiest_node_decides_and_is_named_where_it_differs() {
    let hosts = |third: f64| {
        let hosts = [("db1", 500.0), ("db2", 520.0), ("db3", third)];
        hosts.map(|(name, iops)| host(name, 660, move |_| (iops, 0.0))).to_vec()
    };
    let need = |third| judged(&seen(hosts(third), Vec::new())).verdict.need.unwrap();
    let uneven = need(2_080.0);
    assert_eq!(uneven.host, "db3");
    assert!((uneven.uneven.unwrap() - 4.0).abs() < 0.01, "{uneven:?}");
    assert!((uneven.asked.both.iops - 2_080.0).abs() < 1.0, "{uneven:?}");
    assert_eq!(need(770.0).uneven, None, "1.48 times the middle");
    assert!(need(790.0).uneven.is_some(), "1.52 times the middle");
}

#[test]
fn what_happened_between_samples_that_lie_apart_or_went_back_is_not_made_up() {
    let mut apart = host("db1", 660, |_| (500.0, 0.0));
    apart.samples.drain(100..110);
    // The device was made anew: its counters begin again.
    for sample in &mut apart.samples[300..] {
        let volume = sample.data.as_mut().unwrap();
        volume.reads = volume.reads.map(|reads| reads - 1_100_000.0);
    }
    let device = judged(&seen(vec![apart], Vec::new())).devices.remove(0);
    assert_eq!((device.gaps, device.left_out), (1, 1));
    assert!((device.busiest_minute.both.iops - 500.0).abs() < 1.0, "{device:?}");
    assert!((device.seconds - 648.0).abs() < 0.1, "{}", device.seconds);
    // Nothing of its device.
    let mut blind = host("db1", 660, |_| (500.0, 0.0));
    blind.samples.iter_mut().for_each(|sample| sample.data = None);
    blind.missing.push("reads and writes of its data: it has no such file open".to_owned());
    let profile = judged(&seen(vec![blind], Vec::new()));
    assert_eq!(profile.verdict.withheld, Some(Withheld::NoDevice));
    let why = "reads and writes of its data: it has no such file open".to_owned();
    assert!(
        profile.not_read.contains(&NotRead { what: "the device of db1".to_owned(), why }),
        "{:?}",
        profile.not_read
    );
}

#[test]
fn a_node_that_started_again_costs_one_interval() {
    let planted = [(300.0, 100.0); 6];
    let mut restarted = node("db2", &planted);
    for reading in &mut restarted.readings[3..] {
        reading.generation = Some(2);
        for table in reading.tables.values_mut() {
            let since = Operations { reads: 5_000.0, scans: 0.0, writes: 7_000.0 };
            table.clients = table.clients.map(|counts| counts.since(since));
            table.replicas = table.replicas.map(|counts| counts.since(since));
        }
    }
    // The same where the node does not say how often it has started: its counters went back.
    let mut unsaid = restarted.clone();
    for reading in &mut unsaid.readings {
        reading.generation = None;
    }
    for reading in &mut unsaid.readings[3..] {
        for table in reading.tables.values_mut() {
            let before = Operations { reads: 6e4, scans: 0.0, writes: 2e4 };
            table.replicas = table.replicas.map(|counts| counts.since(before));
            table.clients = table.clients.map(|counts| counts.since(before));
        }
    }
    let workload = judged(&seen(Vec::new(), vec![node("db1", &planted), restarted, unsaid])).workload;
    let left_out: Vec<u32> = workload.nodes.iter().map(|node| node.left_out).collect();
    assert_eq!(left_out, [0, 1, 1]);
    for node in &workload.nodes {
        let rates = node.replicas.unwrap();
        assert!((rates.mean.reads - 300.0).abs() < 1e-6 && (rates.mean.writes - 100.0).abs() < 1e-6, "{node:?}");
    }
    let clients = workload.clients.unwrap();
    assert!((clients.mean.reads - 900.0).abs() < 1e-6, "{clients:?}");
    assert!((clients.mean.read_share().unwrap() - 0.75).abs() < 1e-9);
    assert!((clients.busiest.total() - 1_200.0).abs() < 1e-6, "{clients:?}");
}

#[test]
fn a_reading_whose_views_failed_makes_no_rate_of_all_since_the_start() {
    for is_table_known in [true, false] {
        let mut failed = node("db1", &[(300.0, 100.0); 6]);
        let reading = &mut failed.readings[3];
        match is_table_known {
            true => reading.tables.values_mut().for_each(|table| (table.clients, table.replicas) = (None, None)),
            false => reading.tables.clear(),
        }
        let workload = judged(&seen(Vec::new(), vec![failed])).workload;
        let (clients, replicas) = (workload.clients.unwrap(), workload.nodes[0].replicas.unwrap());
        for rates in [clients, replicas] {
            assert!((rates.mean.total() - 400.0).abs() < 1e-6, "{rates:?}");
            assert!((rates.busiest.total() - 400.0).abs() < 1e-6, "{rates:?}");
        }
    }
    // A table that was made meanwhile began with none.
    let mut made = node("db1", &[(300.0, 100.0); 2]);
    let counts = Operations { reads: 600.0, scans: 0.0, writes: 0.0 };
    let name = TableName { keyspace: "shop".to_owned(), table: "items".to_owned() };
    let new = TableReading { clients: Some(counts), ..TableReading::default() };
    made.readings[2].tables.insert(name, new);
    let clients = judged(&seen(Vec::new(), vec![made])).workload.clients.unwrap();
    assert!((clients.busiest.total() - 410.0).abs() < 1e-6, "{clients:?}");
}

#[test]
fn the_busiest_minute_is_one_of_all_nodes_together() {
    let nodes = vec![node("db1", &[(100.0, 0.0), (500.0, 0.0)]), node("db2", &[(400.0, 100.0), (50.0, 0.0)])];
    let workload = judged(&seen(Vec::new(), nodes)).workload;
    // 600 in the first minute, 550 in the second; each by itself had 500.
    assert!((workload.clients.unwrap().busiest.total() - 600.0).abs() < 1e-6);
    let busiest: Vec<f64> = workload.nodes.iter().map(|node| node.replicas.unwrap().busiest.total()).collect();
    assert!((busiest[0] - 500.0).abs() < 1e-6 && (busiest[1] - 500.0).abs() < 1e-6, "{busiest:?}");
}

/// The file as it would be written, read back.
fn written(profile: &Profile) -> (String, Experiment) {
    let draft = drafted(profile, "like-ours", 2.0).unwrap();
    let text = experiment::draft(Catalog::built_in(), &draft);
    let context = ParseContext::alone();
    let read = experiment::parse(Catalog::built_in(), "like-ours.toml", &text, &context, ReadFor::Anybody);
    let experiment = read.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
    assert!(!experiment::plan(&experiment).trials.is_empty(), "{text}");
    (text, experiment)
}

#[test]
fn the_file_is_an_experiment_whose_figures_say_where_they_come_from() {
    let profile = of_host(660, |_| (500.0, 40.0));
    let (text, experiment) = written(&profile);
    let mix = experiment.workloads[0].mix;
    assert!((mix.read - 0.75).abs() < 1e-4 && (mix.update - 0.25).abs() < 1e-4, "{text}");
    assert_eq!((experiment.dataset.fields, experiment.dataset.field_length), (8, 250), "{text}");
    assert_eq!(experiment.objective.unwrap().throughput, Some(400.0), "{text}");
    let first = &experiment.configurations[0];
    assert_eq!(experiment.baseline.as_deref(), Some(first.name.as_str()));
    assert!(experiment.configurations.len() >= 3, "today's, a cheaper one and a dearer one: {text}");
    for said in [
        "# db1: 300.0 reads, 0.0 scans and 100.0 writes a second as a replica, so 75.0 % read",
        "# shop.orders: 2000 bytes in the mean partition",
        "# * shop.orders: 300.0 reads and 100.0 writes a second; 1000000 partitions of 2000 bytes (estimated)",
        "# db1: 300000 MiB of SSTables on disk",
        "# Today's, as stated. db1: 540 IOPS",
        "# * which keys are asked for how often",
        "# * how many rows of a partition one request reads or writes in shop.orders",
        "# * rows_per_read: no such table",
        "concurrent_reads = 32",
        "# Cheaper; would hold what was seen with 30 % free.",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn without_a_device_the_file_asks_what_the_verdict_cannot_say() {
    let profile = judged(&seen(Vec::new(), vec![node("db1", &[(300.0, 100.0); 11])]));
    assert_eq!(profile.verdict.withheld, Some(Withheld::NoDevice));
    assert!(profile.verdict.need.is_none() && profile.verdict.cheaper.is_empty());
    assert!(profile.unknown.contains(&Unknown::Devices) && profile.unknown.contains(&Unknown::Nodes(2)));
    let (text, _) = written(&profile);
    assert!(
        text.contains("Not seen: what its volume is asked for") && text.contains("a question, no advice"),
        "{text}"
    );
}

#[test]
fn what_is_missing_for_a_file_is_named() {
    let drafted = |observation: &Observation| drafted(&judged(observation), "x", 2.0).unwrap_err();
    let mut observation = seen(Vec::new(), vec![node("db1", &[(300.0, 100.0)])]);
    observation.today = None;
    assert_eq!(drafted(&observation), NoFile::NotStated);
    assert_eq!(drafted(&seen(Vec::new(), vec![node("db1", &[])])), NoFile::NotCounted);
    assert_eq!(drafted(&seen(Vec::new(), vec![node("db1", &[(0.0, 0.0)])])), NoFile::NothingAsked);
    let mut empty = node("db1", &[(300.0, 100.0)]);
    for reading in &mut empty.readings {
        reading.tables.values_mut().for_each(|table| table.disk_mib = Some(0.0));
    }
    assert_eq!(drafted(&seen(Vec::new(), vec![empty])), NoFile::NoData);
}

#[test]
fn watching_says_what_it_cost() {
    let own = of_host(660, |_| (1.0, 0.0)).own_load;
    // 12 readings of 13 statements in 11 minutes.
    assert!((own.statements_per_minute - 12.0 * 13.0 / 11.0).abs() < 1e-9, "{own:?}");
    assert!((own.statement_ms.unwrap() - 1.0).abs() < 1e-9, "{own:?}");
    assert!((own.agent_cpus.unwrap() - 1.0 / 660.0).abs() < 1e-9, "{own:?}");
}
