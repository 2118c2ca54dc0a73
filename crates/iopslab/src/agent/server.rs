//! The database under test as the agent drives it: one installed server, and how its nodes are planned, awaited and
//! counted.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use database::{Directories, Installed, MemoryPlan, NodePlan, Replication, RunningNode, Server, ServerError};
use spec::{Dataset, Patience};
use wire::{Fault, UnderTest};

use super::outbox::{Outbox, fault};

/// Keyspace and table of the data set, as in YCSB.
pub(super) const KEYSPACE: &str = "ycsb";
pub(super) const TABLE: &str = "usertable";
/// One cluster name for all runs: the snapshot's system tables remember it, and a database refuses another one.
const CLUSTER: &str = "iopslab";
/// The one node of a configuration.
const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;
const NODES: u32 = 1;
pub(super) const REPLICATION: Replication = Replication::Each(1);
/// Commit-log space; half of the smallest emulated commit-log volume.
const COMMITLOG_BYTES: u64 = 1 << 30;

/// An installed database with what is the same for all of a run's nodes.
pub(super) struct Database {
    /// The product.
    pub server: Box<dyn Server>,
    installed: Box<dyn Installed>,
    /// What is stored in it.
    pub dataset: Dataset,
    patience: Patience,
    /// Names the snapshot of the data set.
    pub snapshot_key: String,
}

impl Database {
    /// Fetches and verifies what is missing, once its ports are found to be free.
    pub fn install(server: Box<dyn Server>, task: &UnderTest, outbox: &Outbox) -> Result<Self, Fault> {
        server.check(ADDRESS, server.ports()).map_err(fault)?;
        let installed = server
            .install(
                Path::new(&task.cache_directory),
                &mut |doing, share| outbox.progress(doing, share),
                &|| outbox.is_cancelled(),
            )
            .map_err(fault)?;
        let snapshot_key = server.snapshot_key(&task.dataset, &[None; NODES as usize], &REPLICATION);
        Ok(Self {
            server,
            installed,
            dataset: task.dataset,
            patience: task.patience,
            snapshot_key,
        })
    }

    /// What it is and what runs it, for the record of a run.
    pub fn software(&self) -> String {
        let (name, version) = (self.server.name(), self.server.version());
        format!("{name} {version} on {}", self.installed.runtime())
    }

    /// For people.
    pub fn name(&self) -> &'static str {
        self.server.name()
    }

    /// Where clients are answered, `host:port`.
    pub fn contact_points(&self) -> Vec<String> {
        vec![format!("{ADDRESS}:{}", self.server.ports().clients)]
    }

    /// Starts the node and returns at once; [`Self::wait_ready`] follows.
    pub fn start(
        &self,
        directories: Directories,
        memory: MemoryPlan,
        cpus: f64,
        launch_prefix: Vec<String>,
    ) -> Result<Box<dyn RunningNode>, Fault> {
        let plan = NodePlan {
            cluster: CLUSTER.to_owned(),
            index: 0,
            nodes: NODES,
            seeds: vec![ADDRESS],
            place: None,
            address: ADDRESS,
            ports: self.server.ports(),
            directories,
            memory,
            cpus,
            // Small enough for every emulated commit-log volume.
            commitlog_bytes: Some(COMMITLOG_BYTES),
            launch_prefix,
        };
        self.installed.start(&plan).map_err(fault)
    }

    /// Waits until clients are answered.
    pub fn wait_ready(&self, node: &mut dyn RunningNode, outbox: &Outbox) -> Result<(), Fault> {
        let timeout = Duration::from_secs_f64(self.patience.start_s);
        let ready = node.wait_ready(timeout, &|| outbox.is_cancelled());
        ready.map(|_| ()).map_err(not_started)
    }

    /// Waits until nothing goes on in the background.
    pub fn settle(&self, node: &mut dyn RunningNode, outbox: &Outbox) -> Result<(), Fault> {
        let timeout = Duration::from_secs_f64(self.patience.settle_s);
        let settled = node.settle(NODES, timeout, &|| outbox.is_cancelled());
        settled.map(|_| ()).map_err(fault)
    }

    /// Bytes of the data set below a data directory.
    pub fn data_set_bytes(&self, data: &Path) -> u64 {
        let directories = self.server.keyspace_directories(data, KEYSPACE);
        directories.iter().map(|directory| storage::tree_bytes(directory)).sum()
    }
}

/// A database that did not start, with what a user can do about one that is only slow.
fn not_started(error: ServerError) -> Fault {
    let help = match &error {
        ServerError::NotReady(_) => {
            Some("on a very slow machine, raise start_timeout_s in [provider.local]".to_owned())
        }
        _ => None,
    };
    Fault { help, ..fault(error) }
}
