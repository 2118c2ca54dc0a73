//! The life of one real node: start, settle, schema, rows, rest, stop, restore from a copy, death.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]
#![allow(clippy::print_stdout, reason = "a test run with --nocapture prints how long each step took")]

#[path = "one_node/indexes.rs"]
mod indexes;
#[path = "one_node/nodetool.rs"]
mod nodetool;
mod shared;
#[path = "one_node/snapshot.rs"]
mod snapshot;

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use database::cassandra::{
    Admin, Counters, Distribution, DroppedMessages, Java, Management, Node, NodeConfig, NodeError,
    compact_automatically, compact_keyspace, ensure_distribution, ensure_start_archive, find_java, flush_and_compact,
    flush_table, load_library, of_table, versions,
};
use database::{Account, Replication};
use experiment::{Section, Setting};
use nodetool::nodetool;
use reported::cassandra as series;
use reported::{Reported, Series};

/// An address of this story alone.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 41, 2);
const JMX_PORT: u16 = 17_412;
const TIMEOUT: Duration = Duration::from_secs(180);
const ROWS: u32 = 2000;
const DATASET: experiment::Dataset =
    experiment::Dataset { records: ROWS as u64, fields: 3, field_length: 20, compressibility: 0.0, seed: 1 };

/// Kills its node when a test fails.
struct Guarded(Node);

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill();
    }
}

fn config(directory: &Path) -> NodeConfig {
    let mut config = NodeConfig::new("iopslab-one-node", ADDRESS, directory);
    config.plan.ports.management = JMX_PORT;
    config.plan.memory.main_bytes = 512 << 20;
    config.account = Account::of_this_machine().unwrap();
    if let Some(account) = &config.account {
        // As the program does: nobody else passes through these.
        account.let_through(directory.parent().unwrap()).unwrap();
        account.let_through(&shared::cache()).unwrap();
    }
    config
}

fn start(distribution: &Distribution, java: &Java, mut config: NodeConfig, prefix: &[String]) -> Guarded {
    config.plan.launch_prefix = prefix.to_vec();
    let mut node = Guarded(Node::start(distribution, java, config).unwrap());
    match node.0.wait_ready(TIMEOUT, &|| false) {
        Ok(took) => println!("CQL after {:.2} s, archive {}", took.as_secs_f64(), distribution.start_archive.is_some()),
        Err(error) => panic!("{error}"),
    }
    node
}

fn admin(node: &Guarded) -> Admin {
    let admin = Admin::connect(node.0.config().plan.client_address(), Duration::from_secs(20)).unwrap();
    let settled = admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    println!("settled after {:.2} s", settled.waited.as_secs_f64());
    admin
}

#[test]
fn one_node_from_its_first_start_to_its_death() {
    let java = find_java(versions()[0]).unwrap();
    let mut distribution = ensure_distribution(versions()[0], &shared::cache(), &mut |_| {}, &|| false).unwrap();
    shared::enter_own_network();
    let work = tempfile::Builder::new().prefix("iopslab-one-node-").tempdir().unwrap();
    let first = work.path().join("first node"); // a space, as in some people's directories

    // The prefix command puts itself into a cgroup in real life; here it writes down its process id and steps aside.
    let pid_file = work.path().join("pid");
    let script = format!("echo $$ > '{}'; exec \"$@\"", pid_file.display());
    let prefix = ["/bin/sh".to_owned(), "-c".to_owned(), script, "iopslab".to_owned()];
    let mut node = start(&distribution, &java, config(&first), &prefix);
    assert_eq!(fs::read_to_string(&pid_file).unwrap().trim(), node.0.pid().to_string(), "exec keeps the process id");
    the_child_has_its_own_process_group(&node);
    it_may_do_nothing_else(&node);

    let loaded = admin(&node);
    loaded
        .create_schema("ycsb", "usertable", &DATASET, &Replication::Each(1), &std::collections::BTreeMap::new())
        .unwrap();
    loaded
        .create_schema("ycsb", "usertable", &DATASET, &Replication::Each(1), &std::collections::BTreeMap::new())
        .unwrap(); // a second time changes nothing
    for row in 0..ROWS {
        let insert =
            format!("INSERT INTO ycsb.usertable (y_id, field0, field1, field2) VALUES ('user{row}', 'a', 'b', 'c')");
        loaded.run(&insert, experiment::Consistency::One).unwrap();
    }
    flush_and_compact(node.0.management(), "ycsb").unwrap();
    loaded.wait_settled(1, TIMEOUT, &|| false).unwrap();
    the_table_is_one_sstable(&first);
    its_own_figures_are_there(&node);
    what_the_table_counts_is_read_without_a_second_jvm(&loaded, &node, &distribution, &java);
    latencies_are_milliseconds(&node, &distribution, &java);
    samples_count_only_what_exists(&loaded);
    nodetool(&distribution, &java, node.0.config(), &["snapshot", "-t", "monday", "ycsb"]);
    snapshot::comes_back(&loaded, (&node.0, versions()[0]), &DATASET, (&first.join("data"), work.path()));
    indexes::come_back(&loaded, (&node.0, versions()[0]), (&first.join("data"), work.path()));
    a_second_node_on_its_ports_is_refused(&distribution, &java, work.path());
    drop(loaded);

    let stopping = Instant::now();
    node.0.stop(Duration::from_secs(60)).unwrap();
    println!("stopped after {:.2} s", stopping.elapsed().as_secs_f64());
    assert!(node.0.stopped_cleanly(), "{:?}", node.0.config().log_tail(5));

    // The restored copy: another directory, an empty commit log, the same address. And the class-data archive.
    let archive_started = Instant::now();
    ensure_start_archive(&mut distribution, &java, config(&first).account.as_ref(), &|| false, &|_| Ok(())).unwrap();
    println!("archive there after {:.2} s", archive_started.elapsed().as_secs_f64());
    let restored = config(&work.path().join("restored"));
    let data = restored.plan.directories.data[0].clone();
    fs::create_dir_all(data.parent().unwrap()).unwrap();
    let copied = Command::new("cp").arg("-r").arg(first.join("data")).arg(&data).status();
    assert!(copied.unwrap().success());
    let mut node = start(&distribution, &java, restored, &[]);
    let restored = admin(&node);
    samples_count_only_what_exists(&restored);
    let mut dropped = DroppedMessages::from_now(&node.0.config().system_log());
    assert_eq!(dropped.total(), Some(0));
    one_that_hangs_is_not_waited_for(&restored, &mut node);
    drop(restored);
    a_killed_node_says_so(&mut node);
}

fn the_child_has_its_own_process_group(node: &Guarded) {
    let stat = fs::read_to_string(format!("/proc/{}/stat", node.0.pid())).unwrap();
    let group = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(group, node.0.pid().to_string(), "Ctrl-C in the terminal must not reach it");
}

/// Whoever takes it over has a user who owns this node and nothing else; and nobody gets in by its management
/// interface.
fn it_may_do_nothing_else(node: &Guarded) {
    let Some(account) = &node.0.config().account else {
        println!("skipped: only root has another user to start a database as");
        return;
    };
    shared::has_no_rights(node.0.pid(), account.uid());

    let directory = &node.0.config().plan.directories.own;
    let as_nobody = |script: &str| {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut command = Command::new("setpriv");
        command.args(user).args(["sh", "-c", script, "sh"]).arg(directory);
        command.output().unwrap()
    };
    let password = as_nobody("cat \"$1/conf/jmx.password\"");
    assert!(!password.status.success() && password.stdout.is_empty());
    let library = "/no/such/library.so";
    for stranger in [Management::without_password(JMX_PORT), Management::with_password(JMX_PORT, "guessed")] {
        let refused = load_library(&stranger, library).unwrap_err().to_string();
        assert!(refused.contains("SecurityException") && refused.contains("Authentication failed"), "{refused}");
    }
    // Who has the password is heard: what is refused is not the question.
    if let Err(answer) = load_library(node.0.management(), library).map_err(|error| error.to_string()) {
        assert!(!answer.contains("SecurityException"), "{answer}");
    }
    flush_table(node.0.management(), "system", "local").unwrap();
    // On the loopback address alone, both of its ports.
    let listening = Command::new("ss").args(["-Hltnp"]).output().unwrap();
    let listening = String::from_utf8_lossy(&listening.stdout).into_owned();
    let own = listening.lines().filter(|line| line.contains(&format!("pid={},", node.0.pid())));
    for line in own {
        let at = line.split_whitespace().nth(3).unwrap().trim_start_matches("[::ffff:");
        assert!(at.starts_with("127."), "{line}");
    }
}

fn the_table_is_one_sstable(directory: &Path) {
    let keyspace = fs::read_dir(directory.join("data/ycsb")).unwrap().next().unwrap().unwrap().path();
    let names = || fs::read_dir(&keyspace).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names().filter(|name| name.ends_with("-Data.db")).count(), 1, "{:?}", names().collect::<Vec<_>>());
}

/// Every series of Cassandra's but those of the log and of what is on record; the chunk cache is off.
fn its_own_figures_are_there(node: &Guarded) {
    let metrics = Counters::new(node.0.management(), "ycsb", "usertable").try_read().unwrap();
    let of = |series: &Series| metrics.get(series);
    for none in [
        &series::PENDING_COMPACTIONS,
        &series::PENDING_HINT_FILES,
        &series::PENDING_READS,
        &series::PENDING_MUTATIONS,
        &series::COORDINATOR_READS,
    ] {
        assert_eq!(of(none), Some(0.0), "{}: {metrics:?}", none.key);
    }
    assert_eq!(of(&series::COORDINATOR_WRITES), Some(f64::from(ROWS)));
    assert!(of(&series::CLIENT_REQUESTS) > Some(f64::from(ROWS)), "{metrics:?}");
    assert!(of(&series::KEY_CACHE_REQUESTS) >= of(&series::KEY_CACHE_HITS) && of(&series::KEY_CACHE_HITS).is_some());
    assert_eq!(of(&series::CHUNK_CACHE_REQUESTS), None);
}

/// Two more SSTables, of which one has the same rows: a read of such a row merges two. `nodetool` says the same of what
/// it shows at all.
fn what_the_table_counts_is_read_without_a_second_jvm(
    admin: &Admin,
    node: &Guarded,
    distribution: &Distribution,
    java: &Java,
) {
    let mut counters = Counters::new(node.0.management(), "ycsb", "usertable");
    let before = counters.try_read().unwrap();
    let of = |figures: &Reported, series: &Series| figures.get(series);
    assert_eq!(of(&before, &series::SSTABLES), Some(1.0), "{before:?}");
    let both = (of(&before, &series::FLUSHED_BYTES).unwrap(), of(&before, &series::COMPACTED_BYTES).unwrap());
    assert!(both.0 > 0.0, "{before:?}");
    let ratio = of(&before, &series::COMPRESSION_RATIO).unwrap();
    assert!(ratio > 0.1 && ratio < 1.5, "{ratio}");

    for row in 0..100 {
        let update = format!("UPDATE ycsb.usertable SET field0 = 'z' WHERE y_id = 'user{row}'");
        admin.run(&update, experiment::Consistency::One).unwrap();
    }
    nodetool(distribution, java, node.0.config(), &["flush", "ycsb"]);
    // Each of these rows is in two SSTables; the others in one, and these reads give all columns.
    for row in 0..200 {
        let read = format!("SELECT * FROM ycsb.usertable WHERE y_id = 'user{row}'");
        admin.run(&read, experiment::Consistency::One).unwrap();
    }
    let after = counters.try_read().unwrap();
    let grown = |series: &Series| of(&after, series).unwrap() - of(&before, series).unwrap();
    assert_eq!(of(&after, &series::SSTABLES), Some(2.0));
    assert_eq!((grown(&series::TABLE_READS), grown(&series::SSTABLES_MERGED)), (200.0, 300.0));
    assert_eq!(grown(&series::FLUSHES), 1.0);
    assert!(grown(&series::FLUSHED_BYTES) > 0.0 && grown(&series::COMPACTED_BYTES) == 0.0);
    let stats = nodetool(distribution, java, node.0.config(), &["tablestats", "ycsb.usertable"]);
    let says = |name: &str| {
        let line = stats.lines().map(str::trim).find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(of(&after, &series::SSTABLES), Some(says("SSTable count:")), "{stats}");
    assert_eq!(of(&after, &series::BLOOM_FALSE_POSITIVES), Some(says("Bloom filter false positives:")), "{stats}");
    let printed = says("SSTable Compression Ratio:");
    assert!((of(&after, &series::COMPRESSION_RATIO).unwrap() - printed).abs() < 1e-4, "{stats}");

    let offsets = of(&after, &series::COMPRESSION_METADATA_BYTES).unwrap();
    assert!(offsets > 0.0, "{after:?}");
    assert_eq!(offsets, says("Compression metadata off heap memory used:"), "{stats}");

    // What it costs: CPU of the server and of this process.
    let cpu_s = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let words: Vec<f64> =
            stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2).map(|w| w.parse().unwrap()).collect();
        words.iter().sum::<f64>() / 100.0
    };
    let readings = 200;
    let (server, own, asked) = (cpu_s(node.0.pid()), cpu_s(std::process::id()), Instant::now());
    for _ in 0..readings {
        assert_eq!(counters.try_read().unwrap().len(), after.len());
    }
    let ms = |s: f64| s * 1e3 / f64::from(readings);
    println!(
        "a reading took {:.2} ms: {:.2} ms of CPU of the server, {:.2} ms of ours",
        ms(asked.elapsed().as_secs_f64()),
        ms(cpu_s(node.0.pid()) - server),
        ms(cpu_s(std::process::id()) - own)
    );
    // A table that is not there has no figures, and a port without a JVM is an error.
    let of_none = Counters::new(node.0.management(), "ycsb", "none").try_read().unwrap();
    for of_table in [&series::SSTABLES, &series::TABLE_READS, &series::FLUSHES, &series::COMPACTED_BYTES] {
        assert_eq!(of_none.get(of_table), None, "{of_none:?}");
    }
    assert!(Counters::new(&Management::without_password(JMX_PORT + 9), "ycsb", "usertable").try_read().is_err());
    // As it was.
    let on_record = admin.compactions("ycsb", "usertable").unwrap();
    compact_keyspace(node.0.management(), "ycsb").unwrap();
    let refused = compact_keyspace(node.0.management(), "none").unwrap_err().to_string();
    assert!(refused.contains("none"), "{refused}");
    admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    let compacted = counters.try_read().unwrap();
    assert_eq!(of(&compacted, &series::SSTABLES), Some(1.0));
    assert!(of(&compacted, &series::COMPACTED_BYTES) > of(&after, &series::COMPACTED_BYTES));
    assert_eq!(admin.compactions("ycsb", "usertable").unwrap(), on_record + 1);

    let sstables = || of_table(node.0.management(), "ycsb", "usertable", &series::SSTABLES).unwrap();
    // Five flushes, one more than size tiers begin with: nothing is compacted until that is turned on.
    compact_automatically(node.0.management(), "ycsb", false).unwrap();
    for flushes in 1..=5 {
        let update = format!("UPDATE ycsb.usertable SET field0 = 'again' WHERE y_id = 'again{flushes}'");
        admin.run(&update, experiment::Consistency::One).unwrap();
        flush_table(node.0.management(), "ycsb", "usertable").unwrap();
        assert_eq!(sstables(), f64::from(1 + flushes));
    }
    admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    assert_eq!(sstables(), 6.0);
    compact_automatically(node.0.management(), "ycsb", true).unwrap();
    admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    assert!(sstables() < 6.0);
}

/// As `nodetool` prints them in microseconds, of the server's own tables too.
fn latencies_are_milliseconds(node: &Guarded, distribution: &Distribution, java: &Java) {
    let printed = nodetool(distribution, java, node.0.config(), &["proxyhistograms"]);
    let line = printed.lines().find(|line| line.starts_with("99%")).unwrap();
    let columns: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
    let expected_ms = columns[1] / 1000.0; // read, WRITE, range, ...
    let metrics = Counters::new(node.0.management(), "ycsb", "usertable").try_read().unwrap();
    let p99_ms = metrics.get(&series::COORDINATOR_WRITE_P99_MS).unwrap();
    assert!(p99_ms < 20.0 * expected_ms && p99_ms > expected_ms / 20.0, "{p99_ms}\n{printed}");
}

fn samples_count_only_what_exists(admin: &Admin) {
    let keys: Vec<String> = (0..ROWS + 7).step_by(3).map(|row| format!("user{row}")).collect();
    let existing = (0..ROWS).step_by(3).count();
    assert!(keys.len() > existing);
    assert_eq!(admin.count_sample("ycsb", "usertable", &keys).unwrap() as usize, existing);
}

fn a_second_node_on_its_ports_is_refused(distribution: &Distribution, java: &Java, work: &Path) {
    let error = Node::start(distribution, java, config(&work.join("second"))).unwrap_err();
    assert!(matches!(error, NodeError::PortInUse { port: 9042, purpose: "CQL", .. }), "{error}");
    assert!(!work.join("second").exists(), "found before anything was touched");
    // Any of the three ports.
    let mut elsewhere = config(&work.join("second"));
    elsewhere.plan.address = Ipv4Addr::new(127, 0, 41, 3);
    let error = Node::check_ports(elsewhere.plan.address, elsewhere.plan.ports).unwrap_err().to_string();
    assert!(error.contains("JMX") && error.contains("ss -ltnp") && error.contains("17412"), "{error}");
    elsewhere.plan.ports.management += 1;
    Node::check_ports(elsewhere.plan.address, elsewhere.plan.ports).unwrap();
    let _holder = TcpListener::bind((elsewhere.plan.address, elsewhere.plan.ports.peers)).unwrap();
    assert!(
        Node::check_ports(elsewhere.plan.address, elsewhere.plan.ports)
            .unwrap_err()
            .to_string()
            .contains("between nodes")
    );
}

/// Samples of its host are taken by who asks it, once a second: what opened the connection may take 20 s, a sample 2 s.
fn one_that_hangs_is_not_waited_for(admin: &Admin, node: &mut Guarded) {
    node.0.pause();
    let asked = Instant::now();
    let mut counters = Counters::new(node.0.management(), "ycsb", "usertable");
    counters.try_read().unwrap_err();
    admin.compactions("ycsb", "usertable").unwrap_err();
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    node.0.resume();
    // A question that was given up may still be answered first.
    admin.wait_settled(1, TIMEOUT, &|| false).unwrap();
    counters.try_read().unwrap();
}

fn a_killed_node_says_so(node: &mut Guarded) {
    assert_eq!(node.0.exited(), None);
    let killed = Command::new("kill").args(["-9", &node.0.pid().to_string()]).status().unwrap();
    assert!(killed.success());
    let deadline = Instant::now() + Duration::from_secs(20);
    let report = loop {
        if let Some(report) = node.0.exited() {
            break report;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(report.contains("SIGKILL"), "{report}");
    let tail = node.0.config().log_tail(6);
    assert_eq!(tail.len(), 6, "the last lines of its log: {tail:?}");
    assert!(!node.0.stopped_cleanly());
}

/// A node that cannot start is reported at once, with the reason from its log, not after the timeout.
#[test]
fn a_start_that_fails_is_an_error_with_the_reason() {
    let java = find_java(versions()[0]).unwrap();
    let distribution = ensure_distribution(versions()[0], &shared::cache(), &mut |_| {}, &|| false).unwrap();
    shared::enter_own_network();
    let work = tempfile::Builder::new().prefix("iopslab-bad-node-").tempdir().unwrap();
    let mut bad = config(&work.path().join("node"));
    (bad.plan.address, bad.plan.ports.management) = (Ipv4Addr::new(127, 0, 41, 4), JMX_PORT + 4);
    bad.plan.seeds = vec![bad.plan.address];
    let keys = [("no_such_key".to_owned(), Setting::Value("1".to_owned()))].into();
    bad.plan.settings = bad.plan.settings.with(cassandra_model::YAML, Section::Keys(keys));
    let mut node = Guarded(Node::start(&distribution, &java, bad.clone()).unwrap());
    let error = node.0.wait_ready(TIMEOUT, &|| false).unwrap_err();
    assert!(matches!(error, NodeError::Died { .. }), "{error}");
    assert!(error.to_string().contains("no_such_key"), "{error}");

    let options = Section::Options(vec!["-XX:+NoSuchFlag".to_owned()]);
    bad.plan.settings = bad.plan.settings.with(cassandra_model::JVM, options);
    let mut node = Guarded(Node::start(&distribution, &java, bad).unwrap());
    let error = node.0.wait_ready(TIMEOUT, &|| false).unwrap_err().to_string();
    assert!(error.contains("NoSuchFlag"), "what the JVM prints itself: {error}");
}
