//! Stories of clusters on one machine: real nodes, each with its own volumes, limits and evidence.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Laboratory, conformance, databases, json, lane::Share};

/// One node, and two that both keep everything.
const PAIR: &str = r#"
name = "pair"

[dataset]
records = 20_000

[[configuration]]
name = "alone"
instance = { vcpus = 1, memory_gib = 2 }
data_volume = { iops = 400, mib_per_s = 100, size_gib = 2 }

[[configuration]]
name = "pair"
instance = { vcpus = 1, memory_gib = 2 }
data_volume = { iops = 400, mib_per_s = 100, size_gib = 2 }
nodes = 2
consistency = { read = "one", update = "all", insert = "all" }

[[workload]]
name = "mixed"
read = 0.5
update = 0.4
insert = 0.1
distribution = "latest"

[load]
clients = 2
rate = [200]
rest_max_s = 0
warmup_s = 4
duration_s = 5
repetitions = 1

[provider.local]
heap_mib = 512
page_cache_mib = 64
"#;

/// One after the other, since the second finds the data set of the first.
#[test]
fn a_cluster_has_nodes_of_its_own_and_what_happens_to_one_is_said_of_that_one() {
    let lab = Laboratory::on_machine(Share::Half);
    each_node_has_volumes_and_data_of_its_own(&lab);
    std::fs::rename(lab.path().join("runs"), lab.path().join("first")).unwrap();
    a_node_that_dies_costs_the_trial_and_is_named(&lab);
}

fn each_node_has_volumes_and_data_of_its_own(lab: &Laboratory) {
    lab.write("pair.toml", PAIR);
    lab.exits(0, &["run", "pair.toml"]);
    let run = lab.run_directory();
    conformance::is_whole(lab, &run, "local");
    let nodes = |configuration: &str| -> Vec<Value> {
        let trial = run.join("trials").join(format!("{configuration}.mixed.p200")).join("1");
        json(&trial.join("trial.json"))["nodes"].as_array().unwrap().clone()
    };
    let (alone, pair) = (nodes("alone"), nodes("pair"));
    assert_eq!((alone.len(), pair.len()), (1, 2));
    assert_eq!(pair.iter().map(|node| node["host"].as_str().unwrap()).collect::<Vec<_>>(), ["database", "database-2"]);
    // Two replicas on two nodes: each has the whole data set, on a volume of its own,
    // and every key of the sample is found.
    let bytes = |node: &Value| node["data_bytes_on_disk"].as_f64().unwrap();
    for node in &pair {
        assert!((bytes(node) / bytes(&alone[0]) - 1.0).abs() < 0.1, "{pair:#?} {alone:#?}");
        assert_eq!(node["restored_keys_checked"], 32);
    }
    // Two clients share the load: each reads what it has inserted itself, and none has inserted what another one has.
    let trial = run.join("trials/pair.mixed.p200/1");
    let record = json(&trial.join("trial.json"));
    let parts = record["clients"].as_object().unwrap();
    assert_eq!(parts.keys().collect::<Vec<_>>(), ["client", "client-2"]);
    let sent = |client: &Value| client["operations_sent"].as_u64().unwrap();
    assert!(parts.values().all(|part| sent(part) > 0), "{record:#}");
    assert_eq!(parts.values().map(sent).sum::<u64>(), sent(&record["client"]));
    assert_eq!(record["client"]["errors"], serde_json::json!({}), "every record that was read is there");
    let apart_ms = parts["client-2"]["started_after_ms"].as_f64().unwrap();
    assert!(apart_ms.abs() < 1_000.0, "they begin together, even on a busy machine: {apart_ms}");
    assert!(trial.join("host-client-2.parquet").is_file());
    let device = |node: &Value| node["volumes"][0]["device"].as_str().unwrap().to_owned();
    assert_ne!(device(&pair[0]), device(&pair[1]));
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

fn a_node_that_dies_costs_the_trial_and_is_named(lab: &Laboratory) {
    // The pair alone, for long enough to be killed in mid-trial.
    let alone = PAIR.find("[[configuration]]").unwrap();
    let pair = PAIR.rfind("[[configuration]]").unwrap();
    let text = [&PAIR[..alone], &PAIR[pair..]].concat().replace("duration_s = 5", "duration_s = 60");
    lab.write("pair.toml", &text);
    let mut run = lab.spawn(&["run", "pair.toml"]);
    lab.wait_in(&mut run, "measurement", Duration::from_secs(300), || lab.stderr_so_far().contains("op/s"));
    let second = lab.work().join("node-2").display().to_string();
    let pids = databases(&second);
    assert_eq!(pids.len(), 1, "the second node lives below {second}");
    kill_process(Pid::from_raw(pids[0] as i32).unwrap(), Signal::KILL).unwrap();
    assert!(run.wait().unwrap().success(), "{}", lab.stderr_so_far());
    let trial = lab.record("pair.mixed.p200", "1");
    assert_eq!((&trial["status"], &trial["cause"]), (&"invalid".into(), &"database_ended".into()));
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.starts_with("Cassandra on database-2 ended during the trial"), "{reason}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// The arithmetic stands in the refusal, and nothing was begun.
#[test]
fn nodes_that_do_not_fit_on_the_machine_are_refused_before_anything_starts() {
    let lab = Laboratory::new();
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    for (from, to, expected) in [
        (
            "vcpus = 1, memory_gib = 2 }\ndata_volume = { iops = 400, mib_per_s = 100, size_gib = 2 }\nnodes",
            format!("vcpus = {cpus}, memory_gib = 2 }}\ndata_volume = {{ iops = 400, size_gib = 2 }}\nnodes"),
            format!("configuration pair needs 2 x {cpus:.1} = {:.1} CPUs here, this machine has {cpus}", cpus * 2.0),
        ),
        ("page_cache_mib = 64", "page_cache_mib = 1_000_000".to_owned(), "configuration pair needs 2 x 977".to_owned()),
    ] {
        assert!(PAIR.contains(from), "{from}");
        lab.write("pair.toml", &PAIR.replace(from, &to));
        let stderr = lab.exits(2, &["run", "pair.toml"]).stderr;
        assert!(stderr.contains(&expected), "{expected}\n{stderr}");
        assert!(!lab.path().join("runs").exists());
    }
}
