//! Frames of iopslab's own in a cluster: each request goes to a node that has the record, and a node that dies means to
//! them what it means to the driver.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use database::{CqlConnect, CqlDriver, NodeStatus, Replication, TableAt, cassandra::Admin};
use engine::{Connect as _, Driver as _, ErrorKind};
use experiment::Dataset;
use rustix::process::{Pid, Signal, kill_process};
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::routing::Token;

const KEYSPACE: &str = "single";
const KEYS: u32 = 300;

fn key(number: u32) -> String {
    format!("user{number}")
}

pub fn requests_go_to_a_replica_as_the_driver_sends_them(addresses: &[SocketAddr], nodes: &[NodeStatus]) {
    let dataset = Dataset { records: 1, fields: 1, field_length: 10, compressibility: 0.0, seed: 1 };
    let single = Replication::ByDataCentre([("north".to_owned(), 1)].into());
    let admin = Admin::connect(addresses[0], Duration::from_secs(20)).unwrap();
    admin.create_schema(KEYSPACE, "usertable", &dataset, &single, &BTreeMap::new()).unwrap();
    drop(admin);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap();
    runtime.block_on(story(addresses, nodes));
}

async fn connected(address: SocketAddr, driver_only: bool) -> CqlDriver {
    let connect = CqlConnect::new(TableAt {
        keyspace: KEYSPACE.to_owned(),
        driver_only,
        ..TableAt::ycsb(address.to_string(), 1)
    });
    let driver = connect.connect().await.unwrap();
    assert_eq!(connect.notes().is_empty(), !driver_only, "{:?}", connect.notes());
    driver
}

async fn story(addresses: &[SocketAddr], nodes: &[NodeStatus]) {
    let own = connected(addresses[0], false).await;
    let driver = connected(addresses[0], true).await;
    for number in 0..KEYS {
        own.insert(&key(number), &["x"]).await.unwrap();
    }

    let session = SessionBuilder::new().known_node_addr(addresses[0]).build().await.unwrap();
    let mut expected: BTreeMap<SocketAddr, u32> = BTreeMap::new();
    let mut owners = Vec::new();
    for number in 0..KEYS {
        let owner = owner(&session, &key(number)).await;
        *expected.entry(owner).or_default() += 1;
        owners.push(owner);
    }
    assert_eq!(expected.len(), addresses.len(), "{expected:?}");

    let mut before = BTreeMap::new();
    for address in addresses {
        before.insert(*address, answered(*address).await);
    }
    for number in 0..KEYS {
        assert_eq!(own.read(&key(number), None).await, Ok(()));
    }
    for address in addresses {
        let asked = answered(*address).await - before[address];
        assert_eq!(asked, i64::from(expected[address]), "{address}: {expected:?}");
    }

    // The last node dies: nobody else has its records.
    let dead = addresses[2];
    let pid = nodes[2].pid.unwrap();
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
    let lost = key(owners.iter().position(|owner| *owner == dead).unwrap() as u32);
    // Each of the others notices by itself that it is dead; until then a request that it coordinates waits in vain.
    let began = Instant::now();
    let of_the_dead = async |path: &CqlDriver, key: &str| loop {
        match path.read(key, None).await {
            Err(ErrorKind::ReadTimeout) if began.elapsed() < Duration::from_secs(90) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            answer => return answer,
        }
    };
    for path in [&own, &driver] {
        while path.read(&lost, None).await != Err(ErrorKind::Unavailable) {
            assert!(began.elapsed() < Duration::from_secs(90), "nobody notices that a node is dead");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    for (number, owner) in (0..KEYS).zip(&owners) {
        for (path, name) in [(&own, "own frames"), (&driver, "driver")] {
            if *owner == dead {
                let answer = of_the_dead(path, &key(number)).await;
                assert_eq!(answer, Err(ErrorKind::Unavailable), "{name}");
            } else {
                assert_eq!(path.read(&key(number), None).await, Ok(()), "{name}");
            }
        }
    }
}

/// The node that has a record, with the token as the server computes it.
async fn owner(session: &Session, key: &str) -> SocketAddr {
    let statement = format!("SELECT token(y_id) FROM {KEYSPACE}.usertable WHERE y_id = '{key}'");
    let rows = session.query_unpaged(statement, ()).await.unwrap().into_rows_result().unwrap();
    let (token,) = rows.single_row::<(i64,)>().unwrap();
    let state = session.get_cluster_state();
    let replicas = state.get_token_endpoints(KEYSPACE, "usertable", Token::new(token));
    assert_eq!(replicas.len(), 1);
    SocketAddr::new(replicas[0].0.address.ip(), replicas[0].0.address.port())
}

/// Requests that a node has had on connections of iopslab's own frames.
async fn answered(node: SocketAddr) -> i64 {
    let session = SessionBuilder::new().known_node_addr(node).build().await.unwrap();
    let target = scylla::policies::load_balancing::SingleTargetLoadBalancingPolicy::new(
        scylla::policies::load_balancing::NodeIdentifier::NodeAddress(node),
        None,
    );
    let mut statement =
        scylla::statement::Statement::new("SELECT driver_name, request_count FROM system_views.clients");
    statement.set_load_balancing_policy(Some(target));
    let rows = session.query_unpaged(statement, ()).await.unwrap().into_rows_result().unwrap();
    let rows = rows.rows::<(Option<String>, i64)>().unwrap().map(Result::unwrap);
    rows.filter(|(name, _)| name.as_deref() == Some("iopslab")).map(|(_, count)| count).sum()
}
