//! Bad input starts nothing: exit code 2, a place, what was expected, and no trace on the machine.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use support::{Laboratory, leftovers};

const GOOD: &str = include_str!("../../../examples/quickstart.toml");

/// Runs a broken experiment; returns stderr.
fn refused(text: &str) -> String {
    let lab = Laboratory::new();
    lab.write("broken.toml", text);
    let output = lab.output(&["run", "broken.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(!lab.path().join("runs").exists(), "bad input must start nothing");
    assert_eq!(leftovers(), Vec::<String>::new());
    stderr
}

#[test]
fn an_unknown_key_is_shown_at_its_place_with_the_nearest_name() {
    let stderr = refused(&GOOD.replacen("repetitions", "repetition", 1));
    assert!(stderr.contains("broken.toml:"), "{stderr}");
    assert!(
        stderr.contains("repetition") && stderr.contains("repetitions"),
        "{stderr}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let lab = Laboratory::new();
    let output = lab.output(&["run", "nowhere.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere.toml"));
}

#[test]
fn text_that_is_no_toml_is_refused_with_a_line() {
    assert!(refused("name = \"x\"\nname = ").contains("broken.toml:2"));
}

#[test]
fn a_run_directory_of_a_newer_format_is_refused() {
    let lab = Laboratory::new();
    let run = lab.path().join("newer");
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("plan.json"), r#"{"format_version": 999}"#).unwrap();
    let output = lab.output(&["report", run.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("999"), "{stderr}");
}

#[test]
fn plan_touches_nothing_and_speaks_json() {
    let lab = Laboratory::new();
    lab.write("good.toml", GOOD);
    let output = lab.output(&["plan", "good.toml", "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["plan"]["trials"].as_array().unwrap().len() >= 6);
    assert_eq!(
        std::fs::read_dir(lab.path()).unwrap().count(),
        1,
        "only the experiment is there"
    );
}

#[test]
fn help_shows_examples_for_every_verb_that_has_them() {
    let lab = Laboratory::new();
    let help = lab.output(&["--help"]);
    let text = String::from_utf8_lossy(&help.stdout);
    for verb in ["run", "plan", "report", "load", "probe", "db", "doctor", "clean"] {
        assert!(text.contains(&format!("  {verb} ")), "{verb} is missing in:\n{text}");
    }
    assert!(String::from_utf8_lossy(&lab.output(&["run", "--help"]).stdout).contains("Examples:"));
}
