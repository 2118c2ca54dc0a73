//! `environment.json`: facts about a host that a reader needs before comparing its numbers with another's.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Of `environment.json`, beside the hosts: [`Runtimes`]. Absent where no database was started.
pub const RUNTIMES: &str = "runtimes";

/// What ran each version of the database, by version. Hosts that differ make more than one, and so does a run that was
/// resumed with another.
pub type Runtimes = BTreeMap<String, Vec<Runtime>>;

/// What runs a database, such as a Java.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Runtime {
    /// As it calls itself: `openjdk version "17.0.15" 2025-04-15`.
    pub name: String,
    /// Options that it has besides those that it is started with, such as those of a script that starts a Java, each as
    /// its own words have it.
    pub options: Vec<String>,
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.options.is_empty() {
            write!(f, " with options of its own ({})", self.options.join(", "))?;
        }
        Ok(())
    }
}

/// Those that an `environment.json` has; none where it has none, or something else by their name.
pub fn runtimes(environment: &serde_json::Value) -> Runtimes {
    serde_json::from_value(environment[RUNTIMES].clone()).unwrap_or_default()
}

/// Facts about a host; what it does not show is `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Environment {
    pub hostname: Option<String>,
    pub kernel: Option<String>,
    /// Operating system, as `/etc/os-release` calls itself.
    pub os: Option<String>,
    pub cpu_model: Option<String>,
    pub microcode: Option<String>,
    /// CPUs on line.
    pub cpus: u32,
    /// Whether the CPU reports that it runs under a hypervisor.
    pub virtual_machine: bool,
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
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
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Disk {
    /// Kernel name.
    pub name: String,
    pub size_bytes: Option<u64>,
    /// Whether it says that it rotates.
    pub rotational: Option<bool>,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    pub read_ahead_kib: Option<u64>,
}
