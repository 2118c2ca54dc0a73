//! What need not be named in a folder of its own, and what a run does otherwise than its file says.

use serde_json::Value;

use crate::support::{Laboratory, Said, one_line, two_equal};

const EXPERIMENT: &str = concat!("# Whose is faster?\n", two_equal!("", "duration_s = 45\nrepetitions = 3\n"));

/// Status, stdout and the words of stderr.
fn said(lab: &Laboratory, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Said { code, stdout, stderr } = Said::of(&mut lab.iopslab(arguments));
    (code, stdout, one_line(&stderr))
}

#[test]
fn a_folder_has_its_experiment_and_its_latest_run() {
    let lab = Laboratory::new();
    for (arguments, advice) in [
        (&["run"][..], "iopslab run --resume RUN"),
        (&["plan"], "iopslab plan FILE"),
        (&["report"], "iopslab report RUN"),
        (&["compare"], "iopslab compare BEFORE AFTER"),
        (&["size", "--throughput", "9k", "--read-share", "0.8", "--data", "1TB"], "iopslab size RUN..."),
        (&["next"], "iopslab next RUN"),
    ] {
        let (code, _, stderr) = said(&lab, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(advice), "{arguments:?}: {stderr}");
    }

    // No truth is stated: one flag is the rehearsal.
    lab.write("experiment.toml", EXPERIMENT);
    let rehearse = ["run", "--provider", "simulated", "--format", "json"];
    let (code, first, stderr) = said(&lab, &rehearse);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, _, stderr) = said(&lab, &["compare"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("no two runs are named"), "{stderr}");
    let (code, second, stderr) = said(&lab, &[&rehearse[..], &["--set", "name=again"]].concat());
    assert_eq!(code, Some(0), "{stderr}");

    let run = |document: &str| {
        let document: Value = serde_json::from_str(document).unwrap();
        document["run"].as_str().unwrap().to_owned()
    };
    let (first, second) = (run(&first), run(&second));
    assert!(first.starts_with("story-") && second.starts_with("again-"), "{first}, {second}");
    std::fs::create_dir(lab.path().join("runs/zzz-no-run")).unwrap();
    let (code, latest, stderr) = said(&lab, &["report", "--format", "json"]);
    assert_eq!((code, run(&latest)), (Some(0), second.clone()), "{stderr}");
    assert!(stderr.contains(&format!("the latest run: runs/{second}")), "{stderr}");

    // Both are the same simulation: that they are alike says nothing.
    let (code, text, stderr) = said(&lab, &["compare"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains(&format!("before: runs/{first}; after, the latest run: runs/{second}")), "{stderr}");
    assert!(text.contains("both are simulations of one truth with one seed"), "{text}");
}

#[test]
fn a_run_measures_what_is_asked_for_beside_its_file_and_says_so_in_its_own() {
    let lab = Laboratory::new();
    lab.write("experiment.toml", EXPERIMENT);
    let otherwise = ["--set", "load.repetitions=1", "--only", "b.reads.c32"];
    let (code, planned, stderr) = said(&lab, &[&["plan", "--format", "json"][..], &otherwise].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let planned: Value = serde_json::from_str(&planned).unwrap();
    assert_eq!(planned["plan"]["trials"].as_array().unwrap().len(), 1, "{planned:#}");

    let (code, _, stderr) = said(&lab, &[&["run", "--provider", "simulated"][..], &otherwise].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let run = lab.run_directory();
    let frozen = std::fs::read_to_string(run.join("experiment.toml")).unwrap();
    assert!(frozen.starts_with("# Whose is faster?\nname"), "{frozen}");
    assert!(frozen.contains("repetitions = 1\n") && frozen.contains("only = [\"b.reads.c32\"]\n"), "{frozen}");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("Left out, as this run was asked to: configuration a"), "{report}");
    let (_, said_of_both, _) = said(&lab, &["plan", "--only", "b,a"]);
    assert!(!said_of_both.contains("Left out"), "{said_of_both}");
    let (_, said_of_one, _) = said(&lab, &["plan", "--only", "b"]);
    assert!(said_of_one.contains("Left out (`only` of [load]): configuration a"), "{said_of_one}");
    // What goes on is what began.
    let run = run.to_str().unwrap();
    let (code, _, stderr) = said(&lab, &["run", run]);
    assert_eq!(code, Some(2), "{stderr}");
    let flat = stderr.replace(" │", "");
    assert!(flat.contains("is a run, and an experiment file was expected"), "{stderr}");
    assert!(flat.contains("iopslab run --resume"), "{stderr}");
    std::os::unix::fs::symlink(run, lab.path().join("my run")).unwrap();
    let (_, _, stderr) = said(&lab, &["run", "my run"]);
    assert!(stderr.replace(" │", "").contains("iopslab run --resume 'my run';"), "{stderr}");
    assert_eq!(said(&lab, &["run", "--resume", run]).0, Some(0));
    let (code, _, stderr) = said(&lab, &["run", "--resume", run, "--set", "load.repetitions=2"]);
    assert_eq!(code, Some(2), "{stderr}");

    for (flags, reason) in [
        (&["--only", "b.reads.c64"][..], "--only b.reads.c64: there is no cell `b.reads.c64`"),
        (&["--only", "c"], "--only c: there is no configuration `c`"),
        (&["--set", "configuration.bb.nodes=3"], "did you mean `b`?"),
        (&["--set", "load.repetition=1"], "--set load.repetition=1: unknown key `repetition`"),
        (&["--set", "load.rate=abc"], "--set load.rate=abc: rate cannot be \"abc\""),
        (&["--set", "configuration.nodes=3"], "configuration.NAME.KEY, NAME being one of a, b"),
        (&["--set", "load.repetitions"], "expected KEY=VALUE"),
    ] {
        let (code, _, stderr) = said(&lab, &[&["plan"][..], flags].concat());
        assert_eq!(code, Some(2), "{flags:?}: {stderr}");
        assert!(stderr.contains(reason), "{flags:?}: {stderr}");
        assert!(!stderr.contains("experiment.toml:"), "nobody wrote that there: {stderr}");
    }
    // What is wrong with the file itself stands at its line, whatever is set above it.
    lab.write("experiment.toml", &EXPERIMENT.replacen("duration_s = 45", "duration_s = 0", 1));
    let line = 1 + EXPERIMENT.lines().position(|line| line == "duration_s = 45").unwrap();
    let (_, _, stderr) = said(&lab, &["plan", "--set", "question=Why?"]);
    assert!(stderr.contains(&format!("experiment.toml:{line}:14")), "{stderr}");
}

/// clap proposed `-- --dry-run` for any option that nobody knows.
#[test]
fn an_unknown_option_is_refused_without_a_tip_that_leads_nowhere() {
    let lab = Laboratory::new();
    let (code, _, stderr) = said(&lab, &["run", "experiment.toml", "--dry-run"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--dry-run") && !stderr.contains("-- --dry-run"), "{stderr}");
}
