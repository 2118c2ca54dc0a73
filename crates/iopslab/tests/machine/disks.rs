//! Disks that fail by plan, of a real Cassandra on served volumes: what a user sees of it, and what is left of it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Laboratory, conformance, lane::Share};

/// A page cache too small for the data, and a disk that is the limit: every client soon waits for it, and CPUs do not.
/// The page cache is also what Cassandra grows into until its limit follows, and what waits for a disk that does not
/// answer: with half of both, a busy machine was too late and the kernel killed it.
const DISKS: &str = r#"
name = "disks"
question = "What does a disk that fails do?"

[dataset]
records = 200_000

[[configuration]]
name = "one"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 300, mib_per_s = 100, size_gib = 2 }
memory_limit_gib = 8
price_usd_per_month = 100

[[workload]]
name = "reads"
read = 0.9
update = 0.1
distribution = "uniform"

[[fault]]
kind = "disk-stall"
at_s = 6
for_s = 3

[[fault]]
kind = "disk-slow"
times = 20
at_s = 13
for_s = 4

[load]
concurrency = [16]
rest_max_s = 2
warmup_s = 3
duration_s = 22
repetitions = 1

[provider.local]
volumes = "served"
heap_mib = 512
page_cache_mib = 128
"#;

#[test]
fn a_disk_that_stalls_and_one_that_is_slow_are_seen_and_over_as_planned() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("disks.toml", DISKS);
    let output = lab.exits(0, &["run", "disks.toml", "--format", "json"]);
    let stderr = &output.stderr;
    for step in ["disk-stall of database", "the data volume of database has the fault", "is as before"] {
        assert!(stderr.contains(step), "{step} in {stderr}");
    }
    let analysis: Value = output.json();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 1, "{cell:#}\n{stderr}");
    let rules: Vec<&str> =
        analysis["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"faults_planned"), "{rules:?}");
    for judged in ["fault_not_as_planned", "errors_above", "no_steady_state", "writes_lost"] {
        assert!(!rules.contains(&judged), "{judged}: {rules:?}");
    }
    let faults = &cell["faults"];
    for (i, (kind, at, lasting)) in [("disk-stall", 6.0, 3.0), ("disk-slow", 13.0, 4.0)].into_iter().enumerate() {
        let fault = &faults["faults"][i];
        assert_eq!((&fault["kind"], &fault["volume"]), (&kind.into(), &"data".into()));
        let from = fault["gone_s"]["median"].as_f64().unwrap();
        let away = fault["away_s"]["median"].as_f64().unwrap();
        // Moments of two processes are brought together by readings of their clocks.
        assert!((at - 0.1..at + 2.0).contains(&from), "{fault:#}");
        assert!((lasting - 1.0..lasting + 2.0).contains(&away), "{fault:#}");
    }
    // before, during, after, during 2, after 2
    let throughput = |phase: usize| faults["phases"][phase]["throughput_ops_per_s"]["median"].as_f64().unwrap();
    let (before, stalled, between) = (throughput(0), throughput(1), throughput(2));
    let (slow, after) = (throughput(3), throughput(4));
    assert!(stalled < 0.2 * before, "{stalled} while nothing was answered, {before} before");
    assert!(slow < 0.5 * before, "{slow} on a twentieth of the disk, {before} before");
    assert!(between > 2.0 * slow && after > 2.0 * slow, "{before} {stalled} {between} {slow} {after}");

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("## When a disk failed"), "{report}");
    assert!(report.contains("disk-slow (20 times) of node 1's data volume at 13 s for 4 s"), "{report}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// All writes of a volume fail, and its file system has to write its log: XFS shuts down. The next trial has its data
/// restored on the same volume.
#[test]
fn a_file_system_that_was_shut_down_by_its_disk_is_whole_in_the_next_trial() {
    let lab = Laboratory::on_machine(Share::Half);
    let (head, _) = DISKS.split_once("[[fault]]").unwrap();
    let (_, tail) = DISKS.split_once("[load]").unwrap();
    let fault = "[[fault]]\nkind = \"disk-error\"\nrequests = \"writes\"\nat_s = 6\nfor_s = 5\n\n[load]";
    let tail = tail
        .replace("rest_max_s = 2", "rest_max_s = 0")
        .replace("repetitions = 1", "repetitions = 2")
        .replace("duration_s = 22", "duration_s = 13");
    lab.write("disks.toml", &[head, fault, &tail].concat());
    let mut running = lab.spawn(&["run", "disks.toml", "--require-valid"]);
    lab.wait_in(&mut running, "a disk that fails", Duration::from_secs(600), || {
        lab.stderr_so_far().contains("has the fault")
    });
    let run = lab.run_directory();
    let mounted = lab.work().join("runs").join(run.file_name().unwrap()).join("mnt/one-data");
    let synced = std::fs::File::create(mounted.join("synced")).and_then(|file| file.sync_all());
    assert!(synced.is_err(), "its log cannot be written");
    let listed = std::fs::read_dir(&mounted);
    assert!(listed.is_err(), "XFS has shut down");
    assert!(running.wait().unwrap().success(), "{}", lab.stderr_so_far());
    let record = |block: u32| -> Value {
        let trial = run.join(format!("trials/one.reads.c16/{block}/trial.json"));
        serde_json::from_slice(&std::fs::read(trial).unwrap()).unwrap()
    };
    let first = record(1);
    let fault = &first["faults"][0];
    assert!(fault["failed_requests"].as_u64() > Some(0), "{fault:#}");
    // The disk was well then; the file system was not.
    let writes = &first["writes"];
    assert!(writes["unreadable"].as_u64() > Some(0), "{writes:#}");
    let second = record(2);
    assert_eq!(second["nodes"][0]["restored_keys_checked"], 32, "{second:#}");
    let analysis: Value = serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 2, "{cell:#}");
    let before = &cell["faults"]["phases"][0]["throughput_ops_per_s"];
    assert!(before["low"].as_f64() > Some(0.0), "{before:#}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

#[test]
fn a_run_is_interrupted_while_its_disk_answers_nothing() {
    let lab = Laboratory::on_machine(Share::Half);
    let text = DISKS
        .replace("rest_max_s = 2", "rest_max_s = 0")
        .replace("for_s = 3", "for_s = 100")
        .replace("duration_s = 22", "duration_s = 200");
    let last = text.rfind("[[fault]]").unwrap();
    let load = text.find("[load]").unwrap();
    lab.write("disks.toml", &[&text[..last], &text[load..]].concat());
    let mut run = lab.spawn(&["run", "disks.toml"]);
    lab.wait_in(&mut run, "a disk that stalls", Duration::from_secs(600), || {
        lab.stderr_so_far().contains("has the fault")
    });
    std::thread::sleep(Duration::from_secs(2));
    let began = Instant::now();
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
    let status = run.wait().unwrap();
    let took = began.elapsed();
    assert_eq!(status.code(), Some(130), "{}", lab.stderr_so_far());
    assert!(took < Duration::from_secs(60), "long before its disk would answer: {took:?}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
