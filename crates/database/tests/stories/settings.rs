//! What a real Cassandra can be set to, and what it makes of some of it.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cassandra_model::{TABLE, YAML, table, yaml};
use database::cassandra::{Cassandra, Distribution, Java, Node, NodeConfig, ensure_distribution, find_java};
use database::{DataSetTable, Directories, NodePlan, Ports, Replication, Server as _};
use experiment::{Section, Setting, Settings};

use crate::shared;

/// An address of this test alone, and another one.
const REFUSED: Ipv4Addr = Ipv4Addr::new(127, 0, 41, 5);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 41, 6);
const VERSION: &str = "5.0.9";
const PATIENCE: Duration = Duration::from_secs(180);
const DATASET: experiment::Dataset =
    experiment::Dataset { records: 10, fields: 3, field_length: 20, compressibility: 0.0, seed: 1 };

/// Kills its node when a test fails.
struct Guarded(Node);

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill();
    }
}

fn software() -> (Distribution, Java) {
    let distribution = ensure_distribution(VERSION, &shared::cache(), &mut |_| {}, &|| false).unwrap();
    shared::enter_own_network();
    (distribution, find_java(VERSION).unwrap())
}

fn start((distribution, java): &(Distribution, Java), directory: &Path, keys: &[(&str, &str)]) -> Guarded {
    let mut config = NodeConfig::new("settings", REFUSED, directory);
    config.plan.ports.management = 17_415;
    config.plan.memory.main_bytes = 512 << 20;
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), Setting::Value((*value).to_owned()));
    config.plan.settings = Settings::default().with(YAML, Section::Keys(keys.iter().map(own).collect()));
    Guarded(Node::start(distribution, java, config).unwrap())
}

/// The list that plans are checked by is what the jars say.
#[test]
fn what_is_known_of_a_cassandra_is_what_its_classes_say() {
    software();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(root.join("scripts/cassandra-settings.sh")).arg(VERSION).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = std::fs::read_to_string(root.join(format!("crates/cassandra_model/src/known/cassandra-{VERSION}.txt")))
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), kept);
}

/// What a plan refuses because Cassandra would: one after the other, since they have one address.
#[test]
fn a_cassandra_refuses_what_plans_refuse() {
    let software = software();
    let directory = tempfile::tempdir().unwrap();
    let cases: [(&[(&str, &str)], &str); 3] = [
        (&[("disk_access_mode", "\"direct\"")], "DiskAccessMode 'direct' is not supported"),
        (&[("sstable", "{\"selected_format\":\"bti\"}"), ("storage_compatibility_mode", "\"CASSANDRA_4\"")], "bti"),
        (
            &[("compressed_read_ahead_buffer_size", "\"128KiB\"")],
            "compressed_read_ahead_buffer_size must be at least 256KiB",
        ),
    ];
    for (number, (keys, words)) in cases.iter().enumerate() {
        let mut node = start(&software, &directory.path().join(format!("refused-{number}")), keys);
        let refusal = node.0.wait_ready(PATIENCE, &|| false).unwrap_err().to_string();
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
}

/// Through the seam, as a trial does it: what was asked for is what the node shows of its keys and of its table.
#[test]
fn what_was_asked_for_is_found_in_the_node() {
    let asked: [(&str, &str); 12] = [
        ("column_index_size", "\"64KiB\""),
        ("commitlog_compression", "{\"class_name\":\"LZ4Compressor\"}"),
        ("commitlog_sync", "\"batch\""),
        ("compaction_throughput", "\"16MiB/s\""),
        ("concurrent_reads", "48"),
        ("disk_access_mode", "\"standard\""),
        ("file_cache_enabled", "true"),
        ("file_cache_size", "\"96MiB\""),
        ("memtable", "{\"configurations\":{\"trie\":{\"class_name\":\"TrieMemtable\"}}}"),
        ("memtable_cleanup_threshold", "0.5"),
        ("read_request_timeout", "\"12s\""),
        ("sstable", "{\"selected_format\":\"bti\"}"),
    ];
    let own = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let keys = asked.map(|(key, value)| (key.to_owned(), Setting::Value(value.to_owned())));
    let strategy = [("class", "UnifiedCompactionStrategy"), ("scaling_parameters", "L8, T4")];
    let options = [
        ("compaction".to_owned(), Setting::Map(strategy.map(own).into())),
        ("memtable".to_owned(), Setting::Value("trie".to_owned())),
    ];
    let settings =
        Settings::default().with(YAML, Section::Keys(keys.into())).with(TABLE, Section::Keys(options.into()));
    let directory = tempfile::tempdir().unwrap();
    let server = Cassandra::new(VERSION, None);
    let installed = server.install(&shared::cache(), &[], &mut |_, _| {}, &|| false, &|_| Ok(())).unwrap();
    shared::enter_own_network();
    let plan = NodePlan {
        cluster: "settings".to_owned(),
        index: 0,
        nodes: 1,
        seeds: vec![ADDRESS],
        place: None,
        address: ADDRESS,
        ports: Ports { management: 17_416, ..server.ports() },
        directories: Directories::below(directory.path()),
        memory: server.memory(512 << 20),
        cpus: 2.0,
        commitlog_bytes: None,
        maintains_itself: true,
        settings: settings.clone(),
        launch_prefix: Vec::new(),
        oom_kills: None,
    };
    let mut node = installed.start(&plan).unwrap();
    let found = node.wait_ready(PATIENCE, &|| false).and_then(|_| {
        node.create_schema("ycsb", "usertable", &DATASET, &Replication::Each(1))?;
        node.settings_in_force(DataSetTable { keyspace: "ycsb", table: "usertable", is_restored: true })
    });
    node.kill();
    let found = Settings { sections: found.unwrap().sections, read_ahead_kb: None };
    let is = |name: &str, value: &str| assert_eq!(yaml(&found)[name].value(), value, "{found:#?}");
    is("concurrent_reads", "48");
    is("sstable.selected_format", "bti");
    is("memtable.configurations.trie.class_name", "TrieMemtable");
    is("commitlog_compression.class_name", "LZ4Compressor");
    is("disk_access_mode", "data files by standard, indexes by standard");
    assert_eq!(yaml(&found).len(), asked.len());
    assert_eq!(table(&found)["memtable"], table(&settings)["memtable"]);
    let Setting::Map(strategy) = &table(&found)["compaction"] else {
        panic!("{found:#?}");
    };
    assert_eq!(strategy["class"], "org.apache.cassandra.db.compaction.UnifiedCompactionStrategy");
    assert_eq!(strategy["scaling_parameters"], "L8, T4");
}
