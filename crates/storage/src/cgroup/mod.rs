//! Limits on a group of processes, by Linux control groups of either version behind one type.
//!
//! # Two versions
//!
//! Version 2 has one tree (`io.max`, `memory.max`, `cpu.max`; Documentation/admin-guide/cgroup-v2.rst), version 1 one
//! tree per controller (`blkio.throttle.*`, `memory.limit_in_bytes`, `cpu.cfs_quota_us`;
//! Documentation/admin-guide/cgroup-v1/). A controller is in one of them at a time, so each is looked for in version 2
//! first and in version 1 otherwise: on a hybrid machine one [`Cgroup`] spans both.
//!
//! # What the I/O limits hold, and what they do not
//!
//! * Measured on kernel 6.18 (version 1, loop device, XFS): 3,000 IOPS within 0.2 % and 160 MiB/s for direct, mapped
//!   and buffered-with-fsync I/O alike.
//! * I/O is released in slices of about 100 ms, so a saturated volume shows latency steps of that size.
//! * **Version 1 does not attribute buffered writeback**: dirty pages that a kernel thread writes later pass unlimited
//!   and uncounted. A database that issues its own writes is limited (Cassandra with `trickle_fsync`, and its
//!   commit-log sync); one that leaves them to the kernel is not. Version 2 attributes writeback on XFS and ext4.
//! * EBS counts reads and writes against one ceiling, control groups against two: a mixed load may reach the sum.
//!
//! # Membership before exec
//!
//! [`Cgroup::launch_prefix`] is a command-line prefix that joins all groups and then becomes the program. Memory is
//! charged to the group a process is in *when it touches the page*, so a process moved later would keep its heap and
//! page cache outside its limit.

mod control_files;
mod controllers;
mod limits;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use experiment::IoLimits;
use guarded::{if_there, shell_path};

pub use control_files::{CgroupVersion, ControllerPath};
pub use controllers::{Controller, Controllers, controllers};
pub use limits::{DeviceLimit, ResourceLimits};

use crate::error::{Result, StorageError, io_error};
use crate::ledger::{Ledger, LedgerId, LedgerItem};
use crate::loops;
use crate::permitted::is_cgroup;
use crate::process::{kill_now, wait_until};

/// Every directory that this crate creates in a cgroup tree starts like this, and no other is ever removed.
const PREFIX: &str = "iopslab-";

/// Version 2 only: the inner directory that holds the processes. The outer one enables the controllers in its own
/// `cgroup.subtree_control`, which keeps systemd from switching them off above it in mid-run (a controller cannot be
/// disabled while a child passes it on).
const LEAF: &str = "iopslab-processes";

/// Exit status of a process that could not join its cgroups (as env(1) and timeout(1) use for their own failures).
pub const CANNOT_JOIN_EXIT_STATUS: i32 = 125;

/// Where the files of a cgroup are, for those who read its counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CgroupPaths {
    /// `memory.stat`, `memory.current` (v2) or `memory.usage_in_bytes` (v1).
    pub memory: Option<ControllerPath>,
    /// `cpu.stat`: throttling (both), usage (v2).
    pub cpu: Option<ControllerPath>,
    /// `cpuacct.usage` (v1) or `cpu.stat` (v2).
    pub cpuacct: Option<ControllerPath>,
    /// `blkio.throttle.io_service*` (v1) or `io.stat` (v2).
    pub io: Option<ControllerPath>,
}

/// A control group with limits. Dropping it ends its processes and removes it as well as it can.
#[derive(Debug)]
pub struct Cgroup {
    ledger: Arc<Ledger>,
    paths: CgroupPaths,
    /// Where its cpuset is, if it was created with one.
    cpuset: Option<ControllerPath>,
    /// Directories that processes join.
    leaves: Vec<PathBuf>,
    /// All directories in order of creation; emptied by [`Cgroup::remove`].
    directories: Mutex<Vec<(PathBuf, LedgerId)>>,
}

impl Cgroup {
    /// Creates the cgroup `name` (starting with `iopslab-`) below `root`, normally `/sys/fs/cgroup`, with its limits in
    /// force. Controllers that nothing is asked of are joined where they exist, for their counters. Errors:
    /// [`StorageError::NoController`] when a limit is asked for that the machine cannot set.
    pub fn create(root: &Path, ledger: &Arc<Ledger>, name: &str, limits: &ResourceLimits) -> Result<Self> {
        if !name.starts_with(PREFIX) || name.contains('/') {
            return Err(io_error(
                format!("use a name that does not start with `{PREFIX}` for a cgroup"),
                Path::new(name),
            )(ErrorKind::InvalidInput));
        }
        let available = controllers(root);
        limits.check(&available)?;
        let mut cgroup = Self {
            ledger: Arc::clone(ledger),
            paths: CgroupPaths::default(),
            cpuset: None,
            leaves: Vec::new(),
            directories: Mutex::new(Vec::new()),
        };
        // From here on, an error drops `cgroup`, which removes what has been made so far.
        let unified = cgroup.create_unified(&available, name, limits)?;
        let mut place = |controller: &Controller| -> Result<Option<ControllerPath>> {
            Ok(match controller {
                Controller::Usable { version: CgroupVersion::V2, .. } => {
                    unified.clone().map(|path| ControllerPath { version: CgroupVersion::V2, path })
                }
                Controller::Usable { version: CgroupVersion::V1, mount } => {
                    let path = mount.join(name);
                    cgroup.make_leaf(&path)?;
                    Some(ControllerPath { version: CgroupVersion::V1, path })
                }
                Controller::Missing { .. } => None,
            })
        };
        let paths = CgroupPaths {
            memory: place(&available.memory)?,
            cpu: place(&available.cpu)?,
            cpuacct: place(&available.cpuacct)?,
            io: place(&available.io)?,
        };
        let cpuset = if limits.cpuset.is_some() { place(&available.cpuset)? } else { None };
        cgroup.paths = paths;
        cgroup.cpuset = cpuset;
        cgroup.set_cpu_limits(limits.cpus, limits.cpuset.as_deref())?;
        if let (true, Some(at)) = (limits.before_others, &cgroup.paths.cpu) {
            limits::set_before_others(at)?;
        }
        if let (Some(bytes), Some(at)) = (limits.memory_bytes, &cgroup.paths.memory) {
            limits::set_memory(at, bytes)?;
        }
        for DeviceLimit { device, limits } in &limits.devices {
            cgroup.set_device_limits(*device, limits)?;
        }
        Ok(cgroup)
    }

    /// The two directories of version 2, if any controller lives there; returns the inner one.
    fn create_unified(
        &mut self,
        available: &Controllers,
        name: &str,
        limits: &ResourceLimits,
    ) -> Result<Option<PathBuf>> {
        let mut wanted: Vec<(&str, &Controller)> =
            vec![("memory", &available.memory), ("cpu", &available.cpu), ("io", &available.io)];
        if limits.cpuset.is_some() {
            wanted.push(("cpuset", &available.cpuset));
        }
        let mut mount = None;
        let mut names = Vec::new();
        for (controller_name, controller) in wanted {
            if let Controller::Usable { version: CgroupVersion::V2, mount: at } = controller {
                mount = Some(at.clone());
                names.push(controller_name);
            }
        }
        let Some(mount) = mount else { return Ok(None) };
        controllers::enable(&mount, &names)?;
        let outer = mount.join(name);
        self.make(&outer)?;
        controllers::enable(&outer, &names)?;
        let inner = outer.join(LEAF);
        self.make_leaf(&inner)?;
        Ok(Some(inner))
    }

    fn make_leaf(&mut self, path: &Path) -> Result<()> {
        // Controllers mounted together (`cpu,cpuacct`) share one directory.
        if !self.leaves.iter().any(|leaf| leaf == path) {
            self.make(path)?;
            self.leaves.push(path.to_owned());
        }
        Ok(())
    }

    fn make(&mut self, path: &Path) -> Result<()> {
        let entry = self.ledger.intend(LedgerItem::Cgroup { path: path.to_owned() })?;
        if let Err(error) = fs::create_dir(path) {
            self.ledger.done(entry)?;
            let hint = if error.kind() == ErrorKind::AlreadyExists { " (run `iopslab clean` first?)" } else { "" };
            return Err(io_error(format!("create the cgroup{hint}"), path)(error));
        }
        self.directories.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).push((path.to_owned(), entry));
        Ok(())
    }

    /// Sets or changes the limits of one block device; `IoLimits::default()` lifts them.
    pub fn set_device_limits(&self, device: (u32, u32), limits: &IoLimits) -> Result<()> {
        limits::set_io(self.paths.io.as_ref().ok_or_else(|| missing("io", "an I/O"))?, device, limits)
    }

    /// Sets the share of CPU time (`cpus`, see [`ResourceLimits::cpus`]) and the CPUs themselves; `None` leaves what is
    /// in force. CPUs can be set only where the cgroup was created with some.
    pub fn set_cpu_limits(&self, cpus: Option<f64>, cpuset: Option<&str>) -> Result<()> {
        if let Some(list) = cpuset {
            limits::set_cpuset(self.cpuset.as_ref().ok_or_else(|| missing("cpuset", "a cpuset"))?, list)?;
        }
        if let Some(cpus) = cpus {
            limits::set_cpus(self.paths.cpu.as_ref().ok_or_else(|| missing("cpu", "a cpu"))?, cpus)?;
        }
        Ok(())
    }

    /// Changes the memory limit.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        limits::set_memory(self.paths.memory.as_ref().ok_or_else(|| missing("memory", "a memory"))?, bytes)
    }

    /// Words to put before a command line so that the program is in all its cgroups before it executes its first
    /// instruction. If a group cannot be joined the program is not started: the shell says so on stderr and exits with
    /// [`CANNOT_JOIN_EXIT_STATUS`].
    pub fn launch_prefix(&self) -> Vec<String> {
        let files: Vec<String> = self.leaves.iter().map(|leaf| shell_path(&leaf.join("cgroup.procs"))).collect();
        let script = format!(
            "for f in {}; do echo $$ > \"$f\" || {{ echo \"iopslab: cannot join the cgroup of $f\" >&2; exit {}; }}; \
             done; exec \"$@\"",
            files.join(" "),
            CANNOT_JOIN_EXIT_STATUS
        );
        ["/bin/sh", "-c", &script, "iopslab"].map(str::to_owned).to_vec()
    }

    /// Where the kernel counts what it killed for lack of memory in it, in a line `oom_kill N`; `None` without a memory
    /// controller.
    pub fn oom_kills(&self) -> Option<PathBuf> {
        let memory = self.paths.memory.as_ref()?;
        Some(memory.path.join(match memory.version {
            CgroupVersion::V1 => "memory.oom_control",
            CgroupVersion::V2 => "memory.events",
        }))
    }

    /// Where its files are.
    pub fn paths(&self) -> &CgroupPaths {
        &self.paths
    }

    /// Processes in it.
    pub fn pids(&self) -> Result<Vec<u32>> {
        let mut pids = Vec::new();
        for leaf in &self.leaves {
            pids.extend(members(leaf)?);
        }
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }

    /// Ends all its processes (SIGKILL) and returns once they are gone.
    pub fn kill_all(&self) -> Result<()> {
        self.leaves.iter().try_for_each(|leaf| kill_members(leaf).map(drop))
    }

    /// Ends its processes and removes it. A second call does nothing.
    pub fn remove(&self) -> Result<()> {
        let mut directories = self.directories.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while let Some((path, entry)) = directories.last() {
            remove_directory(path)?;
            self.ledger.done(*entry)?;
            directories.pop();
        }
        Ok(())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A drop reports nothing; what could not be undone is still in the ledger.
        let _ = self.remove();
    }
}

fn missing(resource: &'static str, named: &str) -> StorageError {
    StorageError::NoController { resource, reason: format!("this cgroup was created without {named} controller") }
}

/// Ends the members of one cgroup directory and removes it; returns whether it was there. Also what cleaning a ledger
/// does.
pub(crate) fn remove_directory(path: &Path) -> Result<bool> {
    if !is_ours(path) {
        return Err(io_error("remove a cgroup that iopslab did not create:", path)(ErrorKind::PermissionDenied));
    }
    if !path.exists() {
        return Ok(false);
    }
    if !is_cgroup(path)? {
        // Whatever numbers stand in its files, the kernel has not written them.
        return Err(StorageError::NotOurs {
            what: format!("cgroup {}", path.display()),
            reason: "it lies on no mounted cgroup file system".to_owned(),
        });
    }
    kill_members(path)?;
    // The kernel lets go of a cgroup a moment after its last process ends.
    let mut outcome = Ok(());
    wait_until(Duration::from_secs(5), || {
        outcome = fs::remove_dir(path);
        !matches!(&outcome, Err(error) if error.kind() == ErrorKind::ResourceBusy)
    });
    Ok(if_there(outcome).map_err(io_error("remove the cgroup", path))?.is_some())
}

/// Whether a directory has a name of ours.
fn is_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

/// No device limits what was written inside any more. Version 2 holds the kernel's own writing to the limits of a group
/// also when nobody is left in it, so that an unmount would wait for them; version 1 never does.
pub(crate) fn lift_device_limits(path: &Path) {
    let at = ControllerPath { version: CgroupVersion::V2, path: path.to_owned() };
    let limited = fs::read_to_string(path.join("io.max")).unwrap_or_default();
    let devices = limited.lines().filter_map(|line| loops::parse_number(line.split_whitespace().next()?));
    for device in devices.filter(|_| is_ours(path)) {
        // What is not lifted takes longer.
        let _ = limits::set_io(&at, device, &IoLimits::default());
    }
}

fn members(directory: &Path) -> Result<Vec<u32>> {
    let path = directory.join("cgroup.procs");
    let text = if_there(fs::read_to_string(&path)).map_err(io_error("read", &path))?.unwrap_or_default();
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

/// A member may fork while it is being killed, so the list is read again until it is empty.
fn kill_members(directory: &Path) -> Result<usize> {
    let mut killed = 0;
    let mut left = members(directory)?;
    wait_until(Duration::from_secs(10), || {
        killed = killed.max(left.len());
        left.iter().copied().for_each(kill_now);
        // An unreadable list after a readable one: the directory is being removed.
        left = members(directory).unwrap_or_default();
        left.is_empty()
    });
    if left.is_empty() { Ok(killed) } else { Err(StorageError::Unkillable { path: directory.to_owned(), pids: left }) }
}

#[cfg(test)]
mod tests;
