//! What a run needs of a database host, and what that host has to know of the run.

use std::net::Ipv4Addr;

use experiment::{Dataset, Own, Patience, Started};
use serde::{Deserialize, Serialize};

use crate::MachineUse;

/// What a run needs of a database host.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Needs {
    /// Where volumes, snapshots and the ledger would live; empty: the default of that machine.
    pub work_directory: String,
    /// What the machine is used for; `None`: emulated volumes, all limits in force.
    pub machine_use: Option<MachineUse>,
    /// Bytes there.
    pub bytes: u64,
    /// Bytes on the disk of its logs, where they have one of their own.
    pub log_bytes: u64,
    /// Whether its network is to be cut.
    pub network_cut: bool,
    /// Whether a process is to answer for its volumes.
    pub served_volumes: bool,
    /// Whether volumes are to be striped by its kernel.
    pub arrays: bool,
    /// The configuration that needs most CPUs.
    pub cpus: Option<Demand>,
    /// The configuration that needs most memory, bytes.
    pub memory: Option<Demand>,
    /// A directory of data sets that must be there, and whether it is written to.
    pub data_sets: Option<(String, bool)>,
    /// Whether caches are to be started.
    pub caches: bool,
}

/// What a configuration's nodes on one machine need of something.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Demand {
    /// The configuration's name.
    pub configuration: String,
    /// Its nodes on this machine.
    pub nodes: u32,
    /// What each of them needs.
    pub each: f64,
    /// Whether they need it to load their data set, before any trial.
    pub loads: bool,
}

impl Demand {
    /// What all of them need.
    pub fn total(&self) -> f64 {
        f64::from(self.nodes) * self.each
    }
}

/// Something that stands in the way of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is missing or wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
    /// The experiment asks for what this machine cannot be; else the machine can be mended.
    pub is_in_the_experiment: bool,
}

/// What the database host needs to know about the whole run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnderTest {
    /// Name of the run; part of cgroup names.
    pub run: String,
    /// Where this node's volumes, snapshots and ledger live; empty: the default of that machine.
    pub work_directory: String,
    /// What the machine is used for; `None`: emulated volumes, all limits in force.
    pub machine_use: Option<MachineUse>,
    /// Addresses of the nodes of all database hosts, by index.
    pub addresses: Vec<Ipv4Addr>,
    /// Number of this host among them, from 0.
    pub index: u32,
    /// Number of this host among those of its machine, from 0: it decides which CPUs it gets, and its management port.
    pub on_machine: u32,
    /// Where downloads are kept; empty: the default of that machine.
    pub cache_directory: String,
    /// What is to be started, in the version of configurations that state none.
    pub started: Started,
    /// The versions of it that configurations of this host need, each once.
    pub versions: Vec<String>,
    /// The data set on this machine.
    pub dataset: Dataset,
    /// Schema and rows of the user's own, instead of YCSB's table.
    pub own: Option<Own>,
    /// Bytes that this node needs in the work directory.
    pub needed_bytes: u64,
    /// Bytes that it needs on the disk of its logs, where they have one of their own.
    pub log_bytes: u64,
    /// How long the database may take.
    pub patience: Patience,
    /// Whether others may measure on this machine meanwhile.
    pub beside: bool,
}
