//! A local cluster of three: started at once, all NORMAL, written at ALL, found again as another command would,
//! stopped.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]
#![allow(clippy::print_stdout, reason = "a test run with --nocapture prints how long each step took")]

#[path = "three_nodes/own_frames.rs"]
mod own_frames;
mod shared;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use database::cassandra::{Admin, Cassandra, ensure_distribution, versions};
use database::{Cluster, ClusterError, ClusterSpec, NodeLocation, Replication, Server as _};
use scylla::client::session_builder::SessionBuilder;

/// Stops the cluster when a test fails.
struct Guarded(Cluster);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.stop(&Cassandra::new(versions()[0], None));
    }
}

#[test]
fn three_nodes_start_at_once_and_a_write_at_all_succeeds() {
    ensure_distribution(versions()[0], &shared::cache(), &mut |_| {}, &|| false).unwrap();
    shared::enter_own_network();
    let work = tempfile::Builder::new().prefix("iopslab-three-nodes-").tempdir().unwrap();
    let server = Cassandra::new(versions()[0], None);
    let mut spec = ClusterSpec::new(&server, work.path(), 3, &shared::cache());
    spec.first_address = Ipv4Addr::new(127, 0, 41, 11);
    spec.ports.management = 17_421;
    let in_rack = |rack: &str| NodeLocation { data_centre: "north".to_owned(), rack: rack.to_owned() };
    spec.places = ["a", "b", "c"].map(in_rack).to_vec();
    spec.memory = server.memory(400 << 20);
    let started = Instant::now();
    let cluster = Guarded(Cluster::start(&spec, &server, &mut |line| println!("{line}")).unwrap());
    println!("three nodes ready after {:.1} s", started.elapsed().as_secs_f64());

    let dataset = experiment::Dataset { records: 1, fields: 1, field_length: 10, compressibility: 0.0, seed: 1 };
    let insert = |key: &str| format!("INSERT INTO ycsb.usertable (y_id, field0) VALUES ('{key}', 'x')");
    let addresses = cluster.0.addresses();
    assert_eq!(places_as_gossiped(addresses[0]), spec.places);
    // All three copies are in the one data centre: were the nodes elsewhere, no write would succeed.
    let copies = Replication::ByDataCentre([("north".to_owned(), 3)].into());
    let admin = Admin::connect(addresses[0], Duration::from_secs(20)).unwrap();
    admin.create_schema("ycsb", "usertable", &dataset, &copies, &BTreeMap::new()).unwrap();
    for row in 0..100 {
        admin.run(&insert(&format!("user{row}")), experiment::Consistency::All).unwrap();
    }
    drop(admin);

    // As another command would see it.
    let mut opened = Cluster::open(work.path()).unwrap();
    let status = opened.status(&server);
    assert_eq!(status.len(), 3);
    assert!(status.iter().all(|node| node.answers && node.pid.is_some()), "{status:?}");
    assert!(matches!(
        Cluster::start(&spec, &server, &mut |_| {}),
        Err(ClusterError::AlreadyRunning { running: 3, nodes: 3, .. })
    ));

    own_frames::requests_go_to_a_replica_as_the_driver_sends_them(&addresses, &opened.status(&server));

    let stopping = Instant::now();
    // The parent of the nodes must collect them, as the shell's init does for a command that has ended.
    let mut cluster = cluster;
    cluster.0.stop(&server).unwrap();
    println!("three nodes stopped after {:.1} s", stopping.elapsed().as_secs_f64());
    assert!(opened.status(&server).iter().all(|node| node.pid.is_none() && !node.answers));
    opened.stop(&server).unwrap(); // stopping what is stopped is no error

    let mut other = spec.clone();
    other.nodes = 2;
    assert!(matches!(Cluster::start(&other, &server, &mut |_| {}), Err(ClusterError::OtherShape { .. })));
}

/// The place of each node in the order of their addresses, as a client learns it.
fn places_as_gossiped(address: SocketAddr) -> Vec<NodeLocation> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = SessionBuilder::new().known_node_addr(address).build().await.unwrap();
        let state = session.get_cluster_state();
        let mut nodes: Vec<_> = state.get_nodes_info().to_vec();
        nodes.sort_by_key(|node| node.address.ip());
        let place = |node: &std::sync::Arc<scylla::cluster::Node>| NodeLocation {
            data_centre: node.datacenter.clone().unwrap(),
            rack: node.rack.clone().unwrap(),
        };
        nodes.iter().map(place).collect()
    })
}
