//! `[[target.node]]`: nodes of an existing cluster that are watched by SSH, and what cannot be one.

use crate::story::{GOOD, accepted, each_refused, notes, with};
use experiment::{ExistingCluster, Job, Plan, Provider, WatchedNode};

/// The sound file on an existing cluster, with more lines of `[target]`.
fn target(lines: &str) -> String {
    let target = format!("[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"\n{lines}\n[dataset]");
    with("[dataset]", &target)
}

const TWO: &str = "[[target.node]]\nssh = \"cass1\"\n[[target.node]]\nssh = \"me@cass2\"\n\
                   data = \"/var/lib/cassandra/data\"\n\
                   process = \"CassandraDaemon\"";

/// Its configuration has so many nodes.
fn of_nodes(nodes: u32, text: &str) -> String {
    text.replacen("name = \"a\"", &format!("name = \"a\"\nnodes = {nodes}"), 1)
}

fn job(text: &str) -> Job {
    experiment::job(&accepted(text))
}

fn hosts(job: &Job) -> Vec<Vec<u32>> {
    job.setups.iter().map(|setup| setup.database_hosts()).collect()
}

#[test]
fn nodes_of_the_target_are_those_of_every_configuration_of_its_cluster() {
    let Job { plan, setups } =
        job(&of_nodes(2, &target(&format!("ssh_config = \"c\"\nbinary_aarch64 = \"b\"\n{TWO}"))));
    let node = |host, ssh: &str, data: Option<&str>, process: Option<&str>| WatchedNode {
        host,
        ssh: ssh.to_owned(),
        data: data.map(str::to_owned),
        commitlog: None,
        process: process.map(str::to_owned),
    };
    let second = node(1, "me@cass2", Some("/var/lib/cassandra/data"), Some("CassandraDaemon"));
    assert_eq!(setups[0].at.watched(), [node(0, "cass1", None, None), second]);
    let Some(ExistingCluster { ssh, .. }) = plan.place.existing() else { panic!("it exists") };
    assert_eq!((ssh.ssh_config.as_deref(), ssh.binary_aarch64.as_deref()), (Some("c"), Some("b")));
    // A plan keeps them.
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn clusters_of_a_matrix_have_hosts_of_their_own_and_configurations_of_one_share_them() {
    let other = |name: &str, lines: &str| {
        format!(
            "[[configuration]]\nname = \"{name}\"\ninstance = \"r4.4xlarge\"\n\
             data_volume = {{ type = \"gp2\", size_gib = 320 }}\nhosts = [\"other:9042\"]\n{lines}"
        )
    };
    let node = "[[configuration.node]]\nssh = \"cass9\"\n";
    let both = of_nodes(2, &target(TWO)) + &other("b", node) + &other("c", "consistency = \"one\"\n");
    assert_eq!(hosts(&job(&both)), [vec![0, 1], vec![2], vec![2]]);
    // A cluster beside it that nobody watches has none; one that a run starts has one host for each node.
    let unwatched = of_nodes(2, &target(TWO)) + &other("b", "");
    assert_eq!(hosts(&job(&unwatched)), [vec![0, 1], vec![]]);
    assert_eq!(hosts(&job(&of_nodes(3, GOOD))), [vec![0, 1, 2]]);

    let twice = both.clone() + &other("d", "[[configuration.node]]\nssh = \"cass10\"\n");
    let same = both.replace("cass9", "cass1");
    let own = of_nodes(2, &target(TWO)).replacen("nodes = 2\n", "nodes = 2\nnode = [{ ssh = \"cass9\" }]\n", 1);
    each_refused(&[
        (twice, "the nodes of other:9042 are stated twice (once is enough"),
        (same, "`cass1` is named twice (each node has a machine of its own, and is a node of one cluster)"),
        (own, "`node` of a, whose cluster is that of [target] (state them as [[target.node]]"),
    ]);
}

#[test]
fn what_cannot_be_watched_is_refused_at_its_place() {
    let one = |line: &str| target(&format!("[[target.node]]\nssh = \"cass1\"\n{line}"));
    each_refused(&[
        (one("disk = \"/dev/sdb\""), "x.toml:8:1: unknown key `disk`"),
        (one("data = \"data\""), "x.toml:8:8: data cannot be `data` (an absolute path on that machine)"),
        (one("commitlog = \"log\""), "x.toml:8:13: commitlog cannot be `log`"),
        (one("process = \" \""), "x.toml:8:11: `process` is empty"),
        (
            one("commitlog = \"/log\""),
            "x.toml:8:13: `commitlog` of a node, and no configuration of its cluster has a `commitlog_volume`",
        ),
        (one("[[target.node]]\nssh = \"cass1\""), "x.toml:9:7: `cass1` is named twice"),
        (
            target("[[target.node]]\nssh = \"-oProxyCommand=x\""),
            "x.toml:7:7: a machine cannot be called `-oProxyCommand=x`",
        ),
        (target("[[target.node]]"), "the key `ssh` is missing"),
        (target(TWO), "nodes = 1 of a, and 2 of its cluster are stated to be watched (state each node"),
        (of_nodes(3, &target(TWO)), "nodes = 3 of a, and 2 of its cluster are stated to be watched"),
        (target("ssh_config = \"c\""), "x.toml:6:14: `ssh_config` without a machine that is reached by SSH"),
        (target("binary_x86_64 = \"b\""), "x.toml:6:17: `binary_x86_64` without a machine that is reached by SSH"),
        (
            with("[dataset]", "[[target.node]]\nssh = \"cass1\"\n[dataset]"),
            "`node` is for an existing cluster, and [target] names none",
        ),
        (
            with("[dataset]", "[target]\nssh_config = \"c\"\n[dataset]"),
            "x.toml:4:14: `ssh_config` is for an existing cluster, and [target] names none",
        ),
        (
            with("size_gib = 320 }", "size_gib = 320 }\nnode = [{ ssh = \"cass1\" }]"),
            "`node` is for an existing cluster, and [target] names none",
        ),
    ]);
}

#[test]
fn clients_of_an_existing_cluster_may_have_machines_of_their_own_one_each() {
    let clients = |n: u32, text: &str| text.replacen("[load]", &format!("[load]\nclients = {n}"), 1);
    let two = "client = [\"load1\", \"me@load2\"]\nssh_config = \"c\"";
    let job = job(&clients(2, &target(two)));
    let plan = &job.plan;
    let Some(ExistingCluster { clients: named, .. }) = plan.place.existing() else { panic!("it exists") };
    assert_eq!((plan.clients, named.as_slice()), (2, &["load1".to_owned(), "me@load2".to_owned()][..]));
    assert_eq!(hosts(&job), [Vec::<u32>::new()], "nobody looks at its nodes");
    let reported = |point: &str| {
        let text = clients(2, &target(two)).replace("h:9042", point);
        notes(&accepted(&text), "loopback_of_clients", Some(Provider::Local)).len()
    };
    assert_eq!((reported("127.0.0.1:9042"), reported("localhost:9042"), reported("h:9042")), (1, 1, 0));
    each_refused(&[
        (
            target(two),
            "x.toml:6:10: clients = 1 in [load], and `client` of [target] names 2 (one machine for each client",
        ),
        (clients(3, &target(two)), "clients = 3 in [load], and `client` of [target] names 2"),
        (target("client = []"), "x.toml:6:10: [target] client names no machine (for example client = [\"host1\"])"),
        (
            clients(2, &target("client = [\"load1\", \"load1\"]")),
            "x.toml:6:20: `load1` is named twice (a second client on the same machine",
        ),
        (target("client = [\"-x\"]"), "x.toml:6:11: a machine cannot be called `-x`"),
        (
            with("[dataset]", "[target]\nclient = [\"load1\"]\n[dataset]"),
            "x.toml:4:10: `client` is for an existing cluster, and [target] names none",
        ),
    ]);
}

/// Nobody serves its volumes, and they share the way to their instance all the same.
#[test]
fn volumes_of_a_watched_node_share_what_its_instance_lets_through() {
    let two = target(TWO).replacen(
        "data_volume = { type = \"gp2\", size_gib = 320 }",
        "data_volume = { type = \"gp2\", size_gib = 320 }\ncommitlog_volume = { type = \"gp2\", size_gib = 100 }",
        1,
    );
    let shared = |text: &str| job(&of_nodes(2, text)).setups[0].instance_limits.and_then(|limits| limits.read_iops);
    assert_eq!((shared(&two), shared(&target(TWO))), (Some(18_750.0), None));
}
