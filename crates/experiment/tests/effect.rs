//! Nothing that the file states is ignored in silence: it is obeyed, refused with the reason, or reported.

use crate::story::{GOOD, accepted, and, each_refused, notes, refused, to_run, with};
use catalog::Catalog;
use experiment::{ParseContext, Provider, ReadFor, parse, refuse_unmeasurable};

#[test]
fn three_nodes_are_priced_three_times_and_planned_with_their_replicas() {
    let of = |keys: &str| accepted(&with("size_gib = 320 }", &format!("size_gib = 320 }}\n{keys}")));
    let one = accepted(GOOD);
    let three = of("nodes = 3");
    let usd = |e: &experiment::Experiment| e.money.configurations[0].usd_per_month.unwrap();
    assert!((usd(&three) - 3.0 * usd(&one)).abs() < 1e-6);
    let label = |e: &experiment::Experiment| e.configurations[0].placement.label();
    assert_eq!(label(&one), "1 node, 1 rack, 1 replica");
    assert_eq!(label(&three), "3 nodes, 3 racks, 3 replicas");
    // A rack for each replica only where the nodes divide by them.
    assert_eq!(label(&of("nodes = 2")), "2 nodes, 2 racks, 2 replicas");
    assert_eq!(label(&of("nodes = 4")), "4 nodes, 1 rack, 3 replicas");
    assert_eq!(label(&of("nodes = 6\nracks = 1\nreplication_factor = 2")), "6 nodes, 1 rack, 2 replicas");
    // Each node has room for its part of the data set.
    let big = |keys: &str| {
        let text = with("size_gib = 320 }", &format!("size_gib = 320 }}\n{keys}")).replacen("1000", "1000000000", 1);
        experiment::setups(&accepted(&text))[0].data.size_bytes as f64
    };
    assert!((big("nodes = 6\nreplication_factor = 3") / big("nodes = 1") - 0.5).abs() < 1e-6);
}

#[test]
fn a_cluster_that_would_hold_its_data_unevenly_or_answer_nothing_is_refused() {
    let of = |keys: &str| with("size_gib = 320 }", &format!("size_gib = 320 }}\n{keys}"));
    let target = |level: &str, keys: &str| of(keys).replacen("[dataset]", &format!("[target]\n{level}\n[dataset]"), 1);
    each_refused(&[
        (of("nodes = 61"), "x.toml:10:9: nodes cannot be 61 (a whole number from 1 to 60)"),
        (of("racks = 2"), "x.toml:10:9: racks = 2 is not possible with one node"),
        (of("nodes = 3\nreplication_factor = 4"), "x.toml:11:22: replication_factor = 4 is not possible with 3 nodes"),
        (of("nodes = 4\nracks = 3"), "x.toml:11:9: 4 nodes cannot be spread evenly over 3 racks"),
        (of("nodes = 4\nracks = 2"), "x.toml:11:9: 3 replicas in 2 racks"),
        (
            target("consistency = \"two\"", ""),
            "x.toml:4:15: consistency `two` waits for 2 replicas, and a keeps 1: every request would fail",
        ),
        (
            of("nodes = 2\nconsistency = { read = \"one\", update = \"three\" }"),
            "x.toml:11:41: consistency `three` waits for 3 replicas, and a keeps 2",
        ),
        (of("consistency = { reads = \"one\" }"), "x.toml:10:17: in consistency: unknown key `reads`"),
        (of("consistency = 2"), "x.toml:10:15: consistency cannot be integer"),
        (of("consistency = { read = \"any\" }"), "consistency `any` is for writes alone, and `w` reads"),
    ]);
    for keys in ["nodes = 3\nconsistency = \"three\"", "consistency = { update = \"any\" }", "consistency = \"quorum\""]
    {
        accepted(&of(keys));
    }
}

#[test]
fn a_cluster_is_measured_and_simulated_as_it_was_planned() {
    let text = with("size_gib = 320 }", "size_gib = 320 }\nnodes = 3");
    assert!(to_run(&text, Provider::Simulated).is_ok());
    let job = experiment::job(&to_run(&text, Provider::Local).unwrap());
    assert!(refuse_unmeasurable("x.toml", &text, &job).is_ok());
    // A run of when one node was measured whatever the file said.
    let job = experiment::job(&accepted(GOOD));
    let message = refuse_unmeasurable("x.toml", &text, &job).unwrap_err().to_string();
    assert!(message.contains("x.toml:10:9: nodes = 3 of a: this run was planned with 1"), "{message}");
}

#[test]
fn what_cannot_be_run_is_reported_with_all_other_mistakes() {
    let text =
        with("concurrency = [10]", "clients = 2\nconcurrency = [10]").replacen("records = 1000", "records = 0", 1);
    let message = to_run(&text, Provider::Simulated).unwrap_err();
    assert!(message.contains("x.toml:4:11: records cannot be 0"), "{message}");
    assert!(message.contains("clients = 2: the simulation has one client"), "{message}");
}

#[test]
fn an_existing_cluster_is_named_with_its_keyspace_and_nothing_that_it_cannot_be() {
    let target = |lines: &str| with("[dataset]", &format!("[target]\n{lines}\n[dataset]"));
    let sound = target("hosts = [\"h:9042\"]\nkeyspace = \"lab\"\nuser = \"bench\"");
    let setups = experiment::setups(&to_run(&sound, Provider::Local).unwrap());
    assert_eq!(setups[0].at.contact_points(), Some(&["h:9042".to_owned()][..]));
    let message = to_run(&sound, Provider::Simulated).unwrap_err();
    assert!(message.contains("x.toml:4:9: [target] hosts: a simulation has no cluster to talk to"), "{message}");
    let reported = format!("{sound}[provider.local]\nheap_mib = 1024\nburst = \"full\"\n");
    let reported = notes(&accepted(&reported), "key_without_effect", Some(Provider::Local));
    let expected = "note: without effect on an existing cluster: [provider.local] heap_mib, [provider.local] burst. It \
                    is measured as it stands: remove them";
    assert!(reported.iter().any(|note| note == expected), "{reported:?}");
    // Several clusters in one matrix.
    let own = sound.replacen("size_gib = 320 }", "size_gib = 320 }\nhosts = [\"other:9042\"]", 1);
    let setups = experiment::setups(&accepted(&own));
    assert_eq!(setups[0].at.contact_points(), Some(&["other:9042".to_owned()][..]));

    each_refused(&[
        (target("hosts = [\"h:9042\"]"), "x.toml:4:9: `hosts` without `keyspace`"),
        (target("hosts = [\"h:9042\"]\nkeyspace = \"Lab\""), "x.toml:5:12: `Lab` is no name of a keyspace here"),
        (
            target("hosts = [\"h:9042\"]\nkeyspace = \"lab\"\npassword_file = \"p\""),
            "x.toml:6:17: `password_file` without `user`",
        ),
        (
            target("hosts = [\"h:9042\"]\nkeyspace = \"lab\"\ntls = \"ca.pem\""),
            "x.toml:6:7: tls cannot be string (true, or { ca_file = \"ca.pem\" })",
        ),
        (
            target("hosts = [\"h:9042\"]\nkeyspace = \"lab\"\ntls = { client_key = \"k\" }"),
            "x.toml:6:9: a client's certificate and its key go together",
        ),
        (target("tls = true"), "x.toml:4:7: `tls` is for an existing cluster, and [target] names none"),
        (target("keyspace = \"lab\""), "x.toml:4:12: `keyspace` is for an existing cluster, and [target] names none"),
        (
            with("size_gib = 320 }", "size_gib = 320 }\nhosts = [\"h:9042\"]"),
            "x.toml:10:9: `hosts` is for an existing cluster",
        ),
        (
            format!("{sound}[provider.local]\nscale = 4\n"),
            "an existing cluster is what it is: nothing of it can be divided by a scale",
        ),
        (
            sound.replacen("update = 0.2", "insert = 0.2", 1),
            "x.toml:4:9: `w` inserts, and nothing is restored in an existing cluster",
        ),
    ]);
}

/// Statements of the other language, too (`own_sql.rs`).
#[test]
fn what_a_product_has_nothing_for_is_refused_at_its_place() {
    let target = "[target]\ndatabase = \"postgresql\"\nconsistency = \"one\"\n\n[dataset]";
    let volume = "size_gib = 320, count = 2 }\nnodes = 3\nracks = 1\nsettings = { jvm = [\"-Xint\"] }\n\
                  backlog = { overwrites = 1.0, sstables = 2 }";
    let more = "\n[[fault]]\nkind = \"compaction\"\nat_s = 9\n\n[provider.local]\nheap_mib = 512\n";
    let text = with("[dataset]", target).replacen("size_gib = 320 }", volume, 1) + more;
    let reported = refused(&text).to_string();
    for line in [
        "x.toml:5:15: consistency: PostgreSQL has nothing of the kind (remove it)",
        "x.toml:13:15: data_volume of a: PostgreSQL has one data directory, and count = 2 volumes (state",
        "x.toml:14:9: nodes = 3 of a: iopslab starts PostgreSQL as one node, without replicas (remove it)",
        "x.toml:15:9: racks of a: iopslab starts PostgreSQL as one node, without replicas (remove it)",
        "x.toml:16:12: settings.jvm of a: PostgreSQL has nothing of the kind (remove it)",
        "x.toml:17:11: backlog of a: PostgreSQL has nothing of the kind (remove it)",
        "x.toml:28:8: [[fault]] kind = \"compaction\": PostgreSQL has nothing of the kind (remove it)",
        "x.toml:32:12: heap_mib = 512: PostgreSQL has no Java heap",
    ] {
        assert!(reported.lines().any(|said| said.starts_with(line)), "{line}\n{reported}");
    }
}

/// The lines of an existing PostgreSQL, with these after them.
fn postgresql(more: &str) -> String {
    let target = "[target]\ndatabase = \"postgresql\"\nhosts = [\"db.example:5432\"]\n";
    with("[dataset]", &format!("{target}{more}\n[dataset]"))
}

#[test]
fn an_existing_postgresql_is_named_with_its_database_its_schema_and_its_user() {
    const KEYS: &str = "dbname = \"app\"\nschema = \"lab\"\nuser = \"bench\"";
    let experiment = to_run(&postgresql(&format!("{KEYS}\npassword_env = \"PGPASSWORD\"")), Provider::Local).unwrap();
    assert_eq!((experiment.target.database.product().name, experiment.target.database.version()), ("postgresql", None));
    let cluster = experiment.place.existing().unwrap();
    assert_eq!((cluster.keyspace.as_str(), cluster.dbname.as_deref()), ("lab", Some("app")));
    assert_eq!((cluster.user.as_deref(), cluster.password_env.as_deref()), (Some("bench"), Some("PGPASSWORD")));
    let stored = serde_json::to_value(&experiment.target.database).unwrap();
    assert_eq!(stored, serde_json::json!({"existing": "postgresql"}));
    assert_eq!(serde_json::from_value::<experiment::Database>(stored).unwrap(), experiment.target.database);

    let target = |lines: &str| with("[dataset]", &format!("[target]\n{lines}\n[dataset]"));
    let cql = "hosts = [\"h:9042\"]\nkeyspace = \"lab\"";
    each_refused(&[
        (postgresql("dbname = \"app\"\nuser = \"bench\""), "x.toml:5:9: `hosts` without `schema`"),
        (postgresql("schema = \"lab\"\nuser = \"bench\""), "x.toml:5:9: `hosts` of PostgreSQL without `dbname`"),
        (postgresql("dbname = \"app\"\nschema = \"lab\""), "x.toml:5:9: `hosts` of PostgreSQL without `user`"),
        (postgresql(&KEYS.replace("lab", "Lab")), "x.toml:7:10: `Lab` is no name of a schema here"),
        (postgresql(&format!("{KEYS}\nkeyspace = \"lab\"")), "x.toml:9:12: `keyspace` is for a CQL cluster"),
        (
            postgresql(&format!("{KEYS}\npassword_file = \"p\"\npassword_env = \"P\"")),
            "x.toml:10:16: `password_env` and `password_file` exclude each other",
        ),
        (
            postgresql(&format!("{KEYS}\npassword_env = \"correct horse\"")),
            "x.toml:9:16: `password_env` is the name of a variable of the environment",
        ),
        (
            postgresql(KEYS).replacen("[\"db.example:5432\"]", "[\"a:5432\", \"b:5432\"]", 1),
            "x.toml:5:9: 2 hosts of PostgreSQL: all requests go to one server",
        ),
        (postgresql(KEYS).replacen("example:5432", "example", 1), "x.toml:5:9: `db.example` has no port"),
        (
            postgresql(&format!("{KEYS}\n[[target.node]]\nssh = \"db\"")),
            "`node` with PostgreSQL: nobody watches its machine yet",
        ),
        (postgresql(&format!("{KEYS}\nversion = \"18.3\"")), "x.toml:5:9: `hosts` and `version` exclude each other"),
        (
            postgresql(KEYS).replacen("size_gib = 320 }", "size_gib = 320 }\nnodes = 3", 1),
            "nodes = 3 of a: iopslab starts PostgreSQL as one node",
        ),
        (
            postgresql(KEYS).replacen(
                "size_gib = 320 }",
                "size_gib = 320 }\nsettings.postgresql = { checkpoint_timeout = \"15min\" }",
                1,
            ),
            "settings of a: iopslab changes none of a cluster that exists",
        ),
        (
            postgresql(KEYS).replacen("update = 0.2", "insert = 0.2", 1),
            "`w` inserts, and nothing is restored in an existing cluster",
        ),
        (
            format!("{}[[fault]]\nkind = \"node-kill\"\nat_s = 5\n", postgresql(KEYS)),
            "[[fault]] with an existing cluster: its nodes are not iopslab's to stop",
        ),
        (format!("{}[provider.local]\nscale = 4\n", postgresql(KEYS)), "nothing of it can be divided by a scale"),
        (target(&format!("{cql}\nschema = \"lab\"")), "x.toml:6:10: `schema` is for PostgreSQL"),
        (target("dbname = \"app\""), "x.toml:4:10: `dbname` is for an existing cluster, and [target] names none"),
    ]);
}

#[test]
fn keys_that_contradict_the_rest_are_refused() {
    let distribution = |of: &str| with("update = 0.2", &format!("update = 0.2\ndistribution = {of}"));
    let cases = [
        (
            with("concurrency = [10]", "concurrency = [10]\narrival = \"poisson\""),
            "x.toml:18:11: arrival is for the open loop, and no rate is given",
        ),
        (
            with("update = 0.2", "update = 0.2\nmax_scan_length = 5"),
            "x.toml:15:19: max_scan_length is for workloads that scan (remove it; this workload has none of these \
             operations)",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "update = 1.0\nread_all_fields = false"),
            "read_all_fields is for workloads that read or read-modify-write",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "read = 1.0\nwrite_all_fields = false"),
            "write_all_fields is for workloads that update or read-modify-write",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "insert = 1.0\ndistribution = \"latest\""),
            "distribution is for workloads that do more than insert new records",
        ),
        (
            distribution("{ kind = \"uniform\", constant = 0.9 }"),
            "x.toml:15:36: constant is for zipfian, not for uniform (remove it, or kind = \"zipfian\")",
        ),
        (
            distribution("{ kind = \"hotspot\", data_fraction = 0.1, fraction = 0.2 }"),
            "x.toml:15:57: fraction is for exponential, not for hotspot",
        ),
        (
            with(
                "name = \"w\"\nread = 0.8\nupdate = 0.2",
                "ycsb = \"w\"\nread_all_fields = false\nmax_scan_length = 7",
            ),
            "`ycsb` and read_all_fields, max_scan_length exclude each other",
        ),
        (
            with("[dataset]", "[target]\nconsistency = \"any\"\n[dataset]"),
            "x.toml:4:15: consistency `any` is for writes alone, and `w` reads",
        ),
        (
            with("r4.4xlarge", "i3.4xlarge").replacen(
                "{ type = \"gp2\", size_gib = 320 }",
                "\"local\"\ncommitlog_volume = \"local\"",
                1,
            ),
            "x.toml:10:20: data and commit log both on \"local\" are the same disks, not two volumes",
        ),
    ];
    each_refused(&cases);
}

#[test]
fn keys_that_follow_nothing_are_reported_where_they_follow_nothing() {
    let text = format!(
        "{}request_timeout_s = 5\nwarmup = \"auto\"\n[provider.local]\nheap_mib = 1024\n[provider.simulated]\nseed = \
         2\n",
        with("[dataset]", "[target]\nversion = \"5.0.9\"\nconsistency = \"quorum\"\n[dataset]")
    );
    let experiment = accepted(&text);
    let reported = |provider| notes(&experiment, "key_without_effect", provider);
    let of_one_node = "note: consistency = \"quorum\": QUORUM of one replica is that one, as ONE is. What it costs is \
                       measured with more nodes and replicas";
    let simulated = "note: without effect in a simulated run: [target] version, [target] consistency, [load] \
                     request_timeout_s, [provider.local] heap_mib. They are for a database on a machine";
    let warmup = "note: warmup = \"auto\": a simulated run warms up for the whole of max_warmup_s. Simulated seconds \
                  cost nothing";
    let truth = "note: [provider.simulated] has no effect in a run on this machine. It is for: iopslab run \
                 --provider simulated";
    assert_eq!(reported(None), [simulated, warmup, of_one_node], "the file states a truth");
    assert_eq!(reported(Some(Provider::Simulated)), [simulated, warmup, of_one_node]);
    assert_eq!(reported(Some(Provider::Local)), [truth, of_one_node]);
}

#[test]
fn a_level_above_one_is_reported_where_one_replica_makes_it_one() {
    let reported = |text: &str| notes(&accepted(text), "key_without_effect", Some(Provider::Local));
    let own = |lines: &str| with("size_gib = 320 }", &format!("size_gib = 320 }}\n{lines}"));
    let advice = "What it costs is measured with more nodes and replicas";
    let other =
        "\n[[configuration]]\nname = \"b\"\ninstance = { vcpus = 1, memory_gib = 4 }\ndata_volume = { iops = 9 }";
    assert_eq!(
        reported(&(own("consistency = { read = \"local_quorum\", update = \"all\", insert = \"all\" }") + other)),
        [format!(
            "note: consistency = \"read local_quorum, scan one, update all, insert all\" of a: LOCAL_QUORUM and ALL of \
             one replica is that one, as ONE is. {advice}"
        )]
    );
    assert_eq!(reported(&own("consistency = \"one\"")), [""; 0]);
    let three = "nodes = 3\nreplication_factor = 3\nconsistency = \"quorum\"";
    assert_eq!(reported(&own(three)), [""; 0]);
    // A keyspace of somebody else may keep more than is stated.
    let existing = "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"\nconsistency = \"local_quorum\"\n[dataset]";
    assert_eq!(
        reported(&with("[dataset]", existing)),
        ["note: consistency = \"local_quorum\": LOCAL_QUORUM of one replica is that one, as ONE is. State `nodes` \
          and `replication_factor` as the cluster has them"]
    );
}

#[test]
fn each_provider_carries_out_what_it_can() {
    let text = and("warmup = \"auto\"\nmax_warmup_s = 120\n[provider.simulated]\nseed = 2\n");
    let local = to_run(&text, Provider::Local).unwrap();
    assert_eq!((local.place.truth(), local.load.shape.warmup_max_s), (None, Some(120.0)));
    let simulated = to_run(&text, Provider::Simulated).unwrap();
    assert_eq!(simulated.place.truth().unwrap().seed, 2);
    assert_eq!((simulated.load.shape.warmup_s, simulated.load.shape.warmup_max_s), (120.0, None));
    assert!(to_run(GOOD, Provider::Simulated).unwrap().place.is_simulated(), "the default truth");
}

#[test]
fn a_stated_page_cache_takes_the_place_of_memory() {
    let reported = |text: &str| notes(&accepted(text), "key_without_effect", None);
    let limited = with("size_gib = 320 }", "size_gib = 320 }\nmemory_limit_gib = 30");
    assert_eq!(
        reported(&format!("{limited}[provider.local]\npage_cache_mib = 64\nheap_mib = 1024\n")),
        ["note: page_cache_mib = 64 is the page cache of every configuration: memory_limit_gib has no effect. \
             Leave page_cache_mib out to measure what memory gives"]
    );
    let two = with(
        "[[workload]]",
        "[[configuration]]\nname = \"b\"\ninstance = \"r4.2xlarge\"\ndata_volume = { iops = 5 }\n[[workload]]",
    );
    let both = reported(&format!("{two}[provider.local]\npage_cache_mib = 64\n"));
    assert!(both[0].contains("differ in memory, and that has an effect on the heap alone"), "{both:?}");
    assert_eq!(reported(&two), Vec::<String>::new());
}

#[test]
fn a_stated_price_is_taken_as_it_is() {
    let text = with("size_gib = 320 }", "size_gib = 320 }\nprice_usd_per_month = 100\n[basis]\nuplift_percent = 10");
    assert_eq!(
        notes(&accepted(&text), "key_without_effect", None),
        ["note: [basis] uplift_percent has no effect on a: price_usd_per_month is taken as stated. State prices \
             on the same basis"]
    );
}

#[test]
fn what_a_ycsb_file_says_about_the_trial_is_reported() {
    let text = with("name = \"w\"\nread = 0.8\nupdate = 0.2", "ycsb = \"w.properties\"");
    let read =
        |_: &str| Ok("readproportion=1\nupdateproportion=0\noperationcount=5\nthreadcount=3\ntable=t\n".to_owned());
    let beside = ParseContext::files(&read);
    let experiment = parse(Catalog::built_in(), "x.toml", &text, &beside, ReadFor::Anybody).unwrap();
    assert_eq!(
        notes(&experiment, "ycsb_property", None),
        [
            "note: w.properties: operationcount has no effect here: [load] operations and duration_s bound a trial. \
             The experiment file decides what the property file cannot",
            "note: w.properties: threadcount has no effect here: [load] concurrency is the number of requests in \
             flight. The experiment file decides what the property file cannot",
            "note: w.properties: without meaning here: table. The experiment file decides what the property file \
             cannot",
        ]
    );
}

/// A database that is compared with itself would give noise a price.
#[test]
fn one_existing_database_runs_on_one_machine_with_one_volume_at_one_price() {
    let another = |lines: &str| format!("[[configuration]]\nname = \"b\"\n{lines}\n");
    let of = |target: &str, lines: &str| with("[dataset]", &format!("{target}\n[dataset]")) + &another(lines);
    let same = "instance = \"r4.4xlarge\"\ndata_volume = { type = \"gp2\", size_gib = 320 }";
    let larger = "instance = \"r4.4xlarge\"\ndata_volume = { type = \"gp2\", size_gib = 500 }";
    let postgresql = "[target]\ndatabase = \"postgresql\"\nhosts = [\"db:5432\"]\ndbname = \"app\"\n\
                      schema = \"lab\"\nuser = \"bench\"";
    let cql = "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"";
    accepted(&of(cql, &format!("{same}\nconsistency = \"one\"")));
    accepted(&of(postgresql, &format!("{larger}\nhosts = [\"other:5432\"]")));
    each_refused(&[
        (of(postgresql, larger), "a and b are the same database (db:5432): only one of them can be what stands there"),
        (of(postgresql, &format!("{larger}\nhosts = [\"db:5432\"]")), "a and b are the same database (db:5432)"),
        (of(cql, larger), "a and b are the same database (h:9042)"),
        (of(cql, &format!("{same}\nprice_usd_per_month = 9.0")), "a and b are the same database (h:9042)"),
    ]);
}

/// 1,000 bytes each, 1.15 for each on disk: a server of somebody else's is not filled. 320 GiB are 343.6 GB.
#[test]
fn an_existing_server_has_room_for_what_a_run_loads() {
    let postgresql = "[target]\ndatabase = \"postgresql\"\nhosts = [\"db:5432\"]\ndbname = \"app\"\n\
                      schema = \"lab\"\nuser = \"bench\"";
    let cql = "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"";
    let of = |target: &str, millions: u32, volume: &str, nodes: &str| {
        let text = with("[dataset]", &format!("{target}\n[dataset]"));
        let text = text.replace("records = 1000", &format!("records = {millions}_000_000"));
        text.replace("{ type = \"gp2\", size_gib = 320 }", &format!("{volume}\n{nodes}"))
    };
    let (gp2, explicit) = ("{ type = \"gp2\", size_gib = 320 }", "{ iops = 3000, size_gib = 100 }");
    let three = "nodes = 3\nreplication_factor = 2";
    each_refused(&[
        (of(postgresql, 300, gp2, ""), "x.toml:15:15: a: a run loads 345.0 GB onto db:5432, and its disks (gp2"),
        (of(postgresql, 200, explicit, ""), "loads 230.0 GB onto db:5432, and its disks (3000 IOPS) have 107.4 GB"),
        (of(cql, 300, gp2, ""), "a: a run loads 345.0 GB onto h:9042, and its disks (gp2 320 GiB"),
        // Two thirds of them on each.
        (of(cql, 450, gp2, three), "a: a run loads 345.0 GB onto each node of h:9042, and its disks (gp2 320 GiB"),
    ]);
    let noted = |rule: &str, text: &str| notes(&accepted(text), rule, None);
    for text in [of(postgresql, 298, gp2, ""), of(postgresql, 93, explicit, ""), of(cql, 140, gp2, "")] {
        assert!(noted("disk_too_small", &text).is_empty() && noted("loaded_there", &text).is_empty(), "{text}");
    }
    let tight = noted("disk_too_small", &of(cql, 440, gp2, three)).concat();
    assert!(tight.contains("337.3 GB onto each node") && tight.contains("compaction needs about half"), "{tight}");
    let unstated = noted("loaded_there", &of(postgresql, 200, "{ iops = 3000 }", "")).concat();
    let loads = "note: a: a run loads 230.0 GB onto db:5432, and no size of its data_volume is stated";
    assert!(unstated.starts_with(loads), "{unstated}");
}
