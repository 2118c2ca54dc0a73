//! `environment.json`: facts about a host that a reader needs before comparing its numbers with another's.

use serde::{Deserialize, Serialize};

/// Of `environment.json`, beside the hosts: what runs each version of the database, such as a Java, by version. A list,
/// of which hosts that differ make more than one.
pub const RUNTIMES: &str = "runtimes";
/// Of `environment.json`, beside the hosts: options that what runs the database has besides those of iopslab, such as
/// those of a script that starts a Java, each once. Absent where there are none.
pub const RUNTIME_OPTIONS: &str = "runtime_options";

/// Facts about a host; what it does not show is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Operating system, as `/etc/os-release` calls itself.
    pub os: Option<String>,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// CPU microcode version.
    pub microcode: Option<String>,
    /// CPUs on line.
    pub cpus: u32,
    /// Whether the CPU reports that it runs under a hypervisor.
    pub virtual_machine: bool,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Swap, bytes.
    pub swap_bytes: Option<u64>,
    /// Clock source in use.
    pub clock_source: Option<String>,
    /// Transparent huge pages: the setting in force.
    pub transparent_huge_pages: Option<String>,
    /// Mounted cgroup hierarchies, such as `blkio (v1)`.
    pub cgroups: Vec<String>,
    /// Block devices that are not loop or RAM disks.
    pub disks: Vec<Disk>,
}

/// A block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Kernel name.
    pub name: String,
    /// Bytes.
    pub size_bytes: Option<u64>,
    /// Whether it says that it rotates.
    pub rotational: Option<bool>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Read-ahead, KiB.
    pub read_ahead_kib: Option<u64>,
}
