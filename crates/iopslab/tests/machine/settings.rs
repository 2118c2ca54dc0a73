//! Settings of a configuration with a real Cassandra: in force, or an error of the trial.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::small_node;
use crate::support::{Laboratory, lane::Share};

/// One volume, and what is asked of it.
const EXPERIMENT: &str = r#"
name = "settings"

[dataset]
records = RECORDS

[[workload]]
name = "reads"
read = 0.9
update = 0.1
distribution = "uniform"

[load]
rate = [100]
rest_max_s = 0
warmup_s = 2
duration_s = 3
repetitions = 1
"#;

fn experiment(records: u32, settings: &str) -> String {
    small_node::experiment(&EXPERIMENT.replace("RECORDS", &records.to_string()), &[("set", settings)])
}

fn log(lab: &Laboratory, cell: &str) -> String {
    let path = lab.run_directory().join("trials").join(cell).join("1/database.log");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn settings_are_in_force_in_the_database_or_end_the_trial_with_its_own_words() {
    let lab = Laboratory::on_machine(Share::Half);
    let settings = r#"
[configuration.settings]
jvm = ["-XX:TieredStopAtLevel=1", "-Xss512k"]
host = { read_ahead_kb = 8 }
[configuration.settings.cassandra]
concurrent_reads = 16
compaction_throughput = "16MiB/s"
disk_access_mode = "mmap"
commitlog_sync = "batch"

[[variant]]
name = "far"
settings = { host = { read_ahead_kb = 256 } }

[[variant]]
name = "unknown"
settings = { jvm = ["-XX:MaxTenuringThreshold=99"] }
"#;
    lab.write("settings.toml", &experiment(20_000, settings));
    let output = lab.exits(0, &["run", "settings.toml", "--format", "json"]);
    let stderr = &output.stderr;
    assert!(
        stderr.contains("Settings of set: jvm -XX:TieredStopAtLevel=1, jvm -Xss512k, cassandra commitlog_sync = batch"),
        "the plan shows them: {stderr}"
    );

    let set = lab.record("set.reads.p100", "1");
    assert_eq!(set["status"], "valid", "{set:#}");
    let asked = json!(["-XX:TieredStopAtLevel=1", "-Xss512k"]);
    let found = &set["nodes"][0]["settings"];
    assert_eq!(found["jvm"], asked);
    assert_eq!(found["cassandra"]["concurrent_reads"], "16", "{found:#}");
    assert_eq!(found["cassandra"]["compaction_throughput"], "16MiB/s", "{found:#}");
    assert_eq!(found["cassandra"]["commitlog_sync"], "batch", "{found:#}");
    // Its table of settings would show what was asked for; this is what its log says was made of it.
    assert_eq!(found["cassandra"]["disk_access_mode"], "data files by mmap, indexes by mmap", "{found:#}");
    assert_eq!(found["read_ahead_kb"], json!({"data": 8}), "{found:#}");
    let said = log(&lab, "set.reads.p100");
    assert!(said.contains("-XX:TieredStopAtLevel=1, -Xss512k"), "Cassandra says how its JVM was started: {said}");
    let far = lab.record("set_far.reads.p100", "1");
    assert_eq!(far["nodes"][0]["settings"]["read_ahead_kb"], json!({"data": 256}));
    // Cassandra would warn above 128 KiB, but looks at /sys/block/loop, without the number.
    let said = log(&lab, "set_far.reads.p100");
    assert!(!said.contains("It is recommended"), "{said}");

    let unknown = lab.record("set_unknown.reads.p100", "1");
    assert_eq!(unknown["cause"], "did_not_start", "{unknown:#}");
    let words = unknown.to_string();
    assert!(words.contains("MaxTenuringThreshold=99 is outside the allowed range"), "{words}");

    let analysis: Value = output.json();
    let configurations = analysis["configurations"].as_array().unwrap();
    let of_set = configurations.iter().find(|c| c["name"] == "set").unwrap();
    assert_eq!(of_set["settings"]["jvm"], asked);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// Chunks of 4, 16 and 64 KiB under three compaction strategies.
#[test]
fn options_of_the_table_are_in_force_in_the_schema_and_in_the_files() {
    let lab = Laboratory::on_machine(Share::Half);
    let variants = r#"
[[variant]]
name = "jvm"
settings = { jvm = ["-Xss512k"] }

[[variant]]
name = "small"
[variant.settings.table]
compression = { chunk_length_in_kb = 4 }
compaction = { class = "LeveledCompactionStrategy" }

[[variant]]
name = "large"
[variant.settings.table]
compression = { chunk_length_in_kb = 64 }
compaction = { class = "UnifiedCompactionStrategy", scaling_parameters = "T4" }
bloom_filter_fp_chance = 0.1
"#;
    // Its own number of records: what an earlier run of this story has loaded goes, and nothing else.
    let snapshots = lab.work().join("snapshots");
    for snapshot in std::fs::read_dir(&snapshots).into_iter().flatten().flatten() {
        if snapshot.file_name().to_string_lossy().contains("-10001x10x100-") {
            std::fs::remove_dir_all(snapshot.path()).unwrap();
        }
    }
    lab.write("table.toml", &experiment(10_001, variants));
    let stderr = lab.exits(0, &["run", "table.toml", "--format", "json"]).stderr;
    assert_eq!(
        stderr.matches(": loaded 10001 records").count(),
        3,
        "a data set for each shape of its files, and one for both configurations that want the usual one: {stderr}"
    );
    assert!(
        stderr.contains(
            "data set of table compaction = LeveledCompactionStrategy, table compression = LZ4Compressor, \
             chunk_length_in_kb 4"
        ),
        "{stderr}"
    );

    let of = |cell: &str| {
        let record = lab.record(cell, "1");
        assert_eq!(record["status"], "valid", "{record:#}");
        record["nodes"][0].clone()
    };
    let usual = of("set.reads.p100");
    // Nothing was asked for; an emulated volume reads ahead as a disk does.
    assert_eq!(usual["settings"], json!({"files": [], "read_ahead_kb": {"data": 128}}));
    assert_eq!(of("set_jvm.reads.p100")["data_bytes_on_disk"], usual["data_bytes_on_disk"]);
    let small = of("set_small.reads.p100");
    let table = &small["settings"]["table"];
    assert_eq!(table["compression"]["chunk_length_in_kb"], "4", "{table:#}");
    assert_eq!(table["compaction"]["class"], "org.apache.cassandra.db.compaction.LeveledCompactionStrategy");
    assert_eq!(
        small["settings"]["files"],
        json!(["big: LZ4Compressor in chunks of 4 KiB, bloom filter for 0.01"]),
        "{small:#}"
    );
    let large = of("set_large.reads.p100");
    assert_eq!(
        large["settings"]["table"]["compaction"]["class"],
        "org.apache.cassandra.db.compaction.UnifiedCompactionStrategy"
    );
    assert_eq!(
        large["settings"]["files"],
        json!(["big: LZ4Compressor in chunks of 64 KiB, bloom filter for 0.1"]),
        "{large:#}"
    );
    // Offsets of sixteen times as many chunks.
    assert_ne!(small["data_bytes_on_disk"], large["data_bytes_on_disk"]);

    // Another run finds each where it is, and is not needed any more.
    let mut again = lab.spawn(&["run", "table.toml"]);
    let found = "10001 records from an earlier run's snapshot";
    lab.wait_in(&mut again, "data sets", Duration::from_secs(300), || lab.stderr_so_far().matches(found).count() == 3);
    kill_process(Pid::from_raw(again.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(again.wait().unwrap().code(), Some(130), "{}", lab.stderr_so_far());

    // What only the database knows to be wrong ends the run before a trial, with its words.
    let wrong = "settings = { table = { compression = { class = \"ZstdCompressor\", compression_level = 99 } } }\n";
    lab.write("wrong.toml", &experiment(10_001, wrong));
    let stderr = lab.exits(1, &["run", "wrong.toml"]).stderr;
    assert!(stderr.contains("compression_level"), "{stderr}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
