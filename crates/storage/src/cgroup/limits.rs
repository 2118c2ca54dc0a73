//! From limits to what is written into control files.

use std::fs;
use std::path::Path;

use experiment::IoLimits;

use super::control_files::{CgroupVersion, ControllerPath, write_control};
use super::controllers::{Controller, Controllers};
use crate::error::{Result, StorageError, io_error};

/// Scheduling period of a CPU limit (Documentation/scheduler/sched-bwc.rst). With the kernel's default of 100 ms a
/// group that has spent its quota stands still for the rest of that: at 0.5 CPU the p99 of a database was 100 ms, and
/// 30 ms with this one.
const CPU_PERIOD_US: u64 = 10_000;
/// The kernel refuses a longer one.
const CPU_PERIOD_MAX_US: u64 = 1_000_000;
/// The kernel refuses a smaller quota.
const CPU_QUOTA_MIN_US: u64 = 1_000;

/// What a group of processes may use; `None` means unlimited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceLimits {
    /// Memory with page cache, bytes; no swap on top of it.
    pub memory_bytes: Option<u64>,
    /// CPUs, as a share of time: 1.5 is one and a half CPUs.
    pub cpus: Option<f64>,
    /// Which CPUs, in the kernel's list form: `0-1,3`.
    pub cpuset: Option<String>,
    /// Gets the CPUs above before other work of the machine does, as far as weights go: a hundred times that of another
    /// group or process. Without effect where the machine has no CPU controller.
    pub before_others: bool,
    /// I/O of block devices.
    pub devices: Vec<DeviceLimit>,
}

/// Limits of one block device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceLimit {
    /// Major and minor number.
    pub device: (u32, u32),
    /// Its ceilings.
    pub limits: IoLimits,
}

impl ResourceLimits {
    /// Refuses limits that the machine cannot set, before anything is created.
    pub(super) fn check(&self, available: &Controllers) -> Result<()> {
        let needs = [
            ("memory", self.memory_bytes.is_some(), &available.memory),
            ("cpu", self.cpus.is_some(), &available.cpu),
            ("cpuset", self.cpuset.is_some(), &available.cpuset),
            ("io", !self.devices.is_empty(), &available.io),
        ];
        for (resource, needed, controller) in needs {
            if let (true, Controller::Missing { reason }) = (needed, controller) {
                return Err(StorageError::NoController { resource, reason: reason.clone() });
            }
        }
        Ok(())
    }
}

pub(super) fn set_memory(at: &ControllerPath, bytes: u64) -> Result<()> {
    let value = bytes.to_string();
    match at.version {
        CgroupVersion::V2 => {
            write_control(&at.path, "memory.max", &value)?;
            // Absent when the kernel has no swap support, which serves as well.
            write_if_present(&at.path, "memory.swap.max", "0")
        }
        CgroupVersion::V1 => {
            // Memory plus swap: the same ceiling leaves nothing for swap. Absent without swap accounting; then
            // swappiness 0 keeps the group off the swap while it has page cache to give. The kernel never lets memory
            // exceed memory plus swap, so a rise begins with the latter and a fall with the former.
            let with_swap = "memory.memsw.limit_in_bytes";
            let now =
                std::fs::read_to_string(at.path.join(with_swap)).ok().and_then(|text| text.trim().parse::<u64>().ok());
            if now.is_some_and(|now| now < bytes) {
                write_control(&at.path, with_swap, &value)?;
                write_control(&at.path, "memory.limit_in_bytes", &value)?;
            } else {
                write_control(&at.path, "memory.limit_in_bytes", &value)?;
                write_if_present(&at.path, with_swap, &value)?;
            }
            write_if_present(&at.path, "memory.swappiness", "0")
        }
    }
}

fn write_if_present(directory: &Path, file: &str, value: &str) -> Result<()> {
    if directory.join(file).exists() { write_control(directory, file, value) } else { Ok(()) }
}

pub(super) fn set_cpus(at: &ControllerPath, cpus: f64) -> Result<()> {
    // A float-to-integer `as` saturates, so nonsense becomes the nearest thing that the kernel accepts or refuses.
    let least_us = (CPU_QUOTA_MIN_US as f64 / cpus).ceil() as u64;
    let period_us = least_us.clamp(CPU_PERIOD_US, CPU_PERIOD_MAX_US);
    let quota_us = ((cpus * period_us as f64).round() as u64).max(CPU_QUOTA_MIN_US);
    match at.version {
        CgroupVersion::V2 => write_control(&at.path, "cpu.max", &format!("{quota_us} {period_us}")),
        CgroupVersion::V1 => {
            // A quota of a longer period would be more CPUs for a moment, which the kernel refuses below a parent that
            // is limited.
            write_control(&at.path, "cpu.cfs_quota_us", "-1")?;
            write_control(&at.path, "cpu.cfs_period_us", &period_us.to_string())?;
            write_control(&at.path, "cpu.cfs_quota_us", &quota_us.to_string())
        }
    }
}

/// A hundred times the weight that the kernel gives a group or a process (Documentation/admin-guide/cgroup-v2.rst,
/// cpu.weight: 100 of at most 10000; Documentation/scheduler/sched-design-CFS.rst, cpu.shares: 1024).
pub(super) fn set_before_others(at: &ControllerPath) -> Result<()> {
    match at.version {
        // What competes with the rest of the machine is the outer of the two directories.
        CgroupVersion::V2 => write_control(at.path.parent().unwrap_or(&at.path), "cpu.weight", "10000"),
        CgroupVersion::V1 => write_control(&at.path, "cpu.shares", "102400"),
    }
}

pub(super) fn set_cpuset(at: &ControllerPath, cpus: &str) -> Result<()> {
    if at.version == CgroupVersion::V1 {
        // A version 1 cpuset accepts no process until it has memory nodes as well; it gets its parent's.
        let parent = at.path.parent().unwrap_or(&at.path).join("cpuset.mems");
        let nodes = fs::read_to_string(&parent).map_err(io_error("read", &parent))?;
        write_control(&at.path, "cpuset.mems", nodes.trim())?;
    }
    write_control(&at.path, "cpuset.cpus", cpus)
}

pub(super) fn set_io(at: &ControllerPath, (major, minor): (u32, u32), limits: &IoLimits) -> Result<()> {
    let fields = [
        ("riops", "read_iops", limits.read_iops),
        ("wiops", "write_iops", limits.write_iops),
        ("rbps", "read_bps", limits.read_bytes_per_s),
        ("wbps", "write_bps", limits.write_bytes_per_s),
    ];
    match at.version {
        CgroupVersion::V2 => {
            let values = fields.map(|(name, _, limit)| {
                format!("{name}={}", limit.map_or_else(|| "max".to_owned(), |l| whole(l).to_string()))
            });
            write_control(&at.path, "io.max", &format!("{major}:{minor} {}", values.join(" ")))
        }
        // Zero lifts a limit.
        CgroupVersion::V1 => fields.iter().try_for_each(|(_, name, limit)| {
            let value = limit.map_or(0, whole);
            write_control(&at.path, &format!("blkio.throttle.{name}_device"), &format!("{major}:{minor} {value}"))
        }),
    }
}

/// The kernel takes whole numbers, and zero would mean "no limit" or be refused: a scaled-down limit below one
/// operation per second becomes one.
fn whole(limit: f64) -> u64 {
    (limit.round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn a_limit_is_never_rounded_down_to_no_limit() {
        for (asked, written) in [(0.0, 1), (0.3, 1), (1.4, 1), (9.5, 10), (187.5, 188), (3000.0, 3000)] {
            assert_eq!(whole(asked), written, "{asked}");
        }
    }
}
