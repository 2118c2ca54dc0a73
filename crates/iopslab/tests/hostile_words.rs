//! What somebody else has written into two runs that are compared: on a terminal, in a comment on a pull request, in a
//! job's log and its summary.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::received_runs::{ATTACK, change, is_shown, simulated};
use crate::support::{Exits, Laboratory};

/// A second line would be a heading, a row of a table, or a command of the runner that a job's log goes to.
const LINES: &str = "\n# Passed\n::set-output name=verdict::passed\n| 1 | 2 |\n<script>alert(1)</script>";

/// The same under another name, wherever it stands as a whole word.
fn renamed(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text.as_str() == from => to.clone_into(text),
        Value::Array(values) => values.iter_mut().for_each(|value| renamed(value, from, to)),
        Value::Object(fields) => {
            let named = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                renamed(&mut value, from, to);
                (if key == from { to.to_owned() } else { key }, value)
            });
            *fields = named.collect();
        }
        _ => {}
    }
}

/// A copy of the run, to which `short` leads: its name, and those of its configuration, workload and CPU are hostile.
fn received(lab: &Laboratory, run: &Path, short: &str, cpu: &str) {
    // A file's name has no slash.
    let called = lab.path().join(format!("{short} {LINES} {ATTACK}").replace('/', ":"));
    let copied = Command::new("cp").arg("-r").arg(run).arg(&called).status();
    assert!(copied.unwrap().success());
    let trials = ["a.reads.c32", "b.reads.c32"].into_iter().flat_map(|cell| [1, 2].map(|block| (cell, block)));
    let records = trials.map(|(cell, block)| called.join(format!("trials/{cell}/{block}/trial.json")));
    for file in records.chain(["plan.json", "setups.json"].map(|name| called.join(name))) {
        change(&file, |document| {
            renamed(document, "a", &format!("quick {LINES} {ATTACK}"));
            renamed(document, "reads", &format!("all | of | it {LINES} {ATTACK}"));
        });
    }
    change(&called.join("environment.json"), |facts| {
        facts["database"] = json!({ "cpu_model": format!("{cpu} {LINES} {ATTACK}") });
    });
    std::os::unix::fs::symlink(&called, lab.path().join(short)).unwrap();
}

/// Nothing of it is more than text where Markdown is shown, and no line of it is somebody else's.
fn is_only_text(what: &str, markdown: &str) {
    is_shown(what, markdown);
    for obeyed in ["<img", "<script", "](", "https://", "www.", "@octocat"] {
        assert!(!markdown.contains(obeyed), "{what}, {obeyed}: {markdown}");
    }
    let mut columns = None;
    for line in markdown.lines() {
        let is_theirs = ["::", "# ", "| 1 | 2 |"].iter().any(|begin| line.trim_start().starts_with(begin));
        assert!(!is_theirs, "{what}: {line}");
        // All rows of a table have as many cells as its head.
        let bars = line.starts_with("| ").then(|| line.replace("\\|", "").matches('|').count());
        assert!(columns.is_none() || bars.is_none() || columns == bars, "{what}: {line}");
        columns = bars;
    }
    assert!(markdown.contains("\\| 1 \\| 2 \\|"), "{what}: {markdown}");
}

#[test]
fn what_two_runs_of_somebody_else_say_is_text_wherever_they_are_compared() {
    let lab = Laboratory::new();
    let run = simulated(&lab);
    received(&lab, &run, "before", "old");
    received(&lab, &run, "after", "new");
    let compared = |more: &[&str]| lab.exits(0, &[&["compare", "before", "after"], more].concat()).stdout;
    let markdown = compared(&[]);
    is_only_text("a comment", &markdown);
    assert!(markdown.contains("environment.database.cpu_model: old"), "{markdown}");
    is_shown("JSON", &compared(&["--format", "json"]));

    // The step of the action, whose log a runner reads for commands: none is obeyed before it says so.
    let [summary, outputs] = ["summary.md", "outputs"].map(|name| lab.write(name, ""));
    let step = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/gate.sh"))
        .current_dir(lab.path())
        .env("GITHUB_ACTIONS", "true")
        .env("BASELINE", "before")
        .env("RUN", "after")
        .env("FAIL_IF", "throughput < -5%")
        .env("INCONCLUSIVE", "fail")
        .env("IOPSLAB", env!("CARGO_BIN_EXE_iopslab"))
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", &outputs)
        .exits(3);
    assert_eq!(std::fs::read_to_string(outputs).unwrap(), "verdict=inconclusive\n");
    is_only_text("a job's summary", &std::fs::read_to_string(summary).unwrap());
    let log = &step.stdout;
    let (first, rest) = log.split_once('\n').unwrap();
    let word = first.strip_prefix("::stop-commands::").unwrap();
    assert!(word.len() == 32 && rest.ends_with(&format!("\n::{word}::\n")), "{log}");

    let line = format!("{} compare before after", env!("CARGO_BIN_EXE_iopslab"));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(lab.path()).stdin(std::process::Stdio::null());
    match terminal.env("TERM", "xterm").output() {
        Ok(output) => is_shown("a terminal", &String::from_utf8_lossy(&output.stdout)),
        Err(error) => println!("skipped: no terminal can be made by script(1): {error}"),
    }
}
