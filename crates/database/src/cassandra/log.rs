//! Reading the server's own logs: what it says at its start, and the messages it dropped; [`crate::log_tail`] has their
//! last lines.
//!
//! The server writes them, and its directory is its own: where a log should be there may be a link to a file of root's,
//! or a pipe to which nobody writes. They are read as regular files, through no link, and no further than a bound.

use std::io;
use std::path::Path;

use guarded::GrowingLog;

/// Most bytes of the logs of a node that has just started: some hundred KiB.
const START_MOST_BYTES: u64 = 64 << 20;

/// A log of a node that has just started.
pub(crate) fn of_start(path: &Path) -> io::Result<String> {
    let bytes = guarded::read_no_link(path, START_MOST_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Counts dropped messages in a node's `system.log`, reading only what is new at each call.
///
/// Cassandra 5.0 shows its count of dropped messages over JMX only (no table of `system_views` has it), but every 5 s
/// it logs one line per kind of message that it dropped (`MessagingMetrics.logDroppedMessages`): `READ messages were
/// dropped in last 5000 ms: 12 internal and 3 cross node.` So the count is exact and at most 5 s late.
#[derive(Debug)]
pub struct DroppedMessages {
    log: GrowingLog,
    total: u64,
}

impl DroppedMessages {
    /// Count from the end of the log as it is now.
    pub fn from_now(system_log: &Path) -> Self {
        Self { log: GrowingLog::from_now(system_log.to_owned()), total: 0 }
    }

    /// Messages dropped since [`Self::from_now`]; `None` if the log cannot be read (missing is not zero).
    pub fn total(&mut self) -> Option<u64> {
        let Self { log, total } = self;
        log.new_lines(|line| *total = total.saturating_add(dropped_in(line).unwrap_or(0))).ok()?;
        Some(self.total)
    }
}

/// Messages that one log line says were dropped.
fn dropped_in(line: &str) -> Option<u64> {
    let (_, counts) = line.split_once(" messages were dropped in last ")?.1.split_once(": ")?;
    let (internal, rest) = counts.split_once(" internal and ")?;
    let (cross_node, _) = rest.split_once(" cross node")?;
    internal.parse::<u64>().ok()?.checked_add(cross_node.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_tail::tail;
    use std::fs::File;
    use std::io::Write;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    const LINE: &str = "INFO  [ScheduledTasks:1] 2026-01-01T00:00:00,000 MessagingMetrics.java:206 - READ_REQ messages \
                        were dropped in last 5000 ms: 12 internal and 3 cross node. Mean internal dropped latency: \
                        5107 ms and Mean cross-node dropped latency: 0 ms\n";

    #[test]
    fn dropped_messages_are_summed_as_the_log_grows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("system.log");
        std::fs::write(&path, LINE).unwrap();
        let mut dropped = DroppedMessages::from_now(&path);
        assert_eq!(dropped.total(), Some(0), "what was before does not count");
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(LINE.as_bytes()).unwrap();
        file.write_all(&LINE.as_bytes()[..40]).unwrap();
        assert_eq!(dropped.total(), Some(15), "half a line waits");
        file.write_all(&LINE.as_bytes()[40..]).unwrap();
        assert_eq!(dropped.total(), Some(30));
        std::fs::write(&path, LINE).unwrap();
        assert_eq!(dropped.total(), Some(45), "a rolled log starts at its beginning");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(dropped.total(), None);
    }

    /// Nobody writes to the pipe: opening it as a file waited without end, with the agent that asked.
    #[test]
    fn a_pipe_or_a_link_in_the_place_of_a_log_is_no_log() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::fs::write(at("secret"), LINE).unwrap();
        std::os::unix::fs::symlink("secret", at("link")).unwrap();
        for path in [at("pipe"), at("link")] {
            let (to, read) = channel();
            std::thread::spawn(move || {
                let mut dropped = DroppedMessages { log: GrowingLog::from_start(path.clone()), total: 0 };
                to.send((tail(&path, 2), dropped.total(), of_start(&path).is_err()))
            });
            let read = read.recv_timeout(Duration::from_secs(10)).expect("nothing waits for a pipe");
            assert_eq!(read, (Vec::new(), None, true));
        }
    }

    #[test]
    fn a_log_longer_than_a_start_ever_writes_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("system.log");
        File::create(&path).unwrap().set_len(START_MOST_BYTES + 1).unwrap();
        assert_eq!(of_start(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
