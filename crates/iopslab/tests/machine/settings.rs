//! Settings of a configuration with a real Cassandra: in force, or an error of the trial.

use serde_json::Value;

use crate::support::{Laboratory, lane::Share};

/// One volume with settings that are obeyed, and with an option that no JVM knows.
const EXPERIMENT: &str = r#"
name = "settings"

[target]
database = "cassandra"
version = "5.0.9"

[dataset]
records = 100_000
fields = 10
field_length = 100

[[configuration]]
name = "set"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 4500, mib_per_s = 200, size_gib = 2 }
memory_limit_gib = 8

[configuration.settings]
jvm = ["-XX:TieredStopAtLevel=1", "-Xss512k"]

[[configuration]]
name = "unknown"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 4500, mib_per_s = 200, size_gib = 2 }
memory_limit_gib = 8
settings = { jvm = ["-XX:+NoSuchFlag"] }

[[workload]]
name = "reads"
read = 0.9
update = 0.1
distribution = "uniform"

[load]
concurrency = [16]
warmup_s = 2
duration_s = 3
repetitions = 1

[provider.local]
heap_mib = 512
page_cache_mib = 64
"#;

fn record(lab: &Laboratory, cell: &str) -> Value {
    let path = lab.run_directory().join("trials").join(cell).join("1/trial.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn settings_are_in_force_in_the_database_or_end_the_trial_with_its_own_words() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("settings.toml", EXPERIMENT);
    let output = lab.output(&["run", "settings.toml", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.contains("Settings of set: jvm -XX:TieredStopAtLevel=1, jvm -Xss512k"),
        "the plan shows them: {stderr}"
    );

    let set = record(&lab, "set.reads.c16");
    assert_eq!(set["status"], "valid", "{set:#}");
    let asked = serde_json::json!(["-XX:TieredStopAtLevel=1", "-Xss512k"]);
    assert_eq!(set["nodes"][0]["settings"]["jvm"], asked);
    let log = lab.run_directory().join("trials/set.reads.c16/1/database.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(
        log.contains("-XX:TieredStopAtLevel=1, -Xss512k"),
        "Cassandra says how its JVM was started: {log}"
    );

    let unknown = record(&lab, "unknown.reads.c16");
    assert_eq!(unknown["cause"], "did_not_start", "{unknown:#}");
    let words = unknown.to_string();
    assert!(words.contains("Unrecognized VM option 'NoSuchFlag'"), "{words}");

    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let configurations = analysis["configurations"].as_array().unwrap();
    let of_set = configurations.iter().find(|c| c["name"] == "set").unwrap();
    assert_eq!(of_set["settings"]["jvm"], asked);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
