//! An agent by itself, and what is left of who has volumes and is killed.

use std::io::Read as _;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::support::{Laboratory, wait_for};

/// nice(2) of a process.
fn nice(pid: u32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name of the program, which may hold spaces, ends with the last parenthesis; proc_pid_stat(5), field 19.
    let mut fields = stat.rsplit(')').next().unwrap().split_whitespace();
    fields.nth(19 - 3).unwrap().parse().unwrap()
}

#[test]
fn a_client_goes_before_the_database_whose_machine_it_shares() {
    let of_role = |role: &str, expected: &dyn Fn(i32) -> bool| {
        let lab = Laboratory::new();
        let mut agent =
            lab.iopslab(&["agent", "--role", role]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while !expected(nice(agent.id())) && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let found = nice(agent.id());
        drop(agent.stdin.take());
        assert!(agent.wait().unwrap().success());
        found
    };
    let own = nice(std::process::id());
    assert_eq!(of_role("client", &|nice| nice == -20), -20);
    assert_eq!(of_role("database", &|_| true), own);
}

/// Whoever waits for the end of its output waited for ever: the process that answers for its volume went on, and had
/// the pipe.
#[test]
fn who_is_killed_with_a_volume_keeps_nobody_waiting_and_the_rest_is_cleaned() {
    let lab = Laboratory::new();
    let mut volume = lab.iopslab(&["volume", "gp3:1GiB", "--mount", "v", "--format", "json"]);
    let mut volume = volume.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(&format!("{}/v xfs", lab.path().display()))
    };
    wait_for("a volume", Duration::from_secs(60), mounted);
    volume.kill().unwrap();
    volume.wait().unwrap();
    let (end, ends) = channel();
    let (mut stdout, mut stderr) = (volume.stdout.take().unwrap(), volume.stderr.take().unwrap());
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let read = stdout.read_to_end(&mut said).and_then(|_| stderr.read_to_end(&mut said));
        end.send(read.map(|_| String::from_utf8_lossy(&said).into_owned()))
    });
    let said = ends.recv_timeout(Duration::from_secs(60)).expect("nobody has its pipes").unwrap();
    assert!(mounted(), "it could not unmount: {said}");
    lab.exits(0, &["clean"]);
    assert!(!mounted());
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
