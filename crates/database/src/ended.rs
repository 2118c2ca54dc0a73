//! How a process is sent a signal, and how it has ended, for people.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a process a signal; one that has ended needs none.
pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Its exit code or its signal. The kernel counts in `oom_kills` what it killed in the cgroup of the process.
pub(crate) fn describe(status: ExitStatus, oom_kills: Option<&Path>) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(9)) => {
            let by = match oom_kills.and_then(killed_for_memory) {
                Some(0) => "by somebody: the kernel has killed no process of its cgroup for lack of memory",
                Some(_) => "by the kernel, for lack of memory, as its cgroup counts",
                None => "by somebody, or by the kernel for lack of memory, see dmesg",
            };
            format!("killed by signal 9 (SIGKILL: {by})")
        }
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".into(),
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

    #[test]
    fn who_sent_a_sigkill_is_what_the_kernel_counts() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("counts");
        let killed = |text: &str| {
            std::fs::write(&file, text).unwrap();
            describe(ExitStatus::from_raw(9), Some(&file))
        };
        let of_v1 = |kills: u32| format!("oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n");
        let of_v2 = |kills: u32| format!("low 0\nhigh 0\nmax 7\noom 3\noom_kill {kills}\noom_group_kill 0\n");
        for of in [&of_v1 as &dyn Fn(u32) -> String, &of_v2] {
            let by_kernel = "(SIGKILL: by the kernel, for lack of memory, as its cgroup counts)";
            assert_eq!(killed(&of(1)), format!("killed by signal 9 {by_kernel}"));
            assert!(killed(&of(0)).contains("(SIGKILL: by somebody: the kernel has killed no process"));
        }
        // A kernel that does not count them, and no cgroup.
        let unknown = "killed by signal 9 (SIGKILL: by somebody, or by the kernel for lack of memory, see dmesg)";
        assert_eq!(killed("oom_kill_disable 0\nunder_oom 0\n"), unknown);
        assert_eq!(describe(ExitStatus::from_raw(9), None), unknown);
        let of_status = |raw: i32| describe(ExitStatus::from_raw(raw), None);
        assert_eq!([of_status(15), of_status(3 << 8)], ["killed by signal 15", "exit code 3"]);
    }
}
