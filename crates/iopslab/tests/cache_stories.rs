//! The page cache before a trial, and its size: simulated runs, from the command line to the report.

use std::path::PathBuf;

use crate::support::{Laboratory, conformance, json};
use serde_json::Value;

/// 1 GB of data on 600 IOPS; a page cache that holds all of it.
const EXPERIMENT: &str = r#"name = "caches"
question = "What does memory save?"
[dataset]
records = 1_000_000
[[configuration]]
name = "a"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { iops = 600, mib_per_s = 2000, size_gib = 100 }
[[workload]]
name = "reads"
read = 1.0
distribution = "uniform"
[load]
concurrency = [32]
cache = ["cold", "warm"]
warmup_s = 5
duration_s = 45
repetitions = 4
[provider.simulated]
run_noise = 0.02
"#;

fn simulate(lab: &Laboratory, text: &str) -> (PathBuf, Value) {
    lab.write("x.toml", text);
    lab.exits(0, &["run", "x.toml", "--provider", "simulated"]);
    let run = lab.run_directory();
    let analysis = json(&run.join("analysis.json"));
    (run, analysis)
}

#[test]
fn cold_and_warm_are_compared_with_each_other_and_never_chosen_between() {
    let lab = Laboratory::new();
    let (run, analysis) = simulate(&lab, EXPERIMENT);
    let effects = analysis["cache_effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1, "{effects:#?}");
    let effect = &effects[0];
    assert_eq!((&effect["configuration"], &effect["workload"]), (&"a".into(), &"reads".into()));
    assert_eq!(effect["throughput"]["verdict"], "faster", "{effect:#}");
    let reads = |state: &str| effect[format!("{state}_device_reads_per_operation")].as_f64().unwrap();
    assert!(reads("cold") > 0.2 && reads("warm") < 0.001, "{effect:#}");
    // One configuration: there is nothing to choose, whatever a warm cache gives.
    let decisions = analysis["decision"].as_array().unwrap();
    assert!(decisions.iter().all(|d| d["best"] == "a"), "{decisions:#?}");
    let workloads: Vec<&str> =
        analysis["workloads"].as_array().unwrap().iter().map(|w| w["name"].as_str().unwrap()).collect();
    assert_eq!(workloads, ["reads-cold", "reads-warm"]);
    for file in ["report.md", "report.html"] {
        let report = std::fs::read_to_string(run.join(file)).unwrap();
        assert!(report.contains("What a warm page cache is worth"), "{file}");
    }
    conformance::is_whole(&lab, &run, "simulated");
}

/// The model of the page cache is the simulator's own; what is fitted, and where the curve tips over, is not.
#[test]
fn throughput_falls_where_the_model_says_that_the_volume_bounds_it() {
    let lab = Laboratory::new();
    let text = EXPERIMENT.replace("cache = [\"cold\", \"warm\"]\n", "").replace("repetitions = 4", "repetitions = 3");
    let (run, analysis) = simulate(&lab, &format!("{text}[sweep]\ncache_ratio = [0.5, 0.9, 1.5, 3, 6]\n"));
    let curves = analysis["cache_curves"].as_array().unwrap();
    assert_eq!(curves.len(), 1);
    let curve = &curves[0];
    let points = curve["points"].as_array().unwrap();
    assert_eq!(points.len(), 5, "{curve:#}");
    for point in points {
        let measured = point["throughput_ops_per_s"]["median"].as_f64().unwrap();
        let predicted = point["predicted"]["ops_per_s"].as_f64().unwrap();
        println!("{} times: {measured:.0} measured, {predicted:.0} predicted", point["ratio"]);
        let (asked, ratio) = (point["asked_ratio"].as_f64().unwrap(), point["ratio"].as_f64().unwrap());
        assert!((ratio / asked - 1.0).abs() < 0.02, "{point:#}");
        assert!((measured / predicted - 1.0).abs() < 0.25, "{point:#}");
    }
    // Uniform keys: at 1.5 times a third of the reads miss, and 600 IOPS carry 1,800 of them.
    let tipping = curve["predicted_tipping_ratio"].as_f64().unwrap();
    assert!((1.0..1.5).contains(&tipping), "{tipping}");
    let [last, next] = [0, 1].map(|i| curve["measured_tipping_ratio"][i].as_f64().unwrap());
    assert!(last < tipping && tipping < next, "{last} {tipping} {next}");
    for file in ["report.md", "report.html"] {
        let report = std::fs::read_to_string(run.join(file)).unwrap();
        assert!(report.contains("Throughput over data set / page cache"), "{file}");
    }
    // With one configuration there is nothing to choose: where it tips over is the answer.
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    let answer = report.split("## ").next().unwrap();
    assert!(answer.contains("throughput holds up to a data set of"), "{answer}");
    conformance::is_whole(&lab, &run, "simulated");
}

/// Three nodes with two replicas: each holds two thirds of the data, and its page cache is held to the ratio by those.
#[test]
fn the_nodes_of_a_cluster_are_swept_each_by_its_own_data() {
    let lab = Laboratory::new();
    let text = EXPERIMENT
        .replace("cache = [\"cold\", \"warm\"]\n", "")
        .replace("repetitions = 4", "repetitions = 3")
        .replace("name = \"a\"\n", "name = \"a\"\nnodes = 3\nreplication_factor = 2\n");
    let (run, analysis) = simulate(&lab, &format!("{text}[sweep]\ncache_ratio = [0.8, 2, 4]\n"));
    let curve = &analysis["cache_curves"][0];
    let points = curve["points"].as_array().unwrap();
    assert_eq!(points.len(), 3, "{curve:#}");
    for point in points {
        let (asked, ratio) = (point["asked_ratio"].as_f64().unwrap(), point["ratio"].as_f64().unwrap());
        assert!((ratio / asked - 1.0).abs() < 0.02, "{point:#}");
        // Uniform keys: what fits is found, whichever node is asked.
        let hits = point["predicted"]["hit_ratio"].as_f64().unwrap();
        assert!((hits - (1.0 / ratio).min(1.0)).abs() < 0.02, "{point:#}");
    }
    let reads = |at: usize| points[at]["device_reads_per_operation"].as_f64().unwrap();
    println!("device reads of an operation: {:.3}, {:.3}, {:.3}", reads(0), reads(1), reads(2));
    assert!(reads(0) < 0.01, "{curve:#}");
    // Half and three quarters of the reads miss.
    assert!((reads(2) / reads(1) / 1.5 - 1.0).abs() < 0.1, "{curve:#}");
    conformance::is_whole(&lab, &run, "simulated");
}
