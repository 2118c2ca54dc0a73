//! `iopslab probe` of the volumes of a configuration: what fio sees of them, and what is left of them.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Laboratory, lane::Share};

/// A gp2 volume at 1:10: 300 IOPS while a 200th of its 540,000 credits lasts (10 s), then 30; and one given by its
/// limits.
const EXPERIMENT: &str = r#"
name = "probed"

[dataset]
records = 1000

[[configuration]]
name = "bursting"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { type = "gp2", size_gib = 100 }

[[configuration]]
name = "stated"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { iops = 5000, mib_per_s = 200, size_gib = 20 }

[[workload]]
name = "reads"
read = 1.0

[load]
concurrency = [1]

[provider.local]
scale = 10
burst_credits_start = 0.005
"#;

fn probe(lab: &Laboratory, arguments: &[&str]) -> Value {
    let mut all = vec!["probe", "probed.toml", "--format", "json"];
    all.extend(arguments);
    lab.exits(0, &all).json()
}

#[test]
fn a_volume_is_measured_by_size_and_by_depth_and_its_bucket_runs_empty() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("probed.toml", EXPERIMENT);
    // 500 IOPS and 20 MiB/s.
    let stated = probe(&lab, &["--configuration", "stated", "--seconds", "1.5", "--size-mib", "128"]);
    let volume = &stated["volumes"][0];
    println!("{volume:#}");
    // As far as a disk, though its loop device came with 2 MiB and more.
    assert_eq!(volume["read_ahead_kb"], json!(128));
    let tests = &volume["tests"];
    let figure = |test: &str, name: &str| tests[test][name].as_f64().unwrap();
    for test in ["random_read_4kib", "random_read_16kib"] {
        let iops = figure(test, "iops");
        // Beside other stories less than it may; more never.
        assert!((250.0..600.0).contains(&iops), "{test}: {iops}");
    }
    let large = figure("random_read_256kib", "bytes_per_s") / 1_048_576.0;
    assert!((14.0..26.0).contains(&large), "{large} MiB/s of 20");
    // The kernel reads around a fault: many find their page in memory, and the others wait for the volume.
    let (mapped, waited_us) = ["iops", "p99_us"].map(|name| figure("random_read_4kib_mapped", name)).into();
    assert!(mapped < 20_000.0 && waited_us > 5_000.0, "{mapped} faults, p99 {waited_us} us");
    let cached = tests["sequential_read"]["cached_bytes_per_s"].as_f64().unwrap();
    let uncached = tests["sequential_read"]["uncached_bytes_per_s"].as_f64().unwrap();
    assert!(cached > 5.0 * uncached, "{cached} from memory, {uncached} from the volume");
    assert!(figure("write_64kib_60_jobs", "bytes_per_s") < 26.0 * 1_048_576.0);
    let depths = tests["by_depth"].as_array().unwrap();
    assert!(!depths.is_empty() && depths.iter().all(|step| step["iops"].as_f64().unwrap() < 600.0));

    let bursting =
        probe(&lab, &["--configuration", "bursting", "--seconds", "1", "--size-mib", "64", "--burst-s", "20"]);
    let burst = &bursting["volumes"][0]["tests"]["burst"];
    println!("{burst:#}");
    let at = burst["drained_after_s"].as_f64().unwrap();
    assert!((6.0..16.0).contains(&at), "2,700 credits at 270 a second last 10 s, not {at}");
    let after = burst["after_iops"].as_f64().unwrap();
    assert!((20.0..60.0).contains(&after), "30 IOPS last, not {after}");
    assert!(burst["before_iops"].as_f64().unwrap() > 4.0 * after);
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// A volume that is served by hand, measured as somebody's directory: its read-ahead is shown, and is that of a disk.
#[test]
fn a_directory_is_measured_as_it_is_and_a_volume_by_hand_reads_ahead_as_a_disk_does() {
    let lab = Laboratory::on_machine(Share::Half);
    let mut served = lab.spawn(&["volume", "gp3:1GiB", "--mount", "v", "--format", "json"]);
    lab.wait_in(&mut served, "mount", Duration::from_secs(120), || lab.stderr_so_far().contains("is mounted on"));
    let asked = ["--seconds", "0.2", "--size-mib", "16", "--p99-ms", "0.01"];
    let found = lab.exits(0, &[&["probe", "v", "--format", "json"], &asked[..]].concat()).json();
    assert_eq!(found["read_ahead_kb"], json!(128));
    // Not one read in ten microseconds: one step is tried, and nothing is claimed.
    assert_eq!(found["tests"]["by_depth"].as_array().unwrap().len(), 1);
    assert_eq!(found["highest_under_bound"], Value::Null);
    kill_process(Pid::from_raw(served.id() as i32).unwrap(), Signal::INT).unwrap();
    assert!(served.wait().unwrap().success(), "{}", lab.stderr_so_far());
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
