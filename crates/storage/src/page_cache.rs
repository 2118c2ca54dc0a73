//! Keeps the page cache of a cgroup at its budget.
//!
//! A memory limit holds everything: heap, direct buffers, the JVM's own memory, and what is left is page cache. How
//! much the process takes for itself is not known beforehand (measured for Cassandra with a 1 GiB heap: 200 MiB less
//! than reserved), so a limit set once leaves a page cache that is off by as much, which for a small budget is several
//! times too large. This controller reads every 200 ms what the group holds besides page cache, and sets the limit to
//! that plus the budget.
//!
//! What processes share without a file behind it (a server's shared buffers) counts as held from the beginning: they
//! fill it faster than any limit follows (PostgreSQL 18, a budget of 40 MiB: the OOM killer came at once). Until it is
//! full, the page cache may be larger by what is missing.
//!
//! The program itself is page cache, too: libraries, jars and class archives that are mapped (150 MB for Cassandra).
//! What is mapped when the controller starts counts as the process's own; without that a budget of 64 MiB ends in the
//! kernel's OOM killer.
//!
//! A page cache that is not held makes a trial of another machine than was asked for. So what keeps it from being held
//! is remembered ([`PageCacheBudget::take_problem`]).

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cgroup::{Cgroup, CgroupVersion, ControllerPath};
use crate::error::{Result, StorageError, io_error};

/// How often the limit follows, and when it is too late.
#[derive(Debug, Clone, Copy)]
struct Pace {
    period: Duration,
    /// In a group that has shared memory.
    period_of_shared: Duration,
    /// The kernel refuses a limit that it cannot reach at once (v1: EBUSY), and the next round asks again: only what is
    /// refused for so long is a problem.
    patience: Duration,
}

const USUAL: Pace = Pace {
    // Shorter than the time in which a process could fill a small budget with new buffers.
    period: Duration::from_millis(200),
    // A server of processes starts one for each connection, with 2 MB of its own: dozens in 200 ms.
    period_of_shared: Duration::from_millis(20),
    // Of dirty pages that a small volume takes in, the first are written by then.
    patience: Duration::from_secs(10),
};

/// Holds a cgroup's page cache at a budget until it is stopped or dropped.
#[derive(Debug)]
pub struct PageCacheBudget {
    own_mappings: u64,
    budget_bytes: Arc<AtomicU64>,
    problem: Arc<Mutex<Option<String>>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PageCacheBudget {
    /// Starts to hold; a group without a memory controller is left alone.
    pub fn hold(cgroup: &Arc<Cgroup>, budget_bytes: u64) -> Self {
        Self::at(USUAL, cgroup, budget_bytes)
    }

    fn at(pace: Pace, cgroup: &Arc<Cgroup>, budget_bytes: u64) -> Self {
        let (stop, stopped) = channel();
        let counted = cgroup.paths().memory.as_ref().and_then(Counted::of);
        let own_mappings = counted.and_then(|counted| counted.mapped()).unwrap_or(0);
        let budget_bytes = Arc::new(AtomicU64::new(budget_bytes));
        let problem = Arc::new(Mutex::new(None));
        let follows = Follows {
            cgroup: Arc::downgrade(cgroup),
            own_mappings,
            budget_bytes: Arc::clone(&budget_bytes),
            problem: Arc::clone(&problem),
        };
        let thread = std::thread::spawn(move || follows.until(&stopped, pace));
        Self { own_mappings, budget_bytes, problem, stop: Some(stop), thread: Some(thread) }
    }

    /// The budget from now on, for another trial: what went before is none of its problems.
    pub fn change(&self, budget_bytes: u64) {
        self.budget_bytes.store(budget_bytes, Ordering::Relaxed);
        drop(self.take_problem());
    }

    /// What has kept the page cache from being held since this was last asked, in words; `None`: nothing.
    pub fn take_problem(&self) -> Option<String> {
        let noted = self.problem.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        noted.or_else(|| has_ended.then(|| "who holds it has ended".to_owned()))
    }

    /// Bytes of page cache that are the program itself: they are in the group's page cache and take nothing of the
    /// budget.
    pub const fn program_bytes(&self) -> u64 {
        self.own_mappings
    }
}

/// The thread that has the limit follow what the group holds.
struct Follows {
    cgroup: Weak<Cgroup>,
    own_mappings: u64,
    budget_bytes: Arc<AtomicU64>,
    problem: Arc<Mutex<Option<String>>>,
}

impl Follows {
    fn until(&self, stopped: &Receiver<()>, pace: Pace) {
        let mut followed = Instant::now();
        let mut period = pace.period_of_shared;
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(period) {
            let Some(cgroup) = self.cgroup.upgrade() else { return };
            let counted = cgroup.paths().memory.as_ref().and_then(Counted::of);
            let has_shared = counted.as_ref().is_some_and(|counted| counted.shared() > 0);
            period = if has_shared { pace.period_of_shared } else { pace.period };
            match self.follow(&cgroup, counted.as_ref()) {
                Ok(()) => followed = Instant::now(),
                Err(error) if followed.elapsed() >= pace.patience => {
                    let seconds = followed.elapsed().as_secs_f64();
                    let words = format!("its limit has not followed for {seconds:.0} s: {error}");
                    *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
                }
                Err(_) => {}
            }
        }
    }

    fn follow(&self, cgroup: &Cgroup, counted: Option<&Counted>) -> Result<()> {
        let Some(memory) = &cgroup.paths().memory else { return Ok(()) };
        let besides = besides_page_cache(memory, counted)?;
        let missing = counted.map_or(0, |counted| not_filled(memory, counted.shared()));
        let besides = besides.saturating_add(self.own_mappings).saturating_add(missing);
        cgroup.set_memory_limit(besides.saturating_add(self.budget_bytes.load(Ordering::Relaxed)))
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
    Counted::of(cgroup.paths().memory.as_ref()?)?.cached()
}

/// What the kernel counts of a group's memory at one moment (`memory.stat`).
struct Counted {
    version: CgroupVersion,
    text: String,
}

impl Counted {
    /// `None`: it cannot be read.
    fn of(memory: &ControllerPath) -> Option<Self> {
        let text = std::fs::read_to_string(memory.path.join("memory.stat")).ok()?;
        Some(Self { version: memory.version, text })
    }

    /// Page cache. The kernel counts shared memory there, too, though no file is behind it: it is a process's own (a
    /// server's shared buffers), as anonymous memory is.
    fn cached(&self) -> Option<u64> {
        Some(self.field("total_cache ", "file ")?.saturating_sub(self.shared()))
    }

    /// Bytes of page cache that processes have mapped; what they share without a file is none.
    fn mapped(&self) -> Option<u64> {
        Some(self.field("total_mapped_file ", "file_mapped ")?.saturating_sub(self.shared()))
    }

    /// Bytes of shared memory; none where the kernel does not count them apart.
    fn shared(&self) -> u64 {
        self.field("total_shmem ", "shmem ").unwrap_or(0)
    }

    /// A figure by the names that both versions of cgroups give it.
    fn field(&self, v1: &str, v2: &str) -> Option<u64> {
        let name = match self.version {
            CgroupVersion::V1 => v1,
            CgroupVersion::V2 => v2,
        };
        self.text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    }
}

/// Bytes that the first process of a group has mapped to share with those that it starts, without a file, and that are
/// not in the group yet: they may be at any time. None where the group shares nothing.
fn not_filled(memory: &ControllerPath, shared: u64) -> u64 {
    if shared == 0 {
        return 0;
    }
    let first = std::fs::read_to_string(memory.path.join("cgroup.procs")).unwrap_or_default();
    let first = first.lines().next().unwrap_or_default();
    let maps = std::fs::read_to_string(format!("/proc/{first}/maps")).unwrap_or_default();
    maps.lines().filter_map(without_a_file).sum::<u64>().saturating_sub(shared)
}

/// The size of a line of `/proc/PID/maps` that is shared memory without a file (`mmap` of nothing, System V).
fn without_a_file(line: &str) -> Option<u64> {
    let name = line.splitn(6, ' ').nth(5)?.trim_start();
    let (range, rest) = line.split_once(' ')?;
    if !(rest.starts_with("rw-s") && (name == "/dev/zero (deleted)" || name.starts_with("/SYSV"))) {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    u64::from_str_radix(to, 16).ok()?.checked_sub(u64::from_str_radix(from, 16).ok()?)
}

/// Bytes charged to the group that are not page cache: anonymous memory, kernel memory.
fn besides_page_cache(memory: &ControllerPath, counted: Option<&Counted>) -> Result<u64> {
    let usage = memory.path.join(match memory.version {
        CgroupVersion::V1 => "memory.usage_in_bytes",
        CgroupVersion::V2 => "memory.current",
    });
    let text = std::fs::read_to_string(&usage).map_err(io_error("read", &usage))?;
    let used: u64 = text.trim().parse().map_err(|_| no_figure(&usage))?;
    let cached = counted.and_then(Counted::cached).ok_or_else(|| no_figure(&memory.path.join("memory.stat")))?;
    Ok(used.saturating_sub(cached))
}

fn no_figure(path: &Path) -> StorageError {
    io_error("find the group's memory in", path)(ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::ResourceLimits;
    use crate::ledger::Ledger;

    #[test]
    fn page_cache_is_not_what_the_process_holds() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("memory.usage_in_bytes"), "1000\n").unwrap();
        let lines = "cache 5\nmapped_file 1\ntotal_cache 300\ntotal_mapped_file 40\n";
        std::fs::write(directory.path().join("memory.stat"), lines).unwrap();
        let at = |version| ControllerPath { version, path: directory.path().to_owned() };
        let counted = |version| Counted::of(&at(version)).unwrap();
        let besides = |version| besides_page_cache(&at(version), Some(&counted(version)));
        assert_eq!(besides(CgroupVersion::V1).unwrap(), 700);
        assert_eq!(counted(CgroupVersion::V1).mapped(), Some(40));
        let with_shared = "total_cache 300\ntotal_mapped_file 240\ntotal_shmem 200\n";
        std::fs::write(directory.path().join("memory.stat"), with_shared).unwrap();
        assert_eq!(besides(CgroupVersion::V1).unwrap(), 900, "shared memory is its own");
        let with_shared = counted(CgroupVersion::V1);
        assert_eq!((with_shared.mapped(), with_shared.cached()), (Some(40), Some(100)));
        assert!(besides(CgroupVersion::V2).is_err(), "missing files give nothing");
    }

    #[test]
    fn shared_memory_without_a_file_is_known_by_its_mapping() {
        let shared = "7f0000000000-7f0020000000 rw-s 00000000 00:01 1045                       /dev/zero (deleted)";
        assert_eq!(without_a_file(shared), Some(512 << 20));
        for other in [
            "7f0000000000-7f0020000000 rw-p 00000000 00:00 0 ",
            "7f0000000000-7f0020000000 r--s 00000000 fe:00 99                         /tmp/hsperfdata_cassandra/7",
            "7f0000000000-7f0020000000 rw-s 00000000 fe:00 99                         /data/segment.log",
        ] {
            assert_eq!(without_a_file(other), None, "{other}");
        }
    }

    const QUICK: Pace = Pace {
        period: Duration::from_millis(2),
        period_of_shared: Duration::from_millis(2),
        patience: Duration::from_millis(100),
    };

    /// A group of a made-up tree, and the directory of its files.
    fn group(tree: &Path) -> (Arc<Cgroup>, std::path::PathBuf) {
        std::fs::write(tree.join("cgroup.controllers"), "memory\n").unwrap();
        std::fs::write(tree.join("cgroup.subtree_control"), "").unwrap();
        let ledger = Arc::new(Ledger::open(&tree.join("ledger.jsonl")).unwrap());
        let limits = ResourceLimits { memory_bytes: Some(1 << 20), ..ResourceLimits::default() };
        let group = Cgroup::create(tree, &ledger, "iopslab-1-database", &limits).unwrap();
        let files = group.paths().memory.as_ref().unwrap().path.clone();
        std::fs::write(files.join("memory.current"), "700\n").unwrap();
        std::fs::write(files.join("memory.stat"), "file 300\nfile_mapped 0\n").unwrap();
        (Arc::new(group), files)
    }

    fn wait_for<T>(mut seen: impl FnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(seen) = seen() {
                return seen;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "it is never seen");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The kernel refused every limit, and the trial counted as one of the budget.
    #[test]
    fn what_keeps_a_page_cache_from_being_held_is_reported_and_what_passes_is_not() {
        let tree = tempfile::tempdir().unwrap();
        let (group, files) = group(tree.path());
        let held = PageCacheBudget::at(QUICK, &group, 1_000);
        let limit = files.join("memory.max");
        let followed = || std::fs::read_to_string(&limit).is_ok_and(|text| text.ends_with("\n1400\n"));
        wait_for(|| followed().then_some(()));
        assert_eq!(held.take_problem(), None);

        // Nothing can be written to a link to itself.
        let aside = files.join("aside");
        std::os::unix::fs::symlink(&limit, &aside).unwrap();
        std::fs::rename(&aside, &limit).unwrap();
        let words = wait_for(|| held.take_problem());
        assert!(words.starts_with("its limit has not followed for ") && words.contains("memory.max"), "{words}");
        wait_for(|| held.take_problem());

        // What is refused for a moment is asked for again, and followed.
        std::fs::write(&aside, "").unwrap();
        std::fs::rename(&aside, &limit).unwrap();
        wait_for(|| std::fs::read_to_string(&limit).ok().filter(|text| !text.is_empty()));
        held.change(2_000);
        wait_for(|| std::fs::read_to_string(&limit).is_ok_and(|text| text.ends_with("\n2400\n")).then_some(()));
        assert_eq!(held.take_problem(), None);

        // Figures that cannot be read are no figures.
        std::fs::remove_file(files.join("memory.current")).unwrap();
        let words = wait_for(|| held.take_problem());
        assert!(words.contains("memory.current"), "{words}");
    }

    #[test]
    fn who_holds_a_page_cache_does_not_end_unnoticed() {
        let tree = tempfile::tempdir().unwrap();
        let (group, _) = group(tree.path());
        let held = PageCacheBudget::at(QUICK, &group, 1_000);
        assert_eq!(held.take_problem(), None);
        drop(group);
        assert_eq!(wait_for(|| held.take_problem()), "who holds it has ended");
    }
}
