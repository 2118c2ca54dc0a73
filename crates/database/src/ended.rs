//! How a process is sent a signal, and how it has ended, for people.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a process a signal; one that has ended needs none.
pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// What the kernel kills for lack of memory in the cgroup of a process, counted from the start of that process: the
/// cgroup may have had others before, and has others beside it.
#[derive(Debug)]
pub(crate) struct MemoryKills {
    /// The file of its cgroup's count, and the count before the process was started; `None`: no cgroup limits its
    /// memory, or the kernel does not count.
    counted: Option<(PathBuf, u64)>,
}

impl MemoryKills {
    /// Of a process that is about to start, whose cgroup counts in this file.
    pub fn from_now(file: Option<&Path>) -> Self {
        Self { counted: file.and_then(|file| Some((file.to_owned(), killed_for_memory(file)?))) }
    }

    /// `None`: not known, as where the cgroup was made anew meanwhile.
    fn so_far(&self) -> Option<u64> {
        let (file, before) = self.counted.as_ref()?;
        killed_for_memory(file)?.checked_sub(*before)
    }

    /// How the process has ended: its exit code or its signal.
    pub fn describe(&self, status: ExitStatus) -> String {
        let since = "of its cgroup for lack of memory since it started";
        match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(9)) => {
                let by = match self.so_far() {
                    Some(0) => format!("by somebody: the kernel has killed no process {since}"),
                    Some(1) => format!("the kernel has killed one process {since}"),
                    Some(several) => format!("the kernel has killed {several} processes {since}"),
                    None => "by somebody, or by the kernel for lack of memory, see dmesg".into(),
                };
                format!("killed by signal 9 (SIGKILL: {by})")
            }
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "ended".into(),
        }
    }
}

/// Processes that any OOM killer ended: the line `oom_kill N` of `memory.events`
/// (Documentation/admin-guide/cgroup-v2.rst) and of version 1's `memory.oom_control` (mm/memcontrol.c, from kernel 4.13
/// on).
fn killed_for_memory(file: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_v1(kills: u32) -> String {
        format!("oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n")
    }

    fn of_v2(kills: u32) -> String {
        format!("low 0\nhigh 0\nmax 7\noom 3\noom_kill {kills}\noom_group_kill 0\n")
    }

    /// What is said of a process that ends by SIGKILL, whose cgroup counted this before its start and at its end.
    fn killed(before: &str, after: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("counts");
        std::fs::write(&file, before).unwrap();
        let kills = MemoryKills::from_now(Some(&file));
        std::fs::write(&file, after).unwrap();
        kills.describe(ExitStatus::from_raw(9))
    }

    /// A cgroup keeps its count when a process of it ends: one that was killed earlier accuses the kernel of nothing.
    #[test]
    fn who_sent_a_sigkill_is_what_the_kernel_has_counted_since_the_start() {
        let since = "of its cgroup for lack of memory since it started";
        let by_somebody = format!("by somebody: the kernel has killed no process {since}");
        let (one, two) = (format!("one process {since}"), format!("2 processes {since}"));
        for of in [of_v1, of_v2] {
            for (before, after, said) in [
                (0, 0, by_somebody.clone()),
                (0, 1, format!("the kernel has killed {one}")),
                (3, 3, by_somebody.clone()),
                (3, 4, format!("the kernel has killed {one}")),
                (3, 5, format!("the kernel has killed {two}")),
            ] {
                let expected = format!("killed by signal 9 (SIGKILL: {said})");
                assert_eq!(killed(&of(before), &of(after)), expected, "{before}, {after}");
            }
        }
    }

    #[test]
    fn a_kernel_that_has_not_counted_all_the_time_says_nothing_of_a_sigkill() {
        let unknown = "killed by signal 9 (SIGKILL: by somebody, or by the kernel for lack of memory, see dmesg)";
        let uncounted = "oom_kill_disable 0\nunder_oom 0\n";
        assert_eq!(killed(uncounted, uncounted), unknown);
        assert_eq!(killed(uncounted, &of_v1(1)), unknown);
        // A cgroup that was made anew.
        assert_eq!(killed(&of_v2(2), &of_v2(1)), unknown);
        let of_status = |raw: i32| MemoryKills::from_now(None).describe(ExitStatus::from_raw(raw));
        assert_eq!([of_status(9), of_status(15), of_status(3 << 8)], [unknown, "killed by signal 15", "exit code 3"]);
    }
}
