//! The limits of one trial: its cgroup, CPUs, devices, and the budget of the page cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use experiment::Setup;
use monitor::CgroupFiles;
use process::machine;
use storage::{Cgroup, Ledger, PageCacheBudget, ResourceLimits};
use wire::{RequestError, Result};

use super::host::Host;
use super::volumes::{CGROUP_ROOT, Volumes, device_limit};

/// A cgroup with what is in force in it.
pub(super) struct Limits {
    /// `None`: the machine is what it is.
    cgroup: Option<Arc<Cgroup>>,
    cpus: ResourceLimits,
    /// CPUs of this machine that the nodes of the configuration were promised.
    promised: f64,
    page_cache: Option<PageCacheBudget>,
    /// What kept one from being held that is held no longer.
    page_cache_problem: Option<String>,
}

impl Limits {
    /// Nothing is limited.
    pub fn none() -> Self {
        let cpus = ResourceLimits::default();
        Self { cgroup: None, cpus, promised: 0.0, page_cache: None, page_cache_problem: None }
    }

    /// A cgroup for a database that starts: its memory is limited from the first instruction. It has all CPUs for the
    /// start: what it computes does not depend on them, as it is given their number.
    ///
    /// `on_machine` is the number of this node among those of its machine, from 0; `promised` are the CPUs of the
    /// machine that all of them were promised.
    pub fn for_start(ledger: &Arc<Ledger>, setup: &Setup, on_machine: u32, promised: f64) -> Result<Self> {
        let cpus = cpu_limits(setup.cpus, on_machine, machine::cpus());
        let limits = ResourceLimits {
            memory_bytes: Some(setup.memory_limit_bytes),
            cpuset: cpus.cpuset.as_ref().map(|_| format!("0-{}", machine::cpus() - 1)),
            // Its CPUs are what the configuration was promised: whatever else runs here comes after it.
            before_others: true,
            ..ResourceLimits::default()
        };
        let name = Host::cgroup_name("database");
        let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), ledger, &name, &limits)?;
        let cgroup = Some(Arc::new(cgroup));
        Ok(Self { cgroup, cpus, promised, page_cache: None, page_cache_problem: None })
    }

    /// What comes before a command so that it runs inside.
    pub fn launch_prefix(&self) -> Vec<String> {
        let cgroup = self.cgroup.as_ref();
        cgroup.map(|cgroup| cgroup.launch_prefix()).unwrap_or_default()
    }

    /// Where the kernel counts what it killed for lack of memory inside.
    pub fn oom_kills(&self) -> Option<PathBuf> {
        self.cgroup.as_ref().and_then(|cgroup| cgroup.oom_kills())
    }

    /// CPU and I/O limits come into force here, after the start: a start-up that crawls at 60 IOPS would measure
    /// nothing but patience.
    pub fn enforce(&self, volumes: &Volumes) -> Result<()> {
        let Some(cgroup) = &self.cgroup else { return Ok(()) };
        cgroup.set_cpu_limits(self.cpus.cpus, self.cpus.cpuset.as_deref())?;
        let machine = machine::cpus();
        volumes.answered_on_first(machine::left_beside(self.promised, machine).unwrap_or(machine));
        volumes.behave()?;
        volumes
            .mounted
            .iter()
            .filter_map(device_limit)
            .try_for_each(|limit| cgroup.set_device_limits(limit.device, &limit.limits))
            .map_err(RequestError::new)
    }

    /// The process goes on with nothing that holds it or its volumes back, but for the page cache.
    ///
    /// # Errors
    ///
    /// The first one; what else can be lifted is.
    pub fn relax(&self, volumes: &Volumes) -> Result<()> {
        let relaxed = volumes.relax().map_err(RequestError::new);
        let Some(cgroup) = &self.cgroup else { return relaxed };
        let devices = volumes.mounted.iter().filter_map(device_limit);
        let lifted = devices.map(|limit| cgroup.set_device_limits(limit.device, &experiment::IoLimits::default()));
        let lifted = lifted.fold(Ok(()), Result::and).map_err(RequestError::new);
        let machine = machine::cpus();
        let all = self.cpus.cpuset.as_ref().map(|_| format!("0-{}", machine - 1));
        let quota = self.cpus.cpus.map(|_| machine as f64);
        relaxed.and(lifted).and(cgroup.set_cpu_limits(quota, all.as_deref()).map_err(RequestError::new))
    }

    /// From now on these are the limits of another configuration, which come into force with [`Self::enforce`]; the
    /// page cache is held at its budget at once.
    pub fn turn_into(&mut self, setup: &Setup, on_machine: u32, promised: f64) {
        self.cpus = cpu_limits(setup.cpus, on_machine, machine::cpus());
        self.promised = promised;
        self.hold_page_cache(setup.page_cache_budget_bytes);
    }

    /// From now on the page cache is held at its budget.
    pub fn hold_page_cache(&mut self, budget_bytes: u64) {
        match (&self.page_cache, &self.cgroup) {
            // What is mapped now need not be the program: it counts as that once, when holding begins.
            (Some(held), _) => held.change(budget_bytes),
            (None, Some(cgroup)) => self.page_cache = Some(PageCacheBudget::hold(cgroup, budget_bytes)),
            (None, None) => {}
        }
    }

    /// Bytes of page cache that are charged to the database; `None` where it has no cgroup of its own.
    pub fn page_cache_bytes(&self) -> Option<u64> {
        self.cgroup.as_deref().and_then(storage::page_cache_bytes)
    }

    /// Bytes of that which are the program itself and take nothing of the budget; `None` where nothing is held.
    pub fn program_cache_bytes(&self) -> Option<u64> {
        self.page_cache.as_ref().map(PageCacheBudget::program_bytes)
    }

    /// A node is started again: it takes its memory before the page cache gets the rest, as at the first start. Without
    /// this the limit would still be what the one before held at its end: almost nothing.
    pub fn make_room(&mut self, memory_limit_bytes: u64) -> Result<()> {
        self.rest();
        match &self.cgroup {
            Some(cgroup) => cgroup.set_memory_limit(memory_limit_bytes).map_err(RequestError::new),
            None => Ok(()),
        }
    }

    /// The page cache is no longer held at its budget.
    pub fn rest(&mut self) {
        let problem = self.page_cache.take().and_then(|held| held.take_problem());
        self.page_cache_problem = self.page_cache_problem.take().or(problem);
    }

    /// What has kept the page cache from being held at its budget since this was last asked, in words.
    pub fn take_page_cache_problem(&mut self) -> Option<String> {
        let earlier = self.page_cache_problem.take();
        let now = self.page_cache.as_ref().and_then(PageCacheBudget::take_problem);
        earlier.or(now)
    }

    /// Ends whatever still runs inside, and removes the cgroup.
    pub fn release(self) -> Result<()> {
        let Some(cgroup) = self.cgroup else { return Ok(()) };
        cgroup.kill_all()?;
        cgroup.remove().map_err(RequestError::new)
    }

    /// Where the cgroup's figures are.
    pub fn files(&self) -> CgroupFiles {
        self.cgroup.as_deref().map(files_of).unwrap_or_default()
    }
}

/// Where the figures of a cgroup are.
pub(super) fn files_of(cgroup: &Cgroup) -> CgroupFiles {
    let paths = cgroup.paths();
    let path = |controller: &Option<storage::ControllerPath>| controller.as_ref().map(|c| c.path.clone());
    CgroupFiles {
        memory_dir: path(&paths.memory),
        cpu_dir: path(&paths.cpu),
        cpuacct_dir: path(&paths.cpuacct),
        v2: paths.memory.as_ref().is_some_and(|c| c.version == storage::CgroupVersion::V2),
    }
}

/// Whole CPUs are given whole: the last ones of the machine, by cpuset. A quota on more CPUs would stop the database
/// for up to 100 ms in each period once it is spent, which shows as steps in every latency percentile (measured: p95 of
/// 50 ms). Only a fraction of a CPU needs the quota.
///
/// Nodes of one machine take theirs one after the other, from the end: a node shares a CPU only where its part begins
/// or ends within one.
fn cpu_limits(cpus: f64, on_machine: u32, machine: usize) -> ResourceLimits {
    let taken = cpus * f64::from(on_machine);
    let end = (machine - (taken.floor() as usize).min(machine - 1)).max(1);
    let first = machine.saturating_sub((taken + cpus).ceil() as usize).min(end - 1);
    let last = end - 1;
    ResourceLimits {
        cpus: (cpus.fract() > 0.0).then_some(cpus),
        cpuset: (end - first < machine).then(|| format!("{first}-{last}")),
        ..ResourceLimits::default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A trial whose page cache nobody held any more counted as one of its budget.
    #[test]
    fn that_nobody_holds_the_page_cache_any_more_is_known_when_the_trial_stops_also_after_a_node_was_away() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("cgroup.controllers"), "memory\n").unwrap();
        std::fs::write(tree.path().join("cgroup.subtree_control"), "").unwrap();
        let ledger = Arc::new(Ledger::open(&tree.path().join("ledger.jsonl")).unwrap());
        let group = Cgroup::create(tree.path(), &ledger, "iopslab-1-database", &ResourceLimits::default());
        let group = Arc::new(group.unwrap());
        let held = PageCacheBudget::hold(&group, 1 << 20);
        let mut limits = Limits { page_cache: Some(held), ..Limits::none() };
        assert_eq!(limits.take_page_cache_problem(), None);
        // Its thread ends with it.
        drop(group);
        let began = Instant::now();
        let words = loop {
            if let Some(words) = limits.take_page_cache_problem() {
                break words;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "nobody notices");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(words, "who holds it has ended");
        limits.rest();
        assert_eq!(limits.take_page_cache_problem(), Some(words), "held no longer, and not forgotten");
        assert_eq!(limits.take_page_cache_problem(), None);
    }

    #[test]
    fn nodes_of_one_machine_take_their_cpus_one_after_the_other() {
        let sets = |cpus: f64, nodes: u32, machine| -> Vec<String> {
            let set = |node| cpu_limits(cpus, node, machine).cpuset.unwrap_or_else(|| "all".to_owned());
            (0..nodes).map(set).collect()
        };
        // One node has the last CPUs of the machine, or all of it.
        assert_eq!(sets(1.0, 1, 2), ["1-1"]);
        assert_eq!(sets(0.5, 1, 2), ["1-1"]);
        assert_eq!(sets(1.5, 1, 2), ["all"]);
        assert_eq!(sets(2.0, 1, 2), ["all"]);
        assert_eq!(sets(3.0, 1, 8), ["5-7"]);
        // Several share none that they need not share.
        assert_eq!(sets(0.5, 3, 2), ["1-1", "1-1", "0-0"]);
        assert_eq!(sets(2.0, 3, 8), ["6-7", "4-5", "2-3"]);
        assert_eq!(sets(1.5, 2, 4), ["2-3", "1-2"]);
        // More than there is: refused before anything starts; here it only must not fail.
        assert_eq!(sets(2.0, 2, 2), ["all", "0-0"]);
        assert_eq!(cpu_limits(1.5, 1, 4).cpus, Some(1.5));
        assert_eq!(cpu_limits(2.0, 1, 4).cpus, None);
    }
}
