//! `rate = "find"` on the simulator: what each configuration carries, what is chosen by it, and what is said of it.

use std::path::Path;

use serde_json::Value;

use crate::simulated_stories::simulate;
use crate::support::{Laboratory, json};

/// Two volumes with prices; which rates they carry at p99 below 20 ms is to be found.
const CAPACITY: &str = r#"name = "carries"
[dataset]
records = 20_000_000
[[configuration]]
name = "small"
instance = { vcpus = 4, memory_gib = 16 }
memory_limit_gib = 4
data_volume = { iops = 300, mib_per_s = 2000, size_gib = 100 }
price_usd_per_month = 100
[[configuration]]
name = "large"
instance = { vcpus = 4, memory_gib = 16 }
memory_limit_gib = 4
data_volume = { iops = 600, mib_per_s = 2000, size_gib = 100 }
price_usd_per_month = 120
[[workload]]
name = "reads"
read = 1.0
[load]
rate = "find"
warmup_s = 5
duration_s = 60
[objective]
p99_ms = 20
[provider.simulated]
run_noise = 0.01
"#;

fn journal(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often an event stands in the journal.
fn times(run: &Path, event: &str) -> usize {
    journal(run).iter().filter(|line| line["event"] == event).count()
}

/// What a configuration carries.
fn carries(analysis: &Value, configuration: &str) -> Value {
    let mut all = analysis["capacities"].as_array().unwrap().iter();
    let own = all.find(|c| c["configuration"] == configuration);
    own.cloned().unwrap_or_else(|| panic!("{configuration}: {analysis:#}"))
}

fn because(analysis: &Value) -> &str {
    analysis["recommendation"]["because"].as_str().unwrap()
}

#[test]
fn the_highest_rate_under_the_objective_is_found_and_what_it_costs_is_said() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", CAPACITY);
    let analysis = json(&run.join("analysis.json"));
    let rate = |name: &str| carries(&analysis, name)["ops_per_s"].as_f64().unwrap();
    // Twice the IOPS carry more than twice the rate: a queue in front of a device twice as fast takes half as long.
    assert!((2.0..3.2).contains(&(rate("large") / rate("small"))), "{:#}", analysis["capacities"]);
    for name in ["small", "large"] {
        let of = carries(&analysis, name);
        assert_eq!(of["outcome"]["is"], "found", "{of:#}");
        let [low, high] = ["low_ops_per_s", "high_ops_per_s"].map(|end| of[end].as_f64().unwrap());
        assert!(low < rate(name) && rate(name) < high && high < low * 1.5, "{of:#}");
        assert_eq!(of["limit"]["kind"], "volume_iops", "{of:#}");
        assert_eq!(of["missed"]["of"]["of"], "latency");
    }
    assert_eq!(analysis["recommendation"]["run"], "large");
    let because = because(&analysis);
    assert!(because.starts_with("it carries the most for its money at p99 at most 20 ms: "), "{because}");
    assert!(because.contains("for $120.00 a month; small carries"), "{because}");
    // What was tried stands in the journal, and what was measured in its place.
    assert!(times(&run, "probed") >= 6 && times(&run, "round") >= 2);
    assert_eq!(times(&run, "searched"), 1);
    assert_eq!(times(&run, "trial_done") as u64, analysis["trials"]["valid"].as_u64().unwrap());
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("What each carries") && page.contains("Operations/s at p99 at most 20 ms"));
    assert!(std::fs::read_to_string(run.join("report.md")).unwrap().contains("## What each carries"));

    // A finished run has nothing to do.
    let before = times(&run, "probed");
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!((times(&run, "probed"), times(&run, "searched")), (before, 1));
    assert_eq!(json(&run.join("analysis.json"))["capacities"], analysis["capacities"]);
}

/// A quarter of the IOPS has queues four times as long: what is found there is said to be found there.
#[test]
fn a_bound_on_latency_in_a_model_is_named_as_one_and_doubted_first() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &(CAPACITY.to_owned() + "[provider.local]\nscale = 4\n"));
    let analysis = json(&run.join("analysis.json"));
    assert!(because(&analysis).contains("p99 at most 20 ms in the 1:4 model"), "{}", because(&analysis));
    assert_eq!(analysis["recommendation"]["doubts_typed"][0]["doubt"], "latency_in_model");
    assert_eq!(analysis["recommendation"]["doubts_typed"][0]["scale"], 4.0);
}

#[test]
fn a_search_goes_on_after_its_last_probe() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", CAPACITY);
    // As a controller that is killed after the third probe leaves it.
    let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let third = text.match_indices("\"probed\"").nth(2).unwrap().0;
    let end = third + text[third..].find('\n').unwrap() + 1;
    std::fs::write(run.join("journal.jsonl"), &text[..end]).unwrap();
    std::fs::remove_dir_all(run.join("trials")).unwrap();
    std::fs::create_dir(run.join("trials")).unwrap();
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    let numbers = |search: &str| -> Vec<u64> {
        let lines = journal(&run).into_iter().filter(|l| l["event"] == "probed" && l["search"] == search);
        lines.map(|line| line["number"].as_u64().unwrap()).collect()
    };
    for search in ["small.reads.find", "large.reads.find"] {
        let numbers = numbers(search);
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{search}: each once, in order");
    }
    assert_eq!(carries(&json(&run.join("analysis.json")), "large")["outcome"]["is"], "found");
}

#[test]
fn an_objective_that_no_rate_meets_is_reported_with_the_latency_at_next_to_no_load() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &CAPACITY.replace("p99_ms = 20", "p99_ms = 0.2"));
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(carries(&analysis, "small")["outcome"]["is"], "floor");
    assert_eq!(times(&run, "trial_done"), 0, "nothing is measured that cannot be met");
    let because = because(&analysis);
    assert!(because.contains("no configuration meets p99 at most 0.200 ms"), "{because}");
    assert!(because.contains("misses it at any rate: at ") && because.contains("read p99 is "), "{because}");
    assert_eq!(analysis["recommendation"]["not_considered"], Value::Array(Vec::new()), "probes judged both");
}

#[test]
fn rates_without_a_price_are_compared_without_cost_and_say_so() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &CAPACITY.replace("price_usd_per_month = 100\n", ""));
    let said = "it carries the most at p99 at most 20 ms, and prices are missing, so that cost does not count: ";
    assert!(because(&json(&run.join("analysis.json"))).starts_with(said));
}

#[test]
fn against_a_demand_the_cheapest_that_carries_it_with_headroom_is_run() {
    let lab = Laboratory::new();
    // Both carry some hundred a second; with 30 % free the small one carries 100, and only the large one 250. Of one
    // price the one that carries more is run, though the experiment names it last.
    for (name, demand, usd_of_large, run, claim) in [
        (
            "less",
            100,
            120,
            "small",
            "it is the cheapest that carries 100/s with 30 % headroom (143/s) at p99 at most 20 ms",
        ),
        (
            "more",
            330,
            120,
            "large",
            "it is the only one that carries 330/s with 30 % headroom (472/s) at p99 at most 20 ms",
        ),
        (
            "same",
            100,
            100,
            "large",
            "no other that carries 100/s with 30 % headroom (143/s) at p99 at most 20 ms costs less",
        ),
    ] {
        let text = CAPACITY.replace("p99_ms = 20", &format!("p99_ms = 20\nthroughput = {demand}"));
        let text = text.replace("price_usd_per_month = 120", &format!("price_usd_per_month = {usd_of_large}"));
        let analysis = json(&simulate(&lab, name, &text).join("analysis.json"));
        assert_eq!(analysis["recommendation"]["run"], run, "{}: {}", demand, because(&analysis));
        assert!(because(&analysis).starts_with(&format!("{claim}: ")), "{}", because(&analysis));
    }
    let text = CAPACITY.replace("p99_ms = 20", "p99_ms = 20\nthroughput = 5000");
    let analysis = json(&simulate(&lab, "none", &text).join("analysis.json"));
    assert_eq!(analysis["recommendation"]["run"], Value::Null);
    let none = "no configuration carries 5,000/s with 30 % headroom (7,143/s) at ";
    assert!(because(&analysis).contains(none), "{}", because(&analysis));
}

/// Four CPUs do some 10,000 operations/s, and a client that takes 500 us for each sends 2,000.
#[test]
fn a_simulated_client_at_its_limit_is_named_with_what_raises_it() {
    let lab = Laboratory::new();
    let closed = CAPACITY.replace("rate = \"find\"", "concurrency = [64]\ncache = \"cold\"\nrepetitions = 3");
    let closed = closed.replace("[objective]\np99_ms = 20\n", "").replace("iops = 300", "iops = 100000");
    let closed = closed.replace("iops = 600", "iops = 100000") + "client_cpu_us = 500\n";
    let run = simulate(&lab, "x", &closed);
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["cells"][0]["limit"]["kind"], "client");
    let because = because(&analysis);
    assert!(because.contains("the client was at its limit while it loaded small and large"), "{because}");
    assert!(because.contains("(it is simulated: more threads of it, [provider.simulated] client_threads"), "{because}");
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("client, simulated"));

    // With threads enough it is not the limit.
    let run = simulate(&lab, "y", &format!("{closed}client_threads = 100\n"));
    assert_ne!(json(&run.join("analysis.json"))["cells"][0]["limit"]["kind"], "client");

    // A rate says so before anything runs.
    let open = closed.replace("concurrency = [64]", "rate = [1700]");
    for (rate, noted) in [("1500", false), ("1700", true)] {
        lab.write("open.toml", &open.replace("1700", rate));
        let plan = lab.exits(0, &["plan", "open.toml", "--provider", "simulated", "--format", "json"]).json();
        let notes = plan["notes"].as_array().unwrap();
        assert_eq!(notes.iter().any(|note| note["rule"] == "simulated_client"), noted, "{rate}: {notes:#?}");
    }
}
