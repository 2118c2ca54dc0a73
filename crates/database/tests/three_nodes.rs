//! A local cluster of three: started at once, all NORMAL, written at ALL, found again as another command would,
//! stopped.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]
#![allow(
    clippy::print_stdout,
    reason = "a test run with --nocapture tells how long each step took"
)]

use std::{
    net::Ipv4Addr,
    path::PathBuf,
    time::{Duration, Instant},
};

use database::cassandra::{Admin, Cluster, ClusterError, ClusterSpec, versions};

/// Stops the cluster when a test fails.
struct Guarded(Cluster);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.stop();
    }
}

fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("tests run with a home directory"));
    std::env::var_os("IOPSLAB_CACHE").map_or_else(|| home().join(".cache/iopslab"), PathBuf::from)
}

#[test]
fn three_nodes_start_at_once_and_a_write_at_all_succeeds() {
    let work = tempfile::Builder::new()
        .prefix("iopslab-three-nodes-")
        .tempdir()
        .unwrap();
    let mut spec = ClusterSpec::new(work.path(), 3, versions()[0], &cache());
    spec.first_address = Ipv4Addr::new(127, 0, 41, 11);
    spec.jmx_port = 17_421;
    spec.heap_bytes = 400 << 20;
    let started = Instant::now();
    let cluster = Guarded(Cluster::start(&spec, &mut |line| println!("{line}")).unwrap());
    println!("three nodes ready after {:.1} s", started.elapsed().as_secs_f64());

    let dataset = spec::Dataset {
        records: 1,
        fields: 1,
        field_length: 10,
        compressibility: 0.0,
        seed: 1,
    };
    let insert = |key: &str| format!("INSERT INTO ycsb.usertable (y_id, field0) VALUES ('{key}', 'x')");
    let addresses = cluster.0.addresses();
    let admin = Admin::connect(addresses[0], Duration::from_secs(20)).unwrap();
    admin.create_schema("ycsb", "usertable", &dataset, 3).unwrap();
    for row in 0..100 {
        admin
            .run(&insert(&format!("user{row}")), spec::Consistency::All)
            .unwrap();
    }
    drop(admin);

    // As another command would see it.
    let mut opened = Cluster::open(work.path()).unwrap();
    let status = opened.status();
    assert_eq!(status.len(), 3);
    assert!(
        status.iter().all(|node| node.answers_cql && node.pid.is_some()),
        "{status:?}"
    );
    assert!(matches!(
        Cluster::start(&spec, &mut |_| {}),
        Err(ClusterError::AlreadyRunning {
            running: 3,
            nodes: 3,
            ..
        })
    ));

    let stopping = Instant::now();
    // The parent of the nodes must collect them, as the shell's init does for a command that has ended.
    let mut cluster = cluster;
    cluster.0.stop().unwrap();
    println!("three nodes stopped after {:.1} s", stopping.elapsed().as_secs_f64());
    assert!(
        opened
            .status()
            .iter()
            .all(|node| node.pid.is_none() && !node.answers_cql)
    );
    opened.stop().unwrap(); // stopping what is stopped is no error

    let mut other = spec.clone();
    other.nodes = 2;
    assert!(matches!(
        Cluster::start(&other, &mut |_| {}),
        Err(ClusterError::OtherShape { .. })
    ));
}
