//! Output that the tools have really printed, each file with its source in its first lines, and what is read of it.

use std::collections::BTreeMap;

use evidence::{CountedFrom, ErrorKind, OperationKind, Tool};
use imports::{Results, StatedLoad, read};

fn results(text: &str) -> Results {
    read(text, None).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// What is stated twice agrees: the rate of the summary, and the operations of each kind over the time.
fn agrees(results: &Results, within: f64) {
    let counted = results.completed.values().sum::<u64>() as f64 / results.measured_s;
    assert!((counted / results.stated_ops_per_s - 1.0).abs() < within, "{counted} {}", results.stated_ops_per_s);
}

#[test]
fn a_summary_of_ycsb_has_three_percentiles_at_most() {
    let postgres = results(include_str!("real/ycsb-postgres.txt"));
    agrees(&postgres, 1e-6);
    assert_eq!((postgres.tool, postgres.measured_s), (Tool::Ycsb, 4_220.495));
    let counts = BTreeMap::from([(OperationKind::Read, 5_000_960), (OperationKind::Update, 4_999_040)]);
    assert_eq!((postgres.completed, postgres.failed), (counts, BTreeMap::new()));
    let reads = postgres.latencies[&OperationKind::Read];
    assert_eq!((reads.p50_us, reads.p95_us, reads.p99_us, reads.p999_us), (None, Some(487.0), Some(580.0), None));
    assert_eq!((reads.max_us, reads.samples), (9_423.0, 5_000_960));
    assert_eq!(postgres.load, StatedLoad::default(), "the summary alone does not state its threads");
    assert_eq!((postgres.counted_from, postgres.progress.len()), (CountedFrom::Sent, 0));

    let scylla = results(include_str!("../../../examples/ycsb-result.txt"));
    agrees(&scylla, 1e-6);
    assert_eq!(scylla.latencies[&OperationKind::Update].p99_us, Some(1_036.0));
}

/// 37 % of these operations found nothing: the mean of the others is no speed of a database that has its data.
#[test]
fn what_failed_is_no_operation_of_the_throughput() {
    let found = results(include_str!("real/ycsb-not-found.txt"));
    agrees(&found, 1e-6);
    assert_eq!(found.failed, BTreeMap::from([(ErrorKind::NotFound, 368_886)]));
    assert_eq!(found.completed[&OperationKind::Read], 131_740);
    assert!((found.stated_ops_per_s - 1_455.7).abs() < 0.1, "{}", found.stated_ops_per_s);
    assert_eq!(found.latencies[&OperationKind::Read].p50_us, Some(796.0));
}

/// READ and UPDATE have the two halves of each read-modify-write, too: 200 million operations, not 400.
#[test]
fn a_read_modify_write_is_one_operation() {
    let found = results(include_str!("real/ycsb-read-modify-write.txt"));
    agrees(&found, 1e-6);
    let counts = [(OperationKind::Read, 99_994_193), (OperationKind::ReadModifyWrite, 100_005_807)];
    assert_eq!(found.completed, BTreeMap::from(counts));
    assert_eq!(found.load, StatedLoad { in_flight: Some(840), rate_per_s: Some(80_000.0) });
    assert!(found.left_out.iter().any(|what| what.contains("counted once")), "{:?}", found.left_out);
}

#[test]
fn progress_of_ycsb_is_placed_by_the_time_of_day_where_its_seconds_are_too_coarse() {
    let found = results(include_str!("real/ycsb-status.txt"));
    let [line] = found.progress.as_slice() else { panic!("{:?}", found.progress) };
    assert!((line.seconds() - 0.25).abs() < 1e-6 && line.operations == 1_000.0, "{line:?}");
    assert_eq!(found.completed, BTreeMap::from([(OperationKind::Insert, 1_000)]), "counts with decimals, as 0.12 has");
}

#[test]
fn a_log_of_cassandra_stress_has_its_progress_and_all_percentiles() {
    let scylla = results(include_str!("real/cassandra-stress-scylla.txt"));
    agrees(&scylla, 0.01);
    assert_eq!((scylla.tool, scylla.measured_s), (Tool::CassandraStress, 10.7));
    assert_eq!(scylla.completed, BTreeMap::from([(OperationKind::Update, 166_163)]));
    assert_eq!(scylla.load, StatedLoad { in_flight: Some(10), rate_per_s: None });
    assert_eq!(scylla.latencies[&OperationKind::Update].p999_us, Some(1_700.0));
    assert_eq!(scylla.progress.len(), 11);
    assert_eq!(scylla.progress[1].operations, 16_657.0);

    let cassandra = results(include_str!("real/cassandra-stress-cassandra.txt"));
    agrees(&cassandra, 0.01);
    assert_eq!((cassandra.load.in_flight, cassandra.measured_s), (Some(4), 3.8));
}

/// Printed on the machine that this was written on, by `fio --ioengine=null --rw=randrw --rate_iops=750,250
/// --output-format=json+`: what it aimed at is a rate of each direction, and its bins have the percentiles.
#[test]
fn a_rate_of_fio_is_that_of_both_directions() {
    let found = results(include_str!("real/fio-rate.json"));
    agrees(&found, 0.001);
    assert_eq!(found.load, StatedLoad { in_flight: Some(4), rate_per_s: Some(1_000.0) });
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.samples, reads.max_us), (1_501, 7.456), "upper ends of bins, where fio states 7.441");
    assert_eq!((reads.p50_us, reads.p99_us), (Some(0.988), Some(5.92)));
    assert!((reads.mean_us - 1.256).abs() < 0.01, "{}", reads.mean_us);
}

/// Little's law holds in it: 85,139 x 1.447 ms + 85,066 x 1.561 ms = 256, which is 64 x 4.
#[test]
fn fio_states_reads_and_writes_apart() {
    let found = results(include_str!("real/fio-randrw.json"));
    agrees(&found, 1e-4);
    assert_eq!((found.tool, found.version.as_deref()), (Tool::Fio, Some("fio-3.16")));
    assert_eq!(found.load, StatedLoad { in_flight: Some(256), rate_per_s: None });
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.p50_us, reads.p999_us, reads.max_us), (Some(1_417.216), Some(3_620.864), 10_177.629));
    let busy: f64 = found.latencies.values().map(|l| l.mean_us * l.samples as f64 / 1e6).sum();
    assert!((busy / found.measured_s - 256.0).abs() < 1.0, "{}", busy / found.measured_s);
}
