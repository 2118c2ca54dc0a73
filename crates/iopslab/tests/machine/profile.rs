//! The story of a cluster whose load is known, and which is watched by somebody who does not know it: that of
//! `existing`, once it was started again.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::Laboratory;

const PER_S: f64 = 400.0;
const READ_SHARE: f64 = 0.7;

/// Of a cluster that has nothing yet, in the network of this laboratory.
pub(super) fn a_planted_mix_comes_back_and_who_stops_early_gets_what_was_seen(lab: &Laboratory) {
    let mix = format!("read={READ_SHARE},update={:.1}", 1.0 - READ_SHARE);
    let (rate, hosts) = (PER_S.to_string(), ["--hosts", "127.0.0.1:9042", "--format", "json"]);
    let flags = ["--workload", &mix, "--rate", &rate, "--records", "2000", "--load-data", "--duration", "32s"];
    let mut load = lab.spawn(&[&["load"], &hosts[..], &flags].concat());
    lab.wait_in(&mut load, "load", Duration::from_secs(300), || lab.stderr_so_far().contains("loaded 2000 records"));
    // Its warm-up has the same mix at the same rate.
    std::thread::sleep(Duration::from_secs(3));

    // A log of 300 reads of 30 partitions, and a scan. Keys are found by the schema that the node shows.
    let read = |at: u32| {
        let statement = "SELECT * FROM usertable WHERE y_id = ?";
        format!(r#"{{"at": {at}, "keyspace": "ycsb", "statement": "{statement}", "values": ["0x{:02x}"]}}"#, at % 30)
    };
    let scan = r#"{"at": 300, "statement": "SELECT * FROM ycsb.usertable WHERE token(y_id) > ?", "values": ["0x00"]}"#;
    let asked: Vec<String> = (0..300).map(read).chain([scan.to_owned()]).collect();
    lab.write("asked.jsonl", &asked.join("\n"));

    let of_log = ["profile", "--minutes", "0.34", "--query-log", "asked.jsonl"];
    let seen = lab.exits(0, &[&of_log[..], &hosts[..]].concat()).json();
    println!("{seen:#}");
    let figure = |path: &str| seen.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    let mean = |of: &str, what: &str| figure(&format!("/workload/{of}/mean/{what}"));
    for of in ["clients", "nodes/0/replicas"] {
        let (reads, writes) = (mean(of, "reads") + mean(of, "scans"), mean(of, "writes"));
        assert!((reads / (reads + writes) - READ_SHARE).abs() < 0.02, "{of}: {reads} reads, {writes} writes");
        assert!((reads / (PER_S * READ_SHARE) - 1.0).abs() < 0.1, "{of}: {reads} reads a second");
    }
    assert_eq!(seen["workload"]["tables"][0]["schema"]["name"], "ycsb.usertable");
    assert_eq!(seen["workload"]["tables"][0]["schema"]["columns"], 10);
    assert_eq!(seen["cluster"]["nodes"], 1);
    let asked = &seen["log"]["tables"][0];
    assert_eq!(asked["table"], "ycsb.usertable", "{asked}");
    assert_eq!(asked["requests"], 300, "{asked}");
    assert_eq!(asked["without_key"], 1, "{asked}");
    // A node estimates how many partitions there are some minutes after a flush.
    if let Some(skew) = asked["skew"].as_object() {
        assert_eq!(skew["asked"], 30);
    }
    // The file of statements that the log makes, of the table as the node shows it.
    let own = &seen["log"]["own"];
    assert_eq!(own["left_out"], serde_json::json!([]), "{own}");
    assert_eq!(own["statements"][0]["text"], "SELECT * FROM usertable WHERE y_id = ?", "{own}");
    assert_eq!(own["statements"][1]["text"], "SELECT * FROM usertable WHERE token(y_id) > ?", "{own}");
    let table = &seen["log"]["own_tables"][0];
    let create = table["create"].as_str().unwrap();
    for part in
        ["CREATE TABLE usertable (\n    y_id text,\n", "    PRIMARY KEY (y_id)\n) WITH compaction = {'class': '"]
    {
        assert!(create.contains(part), "{create}");
    }
    assert_eq!(seen["not_read"], serde_json::json!([]), "5.0 has all that is asked for");
    // Nobody looked at its device, and nothing is made up of it.
    assert_eq!(seen["verdict"]["withheld"]["because"], "no_device");
    assert_eq!(seen["devices"], serde_json::json!([]));
    assert!(figure("/own_load/statements_per_minute") > 10.0);

    let arguments = [&["profile", "--minutes", "60"], &hosts[..]].concat();
    let stopped = lab.iopslab(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(6));
    kill_process(Pid::from_raw(stopped.id() as i32).unwrap(), Signal::INT).unwrap();
    let output = stopped.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["ended_early"], true);
    assert!(seen["workload"]["clients"]["mean"]["reads"].as_f64().unwrap() > 100.0, "{:#}", seen["workload"]);

    let output = load.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", lab.stderr_so_far());
}
