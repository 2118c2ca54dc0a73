//! Several data volumes of a real Cassandra: the data lies on all of them, each is what is stated of one, and one that
//! is slowed on purpose is named.

use serde_json::Value;

use crate::support::{Laboratory, conformance, lane::Share};

/// Two small volumes, one data directory on each; a page cache too small for the data.
const MEMBERS: &str = r#"
name = "members"
question = "Do two volumes share the work?"

[dataset]
records = 50_000

[[configuration]]
name = "two"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 250, mib_per_s = 50, size_gib = 2, count = 2, layout = "directories" }
commitlog_volume = { iops = 3000, mib_per_s = 100, size_gib = 2 }
memory_limit_gib = 8
price_usd_per_month = 100

[[workload]]
name = "reads"
read = 0.9
update = 0.1
distribution = "uniform"

[load]
concurrency = [16]
rest_max_s = 2
warmup_s = 4
duration_s = 16
repetitions = 1

[provider.local]
volumes = "served"
heap_mib = 512
page_cache_mib = 32
"#;
/// The second is asked for what it has no more.
const SLOWED: &str = "[[fault]]\nkind = \"disk-slow\"\nvolume = \"data-2\"\ntimes = 8\nat_s = 6\nfor_s = 9\n\n[load]";

fn measured(lab: &Laboratory, text: &str) -> Value {
    lab.write("members.toml", text);
    let output = lab.exits(0, &["run", "members.toml", "--format", "json"]);
    let stderr = &output.stderr;
    let analysis: Value = output.json();
    assert_eq!(analysis["cells"][0]["valid_trials"], 1, "{stderr}");
    analysis
}

fn findings<'a>(analysis: &'a Value, rule: &str) -> Vec<&'a Value> {
    let all = analysis["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["rule"] == rule).collect()
}

#[test]
fn data_lies_on_two_volumes_that_do_twice_what_one_does() {
    let lab = Laboratory::on_machine(Share::Half);
    let analysis = measured(&lab, &MEMBERS.replace("duration_s = 16", "duration_s = 10"));
    let cell = &analysis["cells"][0];
    let volumes = cell["data_volumes"].as_array().unwrap();
    let names: Vec<&str> = volumes.iter().map(|v| v["volume"].as_str().unwrap()).collect();
    assert_eq!(names, ["data", "data-2"], "{cell:#}");
    // Each did more than a half of its limit: the data are on both.
    let iops: Vec<f64> = volumes.iter().map(|v| v["read_iops"].as_f64().unwrap()).collect();
    assert!(iops.iter().all(|iops| (125.0..275.0).contains(iops)), "{iops:?}");
    assert!(volumes.iter().all(|v| v["await_us"].as_f64().unwrap() > 0.0), "{volumes:?}");
    assert!(findings(&analysis, "slow_member").is_empty(), "{analysis:#}");
    let probed = |i: usize| {
        let volume = &analysis["configurations"][0]["volumes"][i];
        volume["probe"]["read_iops"].as_f64().unwrap()
    };
    for i in [0, 1] {
        assert!((200.0..265.0).contains(&probed(i)), "asked for 250 IOPS each: {}", probed(i));
    }

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("The data volumes of each cell"), "{report}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

#[test]
fn a_member_that_is_slowed_on_purpose_is_named() {
    let lab = Laboratory::on_machine(Share::Half);
    let analysis = measured(&lab, &MEMBERS.replace("[load]", SLOWED));
    let slow = findings(&analysis, "slow_member");
    assert_eq!(slow.len(), 1, "{:#}", analysis["findings"]);
    assert_eq!(slow[0]["figures"]["volume"], "data-2", "{:#}", slow[0]);
    let fault = &analysis["cells"][0]["faults"]["faults"][0];
    assert_eq!((&fault["kind"], &fault["volume"]), (&"disk-slow".into(), &"data-2".into()));
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
