//! Rates that are found against those that are true, through the program: searches, trials and all.

use std::collections::BTreeMap;
use std::process::Command;

use analysis::OperationKind;
use experiment::PlannedTrial;
use serde_json::Value;
use simulator::Simulation;

use crate::rates::{at_least, at_most, seeds};
use crate::story::{Story, configuration, iops, measured, measured_trial, share};

/// Bound on p99, milliseconds: where it has begun to grow with the rate, for requests of 0.4 and of 5 ms.
fn bound_ms(io_bound: bool) -> f64 {
    if io_bound { 20.0 } else { 40.0 }
}

/// Two equal configurations whose limit is the volume, or the CPU, under the usual noise.
fn story(io_bound: bool) -> Story {
    let volume = |name| iops(name, if io_bound { 600 } else { 200_000 });
    Story {
        records: 20_000_000,
        configurations: [volume("a"), volume("b")].concat(),
        workload: "read = 0.95\nupdate = 0.05".into(),
        load: "rate = \"find\"\nwarmup_s = 10\nduration_s = 60".into(),
        repetitions: 3,
        // Full before a trial begins: else a longer trial has another p99, and no rate is the true one.
        local: "page_cache_mib = 64".into(),
        rest: format!("[objective]\np99_ms = {}", bound_ms(io_bound)),
        // A slow CPU: so many requests as a volume takes, and no more to simulate.
        truth: format!(
            "read_cpu_us = {0}\nwrite_cpu_us = {0}\nrun_noise = 0.02\nblock_noise = 0.02",
            if io_bound { 400 } else { 5_000 }
        ),
    }
}

/// The rate at which p99 is at its bound: between two of rates 2 % apart, found by long trials at as many of them as
/// halving takes, because p99 grows with the rate.
fn truth(io_bound: bool, around: f64) -> f64 {
    let rates: Vec<String> = (-10..=10).map(|i| format!("{:.3}", around * 1.02_f64.powi(i))).collect();
    let story = Story {
        configurations: configuration("a", &volume(io_bound)),
        load: format!("rate = [{}]\nwarmup_s = 10\nduration_s = 600", rates.join(", ")),
        repetitions: seeds(3, 8) as u32,
        truth: story(io_bound).truth.replace("noise = 0.02", "noise = 0.0"),
        ..story(io_bound)
    };
    let job = story.job();
    let simulation = Simulation::new(&job, job.plan.place.truth().unwrap());
    let mut known = BTreeMap::new();
    // Above 0 beyond the bound.
    let mut beyond = |at: usize| {
        *known.entry(at).or_insert_with(|| {
            let own = job.plan.trials.iter().filter(|planned| planned.cell == job.plan.cells[at].id);
            let of_trial = |planned: &PlannedTrial| {
                let trial = measured_trial(&simulation, planned);
                let p99_ms = trial.response[&OperationKind::Read].figures.p99.unwrap() / 1e3;
                1.0 - bound_ms(io_bound) / p99_ms
            };
            let all: Vec<f64> = own.map(of_trial).collect();
            all.iter().sum::<f64>() / all.len() as f64
        })
    };
    let (mut low, mut high) = (0, rates.len() - 1);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if beyond(middle) > 0.0 { high = middle } else { low = middle }
    }
    let (meets, misses) = (beyond(low), beyond(high));
    assert!(meets <= 0.0 && misses > 0.0, "p99 is not at its bound within 20 % of {around}: {meets} {misses}");
    let [low, high] = [low, high].map(|at| rates[at].parse::<f64>().unwrap());
    low + (high - low) * -meets / (misses - meets)
}

/// The most that a closed loop does for ten minutes, without noise.
fn most(io_bound: bool) -> f64 {
    let story = Story {
        configurations: configuration("a", &volume(io_bound)),
        load: "concurrency = [256]\nwarmup_s = 10\nduration_s = 600".into(),
        repetitions: 1,
        rest: String::new(),
        truth: story(io_bound).truth.replace("noise = 0.02", "noise = 0.0"),
        ..story(io_bound)
    };
    measured(&story.job())[0].throughput().unwrap()
}

fn volume(io_bound: bool) -> String {
    let iops = if io_bound { 600 } else { 200_000 };
    format!("data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}")
}

/// What a run of the program finds for `a` and `b`, and how many whole trials a configuration took in all.
fn found(story: &Story, seed: u64) -> (Vec<Value>, f64) {
    let place = tempfile::tempdir().unwrap();
    let text = story.text().replace("[provider.simulated]\n", &format!("[provider.simulated]\nseed = {seed}\n"));
    std::fs::write(place.path().join("capacity.toml"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_iopslab"))
        .current_dir(place.path())
        .args(["run", "capacity.toml", "--provider", "simulated", "--format", "json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = analysis["capacities"].as_array().unwrap().clone();
    let probe_s: f64 = all.iter().map(|c| c["probe_s"].as_f64().unwrap()).sum();
    let trials = analysis["trials"]["done"].as_f64().unwrap();
    // Each probe has three seconds before it.
    let probes: f64 = all.iter().map(|c| c["probes"].as_f64().unwrap()).sum();
    (all, (trials + (probe_s + 3.0 * probes) / 70.0) / 2.0)
}

#[test]
fn found_rates_are_near_the_true_ones_and_equal_configurations_are_equal() {
    for io_bound in [true, false] {
        let story = story(io_bound);
        let rate = |c: &Value| c["ops_per_s"].as_f64().unwrap_or(f64::NAN);
        let end = |c: &Value, name: &str, other: f64| c[name].as_f64().unwrap_or(other);
        let (first, _) = found(&story, 1);
        let truth = truth(io_bound, rate(&first[0]));
        let n = seeds(1, 40);
        let mut near = Vec::new();
        let (mut inside, mut apart, mut cost) = (Vec::new(), Vec::new(), Vec::new());
        let most = most(io_bound);
        for seed in 0..n {
            let (all, trials) = found(&story, 2_000 + seed);
            for c in &all {
                if std::env::var_os("IOPSLAB_SEEN").is_some() {
                    eprintln!(
                        "{}: {:.1} {} {} of {truth:.1}, {trials:.1}",
                        c["configuration"],
                        rate(c),
                        c["low_ops_per_s"],
                        c["high_ops_per_s"]
                    );
                }
                near.push((rate(c) / truth - 1.0).abs() <= 0.05);
                let (low, high) = (end(c, "low_ops_per_s", 0.0), end(c, "high_ops_per_s", f64::INFINITY));
                inside.push(low <= truth && truth <= high);
                // Nothing carries more than the closed loop does for long, and a bit for the noise of what was measured
                // of it.
                let tried = c["levels"].as_array().unwrap().iter().map(|l| l["ops_per_s"].as_f64().unwrap());
                let tried = tried.fold(0.0, f64::max);
                let end = c["high_ops_per_s"].as_f64().unwrap_or(tried);
                assert!(!io_bound || end <= (1.05 * most).max(tried), "{end} beyond {tried} tried, {most} possible");
            }
            let clear = |a: &Value, b: &Value| end(a, "low_ops_per_s", 0.0) > end(b, "high_ops_per_s", f64::INFINITY);
            apart.push(clear(&all[0], &all[1]) || clear(&all[1], &all[0]));
            cost.push(trials);
        }
        let name = if io_bound { "IOPS-bound" } else { "CPU-bound" };
        cost.sort_by(f64::total_cmp);
        println!(
            "| found rates, {name} (truth {truth:.1}/s) | within 5 %: {:.1} %; truth between the ends: {:.1} %; equal \
             ones apart: {:.1} %; whole trials each: median {:.1}, most {:.1} | {n} |",
            share(&near) * 100.0,
            share(&inside) * 100.0,
            share(&apart) * 100.0,
            cost[cost.len() / 2],
            cost[cost.len() - 1]
        );
        assert!(at_least(share(&near), 0.9, 2 * n), "{name}: {:.2} are near", share(&near));
        assert!(at_least(share(&inside), 0.9, 2 * n), "{name}: {:.2} hold it", share(&inside));
        assert!(at_most(share(&apart), 0.05, n), "{name}: {:.2} apart", share(&apart));
        let cheap: Vec<bool> = cost.iter().map(|trials| *trials <= 12.0).collect();
        assert!(at_least(share(&cheap), 0.9, n), "{name}: {:.2} are cheap", share(&cheap));
    }
}

/// A rate that is met for as long as credits last is not found; from an empty bucket one is, below the baseline.
#[test]
fn a_rate_that_burst_credits_carry_is_not_found() {
    for (burst, is_found) in [(", burst = \"full\"", false), ("", true)] {
        let story = Story { configurations: crate::story::gp2("gp2", 100, burst), ..story(true) };
        let (all, _) = found(&story, 7);
        println!("{burst}: {}", all[0]);
        assert_eq!(all[0]["outcome"]["is"] != "withheld", is_found, "{}", all[0]);
        let rate = all[0]["high_ops_per_s"].as_f64().unwrap_or(0.0);
        // 0.8 reads of the volume for each operation, of 300 a second.
        assert!(!is_found || (200.0..450.0).contains(&rate), "{rate}");
    }
}
