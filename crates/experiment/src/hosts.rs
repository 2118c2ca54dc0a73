//! The machines of a run by SSH.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// `[provider.hosts]`, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostsSettings {
    /// Machines for database nodes, in the order of the nodes; at least one.
    pub database: Vec<DatabaseMachine>,
    /// Machines for the nodes of cache tiers, in the order of the nodes.
    pub cache: Vec<CacheMachine>,
    /// Names of the machines that make the load, as `ssh` takes them; at least one.
    pub client: Vec<String>,
    /// How all of them are reached.
    pub ssh: SshFiles,
}

/// A machine that runs a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseMachine {
    /// Its name, as `ssh` takes it.
    pub ssh: String,
    /// Where its database listens; `None`: where `ssh` connects to.
    pub address: Option<Ipv4Addr>,
    /// Where snapshots and the ledger live; `None`: the default of that machine.
    pub work_directory: Option<String>,
    /// What holds the data; `None`: the work directory.
    pub data: Option<MachineStorage>,
    /// What holds the commit log where a configuration has a volume for it; `None`: as the data.
    pub commitlog: Option<MachineStorage>,
    /// The snapshot of EBS from which the volume of the data was made; `None`: it was made empty.
    pub snapshot: Option<String>,
}

/// A machine that runs a node of a cache tier, and nothing else of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheMachine {
    /// Its name, as `ssh` takes it.
    pub ssh: String,
    /// Where its cache listens; `None`: where `ssh` connects to.
    pub address: Option<Ipv4Addr>,
    /// Where the ledger lives; `None`: the default of that machine.
    pub work_directory: Option<String>,
}

/// A node of an existing cluster that is watched: its agent looks and touches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedNode {
    /// Number of its host among the database hosts of the run, from 0.
    pub host: u32,
    /// Its machine's name, as `ssh` takes it.
    pub ssh: String,
    /// A directory on the device that holds its data; `None`: where its process has data files open.
    pub data: Option<String>,
    /// A directory on the device that holds its commit log; `None`: where its process has log files open.
    pub commitlog: Option<String>,
    /// A part of its command line; `None`: its process listens on the port of the contact points.
    pub process: Option<String>,
}

/// How machines are reached by SSH.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshFiles {
    /// Configuration file of `ssh`, instead of the user's.
    pub ssh_config: Option<String>,
    /// iopslab for x86-64, where this program's own file is not one.
    pub binary_x86_64: Option<String>,
    /// iopslab for aarch64, where this program's own file is not one.
    pub binary_aarch64: Option<String>,
}

impl SshFiles {
    /// The files that are named.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { ssh_config, binary_x86_64, binary_aarch64 } = self;
        [ssh_config, binary_x86_64, binary_aarch64].into_iter().flatten()
    }
}

/// Storage of a machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineStorage {
    /// A directory that exists; `iopslab/` below it is used.
    Directory(String),
    /// A block device with nothing on it; XFS is made on it for the run.
    Device(String),
}
