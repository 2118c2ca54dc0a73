//! Keeps the page cache of a cgroup at its budget.
//!
//! A memory limit holds everything: heap, direct buffers, the JVM's own memory, and what is left is page cache. How much the
//! process takes for itself is not known beforehand (measured for Cassandra with a 1 GiB heap: 200 MiB less than reserved), so a
//! limit set once leaves a page cache that is off by as much, which for a small budget is several times too large. This
//! controller reads every 200 ms what the group holds besides page cache, and sets the limit to that plus the budget.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cgroup::{Cgroup, CgroupVersion, ControllerPath};

/// Shorter than the time in which a process could fill a small budget with new buffers.
const PERIOD: Duration = Duration::from_millis(200);

/// Holds a cgroup's page cache at a budget until it is stopped or dropped.
#[derive(Debug)]
pub struct PageCacheBudget {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PageCacheBudget {
    /// Starts to hold; a group without a memory controller is left alone.
    pub fn hold(cgroup: &Arc<Cgroup>, budget_bytes: u64) -> Self {
        let (stop, stopped) = channel();
        let cgroup = Arc::downgrade(cgroup);
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PERIOD) {
                let Some(cgroup) = cgroup.upgrade() else { return };
                let Some(held) = cgroup.paths().memory.as_ref().and_then(besides_page_cache) else {
                    continue;
                };
                // The kernel refuses a limit that it cannot reach at once (v1: EBUSY); the next round asks again.
                let _ = cgroup.set_memory_limit(held + budget_bytes);
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for PageCacheBudget {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Bytes charged to the group that are not page cache: anonymous memory, kernel memory.
fn besides_page_cache(memory: &ControllerPath) -> Option<u64> {
    let (usage, cache) = match memory.version {
        CgroupVersion::V1 => ("memory.usage_in_bytes", "total_cache "),
        CgroupVersion::V2 => ("memory.current", "file "),
    };
    held(&memory.path, usage, cache)
}

fn held(directory: &Path, usage: &str, cache: &str) -> Option<u64> {
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).ok();
    let used: u64 = read(usage)?.trim().parse().ok()?;
    let cached: u64 = read("memory.stat")?
        .lines()
        .find_map(|l| l.strip_prefix(cache)?.trim().parse().ok())?;
    Some(used.saturating_sub(cached))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_cache_is_not_what_the_process_holds() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("memory.usage_in_bytes"), "1000\n").unwrap();
        std::fs::write(directory.path().join("memory.stat"), "cache 5\ntotal_cache 300\n").unwrap();
        assert_eq!(
            held(directory.path(), "memory.usage_in_bytes", "total_cache "),
            Some(700)
        );
        assert_eq!(
            held(directory.path(), "memory.current", "file "),
            None,
            "missing files give nothing"
        );
    }
}
