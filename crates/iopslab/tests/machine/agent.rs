//! An agent by itself.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Laboratory;

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
        while !expected(nice(agent.id())) && began.elapsed() < Duration::from_secs(10) {
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
