//! A page cache that is cold or warm when a trial begins, with a real Cassandra.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Laboratory, conformance, databases, lane::Share};

/// A volume so slow that reads from it are seen at once, and a budget that holds all of the data.
const EXPERIMENT: &str = r#"
name = "warmth"
question = "What is a warm page cache worth?"

[dataset]
records = 100_000

[[configuration]]
name = "slow"
instance = { vcpus = 0.7, memory_gib = 16 }
data_volume = { iops = 60, mib_per_s = 100, size_gib = 2 }
memory_limit_gib = 8

[[workload]]
name = "reads"
read = 1.0
distribution = "uniform"

[load]
concurrency = [4]
cache = ["cold", "warm"]
rest_max_s = 2
warmup_s = 2
duration_s = 5
repetitions = 1
seed = 7

[provider.local]
heap_mib = 512
page_cache_mib = 256
"#;

/// One database reads from its volume, the other from memory; both are the same but for that.
#[test]
fn a_warm_trial_begins_with_its_data_in_memory_and_a_cold_one_without() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("warmth.toml", EXPERIMENT);
    let analysis = lab.exits(0, &["run", "warmth.toml", "--format", "json"]).json();
    println!("{:#}", analysis["cache_effects"]);

    // Pages are where the database's limit sees them: all of the data set, and no more than there is.
    let warm = lab.record("slow.reads-warm.c4", "1");
    assert_eq!(warm["status"], "valid", "{warm:#}");
    let warmed = &warm["nodes"][0]["warmed"];
    let bytes = |of: &Value| of.as_u64().unwrap();
    println!("warmed: {warmed}");
    // All of it fits; what no read asks for need not stay.
    assert!(100 * bytes(&warmed["bytes"]) > 99 * bytes(&warmed["of_bytes"]), "{warmed}");
    assert!(bytes(&warmed["bytes"]) > 100_000_000, "{warmed}");
    assert!(bytes(&warmed["cached_bytes"]) >= bytes(&warmed["bytes"]), "{warmed}");
    assert!(lab.record("slow.reads-cold.c4", "1")["nodes"][0]["warmed"].is_null());

    let effects = analysis["cache_effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1);
    let reads = |state: &str| effects[0][format!("{state}_device_reads_per_operation")].as_f64().unwrap();
    assert!(reads("cold") > 0.5, "a cold cache reads from the volume: {effects:#?}");
    assert!(reads("warm") < 0.05, "a warm one does not: {effects:#?}");
    assert!(effects[0]["throughput"]["median"].as_f64().unwrap() > 2.0, "{effects:#?}");

    let rules_of = |cell: &str| -> Vec<&str> {
        let findings = analysis["findings"].as_array().unwrap().iter();
        let of_cell = findings.filter(|f| f["scope"].to_string().contains(cell));
        of_cell.map(|f| f["rule"].as_str().unwrap()).collect()
    };
    assert!(rules_of("reads-warm").contains(&"cache_warmed"));
    assert!(!rules_of("reads-warm").contains(&"served_from_page_cache"), "it was asked for");
    assert!(rules_of("reads-cold").contains(&"data_fits_page_cache"));

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("## What a warm page cache is worth"), "{report}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// The same data beside a page cache of twice its size, and beside one of three fifths of it, on a volume that a
/// process serves, whose own file must not be a second page cache.
#[test]
fn page_caches_have_the_sizes_of_the_ratios_and_the_volume_is_read_for_the_rest() {
    let lab = Laboratory::on_machine(Share::Half);
    let swept = EXPERIMENT
        .replace("name = \"warmth\"", "name = \"ratios\"")
        .replace("cache = [\"cold\", \"warm\"]\n", "")
        .replace("page_cache_mib = 256\n", "volumes = \"served\"\n")
        .replace("iops = 60,", "iops = 500,")
        .replace("concurrency = [4]", "concurrency = [16]")
        .replace("rest_max_s = 2", "rest_max_s = 90")
        + "\n[sweep]\ncache_ratio = [0.5, 1.7]\n";
    lab.write("ratios.toml", &swept);
    let analysis = lab.exits(0, &["run", "ratios.toml", "--format", "json"]).json();
    let points = analysis["cache_curves"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 2, "{points:#?}");
    for (point, asked) in points.iter().zip([0.5, 1.7]) {
        let cell = lab.record(point["cell"].as_str().unwrap(), "1");
        assert_eq!(cell["status"], "valid", "{cell:#}");
        let node = &cell["nodes"][0];
        let bytes = |of: &Value| of.as_f64().unwrap();
        let (data, budget) = (bytes(&node["data_bytes_on_disk"]), bytes(&node["page_cache_budget_bytes"]));
        println!("{asked} times: {data} of data, {budget} of page cache; {point:#}");
        // 1.15 bytes on disk are expected for each of payload, and it is a little less.
        assert!((data / budget / asked - 1.0).abs() < 0.15, "{point:#}");
        assert!(node["volumes"][0]["is_served"].as_bool().unwrap());
        // What does not fit is read by the workload's own keys until the page cache has been filled once by them.
        let by_keys = bytes(&node["warmed"]["by_keys_bytes"]);
        assert_eq!(by_keys >= budget, asked > 1.0, "{by_keys} of {budget}: {node:#}");
        // It began with the pages that these keys had left when the page cache had settled.
        assert_eq!(node["rest"]["cache_is_settled"], true, "{node:#}");
        let settled = bytes(&node["warmed"]["settled_reads_per_operation"]);
        let measured = point["device_reads_per_operation"].as_f64().unwrap();
        assert!((measured - settled).abs() < 0.02 + 0.2 * settled, "{measured} after {settled}: {node:#}");
        // Libraries and jars are in the cgroup's page cache and take nothing of the budget.
        let program = bytes(&node["program_cache_bytes"]);
        assert!((1e5..4e8).contains(&program), "{program}");
    }
    let reads = |at: usize| points[at]["device_reads_per_operation"].as_f64().unwrap();
    // Two fifths of the reads miss, and a miss takes more than one read.
    assert!(reads(0) < 0.05, "{}", reads(0));
    assert!((0.3..1.2).contains(&reads(1)), "{}", reads(1));
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// Nobody samples a database while its page cache is filled, and yet its end is reported as what it is.
#[test]
fn a_database_that_ends_while_its_page_cache_is_filled_makes_the_trial_invalid_for_that() {
    let lab = Laboratory::on_machine(Share::Half);
    // Nearly all of the data fits: keys that miss are rare, and filling takes long enough to be seen.
    let filled = EXPERIMENT
        .replace("cache = [\"cold\", \"warm\"]", "cache = \"warm\"")
        .replace("page_cache_mib = 256", "page_cache_mib = 96")
        .replace("concurrency = [4]", "concurrency = [16]")
        .replace("rest_max_s = 2", "rest_max_s = 12");
    lab.write("filled.toml", &filled);
    let mut run = lab.spawn(&["run", "filled.toml"]);
    lab.wait_in(&mut run, "a page cache that is filled", Duration::from_secs(300), || {
        lab.stderr_so_far().contains("filling the page cache")
    });
    let pids = databases(&lab.work().display().to_string());
    assert_eq!(pids.len(), 1, "{pids:?}");
    kill_process(Pid::from_raw(pids[0] as i32).unwrap(), Signal::KILL).unwrap();
    assert!(run.wait().unwrap().success(), "{}", lab.stderr_so_far());
    let trial = lab.record("slow.reads.c16", "1");
    assert_eq!(trial["cause"], "database_ended", "{trial:#}");
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.starts_with("Cassandra ended during the trial"), "{reason}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
