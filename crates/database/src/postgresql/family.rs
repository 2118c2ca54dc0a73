//! The processes of a server: the one that was started, and its children, each of which leads a session of its own, so
//! that no process group holds them together.

use rustix::process::Signal;

use crate::ended::send;

/// A process by its number and its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pid: u32,
    /// Clock ticks after boot: a number may belong to somebody else by now.
    started: u64,
}

/// The children of a process, now.
pub(crate) fn children(pid: u32) -> Vec<Member> {
    // proc_pid_task(5): one line of numbers.
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let numbers = listed.split_ascii_whitespace().filter_map(|word| word.parse().ok());
    numbers.filter_map(|pid| Some(Member { pid, started: guarded::start_time_ticks(pid)? })).collect()
}

impl Member {
    /// Whether it still runs: one that nobody has waited for does not.
    pub fn runs(self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        guarded::start_time_ticks(self.pid) == Some(self.started) && !matches!(state, None | Some('Z' | 'X'))
    }

    /// Sends it a signal, if it is still the same.
    pub fn signal(self, signal: Signal) {
        if self.runs() {
            send(self.pid, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn children_are_found_in_whatever_session_and_gone_when_they_have_ended() {
        // Each in a session of its own, as the processes of PostgreSQL are.
        let script = "setsid sleep 60 & setsid sleep 60 & wait";
        let mut server = Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        let began = Instant::now();
        let found = loop {
            let found = children(server.id());
            if found.len() == 2 {
                break found;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{found:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(found.iter().all(|child| child.runs()));
        found.iter().for_each(|child| child.signal(Signal::KILL));
        server.wait().unwrap();
        assert!(found.iter().all(|child| !child.runs()));
        assert!(children(server.id()).is_empty());
    }
}
