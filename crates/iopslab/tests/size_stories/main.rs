//! `iopslab size` and `next` on evidence whose truth is known: what they predict is then simulated. One process, as
//! most stories read the same evidence, which takes longest to make.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod caches;
mod clusters;
mod measured;
mod next;
mod p99;
mod predictions;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use support::Laboratory;

/// Machines with volumes under three mixes; 1.15 times as many GB on disk. Trials begin with a full page cache, so that
/// a long warm-up would only be more to read.
fn experiment(name: &str, gb: u32, machines: &[(&str, u32)], load: &str, truth: &str) -> String {
    let mut text = format!("name = \"{name}\"\n[dataset]\nrecords = {gb}_000_000\n");
    for (instance, iops) in machines {
        let id = instance.replace('.', "-");
        text += &format!(
            "[[configuration]]\nname = \"{id}-{iops}\"\ninstance = \"{instance}\"\n\
             data_volume = {{ type = \"io1\", size_gib = 1000, iops = {iops} }}\n\
             commitlog_volume = {{ type = \"gp2\", size_gib = 100 }}\n"
        );
    }
    for (workload, read) in [("read-heavy", 0.8), ("balanced", 0.5), ("write-heavy", 0.2)] {
        text += &format!("[[workload]]\nname = \"{workload}\"\nread = {read}\nupdate = {}\n", 1.0 - read);
    }
    text + &format!(
        "[load]\n{load}\nduration_s = 120\n\
         [provider.simulated]\nread_cpu_us = 400\nwrite_cpu_us = 250\nreads_per_miss = 1.3\nclient_threads = 16\n\
         block_noise = 0.01\n{truth}\n"
    )
}

const MEASURED: [(&str, u32); 4] =
    [("r4.xlarge", 2000), ("r4.xlarge", 8000), ("r4.2xlarge", 4000), ("r4.2xlarge", 12_000)];

/// As many repetitions as a spread needs; two cannot be tested.
const CLOSED: &str = "concurrency = [128]\nwarmup_s = 20\nrepetitions = 2";

/// Runs an experiment; gives its directory.
fn run(lab: &Laboratory, name: &str, text: &str) -> String {
    lab.write(&format!("{name}.toml"), text);
    let out = format!("run-{name}");
    lab.exits(0, &["run", &format!("{name}.toml"), "--provider", "simulated", "--out", &out]);
    lab.run_in(&out).display().to_string()
}

/// One run of [`MEASURED`] in a closed loop for all stories that only read it; made anew by each test process.
fn evidence(lab: &Laboratory) -> &'static str {
    static EVIDENCE: OnceLock<String> = OnceLock::new();
    EVIDENCE.get_or_init(|| kept(lab, "evidence", CLOSED, ""))
}

/// Another one, in which a machine has less than half the speed, and nothing in the experiment distinguishes it; as
/// many repetitions as can be tested.
fn slow(lab: &Laboratory) -> &'static str {
    static SLOW: OnceLock<String> = OnceLock::new();
    SLOW.get_or_init(|| {
        let three = CLOSED.replace("repetitions = 2", "repetitions = 3");
        kept(lab, "slow", &three, "speed = { r4-xlarge-8000 = 0.4 }")
    })
}

/// Runs [`MEASURED`], and keeps the run for other stories.
fn kept(lab: &Laboratory, name: &str, load: &str, truth: &str) -> String {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("size-{name}"));
    drop(std::fs::remove_dir_all(&kept));
    let made = run(lab, name, &experiment(name, 100, &MEASURED, load, truth));
    std::fs::rename(&made, &kept).unwrap();
    kept.display().to_string()
}

/// A copy of a run, to be changed.
fn copied(lab: &Laboratory, run: &str, name: &str) -> String {
    let copy = lab.path().join(name).display().to_string();
    assert!(std::process::Command::new("cp").args(["-r", run, &copy]).status().unwrap().success());
    copy
}

/// Changes each configuration of a run's plan, by its name.
fn replan(run: &str, change: impl Fn(&str, &mut Value)) {
    let path = Path::new(run).join("plan.json");
    let mut plan: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for configuration in plan["configurations"].as_array_mut().unwrap() {
        let name = configuration["name"].as_str().unwrap().to_owned();
        change(&name, configuration);
    }
    std::fs::write(&path, plan.to_string()).unwrap();
}

/// One node without replication, everything used to the full: the answer is then a capacity.
const ONE_NODE: [&str; 10] =
    ["--replication-factor", "1", "--zones", "1", "--survive", "none", "--headroom", "0%", "--consistency", "one"];

fn size(lab: &Laboratory, run: &str, more: &[&str]) -> Value {
    lab.exits(0, &[&["--format", "json", "size", run], more].concat()).json()
}

/// 9 TB-copies on machines of 64 GiB: 9 % of the data must fit the page cache for the evidence to carry (half of the 18
/// % measured).
const MUCH_DATA: [&str; 10] = [
    "--throughput",
    "30000",
    "--read-share",
    "0.8",
    "--data",
    "3TB",
    "--consistency",
    "quorum",
    "--candidate",
    "r5.2xlarge+gp3:7000GiB:16000:1000",
];

/// The cheapest proposal, whatever is doubted about it: one of which nothing is may stand before it.
fn cheapest(answer: &Value) -> &Value {
    let mut proposals = answer["proposals"].as_array().unwrap().iter();
    proposals.find(|p| p["configuration"] == answer["choice"]["cheapest"]).unwrap()
}
