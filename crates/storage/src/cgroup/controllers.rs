//! Which limits this machine can set, and where.

use std::fs;
use std::path::{Path, PathBuf};

use super::control_files::{CgroupVersion, write_control};
use crate::error::{Result, StorageError};

/// One controller on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// It can be used.
    Usable {
        /// Which interface.
        version: CgroupVersion,
        /// Top of its tree.
        mount: PathBuf,
    },
    /// It cannot.
    Missing {
        /// Why, and what to do.
        reason: String,
    },
}

/// The controllers that iopslab uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controllers {
    /// Memory limit.
    pub memory: Controller,
    /// CPU limit.
    pub cpu: Controller,
    /// CPU accounting (with version 2, always there).
    pub cpuacct: Controller,
    /// I/O limits per device: `io` (v2) or `blkio` (v1).
    pub io: Controller,
    /// Choice of CPUs.
    pub cpuset: Controller,
}

/// Looks below `root`, normally `/sys/fs/cgroup`, at what is mounted and enabled. Changes nothing.
pub fn controllers(root: &Path) -> Controllers {
    let unified = [root.to_owned(), root.join("unified")].into_iter().find(|d| d.join("cgroup.controllers").is_file());
    let offered = unified.as_deref().map(|d| words(&d.join("cgroup.controllers"))).unwrap_or_default();
    let find = |v2: &str, v1: &str, v1_file: &str| -> Controller {
        if let Some(mount) = unified.as_deref().filter(|_| offered.iter().any(|name| name == v2)) {
            return match obstacle(mount, v2) {
                None => Controller::Usable { version: CgroupVersion::V2, mount: mount.to_owned() },
                Some(reason) => Controller::Missing { reason },
            };
        }
        match v1_mount(root, v1) {
            Some(mount) if mount.join(v1_file).exists() => Controller::Usable { version: CgroupVersion::V1, mount },
            Some(mount) => Controller::Missing {
                reason: format!(
                    "{} has no {v1_file}: the kernel was built without it; use another kernel",
                    mount.display()
                ),
            },
            None => Controller::Missing {
                reason: format!(
                    "neither `{v2}` (cgroup v2) nor `{v1}` (v1) is available below {}; enable it on the kernel's \
                     command line, or run outside this container or with its cgroups delegated",
                    root.display()
                ),
            },
        }
    };
    let memory = find("memory", "memory", "memory.limit_in_bytes");
    let cpu = find("cpu", "cpu", "cpu.cfs_quota_us");
    let io = find("io", "blkio", "blkio.throttle.read_iops_device");
    let cpuset = find("cpuset", "cpuset", "cpuset.cpus");
    // Version 2 accounts CPU time in every cgroup, and has no controller of that name.
    let cpuacct = match &cpu {
        Controller::Usable { version: CgroupVersion::V2, .. } => cpu.clone(),
        _ => find("cpuacct", "cpuacct", "cpuacct.usage"),
    };
    Controllers { memory, cpu, cpuacct, io, cpuset }
}

/// Why a controller that version 2 offers cannot be passed on to children, if so: a cgroup other than the true root
/// may not have both processes and controllers for its children ("no internal process constraint").
fn obstacle(mount: &Path, controller: &str) -> Option<String> {
    let enabled = words(&mount.join("cgroup.subtree_control")).iter().any(|name| name == controller);
    // Only the true root has no cgroup.type.
    let is_true_root = !mount.join("cgroup.type").exists();
    let occupied = !words(&mount.join("cgroup.procs")).is_empty();
    (!enabled && !is_true_root && occupied).then(|| {
        format!(
            "`{controller}` cannot be enabled in {}, because processes run in that cgroup itself (a container's root); \
             move them into a child cgroup, or start the container with the host's cgroup namespace",
            mount.display()
        )
    })
}

/// The tree of a version 1 controller, which may be mounted jointly with others (`cpu,cpuacct`).
fn v1_mount(root: &Path, name: &str) -> Option<PathBuf> {
    let mut candidates: Vec<PathBuf> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().split(',').any(|part| part == name))
        // `cpu` is often a link to `cpu,cpuacct`: one directory must have one name.
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .filter(|path| path.join("cgroup.procs").exists())
        .collect();
    candidates.sort();
    candidates.into_iter().next()
}

/// Passes controllers on to the children of `directory`, those that are not passed on yet.
pub(super) fn enable(directory: &Path, names: &[&str]) -> Result<()> {
    let enabled = words(&directory.join("cgroup.subtree_control"));
    for name in names.iter().filter(|name| !enabled.iter().any(|e| e == *name)) {
        write_control(directory, "cgroup.subtree_control", &format!("+{name}")).map_err(|error| {
            StorageError::NoController { resource: "processes in cgroup v2", reason: error.to_string() }
        })?;
    }
    Ok(())
}

/// Words of a small file; a missing file has none.
fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect()
}
