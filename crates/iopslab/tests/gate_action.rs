//! The GitHub Action (`action.yml`): its step is run as the runner would run it, on simulated runs.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::Laboratory;

/// One configuration on a stated truth; `cpu_us` of an operation says how fast it is.
fn experiment((seed, records): (u32, u32), cpu_us: u32) -> String {
    format!(
        r#"
name = "gate"
[dataset]
records = {records}
[[configuration]]
name = "one"
instance = {{ vcpus = 4, memory_gib = 16 }}
memory_limit_gib = 4
data_volume = {{ iops = 100_000, mib_per_s = 2000, size_gib = 100 }}
[[workload]]
name = "reads"
read = 0.95
update = 0.05
[load]
concurrency = [64]
cache = "cold"
warmup_s = 5
duration_s = 60
repetitions = 5
seed = {seed}
[provider.simulated]
read_cpu_us = {cpu_us}
write_cpu_us = 300
run_noise = 0.01
block_noise = 0.0
seed = {seed}
"#
    )
}

/// Most of its reads come from the volume.
const RECORDS: u32 = 20_000_000;

fn measured(lab: &Laboratory, name: &str, seed_and_records: (u32, u32), cpu_us: u32) -> String {
    lab.write("gate.toml", &experiment(seed_and_records, cpu_us));
    lab.exits(0, &["run", "gate.toml", "--provider", "simulated", "--out", name]);
    lab.run_in(name).display().to_string()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The step, with the inputs that `action.yml` hands to it.
fn step(lab: &Laboratory, baseline: &str, run: &str, inconclusive: &str) -> (Output, String, String) {
    let (summary, outputs) = (lab.path().join("summary.md"), lab.path().join("outputs"));
    for file in [&summary, &outputs] {
        std::fs::write(file, "").unwrap();
    }
    let output = Command::new(root().join("scripts/gate.sh"))
        .env("BASELINE", baseline)
        .env("RUN", run)
        .env("FAIL_IF", "throughput < -5%\nmean > 50%")
        .env("INCONCLUSIVE", inconclusive)
        .env("IOPSLAB", env!("CARGO_BIN_EXE_iopslab"))
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", &outputs)
        .output()
        .unwrap();
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    (output, text(&summary), text(&outputs))
}

#[test]
fn a_job_fails_on_a_proven_loss_and_passes_on_the_same_speed() {
    let lab = Laboratory::new();
    let before = measured(&lab, "before", (1, RECORDS), 400);
    let same = measured(&lab, "same", (2, RECORDS), 400);
    let slower = measured(&lab, "slower", (3, RECORDS), 600);

    let (output, summary, outputs) = step(&lab, &before, &same, "fail");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(outputs, "verdict=passed\n");
    assert!(summary.contains("throughput < -5%") && summary.contains("| "), "{summary}");

    let (output, _, outputs) = step(&lab, &before, &slower, "pass");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(outputs, "verdict=failed\n");

    let (output, summary, outputs) = step(&lab, &before, &before, "fail");
    assert_eq!(output.status.code(), Some(3), "a run against itself: {output:?}");
    assert_eq!(outputs, "verdict=inconclusive\n");
    assert!(summary.contains("both are the same run"), "{summary}");

    // Memory answered the reads of both: a loss of the storage would not have shown.
    let [small, other] = [("small", 4), ("other", 5)].map(|(name, seed)| measured(&lab, name, (seed, 100_000), 400));
    let (output, summary, outputs) = step(&lab, &small, &other, "fail");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(outputs, "verdict=inconclusive\n");
    assert!(summary.contains("of 1 cell something else was measured than the storage"), "{summary}");

    let (output, _, outputs) = step(&lab, &before, "/nonexistent", "pass");
    assert_eq!(output.status.code(), Some(2), "a missing run is bad input: {output:?}");
    assert_eq!(outputs, "", "nothing was judged");
}

#[test]
fn the_action_runs_that_step_with_these_inputs() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    for expected in [
        "run: $GITHUB_ACTION_PATH/scripts/gate.sh",
        "BASELINE: ${{ inputs.baseline }}",
        "RUN: ${{ inputs.run }}",
        "FAIL_IF: ${{ inputs.fail-if }}",
        "INCONCLUSIVE: ${{ inputs.inconclusive }}",
        "IOPSLAB: ${{ inputs.iopslab }}",
    ] {
        assert!(action.contains(expected), "action.yml lacks: {expected}");
    }
}
