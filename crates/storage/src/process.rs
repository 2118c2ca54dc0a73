//! Ending processes without ever ending the wrong one.
//!
//! A process is named by its number *and* its start time ([`start_time_ticks`]), and signalled through a pidfd, which
//! keeps meaning the same process between the check and the signal (pidfd_open(2)).

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use guarded::start_time_ticks;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::error::{Result, io_error};

const POLL: Duration = Duration::from_millis(20);

/// Programs that become another one: what starts a database goes through them within milliseconds.
const LAUNCHERS: [&str; 7] = ["sh", "dash", "bash", "busybox", "setpriv", "prlimit", "chrt"];
/// How long a process may be on its way through them.
const LAUNCH_PATIENCE: Duration = Duration::from_secs(1);

/// The program that a process runs; `None` when it has ended.
pub(crate) fn executable(pid: u32) -> Option<PathBuf> {
    let link = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    // The kernel marks a program that was replaced meanwhile.
    let text = link.to_str().and_then(|text| text.strip_suffix(" (deleted)"));
    Some(text.map_or(link.clone(), PathBuf::from))
}

/// The program that a process has become once nothing launches it any more.
pub(crate) fn settled_executable(pid: u32) -> Option<PathBuf> {
    let is_launcher = |path: &Path| path.file_name().is_some_and(|name| LAUNCHERS.iter().any(|known| name == *known));
    let mut found = None;
    wait_until(LAUNCH_PATIENCE, || {
        found = executable(pid);
        found.as_deref().is_none_or(|path| !is_launcher(path))
    });
    found
}

/// Asks the process to end (SIGTERM), after `patience` ends it (SIGKILL). Returns whether there was one. One that runs
/// another program is another process.
pub(crate) fn end(pid: u32, started_at_ticks: u64, program: &Path, patience: Duration) -> Result<bool> {
    let proc_path = PathBuf::from(format!("/proc/{pid}"));
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let handle = match pidfd_open(number, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(Errno::SRCH | Errno::INVAL) => return Ok(false),
        Err(error) => return Err(io_error("open", &proc_path)(error)),
    };
    let alive = || start_time_ticks(pid) == Some(started_at_ticks);
    if !alive() || executable(pid).as_deref() != Some(program) {
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
    Err(io_error("end (it survives SIGKILL, so it waits for the kernel: see stack in)", &proc_path)(
        std::io::Error::from(std::io::ErrorKind::TimedOut),
    ))
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
        links.into_iter().chain(files.map(|file| file.path())).any(|link| below(&link))
    };
    let holding = processes().filter(|(_, process)| holds(process));
    holding.map(|(_, process)| name_of(&process)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_zombie_has_ended_and_one_whose_other_threads_live_has_not() {
        let mut child = Command::new("true").spawn().unwrap();
        assert!(wait_until(Duration::from_secs(10), || start_time_ticks(child.id()).is_none()));
        child.wait().unwrap();
        // Its first thread ends, another one goes on.
        let script = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); \
                      ctypes.CDLL(None).pthread_exit(None)";
        let Ok(mut child) = Command::new("python3").args(["-c", script]).spawn() else {
            println!("skipped: no python3, whose first thread ends before its others");
            return;
        };
        let state = || fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        assert!(wait_until(Duration::from_secs(20), || state().contains(") Z ")), "{}", state());
        assert!(start_time_ticks(child.id()).is_some(), "{}", state());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_reused_number_is_never_signalled() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let started = start_time_ticks(child.id()).unwrap();
        let program = settled_executable(child.id()).unwrap();
        assert!(!end(child.id(), started + 1, &program, Duration::from_secs(1)).unwrap());
        assert!(!end(child.id(), started, Path::new("/bin/other"), Duration::from_secs(1)).unwrap());
        assert!(child.try_wait().unwrap().is_none(), "another start time or program: another process, left alone");
        assert!(end(child.id(), started, &program, Duration::from_secs(1)).unwrap());
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
        let program = executable(child.id()).unwrap();
        assert!(end(child.id(), started, &program, Duration::from_millis(200)).unwrap());
        child.wait().unwrap();
    }
}
