//! Ending processes without ever ending the wrong one.
//!
//! The kernel reuses process numbers. A process is therefore named by its number *and* its start time (field 22 of
//! `/proc/PID/stat`, clock ticks since boot; see proc(5)), and signalled through a pidfd, which keeps meaning the same
//! process between the check and the signal (pidfd_open(2)).

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::error::{Result, io_error};

const POLL: Duration = Duration::from_millis(20);

/// Start time of a process in clock ticks since boot; `None` when it does not exist or is a zombie (it has ended, only
/// its parent has not looked yet).
pub fn start_time_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_start_time(&stat)
}

/// The command name may hold spaces and parentheses, so fields are counted from the last `)`.
fn parse_start_time(stat: &str) -> Option<u64> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Whether a process stands still (SIGSTOP, a debugger).
pub(crate) fn is_stopped(pid: u32, started_at_ticks: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rfind(')')
        .and_then(|end| stat.get(end + 1..)?.split_ascii_whitespace().next());
    parse_start_time(&stat) == Some(started_at_ticks) && matches!(state, Some("T" | "t"))
}

/// Asks the process to end (SIGTERM), after `patience` ends it (SIGKILL). Returns whether there was one.
pub(crate) fn end(pid: u32, started_at_ticks: u64, patience: Duration) -> Result<bool> {
    let proc_path = PathBuf::from(format!("/proc/{pid}"));
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(false);
    };
    let handle = match pidfd_open(number, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(Errno::SRCH | Errno::INVAL) => return Ok(false),
        Err(error) => return Err(io_error("open", &proc_path)(error)),
    };
    let alive = || start_time_ticks(pid) == Some(started_at_ticks);
    if !alive() {
        return Ok(false);
    }
    for (signal, patience) in [(Signal::TERM, patience), (Signal::KILL, Duration::from_secs(10))] {
        match pidfd_send_signal(&handle, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(io_error("signal", &proc_path)(error)),
        }
        if wait_until(patience, || !alive()) {
            return Ok(true);
        }
    }
    Err(io_error(
        "end (it survives SIGKILL, so it waits for the kernel: see stack in)",
        &proc_path,
    )(std::io::Error::from(std::io::ErrorKind::TimedOut)))
}

/// SIGKILL by number, for members of a cgroup that we own: whoever is in there is ours.
pub(crate) fn kill_now(pid: u32) {
    if let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The only failure that matters, a survivor, is seen by the caller who reads cgroup.procs again.
        let _ = rustix::process::kill_process(number, Signal::KILL);
    }
}

/// Polls `condition` until it holds or `patience` is over; returns whether it held.
pub(crate) fn wait_until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(POLL);
    }
}

/// Every process there is: its number, and its directory in `/proc`.
pub(crate) fn processes() -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// A process for people, by its directory in `/proc`: `java (4711)`.
pub(crate) fn name_of(process: &Path) -> String {
    let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
    let number = process.file_name().unwrap_or_default().to_string_lossy();
    format!("{} ({number})", name.trim())
}

/// Processes whose working directory, root, program or open files lie below `path`, as `java (4711)`.
pub(crate) fn holders(path: &Path) -> Vec<String> {
    let below = |link: &Path| fs::read_link(link).is_ok_and(|target| target.starts_with(path));
    let holds = |process: &Path| {
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let links = ["cwd", "root", "exe"].map(|link| process.join(link));
        links
            .into_iter()
            .chain(files.map(|file| file.path()))
            .any(|link| below(&link))
    };
    let holding = processes().filter(|(_, process)| holds(process));
    holding.map(|(_, process)| name_of(&process)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn start_time_is_field_22_even_with_a_wild_command_name() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 2 18446744073709551615";
        assert_eq!(parse_start_time(stat), Some(987_654));
        assert_eq!(
            parse_start_time(&stat.replace(") S ", ") Z ")),
            None,
            "a zombie has ended"
        );
    }

    #[test]
    fn a_reused_number_is_never_signalled() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let started = start_time_ticks(child.id()).unwrap();
        assert!(!end(child.id(), started + 1, Duration::from_secs(1)).unwrap());
        assert!(
            child.try_wait().unwrap().is_none(),
            "another start time: another process, left alone"
        );
        assert!(end(child.id(), started, Duration::from_secs(1)).unwrap());
        child.wait().unwrap();
    }

    #[test]
    fn one_that_ignores_sigterm_is_killed() {
        let mut child = Command::new("sh")
            .args(["-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut ready).unwrap();
        let started = start_time_ticks(child.id()).unwrap();
        assert!(end(child.id(), started, Duration::from_millis(200)).unwrap());
        child.wait().unwrap();
    }
}
