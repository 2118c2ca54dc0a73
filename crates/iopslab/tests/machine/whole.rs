//! A node of a cluster is killed in mid-trial and started again. With three replicas at QUORUM nothing that was
//! acknowledged is lost; with one replica, and the node's files wiped while it is away, what was there is missed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Laboratory, conformance, json, lane::Share};

const KILLED: &str = r#"
name = "killed"
question = "Is anything lost that was acknowledged?"

[dataset]
records = 3_000

[[configuration]]
name = "one-replica"
instance = { vcpus = 0.6, memory_gib = 2 }
data_volume = { iops = 1000, mib_per_s = 100, size_gib = 2 }
nodes = 2
replication_factor = 1
consistency = "one"
price_usd_per_month = 100

[[configuration]]
name = "three-replicas"
instance = { vcpus = 0.6, memory_gib = 2 }
data_volume = { iops = 1000, mib_per_s = 100, size_gib = 2 }
nodes = 3
replication_factor = 3
consistency = "quorum"
price_usd_per_month = 300

[[workload]]
name = "mixed"
read = 0.2
update = 0.8
distribution = "uniform"

[[fault]]
kind = "node-pause"
node = 1
at_s = 5
for_s = 2

[[fault]]
kind = "node-kill"
node = 2
at_s = 9
for_s = 5

[load]
clients = 2
rate = [150]
request_timeout_s = 4
rest_max_s = 0
warmup_s = 3
duration_s = 21
repetitions = 1

[provider.local]
heap_mib = 512
page_cache_mib = 64
"#;

/// The cell whose trial began last.
fn under_way(run: &Path) -> String {
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let mut events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = events.rfind(|event| event["event"] == "trial_started");
    begun.unwrap()["cell"].as_str().unwrap().to_owned()
}

/// Every file of the table and of the commit log below a directory is deleted.
fn wipe(directory: &Path) -> usize {
    let mut wiped = 0;
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            wiped += wipe(&path);
        } else if path.ancestors().any(|p| {
            let name = p.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("usertable-") || name == "commitlog"
        }) {
            std::fs::remove_file(&path).unwrap();
            wiped += 1;
        }
    }
    wiped
}

#[test]
fn a_node_away_costs_availability_or_nothing_and_a_wiped_one_is_found_out() {
    let lab = Laboratory::on_machine(Share::Whole);
    lab.write("killed.toml", KILLED);
    let mut running = lab.spawn(&["run", "killed.toml"]);
    let second = lab.work().join("node-2").join("runs");
    let mut wiped = 0;
    for times in 1..=2 {
        lab.wait_in(&mut running, "second node that is away", Duration::from_secs(400), || {
            lab.stderr_so_far().matches("database-2 is away").count() == times
        });
        if under_way(&lab.run_directory()).starts_with("one-replica") {
            wiped += wipe(&second);
        }
    }
    assert!(running.wait().unwrap().success(), "{}", lab.stderr_so_far());
    assert!(wiped > 0, "the second node had no files below {}", second.display());
    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");

    let trial = |configuration: &str| -> PathBuf { run.join(format!("trials/{configuration}.mixed.p150/1")) };
    for configuration in ["one-replica", "three-replicas"] {
        let record = json(&trial(configuration).join("trial.json"));
        // The first node stood still for two seconds, and answered again on its own.
        let paused = &record["faults"][0];
        assert_eq!(
            (&paused["kind"], &paused["host"], &paused["problem"]),
            (&"node-pause".into(), &"database".into(), &Value::Null)
        );
        let still = paused["return_began_s"].as_f64().unwrap() - paused["gone_s"].as_f64().unwrap();
        assert!((1.0..4.0).contains(&still), "{paused:#}");
        assert!(paused["back_s"].as_f64() > paused["return_began_s"].as_f64(), "{paused:#}");
        assert_eq!(record["clients"].as_object().unwrap().len(), 2, "each looks for its own writes");
        let fault = &record["faults"][1];
        assert_eq!((&fault["kind"], &fault["host"]), (&"node-kill".into(), &"database-2".into()));
        let at = |key: &str| fault[key].as_f64().unwrap_or_else(|| panic!("{key} in {fault:#}"));
        assert!((9.0..11.0).contains(&at("began_s")), "{fault:#}");
        assert!(at("began_s") < at("gone_s") && at("return_began_s") >= 14.0, "{fault:#}");
        // Reading back waits for the only replica of some records, and not for one of three.
        if configuration == "one-replica" || !fault["back_s"].is_null() {
            assert!(at("back_s") > at("return_began_s"), "{fault:#}");
        } else {
            assert_eq!(fault["problem"], "it was not back when the trial ended", "{fault:#}");
        }
        // Both lives of the node have left their log.
        for log in ["database-2.database.log", "database-2.before-fault.database.log"] {
            assert!(trial(configuration).join(log).is_file(), "{log} of {configuration}");
        }
    }
    let writes = |configuration: &str| -> Value { json(&trial(configuration).join("trial.json"))["writes"].clone() };
    let count = |writes: &Value, key: &str| writes[key].as_u64().unwrap_or_else(|| panic!("{key} in {writes:#}"));
    let lost = |writes: &Value| count(writes, "older") + count(writes, "missing") + count(writes, "foreign");

    let safe = writes("three-replicas");
    assert_eq!(safe["consistency"], "quorum");
    assert!(count(&safe, "acknowledged") > 100, "{safe:#}");
    assert_eq!((lost(&safe), count(&safe, "unreadable")), (0, 0), "{safe:#}");
    assert_eq!(count(&safe, "intact"), count(&safe, "values"), "{safe:#}");

    // About a half of the records lay on the node whose files are gone.
    let wiped = writes("one-replica");
    assert!(lost(&wiped) > 0 && count(&wiped, "intact") > 0, "{wiped:#}");
    assert!(!wiped["examples"].as_array().unwrap().is_empty(), "{wiped:#}");

    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("one-replica lost"), "{report}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
