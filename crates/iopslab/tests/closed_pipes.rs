//! Nobody reads, or nothing can be written: every command ends quietly, without a panic.

use std::process::{Output, Stdio};

use crate::support::Laboratory;

const EXPERIMENT: &str = include_str!("../../../examples/simulated.toml");

/// A laboratory with an experiment and a simulated run of it.
fn with_a_run() -> (Laboratory, String) {
    let lab = Laboratory::new();
    // Short: each of its trials is read and analysed a hundred times.
    let short = EXPERIMENT.replacen(
        "warmup_s = 60\nduration_s = 120\nrepetitions = 6",
        "warmup_s = 10\nduration_s = 30\nrepetitions = 3",
        1,
    );
    assert_ne!(short, EXPERIMENT);
    lab.write("x.toml", &short);
    lab.exits(0, &["run", "x.toml", "--provider", "simulated"]);
    let run = lab.run_directory().display().to_string();
    (lab, run)
}

/// One of each kind: what clap prints, what we print, long and short, tables and JSON.
fn commands(run: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["--help"],
        vec!["--version"],
        vec!["run", "--help"],
        vec!["schema"],
        vec!["completions", "bash"],
        vec!["catalog", "list"],
        vec!["catalog", "list", "--format", "json"],
        vec!["catalog", "show", "r5.xlarge"],
        vec!["catalog", "cost", "i3.2xlarge*3"],
        vec!["catalog", "caps", "r5.xlarge+gp3:500GiB"],
        vec!["plan", "x.toml"],
        vec!["plan", "x.toml", "--format", "json"],
        vec!["report", run],
        vec!["report", run, "--format", "json"],
        vec!["compare", run, run],
        vec!["run", "--resume", run],
        vec!["clean", "--work-directory", "nowhere"],
        // Failures of their own keep their code.
        vec!["plan", "nowhere.toml"],
        vec!["catalog", "show", "nothing"],
        vec!["compare", run, run, "--fail-if", "throughput < 50%"],
        vec!["nonsense"],
    ]
}

/// A pipe whose reader has gone.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_reader_that_goes_away_changes_neither_the_outcome_nor_the_exit_code() {
    let (lab, run) = with_a_run();
    for command in commands(&run) {
        let read = lab.output(&command);
        let unread = lab.iopslab(&command).stdout(closed()).output().unwrap();
        assert_eq!(unread.status.code(), read.status.code(), "{command:?}: {}", words(&unread));
        assert_eq!(words(&unread), words(&read), "{command:?}");
        assert!(!words(&unread).contains("panicked"), "{command:?}: {}", words(&unread));
    }
}

#[test]
fn without_any_reader_at_all_the_work_is_done() {
    let (lab, run) = with_a_run();
    std::fs::remove_file(lab.run_directory().join("report.html")).unwrap();
    for command in commands(&run) {
        let read = lab.output(&command).status.code();
        let unread = lab.iopslab(&command).stdout(closed()).stderr(closed()).status().unwrap();
        assert_eq!(unread.code(), read, "{command:?}");
    }
    assert!(lab.run_directory().join("report.html").is_file());
    let arguments = ["run", "x.toml", "--provider", "simulated", "--out", "unseen"];
    let unseen = lab.iopslab(&arguments).stdout(closed()).stderr(closed()).status().unwrap();
    assert_eq!(unseen.code(), Some(0));
    let run = std::fs::read_dir(lab.path().join("unseen")).unwrap().next().unwrap().unwrap();
    assert!(run.path().join("report.html").is_file());
}

#[test]
fn a_full_disk_is_one_line_and_exit_1() {
    let (lab, run) = with_a_run();
    for command in commands(&run) {
        let done = lab.output(&command);
        if done.status.code() != Some(0) {
            continue;
        }
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = lab.iopslab(&command).stdout(full).output().unwrap();
        let added = words(&output).strip_prefix(&words(&done)).unwrap().to_owned();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {added}");
        let line = added.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "{command:?}: {line}");
        let expected = "cannot write the results to stdout: No space left on device";
        assert!(line.contains(expected), "{command:?}: {line}");
    }
}
