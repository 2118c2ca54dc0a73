//! Two uses of one machine at once: one at a time measures, and the other learns who does.

use std::process::Stdio;
use std::time::Duration;

use crate::support::Laboratory;
use rustix::process::{Pid, Signal, kill_process};
use storage::{Measuring, WorkDirectory};

/// Where the laboratory's machine is taken.
fn machine_lock(lab: &Laboratory) -> std::path::PathBuf {
    lab.work().with_extension("lock").join("measuring")
}

/// The stories are about what root does.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: needs root, as what it is about does");
    }
    is_root
}

#[test]
fn what_would_disturb_a_measurement_is_refused_with_who_measures() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    let run = Measuring::begin(&machine_lock(&lab), "run gp3-20261125T120000Z").unwrap();
    lab.write("x.toml", include_str!("../../../examples/quickstart.toml"));
    for asked in [&["db", "start"][..], &["probe", "x.toml", "--seconds", "1"]] {
        let said = lab.exits(1, asked).stderr;
        let whom = format!("process {}, run gp3-20261125T120000Z measures on this machine", std::process::id());
        assert!(said.contains(&whom), "{asked:?}: {said}");
    }
    // Nothing of a measurement is disturbed by these.
    for asked in [&["db", "status"][..], &["clean"]] {
        let said = String::from_utf8_lossy(&lab.output(asked).stderr).into_owned();
        assert!(!said.contains("measures on this machine"), "{asked:?}: {said}");
    }
    drop(run);
}

#[test]
fn a_second_run_waits_for_the_first_and_ends_in_order_while_it_waits() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    lab.write("x.toml", include_str!("../../../examples/quickstart.toml"));
    let first = Measuring::begin(&machine_lock(&lab), "run gp3-20261125T120000Z").unwrap();
    let mut second = lab.spawn(&["run", "x.toml"]);
    lab.wait_in(&mut second, "waiting for the first", Duration::from_secs(60), || {
        lab.stderr_so_far().contains("run gp3-20261125T120000Z, which measures on this machine")
    });
    kill_process(Pid::from_raw(second.id() as i32).unwrap(), Signal::INT).unwrap();
    let status = second.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{}", lab.stderr_so_far());
    drop(first);
}

/// One with a database of its own, and one whose clients here load a cluster that exists.
#[test]
fn a_second_run_that_has_waited_is_refused_in_words_and_leaves_no_run_directory() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    lab.write("own.toml", include_str!("../../../examples/quickstart.toml"));
    lab.write("theirs.toml", &theirs("127.0.0.1:1"));
    let first = Measuring::begin(&machine_lock(&lab), "run gp3-20261125T120000Z").unwrap();
    let start = |file| lab.iopslab(&["run", file]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    for second in ["own.toml", "theirs.toml"].map(start) {
        let output = second.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for words in ["run gp3-20261125T120000Z measures on this machine", "--beside"] {
            assert!(said.contains(words), "{said}");
        }
    }
    assert_eq!(lab.run_so_far(), None);
    // Who goes beside asks the cluster at once.
    let output = lab.output(&["run", "theirs.toml", "--beside"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot connect to 127.0.0.1:1"), "{said}");
    drop(first);
}

/// A cluster of somebody else's.
fn theirs(at: &str) -> String {
    format!(
        r#"
name = "theirs"
[target]
hosts = ["{at}"]
keyspace = "lab"
[dataset]
records = 5_000
[[configuration]]
name = "as-it-stands"
instance = {{ vcpus = 2, memory_gib = 8 }}
data_volume = {{ iops = 3000 }}
[[workload]]
name = "reads"
read = 1
[load]
concurrency = [8]
"#
    )
}

#[test]
fn a_run_whose_clients_load_a_cluster_from_here_has_the_machine_until_it_ends() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    // It takes connections and never answers.
    let cluster = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    lab.write("theirs.toml", &theirs(&cluster.local_addr().unwrap().to_string()));
    let mut run = lab.spawn(&["run", "theirs.toml"]);
    lab.wait_in(&mut run, "run that has the machine", Duration::from_secs(20), || {
        !Measuring::going_on(&machine_lock(&lab)).is_empty()
    });
    let said = lab.exits(1, &["db", "start"]).stderr;
    assert!(said.contains("run theirs-") && said.contains("measures on this machine"), "{said}");
    kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{}", lab.stderr_so_far());
    assert!(Measuring::going_on(&machine_lock(&lab)).is_empty());
}

#[test]
fn a_run_whose_machines_are_its_own_goes_beside_nobody() {
    let lab = Laboratory::new();
    lab.write("x.toml", include_str!("../../../examples/simulated.toml"));
    let said = lab.exits(2, &["run", "x.toml", "--provider", "simulated", "--beside"]).stderr;
    assert!(said.contains("those of the provider simulated are the run's own"), "{said}");
}

#[test]
fn clean_waits_for_whoever_has_the_work_directory_and_is_refused_in_words() {
    let lab = Laboratory::new();
    let run = WorkDirectory::lock(&lab.work()).unwrap();
    let said = lab.exits(1, &["clean"]).stderr;
    let whom = format!("waiting for process {} to leave", std::process::id());
    let ends = format!("kill -TERM {}", std::process::id());
    for words in [&*whom, "for 20 s at most", "wait for that run, or stop it", &*ends] {
        assert!(said.contains(words), "{said}");
    }
    drop(run);
    lab.exits(0, &["clean"]);
}

/// The controller of a run was killed, and its agent was stopped before: it would undo everything, and does nothing.
#[test]
fn clean_says_of_a_holder_that_stands_still_who_it_is_and_what_ends_it() {
    let lab = Laboratory::new();
    drop(WorkDirectory::lock(&lab.work()).unwrap());
    let path = lab.work().join("lock");
    let lock = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    lock.lock().unwrap();
    // It has the lock as long as it lives, and this process has it no longer.
    let mut holder = std::process::Command::new("sleep").arg("600").stdin(Stdio::from(lock)).spawn().unwrap();
    let number = holder.id();
    std::fs::write(&path, format!("{number}\n")).unwrap();
    let pid = Pid::from_raw(number as i32).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let output = lab.output(&["clean"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    kill_process(pid, Signal::KILL).unwrap();
    holder.wait().unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for words in [
        format!("waiting for process {number} to leave"),
        format!("process {number} (sleep 600) has had it for"),
        "stands still".to_owned(),
        format!("`kill -TERM {number}; kill -CONT {number}`"),
        format!("`kill -KILL {number}`, and then iopslab clean"),
    ] {
        assert!(said.contains(&words), "{words}: {said}");
    }
    // As was promised.
    lab.exits(0, &["clean"]);
}
