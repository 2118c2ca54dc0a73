//! Stories of runs that did not go well: what is repeated, what is reported all the same, and what shows that evidence
//! is what was measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::{Laboratory, json, two_equal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Two configurations, one workload, one level, three blocks: six trials.
const EXPERIMENT: &str = two_equal!("", "duration_s = 45\nrepetitions = 3\n[provider.simulated]\nrun_noise = 0.02\n");

fn simulated(lab: &Laboratory) -> PathBuf {
    lab.write("x.toml", EXPERIMENT);
    lab.exits(0, &["run", "x.toml", "--provider", "simulated"]);
    lab.run_directory()
}

/// As if the trial had ended like this.
fn spoil(run: &Path, trial: &str, cause: &str, reason: &str) {
    let path = run.join("trials").join(trial).join("trial.json");
    let mut record = json(&path);
    record["status"] = json!("invalid");
    record["cause"] = json!(cause);
    record["reason"] = json!(reason);
    record["log_tail"] = json!([]);
    record["client"] = Value::Null;
    std::fs::write(&path, record.to_string()).unwrap();
}

fn valid(run: &Path) -> u64 {
    json(&run.join("analysis.json"))["trials"]["valid"].as_u64().unwrap()
}

#[test]
fn a_trial_whose_database_did_not_start_is_repeated_by_resume() {
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let path = run.display().to_string();
    spoil(&run, "a.reads.c32/2", "did_not_start", "the database did not start: no port");
    spoil(&run, "b.reads.c32/1", "database_ended", "Cassandra ended during the trial: exit code 1");
    lab.exits(0, &["report", &path]);
    assert_eq!(valid(&run), 4);

    let stderr = lab.exits(0, &["run", "--resume", &path]).stderr;
    assert!(stderr.contains("5 of 6 trials are done"), "{stderr}");
    assert!(stderr.contains("repeating a.reads.c32 block 2: the database did not start: no port"), "{stderr}");
    assert!(!stderr.contains("repeating b"), "{stderr}");
    assert_eq!(valid(&run), 5);
    let kept = json(&run.join("set-aside/a.reads.c32/2.1/trial.json"));
    assert_eq!(kept["cause"], "did_not_start", "what was is still there");
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    assert!(journal.contains("\"trial_set_aside\""), "{journal}");

    // What the database did under load is an outcome: it is repeated only when that is asked for.
    let stderr = lab.exits(0, &["run", "--resume", &path, "--retry-invalid"]).stderr;
    assert!(stderr.contains("repeating b.reads.c32 block 1: Cassandra ended"), "{stderr}");
    assert_eq!(valid(&run), 6);
    lab.exits(0, &["report", &path, "--verify"]);

    let stderr = lab.exits(0, &["run", "--resume", &path, "--retry-invalid"]).stderr;
    assert!(stderr.contains("6 of 6 trials are done") && !stderr.contains("repeating"), "{stderr}");
}

/// A rule of the analysis, not the run itself, makes this trial invalid.
#[test]
fn what_a_rule_made_invalid_is_repeated_when_that_is_asked_for() {
    let lab = Laboratory::new();
    let errors =
        "\n[[provider.simulated.fault]]\nkind = \"errors\"\nconfiguration = \"b\"\nblocks = [2]\namount = 0.05\n";
    lab.write("x.toml", &format!("{EXPERIMENT}{errors}"));
    lab.exits(0, &["run", "x.toml", "--provider", "simulated"]);
    let run = lab.run_directory();
    assert_eq!(valid(&run), 5, "one trial has too many errors");
    let path = run.display().to_string();
    let stderr = lab.exits(0, &["run", "--resume", &path]).stderr;
    assert!(!stderr.contains("repeating"), "{stderr}");
    let stderr = lab.exits(0, &["run", "--resume", &path, "--retry-invalid"]).stderr;
    assert!(stderr.contains("repeating b.reads.c32 block 2: errors_above"), "{stderr}");
    assert!(run.join("set-aside/b.reads.c32/2.1/latency.hlog").is_file());
}

#[test]
fn what_a_resumed_run_cannot_choose_is_refused_with_the_reason() {
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let path = run.display().to_string();
    let journal = std::fs::read(run.join("journal.jsonl")).unwrap();
    for (more, reason) in [
        (["--provider", "local"], "a run goes on with the provider it began with, which is simulated"),
        (["--out", "elsewhere"], "a run goes on in its own directory"),
    ] {
        let arguments = ["run", "--resume", &path, more[0], more[1]];
        let stderr = lab.exits(2, &arguments).stderr;
        assert!(stderr.contains(reason), "{stderr}");
    }
    // A new run has nothing to retry.
    lab.exits(2, &["run", "x.toml", "--provider", "simulated", "--retry-invalid"]);
    assert_eq!(std::fs::read(run.join("journal.jsonl")).unwrap(), journal, "nothing is begun");
}

/// What happens to a file of evidence.
type Damage = fn(&Path);

#[test]
fn one_damaged_trial_is_an_invalid_one_and_the_rest_is_reported() {
    let damage: [(&str, Damage); 5] = [
        ("trial.json", |path| std::fs::write(path, "{\"format_version\": 1, ").unwrap()),
        ("trial.json", |path| std::fs::remove_file(path).unwrap()),
        ("latency.hlog", |path| {
            let text = std::fs::read_to_string(path).unwrap();
            std::fs::write(path, text.replacen("Tag=read,", "Tag=raed,", 1)).unwrap();
        }),
        ("latency.hlog", |path| std::fs::write(path, b"\0\0\0\0nonsense").unwrap()),
        ("host-database.parquet", |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }),
    ];
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let path = run.display().to_string();
    let trial = run.join("trials/b.reads.c32/3");
    for (file, damage) in damage {
        let before = std::fs::read(trial.join(file)).unwrap();
        damage(&trial.join(file));
        let analysis = lab.exits(0, &["report", &path, "--format", "json"]).json();
        assert_eq!(analysis["trials"], json!({"planned": 6, "done": 6, "valid": 5}), "{file}");
        let invalid = &analysis["cells"][1]["trials_invalid"][0];
        assert_eq!(invalid["block"], 3, "{invalid}");
        assert!(invalid["reason"].as_str().unwrap().contains(file), "{file}: {invalid}");

        // And the list of hashes names it.
        let said = lab.exits(3, &["report", &path, "--verify"]);
        let named = format!("trials/b.reads.c32/3/{file} ");
        assert!(said.stdout.is_empty() && said.stderr.contains(&named), "{}", said.all());
        std::fs::write(trial.join(file), before).unwrap();
    }
    let stderr = lab.exits(0, &["report", &path, "--verify"]).stderr;
    assert!(stderr.contains("files of evidence are as they were measured"), "{stderr}");

    // The journal has no hash, because it grows; emptied or cut it is found all the same.
    let journal = run.join("journal.jsonl");
    let whole = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for (kept, expected) in [(0, "does not begin with the run"), (3, "was cut"), (lines.len(), "")] {
        std::fs::write(&journal, lines[..kept].concat()).unwrap();
        let said = lab.exits(if expected.is_empty() { 0 } else { 3 }, &["report", &path, "--verify"]);
        assert!(said.stderr.contains(expected), "{kept} lines: {}", said.stderr);
        assert_eq!(said.stdout.is_empty(), !expected.is_empty(), "{}", said.stdout);
    }

    // A damaged trial is repeated like any invalid one.
    std::fs::remove_file(trial.join("latency.hlog")).unwrap();
    let stderr = lab.exits(0, &["run", "--resume", &path, "--retry-invalid"]).stderr;
    assert!(stderr.contains("repeating b.reads.c32 block 3: cannot read"), "{stderr}");
    assert_eq!(valid(&run), 6);
}

#[test]
fn a_trial_in_the_place_of_another_is_not_counted() {
    let lab = Laboratory::new();
    let run = simulated(&lab);
    let trials = run.join("trials/a.reads.c32");
    for file in std::fs::read_dir(trials.join("1")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), trials.join("2").join(file.file_name())).unwrap();
    }
    let analysis = lab.exits(0, &["report", run.to_str().unwrap(), "--format", "json"]).json();
    let invalid = &analysis["cells"][0]["trials_invalid"][0];
    assert_eq!(invalid["block"], 2);
    let reason = invalid["reason"].as_str().unwrap();
    assert!(reason.contains("holds the record of a.reads.c32 block 1"), "{reason}");
    lab.exits(3, &["report", run.to_str().unwrap(), "--verify"]);
}

#[test]
fn ctrl_c_exits_130_keeps_what_is_done_and_says_how_to_go_on() {
    let lab = Laboratory::new();
    let long = EXPERIMENT.replace("repetitions = 3", "repetitions = 900");
    lab.write("x.toml", &long);
    let mut child = lab.spawn(&["run", "x.toml", "--provider", "simulated"]);
    lab.wait_in(&mut child, "a first trial", Duration::from_secs(60), || {
        lab.stderr_so_far().contains("writing results to") && !lab.trials().is_empty()
    });
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    let status = child.wait().unwrap();
    let stderr = lab.stderr_so_far();
    assert_eq!(status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("every finished trial is kept"), "{stderr}");
    assert!(stderr.contains("iopslab run --resume") && stderr.contains("iopslab report"), "{stderr}");
    let done = lab.trials().len();
    assert!((1..1_800).contains(&done), "{done}");
    let run = lab.run_directory().display().to_string();
    lab.exits(0, &["report", &run, "--verify"]);
}
