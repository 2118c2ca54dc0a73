//! Runs of before are still read: `kept/format-1` is a real run whose records had one `database` where today's have
//! `nodes`, cut down to its frozen inputs and one of its nine trials.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The kept run in a directory of its own, because a report writes into it.
fn kept(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/format-1");
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

fn iopslab(arguments: &[&str]) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_iopslab"))
        .args(arguments)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    (serde_json::from_slice(&output.stdout).unwrap(), stderr)
}

#[test]
fn a_run_of_format_1_is_reported_with_every_figure_of_its_host() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("quickstart-20261122T044213Z");
    kept(&run);
    let (analysis, _) = iopslab(&["report", run.to_str().unwrap(), "--format", "json"]);
    assert_eq!(
        analysis["trials"],
        serde_json::json!({"planned": 9, "done": 1, "valid": 1})
    );
    let cell = analysis["cells"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["id"] == "gp3-12000.read-heavy.c64")
        .unwrap();
    // As the program that made it reported this trial: 14,109 operations in 16 s, at the limit of its volume.
    let throughput = cell["throughput_ops_per_s"]["median"].as_f64().unwrap();
    assert!((throughput - 881.8).abs() < 0.1, "{throughput}");
    assert_eq!(cell["limit"]["kind"], "volume_iops");
    assert!(cell["bytes_on_disk"].as_f64().unwrap() > 6e8, "{cell:#}");
}

/// The kind of a line of money that is not itemised was once called by words that are hard to read.
#[test]
fn a_run_whose_money_has_the_old_name_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("kept");
    kept(&run);
    let path = run.join("plan.json");
    let mut plan: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let configuration = &mut plan["money"]["configurations"][0];
    configuration["lines"] = serde_json::json!([{
        "kind": "not_told_apart", "what": "as the experiment states it", "quantity": 1.0, "unit": "month", "unit_usd": 5.0,
        "usd_per_month": 5.0, "price_date": null, "source": "the experiment",
    }]);
    std::fs::write(&path, plan.to_string()).unwrap();
    let (analysis, _) = iopslab(&["report", run.to_str().unwrap(), "--format", "json"]);
    let line = &analysis["configurations"][0]["cost_lines"][0];
    assert_eq!(
        (&line["kind"], &line["usd_per_month"]),
        (&"not_itemised".into(), &5.0.into())
    );
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("kept");
    kept(&run);
    let record = run.join("trials/gp3-12000.read-heavy.c64/1/trial.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(
        &record,
        text.replacen("\"format_version\": 1", "\"format_version\": 3", 1),
    )
    .unwrap();
    let (analysis, _) = iopslab(&["report", run.to_str().unwrap(), "--format", "json"]);
    let text = analysis.to_string();
    assert!(text.contains("format_version 3") && text.contains("up to 2"), "{text}");
}
