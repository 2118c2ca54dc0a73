//! `[provider.hosts]` as it is typed.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::spanned::{Form, Spanned};

/// Settings of the hosts provider: the user's own machines, reached by the user's own `ssh`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hosts {
    /// Machines for database nodes, in the order of the nodes: names as `ssh` takes them, or tables
    /// `{ ssh = "db1", address = "10.0.0.5", data = "/mnt/nvme" }`.
    pub database: Spanned<Vec<Form<String, DatabaseHost>>>,
    /// Machines for the nodes of cache tiers (`cache_tier`), in the order of the nodes, and for nothing else of the
    /// run: names as `ssh` takes them, or tables `{ ssh = "cache1", address = "10.0.0.9" }`.
    pub cache: Option<Spanned<Vec<Form<String, CacheHost>>>>,
    /// Machines that make the load, in the order of the clients (`clients` in `[load]`): names as `ssh` takes them.
    pub client: Spanned<Vec<Form<String, ClientHost>>>,
    /// Configuration file of `ssh` (`ssh -F`), relative to this file. Default: the user's own.
    pub ssh_config: Option<Spanned<String>>,
    /// `true`: each node gets the CPUs, the memory and the volumes that its configuration states, by cgroups and
    /// emulated volumes as on this machine (needs root there). `false` (default): machines are what they are.
    pub limits: Option<bool>,
    /// iopslab for x86-64 machines where this program is not one: a file of `make dist`, relative to this file.
    pub binary_x86_64: Option<Spanned<String>>,
    /// iopslab for aarch64 machines where this program is not one: a file of `make dist`, relative to this file.
    pub binary_aarch64: Option<Spanned<String>>,
}

/// A node of an existing cluster that is watched by SSH. Nothing of it is started, stopped or changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchedNode {
    /// The name of its machine, as `ssh` takes it.
    pub ssh: Spanned<String>,
    /// A directory there, on the device that holds its data. Default: where the database has data files open.
    pub data: Option<Spanned<String>>,
    /// A directory there, on the device that holds its commit log, for configurations with a `commitlog_volume`.
    /// Default: where the database has log files open.
    pub commitlog: Option<Spanned<String>>,
    /// A part of its command line, such as `CassandraDaemon`. Default: the process that listens on the port of `hosts`.
    pub process: Option<Spanned<String>>,
}

/// A machine for a database node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseHost {
    /// Its name, as `ssh` takes it.
    pub ssh: String,
    /// IPv4 address at which its database listens, for the other nodes and the client.
    /// Default: where `ssh` connects to.
    pub address: Option<String>,
    /// Where snapshots and the ledger live. Default: `$IOPSLAB_WORK` of that machine, or `/var/lib/iopslab` (root).
    pub work_directory: Option<String>,
    /// A directory on the disk that is to hold the data; `iopslab/` below it is used. Default: the work directory.
    pub data: Option<String>,
    /// Instead of `data`: a block device with nothing on it, on which XFS is made for the run (needs root there).
    pub device: Option<String>,
    /// A directory for the commit log of configurations with a `commitlog_volume`. Default: as the data.
    pub commitlog: Option<String>,
    /// Instead of `commitlog`: a block device with nothing on it.
    pub commitlog_device: Option<String>,
}

/// A machine for a node of a cache tier.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheHost {
    /// Its name, as `ssh` takes it.
    pub ssh: String,
    /// IPv4 address at which its cache listens, for the clients. Default: where `ssh` connects to.
    pub address: Option<String>,
    /// Where the ledger lives. Default: `$IOPSLAB_WORK` of that machine, or `/var/lib/iopslab` (root).
    pub work_directory: Option<String>,
}

/// A machine that makes load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientHost {
    /// Its name, as `ssh` takes it.
    pub ssh: String,
}
