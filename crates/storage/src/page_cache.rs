//! Keeps the page cache of a cgroup at its budget.
//!
//! A memory limit holds everything: heap, direct buffers, the JVM's own memory, and what is left is page cache. How
//! much the process takes for itself is not known beforehand (measured for Cassandra with a 1 GiB heap: 200 MiB less
//! than reserved), so a limit set once leaves a page cache that is off by as much, which for a small budget is several
//! times too large. This controller reads every 200 ms what the group holds besides page cache, and sets the limit to
//! that plus the budget.
//!
//! The program itself is page cache, too: libraries, jars and class archives that are mapped (150 MB for Cassandra).
//! What is mapped when the controller starts counts as the process's own; without that a budget of 64 MiB ends in the
//! kernel's OOM killer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cgroup::{Cgroup, CgroupVersion, ControllerPath};

/// Shorter than the time in which a process could fill a small budget with new buffers.
const PERIOD: Duration = Duration::from_millis(200);

/// Holds a cgroup's page cache at a budget until it is stopped or dropped.
#[derive(Debug)]
pub struct PageCacheBudget {
    own_mappings: u64,
    budget_bytes: Arc<AtomicU64>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PageCacheBudget {
    /// Starts to hold; a group without a memory controller is left alone.
    pub fn hold(cgroup: &Arc<Cgroup>, budget_bytes: u64) -> Self {
        let (stop, stopped) = channel();
        let own_mappings = cgroup.paths().memory.as_ref().and_then(mapped).unwrap_or(0);
        let cgroup = Arc::downgrade(cgroup);
        let budget = Arc::new(AtomicU64::new(budget_bytes));
        let budget_bytes = Arc::clone(&budget);
        let thread = std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PERIOD) {
                let Some(cgroup) = cgroup.upgrade() else { return };
                let Some(held) = cgroup.paths().memory.as_ref().and_then(besides_page_cache) else {
                    continue;
                };
                // The kernel refuses a limit that it cannot reach at once (v1: EBUSY); the next round asks again.
                let _ = cgroup.set_memory_limit(held + own_mappings + budget.load(Ordering::Relaxed));
            }
        });
        Self { own_mappings, budget_bytes, stop: Some(stop), thread: Some(thread) }
    }

    /// The budget from now on.
    pub fn change(&self, budget_bytes: u64) {
        self.budget_bytes.store(budget_bytes, Ordering::Relaxed);
    }

    /// Bytes of page cache that are the program itself: they are in the group's page cache and take nothing of the
    /// budget.
    pub const fn program_bytes(&self) -> u64 {
        self.own_mappings
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

/// Bytes of page cache that are charged to a group; `None` where it has no memory controller.
pub fn page_cache_bytes(cgroup: &Cgroup) -> Option<u64> {
    let memory = cgroup.paths().memory.as_ref()?;
    stat(&memory.path, cache_field(memory.version))
}

/// How `memory.stat` calls page cache.
const fn cache_field(version: CgroupVersion) -> &'static str {
    match version {
        CgroupVersion::V1 => "total_cache ",
        CgroupVersion::V2 => "file ",
    }
}

/// Bytes charged to the group that are not page cache: anonymous memory, kernel memory.
fn besides_page_cache(memory: &ControllerPath) -> Option<u64> {
    let usage = match memory.version {
        CgroupVersion::V1 => "memory.usage_in_bytes",
        CgroupVersion::V2 => "memory.current",
    };
    let used: u64 = std::fs::read_to_string(memory.path.join(usage)).ok()?.trim().parse().ok()?;
    Some(used.saturating_sub(stat(&memory.path, cache_field(memory.version))?))
}

/// Bytes of page cache that processes have mapped.
fn mapped(memory: &ControllerPath) -> Option<u64> {
    let field = match memory.version {
        CgroupVersion::V1 => "total_mapped_file ",
        CgroupVersion::V2 => "file_mapped ",
    };
    stat(&memory.path, field)
}

fn stat(directory: &Path, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(directory.join("memory.stat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(field)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_cache_is_not_what_the_process_holds() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("memory.usage_in_bytes"), "1000\n").unwrap();
        let lines = "cache 5\nmapped_file 1\ntotal_cache 300\ntotal_mapped_file 40\n";
        std::fs::write(directory.path().join("memory.stat"), lines).unwrap();
        let at = |version| ControllerPath { version, path: directory.path().to_owned() };
        assert_eq!(besides_page_cache(&at(CgroupVersion::V1)), Some(700));
        assert_eq!(mapped(&at(CgroupVersion::V1)), Some(40));
        assert_eq!(besides_page_cache(&at(CgroupVersion::V2)), None, "missing files give nothing");
    }
}
