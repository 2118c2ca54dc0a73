//! What a machine lacks for emulated volumes, all of it at once, each with its cure.

use std::fs;
use std::path::Path;

use crate::cgroup::{Controller, controllers};
use crate::error::{Result, io_error};

/// Something that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is missing or wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: fix.into() }
    }
}

/// Bytes that can still be written to the file system of `path`, which need not exist yet.
///
/// Volume images are sparse, so making them succeeds on a full disk and writing into them fails later: ask first.
pub fn free_bytes(path: &Path) -> Result<u64> {
    let absolute = std::path::absolute(path).map_err(io_error("resolve", path))?;
    let existing = absolute.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(Path::new("/"));
    let facts = rustix::fs::statvfs(existing).map_err(io_error("examine the file system of", existing))?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Everything that would stop emulated volumes from working here; changes nothing. `needed_bytes` is what the run will
/// put into `work_dir`: the full size of each volume that exists at the same time, and the snapshot.
pub fn preflight(work_dir: &Path, needed_bytes: u64, cgroup_root: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !rustix::process::geteuid().is_root() {
        problems.push(Problem::new(
            "not running as root, which loop devices, mounts and cgroups need",
            "run it with sudo; without root no volume can be emulated, but `iopslab run FILE --provider simulated` \
             rehearses it, and `iopslab load` measures a database that runs already",
        ));
    }
    for (program, package) in [("mkfs.xfs", "xfsprogs"), ("fio", "fio"), ("losetup", "util-linux")] {
        problems.extend(not_installed(program, package));
    }
    if !Path::new("/dev/loop-control").exists() && !has_module("loop") {
        problems.push(Problem::new(
            "loop devices are not available (no /dev/loop-control)",
            "modprobe loop; in a container, start it privileged with /dev from the host",
        ));
    }
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !known.split_ascii_whitespace().any(|name| name == "xfs") && !has_module("xfs") {
        problems.push(Problem::new(
            "the kernel does not know XFS",
            "modprobe xfs, or install the kernel's full module package (Ubuntu: linux-modules-extra)",
        ));
    }
    let found = controllers(cgroup_root);
    problems.extend(unlimited([("memory", found.memory), ("CPU", found.cpu), ("I/O", found.io)]));
    problems.extend(changed_by_others(work_dir));
    let fix = "free some space, set `work_directory` in [provider.local] to a larger disk, or raise `scale`";
    problems.extend(too_small(work_dir, needed_bytes, fix));
    problems
}

/// Everything that would stop a run on the machine's own storage, without limits and without root; changes nothing.
/// `needed` are directories, with the bytes that will be put into each.
pub fn preflight_without_limits(needed: &[(&Path, u64)]) -> Vec<Problem> {
    let mut problems = Vec::from_iter(not_installed("fio", "fio"));
    let fix = "free some space, or name a directory on a larger disk in [provider.hosts]";
    problems.extend(needed.iter().filter_map(|(directory, bytes)| too_small(directory, *bytes, fix)));
    problems
}

/// Everything that would stop processes from being held to memory and CPUs here, which have no volume; changes nothing.
pub fn preflight_without_volumes(cgroup_root: &Path) -> Vec<Problem> {
    let is_root = rustix::process::geteuid().is_root();
    let fix = "log in as root, or leave limits out of [provider.hosts]";
    let not_root = (!is_root).then(|| Problem::new("not running as root, which cgroups need", fix));
    let found = controllers(cgroup_root);
    not_root.into_iter().chain(unlimited([("memory", found.memory), ("CPU", found.cpu)])).collect()
}

/// What cannot be limited, and why.
fn unlimited<const N: usize>(each: [(&'static str, Controller); N]) -> impl Iterator<Item = Problem> {
    each.into_iter().filter_map(|(limit, controller)| match controller {
        Controller::Missing { reason } => Some(Problem::new(format!("{limit} cannot be limited"), reason)),
        Controller::Usable { .. } => None,
    })
}

pub(crate) fn not_installed(program: &str, package: &str) -> Option<Problem> {
    let fix = || format!("install the package {package} (Debian, Ubuntu: apt-get install {package})");
    guarded::program(program).is_none().then(|| Problem::new(format!("{program} is not installed"), fix()))
}

/// That others could change what a directory of ours holds, whether it is there or still to be made; changes nothing.
pub fn changed_by_others(directory: &Path) -> Option<Problem> {
    let error = guarded::check_directory(directory).err()?;
    Some(Problem::new(error.to_string(), "IOPSLAB_WORK and IOPSLAB_CACHE name other directories"))
}

fn too_small(directory: &Path, needed_bytes: u64, fix: &str) -> Option<Problem> {
    match free_bytes(directory) {
        Ok(free) if free < needed_bytes => Some(Problem::new(
            format!(
                "{} has {:.1} GiB free and the run needs {:.1} GiB",
                directory.display(),
                gib(free),
                gib(needed_bytes)
            ),
            fix,
        )),
        Ok(_) => None,
        Err(error) => Some(Problem::new(error.to_string(), "choose another directory")),
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Whether the running kernel could load a module by itself when it is needed.
pub(crate) fn has_module(name: &str) -> bool {
    let directory = Path::new("/lib/modules").join(rustix::system::uname().release().to_string_lossy().as_ref());
    ["modules.dep", "modules.builtin"]
        .iter()
        .any(|index| fs::read_to_string(directory.join(index)).is_ok_and(|text| text.contains(&format!("/{name}.ko"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_and_missing_controllers_are_reported_together() {
        let directory = tempfile::tempdir().unwrap();
        let problems = preflight(&directory.path().join("not/yet"), u64::MAX, directory.path());
        assert!(problems.iter().any(|p| p.what.contains("GiB free")), "{problems:?}");
        assert!(problems.iter().filter(|p| p.what.contains("cannot be limited")).count() == 3, "{problems:?}");
        assert!(problems.iter().all(|p| !p.fix.is_empty()));
    }

    #[test]
    fn what_has_no_volume_needs_no_disk() {
        let directory = tempfile::tempdir().unwrap();
        let problems = preflight_without_volumes(directory.path());
        let limits: Vec<&str> =
            problems.iter().map(|p| p.what.as_str()).filter(|what| what.ends_with("cannot be limited")).collect();
        assert_eq!(limits, ["memory cannot be limited", "CPU cannot be limited"], "{problems:?}");
    }

    #[test]
    fn free_space_is_that_of_the_nearest_existing_directory() {
        assert!(free_bytes(Path::new("/no/such/place")).unwrap() > 0);
    }
}
