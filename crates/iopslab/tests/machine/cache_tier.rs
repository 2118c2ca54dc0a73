//! A real Cassandra with two nodes of memcached in front of it, beside one without.

use evidence::HostSample;
use reported::Series;
use reported::cassandra::TABLE_READS;
use reported::memcached::{CPU_S, DELETES, HITS, ITEMS, MISSES, SETS};

use super::backlog::samples;
use crate::support::{Laboratory, Said, conformance, lane::Share};

/// 100,000 records at 1:8, the data set of other stories, of which the caches hold two fifths.
const EXPERIMENT: &str = r#"
name = "caches"

[target]
database = "cassandra"
version = "5.0.9"

[dataset]
records = 800_000

[[configuration]]
name = "alone"
instance = { vcpus = 4.8, memory_gib = 64 }
data_volume = { iops = 8000, mib_per_s = 800, size_gib = 16 }
memory_limit_gib = 60

[[configuration]]
name = "cached"
instance = { vcpus = 4.8, memory_gib = 64 }
data_volume = { iops = 8000, mib_per_s = 800, size_gib = 16 }
memory_limit_gib = 60
cache_tier = { memory_gib = 0.18, nodes = 2, instance = "m7g.medium" }

[[workload]]
name = "popular"
read = 0.95
update = 0.05
distribution = "zipfian"

[load]
rate = [2400]
rest_max_s = 0
warmup_s = 8
duration_s = 14
repetitions = 1
seed = 36

[provider.local]
scale = 8
heap_mib = 512
page_cache_mib = 64
"#;

/// The cached one alone, whose second cache is away for six seconds.
fn with_a_cache_killed() -> String {
    let (head, both) = EXPERIMENT.split_once("[[configuration]]").unwrap();
    let (_, cached) = both.split_once("[[configuration]]").unwrap();
    let fault = "[[fault]]\nkind = \"cache-kill\"\nnode = 2\nat_s = 6\nfor_s = 6\n\n[load]";
    format!("{head}[[configuration]]{cached}").replace("[load]", fault).replace("duration_s = 14", "duration_s = 22")
}

/// By how much a counter grew in the measured seconds.
fn grown(samples: &[HostSample], series: &Series) -> f64 {
    let measured = samples.iter().filter(|sample| (0.0..=14.0).contains(&sample.t_s));
    let known: Vec<f64> = measured.filter_map(|sample| sample.database.get(series)).collect();
    known.last().unwrap() - known.first().unwrap()
}

#[test]
fn caches_answer_what_is_popular_and_the_database_the_rest() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("caches.toml", EXPERIMENT);
    let analysis = lab.exits(0, &["run", "caches.toml", "--format", "json"]).json();
    let cell = |name: &str| {
        let cells = analysis["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["configuration"] == name).unwrap().clone()
    };
    let (alone, cached) = (cell("alone"), cell("cached"));
    for cell in [&alone, &cached] {
        assert_eq!(cell["valid_trials"], 1, "{cell:#}");
    }
    assert!(alone["cache_tier"].is_null(), "{alone:#}");

    // What the client saw, and what the nodes count.
    let tier = &cached["cache_tier"];
    let hit_ratio = tier["hit_ratio"].as_f64().unwrap();
    assert!((0.2..0.95).contains(&hit_ratio), "{tier:#}");
    assert_eq!(tier["unanswered_share"], 0.0, "{tier:#}");
    // Of caches that are full, which these are not yet.
    let predicted = tier["predicted_hit_ratio"].as_f64().unwrap();
    assert!((hit_ratio - 0.05..1.0).contains(&predicted), "{tier:#}");
    let of_cached = samples(&lab, "cached");
    let (hits, misses) = (grown(&of_cached, &HITS), grown(&of_cached, &MISSES));
    println!("{hits} hits, {misses} misses; {tier:#}");
    assert!((hits / (hits + misses) - hit_ratio).abs() < 0.02, "{hits} and {misses}: {tier:#}");
    assert!(grown(&of_cached, &SETS) >= 0.9 * misses, "each miss is put there");
    assert!(of_cached.iter().filter_map(|s| s.database.get(&ITEMS)).fold(0.0, f64::max) > 1_000.0);
    assert!(tier["cpus_used"].as_f64().unwrap() > 0.0 && grown(&of_cached, &CPU_S) > 0.0);
    // Of some hundred requests a second, beside threads that wake up on their own.
    let request_us = tier["request_cpu_us"].as_f64().unwrap();
    assert!((1.0..1_000.0).contains(&request_us), "{tier:#}");
    assert!(grown(&of_cached, &DELETES) > 0.0, "each update deletes the copy");
    // Ten fields of 100 bytes for each hit, and for each record that is put there.
    let network = tier["network_bytes_per_s"].as_f64().unwrap();
    assert!(network > 0.9 * 1_000.0 * hits / 14.0, "{tier:#}");

    // The database is asked for the rest alone.
    let (of_alone, of_cached) = (grown(&samples(&lab, "alone"), &TABLE_READS), grown(&of_cached, &TABLE_READS));
    let left = of_cached / of_alone;
    assert!((left - (1.0 - hit_ratio)).abs() < 0.1, "{left} of the reads are left: {tier:#}");
    let p99 = |answer: &str| tier["latency_us"][answer]["p99"].as_f64().unwrap();
    assert!(p99("hit") < p99("miss"), "{tier:#}");
    assert_eq!(cached["errors"], serde_json::json!({}), "{cached:#}");

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("## What the cache tier answered"), "{report}");

    // What a request took of the caches' CPUs is known now, and nobody has to state it. What the database's demands
    // come to is another matter: one cell is little evidence.
    let target = ["--throughput", "2000", "--read-share", "0.95", "--data", "1GB", "--cache", "r7i.large*3"];
    let candidate = ["--candidate", "r7i.large+gp3:100GiB", "--format", "json"];
    let sized = Said::of(&mut lab.iopslab(&[&["size"], &target[..], &candidate].concat()));
    assert!(matches!(sized.code, Some(0 | 3)), "{}", sized.all());
    if sized.code == Some(0) {
        assert_eq!(sized.json()["evidence"]["cache_request_cpu_us"], tier["request_cpu_us"], "{}", sized.all());
    }
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

#[test]
fn a_cache_that_is_killed_costs_hits_and_no_acknowledged_write() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("killed.toml", &with_a_cache_killed());
    let analysis = lab.exits(0, &["run", "killed.toml", "--format", "json"]).json();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 1, "{cell:#}");

    // Each of two caches has about half of the keys.
    let phases = cell["faults"]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
    assert_eq!(names, ["before", "during", "after"], "{cell:#}");
    let hits: Vec<f64> = phases.iter().map(|phase| phase["hit_ratio"]["median"].as_f64().unwrap()).collect();
    println!("hit ratios {hits:?}");
    assert!(hits[1] < 0.75 * hits[0] && hits[1] > 0.1 * hits[0], "{hits:?}");
    let fault = &cell["faults"]["faults"][0];
    assert_eq!((&fault["kind"], &fault["problems"]), (&"cache-kill".into(), &serde_json::json!([])), "{fault:#}");
    let at = |key: &str| fault[key]["median"].as_f64().unwrap_or_else(|| panic!("{key} in {fault:#}"));
    assert!(at("began_s") >= 6.0 && at("return_began_s") >= 12.0 && at("back_s") < 19.0, "{fault:#}");

    let writes = &cell["writes"];
    let count = |key: &str| writes[key].as_u64().unwrap_or_else(|| panic!("{key} in {writes:#}"));
    assert!(count("acknowledged") > 100, "{writes:#}");
    assert_eq!((count("older"), count("missing"), count("foreign"), count("unreadable")), (0, 0, 0, 0), "{writes:#}");

    let run = lab.run_directory();
    conformance::is_whole(&lab, &run, "local");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("cache-kill of cache node 2 at 6 s for 6 s"), "{report}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
