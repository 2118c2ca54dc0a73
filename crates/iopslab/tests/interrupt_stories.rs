//! A run whose hosts do not answer ends by itself. By Ctrl-C it ends sooner: what the first one waits for, and that the
//! second waits for nothing.
//!
//! The hosts are this machine, by an `ssh` that is a script. Its client agent is a process that says nothing and does
//! not end when its stdin is closed: one that sleeps, or one that is stopped (SIGSTOP).

use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Laboratory, by_script, wait_for};
use rustix::process::{Pid, Signal, kill_process};

/// The last word is what the machine's shell would be given.
const SSH: &str = r#"#!/bin/sh
for word; do :; done
case $word in
    *"agent --role client"*) : > "$HOME/asked"; CLIENT ;;
esac
exec sh -c "$word"
"#;
const SILENT: &str = "exec sleep 600";
const STOPPED: &str = "kill -STOP $$";

/// A run that waits for the greeting of its client, which does this instead.
fn waiting_run(lab: &Laboratory, client: &str) -> Child {
    let run = by_script::run(lab, &SSH.replace("CLIENT", client))
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(lab.path().join("stderr.txt")).unwrap())
        .spawn()
        .unwrap();
    wait_for("a client that is asked", Duration::from_secs(60), || lab.path().join("asked").exists());
    run
}

fn interrupt(run: &Child) {
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
}

/// How it ended, and after how long.
fn ended(mut run: Child, began: Instant) -> (ExitStatus, Duration) {
    let status = run.wait().unwrap();
    (status, began.elapsed())
}

#[test]
fn the_first_waits_no_longer_than_a_silent_client_may_take_and_asks_nobody_to_clean() {
    let lab = Laboratory::new();
    let run = waiting_run(&lab, SILENT);
    let began = Instant::now();
    interrupt(&run);
    let (status, took) = ended(run, began);
    let said = lab.stderr_so_far();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(said.contains("stopping in order; once more leaves at once"), "{said}");
    assert!(said.contains("the client agent does not end and was killed"), "{said}");
    assert!(!said.contains("iopslab clean"), "{said}");
}

#[test]
fn the_second_leaves_at_once() {
    let lab = Laboratory::new();
    let run = waiting_run(&lab, SILENT);
    interrupt(&run);
    wait_for("the first to be heard", Duration::from_secs(10), || {
        lab.stderr_so_far().contains("once more leaves at once")
    });
    let began = Instant::now();
    interrupt(&run);
    let (status, took) = ended(run, began);
    let said = lab.stderr_so_far();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(said.contains("left at once"), "{said}");
    end_sleeps(&lab);
}

/// It was silent for as long as its client stood still.
#[test]
fn a_client_that_stands_still_ends_the_run_within_a_minute_by_the_name_of_its_machine() {
    let lab = Laboratory::new();
    let run = waiting_run(&lab, STOPPED);
    let (status, took) = ended(run, Instant::now());
    let said = lab.stderr_so_far();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(took > Duration::from_secs(45) && took < Duration::from_secs(100), "{took:?}: {said}");
    assert!(said.contains("the client agent was lost: load1: it has said nothing for 60 s"), "{said}");
    assert!(said.contains("the client agent does not end and was killed"), "{said}");
    assert!(!lab.path().join("runs").exists() && !said.contains("iopslab clean"), "{said}");
}

/// A client that does not end by itself is this story's own to end.
fn end_sleeps(lab: &Laboratory) {
    let home = format!("HOME={}\0", lab.path().display());
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&environment).contains(&home) && command == b"sleep\x00600\0";
        if let (true, Ok(pid)) = (is_ours, entry.file_name().to_string_lossy().parse()) {
            kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        }
    }
}
