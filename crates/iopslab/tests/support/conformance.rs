//! What every provider owes: whoever carried the trials out, the run is whole, and it goes on where it stopped. Each
//! provider's stories call both.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Laboratory, json};

fn planned(run: &Path) -> Vec<(String, u64)> {
    let plan = json(&run.join("plan.json"));
    let trials = plan["trials"].as_array().unwrap().iter();
    trials.map(|t| (t["cell"].as_str().unwrap().to_owned(), t["block"].as_u64().unwrap())).collect()
}

/// Number of the batch of machines that a cell is measured in; all in the first one where there is only one.
fn batch_of(run: &Path, cell: &str) -> u64 {
    let setups = json(&run.join("setups.json"));
    let all = setups["setups"].as_array().unwrap().iter();
    let of_cell = |setup: &&Value| cell.starts_with(&format!("{}.", setup["configuration"].as_str().unwrap()));
    all.filter(of_cell).find_map(|setup| setup.pointer("/at/bought/batch")?.as_u64()).unwrap_or_default()
}

fn directory(run: &Path, (cell, block): &(String, u64)) -> PathBuf {
    run.join("trials").join(cell).join(block.to_string())
}

/// The frozen inputs, every planned trial with the evidence of each of its hosts, a journal in the order of the plan,
/// and hashes that hold.
pub fn is_whole(lab: &Laboratory, run: &Path, provider: &str) {
    for file in [
        "experiment.toml",
        "plan.json",
        "setups.json",
        "catalog.json",
        "environment.json",
        "journal.jsonl",
        "run.sha256",
        "analysis.json",
        "report.md",
        "report.html",
        "summary.csv",
    ] {
        assert!(run.join(file).is_file(), "{file} is missing");
    }
    assert_eq!(json(&run.join("environment.json"))["provider"], provider);
    let planned = planned(run);
    assert!(!planned.is_empty());
    for trial in &planned {
        let directory = directory(run, trial);
        let record = json(&directory.join("trial.json"));
        assert_eq!((record["cell"].as_str(), record["block"].as_u64()), (Some(trial.0.as_str()), Some(trial.1)));
        assert_eq!(record["format_version"], evidence::FORMAT_VERSION);
        assert_eq!(record["status"], "valid", "{record:#}");
        assert!(record["client"]["measured_s"].as_f64().unwrap() > 0.0);
        let nodes = record["nodes"].as_array().unwrap();
        let hosts: Vec<&str> = nodes.iter().map(|node| node["host"].as_str().unwrap()).collect();
        assert!(!hosts.is_empty() && hosts.iter().all(|host| host.starts_with("database")), "{hosts:?}");
        for node in nodes {
            assert!(node["data_bytes_on_disk"].as_u64().unwrap() > 0, "{node:#}");
            assert!(!node["volumes"].as_array().unwrap().is_empty(), "{node:#}");
        }
        // Each batch of machines has clients of its own.
        let client = 1 + batch_of(run, &trial.0);
        let client = if client == 1 { "client".to_owned() } else { format!("client-{client}") };
        let files = hosts.iter().copied().chain([client.as_str()]).map(|host| format!("host-{host}.parquet"));
        for file in files.chain(["latency.hlog".to_owned()]) {
            assert!(directory.join(&file).is_file(), "{file} of {trial:?} is missing");
        }
    }
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done: Vec<(String, u64)> = events
        .filter(|e| e["event"] == "trial_done")
        .map(|e| (e["cell"].as_str().unwrap().to_owned(), e["block"].as_u64().unwrap()))
        .collect();
    assert_eq!(done.len(), planned.len());
    let of_batch = |all: &[(String, u64)], batch: u64| -> Vec<(String, u64)> {
        let of_batch = all.iter().filter(|(cell, _)| batch_of(run, cell) == batch);
        of_batch.cloned().collect()
    };
    for batch in 0..=planned.iter().map(|(cell, _)| batch_of(run, cell)).max().unwrap() {
        let (done, planned) = (of_batch(&done, batch), of_batch(&planned, batch));
        assert_eq!(done, planned, "trials were done in the planned order");
    }
    lab.exits(0, &["report", run.to_str().unwrap(), "--verify"]);
}

/// A trial that is missing is measured when the run is resumed.
pub fn goes_on(lab: &Laboratory, run: &Path) {
    std::fs::remove_dir_all(directory(run, planned(run).last().unwrap())).unwrap();
    resumes(lab, run);
}

/// What is missing is measured by the provider that began the run; no other trial is touched.
pub fn resumes(lab: &Laboratory, run: &Path) {
    let record = |trial: &(String, u64)| directory(run, trial).join("trial.json");
    let (kept, lost): (Vec<_>, Vec<_>) = planned(run).into_iter().partition(|trial| record(trial).exists());
    assert!(!kept.is_empty() && !lost.is_empty(), "{kept:?} {lost:?}");
    let records = || kept.iter().map(|trial| std::fs::read(record(trial)).unwrap()).collect::<Vec<_>>();
    let before = records();
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    for trial in &lost {
        assert_eq!(json(&record(trial))["status"], "valid", "{trial:?}");
    }
    assert!(records() == before, "a finished trial was touched");
}
