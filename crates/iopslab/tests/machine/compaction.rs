//! A compaction of the whole table beside the load of a real Cassandra: before, during and after it.

use serde_json::Value;

use super::small_node;
use crate::support::{Laboratory, lane::Share};

const EXPERIMENT: &str = r#"
name = "compaction"

[dataset]
records = 20_000

[[workload]]
name = "mixed"
read = 0.5
update = 0.5
distribution = "uniform"

[load]
rate = [200]
rest_max_s = 0
warmup_s = 2
duration_s = 20
repetitions = 1

[[fault]]
kind = "compaction"
at_s = 6
"#;

#[test]
fn a_compaction_beside_the_load_is_seen_from_its_beginning_to_its_end() {
    let lab = Laboratory::on_machine(Share::Half);
    let slowly = "settings = { cassandra = { compaction_throughput = \"4MiB/s\" } }";
    let text = small_node::experiment(EXPERIMENT, &[("one", slowly)]).replace("vcpus = 0.7", "vcpus = 0.9");
    lab.write("compaction.toml", &text);
    let output = lab.exits(0, &["run", "compaction.toml", "--format", "json"]);
    let stderr = &output.stderr;
    assert!(stderr.contains("compacted its tables"), "{stderr}");
    let analysis: Value = output.json();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 1, "{cell:#}");
    let faults = &cell["faults"];
    let names: Vec<&str> = faults["phases"].as_array().unwrap().iter().filter_map(|p| p["phase"].as_str()).collect();
    assert_eq!(names, ["before", "during", "after"], "{faults:#}");
    let compaction = &faults["faults"][0];
    assert_eq!(compaction["kind"], "compaction");
    assert!(compaction["away_s"]["median"].as_f64().unwrap() > 0.0, "{compaction:#}");
    assert_eq!(compaction["problems"], serde_json::json!([]), "{compaction:#}");
    // All of the table is written anew.
    let written = compaction["compacted_bytes"]["median"].as_f64().unwrap();
    let on_disk = cell["bytes_on_disk"].as_f64().unwrap();
    assert!(written > 0.8 * on_disk && written < 1.3 * on_disk, "{written} of {on_disk}");

    let trial = lab.run_directory().join("trials").join(cell["id"].as_str().unwrap()).join("1");
    let log = std::fs::read_to_string(trial.join("database.log")).unwrap();
    assert!(log.contains("Compacted (") && log.contains("usertable"), "Cassandra says so too: {log}");
    let text = std::fs::read_to_string(lab.run_directory().join("report.md")).unwrap();
    assert!(text.contains("## While it compacted") && text.contains("was done at"), "{text}");
    // What was planned is in the label of its trial, though not in the figures of before it.
    let page = std::fs::read_to_string(lab.run_directory().join("report.html")).unwrap();
    assert!(page.contains("Block 1: ") && page.contains(", 1 compaction</summary>"));
    println!("{faults:#}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
