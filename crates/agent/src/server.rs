//! The database under test as the agent drives it: one installed server, and how its nodes are planned, awaited and
//! counted.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

pub(super) use database::loader::{KEYSPACE, TABLE};
use database::{
    Directories, Installed, MemoryPlan, NodeLocation, NodePlan, Ports, Renewal, RunningNode, Server, ServerError,
};
use evidence::Runtime;
use experiment::{COMMITLOG_BYTES, DataSetFiles, Dataset, Own, Patience, Placement, Product, Settings, Started};
use process::machine;
use wire::{RequestError, Result, Software, UnderTest};

use super::host::{Host, stated_or};
use super::outbox::Outbox;

/// One cluster name for all runs: the snapshot's system tables remember it, and a database refuses another one.
const CLUSTER: &str = "iopslab";
/// Most nodes of a run on one machine, as far as ports of management go.
const NODES_OF_A_NETWORK: u16 = 16;

/// How far after the usual port of management that of a node lies: nodes of one machine have one after the other, and
/// those of a run beside another one (127.0.1.1 and so on) sixteen after these, since all of them are at 127.0.0.1.
fn management_port(on_machine: u32, address: Ipv4Addr) -> u16 {
    let network = if address.is_loopback() { address.octets()[2] } else { 0 };
    let on_machine = u16::try_from(on_machine).unwrap_or(u16::MAX);
    on_machine.saturating_add(u16::from(network) * NODES_OF_A_NETWORK)
}

/// An installed database with what is the same for all of a run's nodes.
pub(super) struct Database {
    pub product: &'static Product,
    /// The product, in the version of configurations that state none.
    pub server: Box<dyn Server>,
    /// Each version that configurations of this host need.
    versions: Vec<Version>,
    /// What is stored in it.
    pub dataset: Dataset,
    /// Schema and rows of the user's own, instead of YCSB's table.
    pub own: Option<Own>,
    patience: Patience,
    /// Addresses of the nodes of all database hosts, by index.
    addresses: Vec<Ipv4Addr>,
    /// This host's among them.
    index: u32,
    ports: Ports,
}

/// A version that can be started here.
struct Version {
    server: Box<dyn Server>,
    installed: Box<dyn Installed>,
}

impl Database {
    /// Fetches and verifies what is missing, once its ports are found to be free.
    /// What that starts and makes for a moment is written into the host's ledger.
    pub fn install(task: &UnderTest, host: &Host) -> Result<Self> {
        let outbox = &host.outbox;
        let server = database::server(&task.started, host.account.clone()).map_err(RequestError::new)?;
        let address = task.addresses.get(task.index as usize).copied();
        let address = address.ok_or_else(|| RequestError::new("this host has no address among those of the run"))?;
        let usual = server.ports();
        let ports = Ports {
            // Management has one address on a machine, whatever the node's is.
            management: usual.management.saturating_add(management_port(task.on_machine, address)),
            ..usual
        };
        server.check(address, ports)?;
        // What lies there is run.
        let cache = guarded::private_directory(&stated_or(&task.cache_directory, process::paths::cache_directory))?;
        host.ledger.allow(&cache)?;
        let install = |version: &String| -> Result<Version> {
            let started = Started { product: task.started.product, version: version.clone() };
            let server = database::server(&started, host.account.clone()).map_err(RequestError::new)?;
            let installed = server.install(
                &cache,
                &task.versions,
                &mut |doing, share| outbox.progress(doing, share),
                &|| outbox.is_cancelled(),
                &|temporary| host.remember(temporary).map_err(std::io::Error::other),
            )?;
            Ok(Version { server, installed })
        };
        let versions: Vec<Version> = task.versions.iter().map(install).collect::<Result<_, _>>()?;
        Ok(Self {
            product: task.started.product,
            server,
            versions,
            dataset: task.dataset,
            own: task.own.clone(),
            patience: task.patience,
            addresses: task.addresses.clone(),
            index: task.index,
            ports,
        })
    }

    /// What it is and what runs it, each version, for the record of a run.
    pub fn software(&self) -> Vec<Software> {
        let each = self.versions.iter().map(|Version { server, installed }| Software {
            product: server.name().to_owned(),
            version: server.version().to_owned(),
            runtime: Runtime { name: installed.runtime(), options: installed.runtime_options() },
        });
        each.collect()
    }

    /// A version that was installed; `None`: that of configurations that state none.
    fn version(&self, version: Option<&str>) -> Result<&Version> {
        let wanted = version.unwrap_or_else(|| self.server.version());
        let found = self.versions.iter().find(|installed| installed.server.version() == wanted);
        found.ok_or_else(|| RequestError::new(format!("{} {wanted} was not installed on this host", self.name())))
    }

    /// For people.
    pub fn name(&self) -> &'static str {
        self.server.name()
    }

    /// How a node gets its data set anew.
    pub fn renewal(&self) -> Renewal {
        self.server.renewal()
    }

    /// Where clients are answered, `host:port`.
    pub fn contact_points(&self) -> Vec<String> {
        vec![format!("{}:{}", self.address(), self.ports.clients)]
    }

    /// The ports over which clients and other nodes talk to it, each once.
    pub fn tcp_ports(&self) -> Vec<u16> {
        let mut ports = vec![self.ports.clients, self.ports.peers];
        ports.dedup();
        ports
    }

    /// Those of all nodes that may be of its cluster.
    pub fn addresses(&self) -> &[Ipv4Addr] {
        &self.addresses
    }

    pub fn address(&self) -> Ipv4Addr {
        self.addresses[self.index as usize]
    }

    /// Whether this is the first node of its clusters: it sees to what is done once.
    pub fn is_first(&self) -> bool {
        self.index == 0
    }

    /// Names this node's snapshot of the data set. That of a cluster's node is of use to no other node, and at no other
    /// addresses.
    pub fn snapshot_key(&self, files: &DataSetFiles) -> Result<String> {
        let server = &self.version(files.version.as_deref())?.server;
        let key = server.data_set_key(&self.dataset, self.own.as_ref(), files);
        let is_cluster = files.placement.is_cluster();
        Ok(if is_cluster { format!("{key}-node-{}-{}", self.index + 1, self.address()) } else { key })
    }

    /// Names of the tables of the data set, and after them those of its materialised views.
    pub fn tables(&self) -> Vec<String> {
        self.own.as_ref().map_or_else(|| vec![TABLE.to_owned()], Own::tables_and_views)
    }

    /// Whether a table is a materialised view.
    pub fn is_view(&self, table: &str) -> bool {
        self.own.as_ref().is_some_and(|own| own.script.views().any(|(view, _)| view == table))
    }

    /// This host's node with these directories and this memory: it has all CPUs and no cgroup, and is as the product is
    /// started as a rule.
    pub fn plan(&self, placement: Placement, directories: Directories, memory: MemoryPlan) -> NodePlan {
        NodePlan {
            cluster: CLUSTER.to_owned(),
            index: self.index,
            nodes: placement.nodes,
            seeds: self.addresses.iter().take(placement.nodes as usize).copied().collect(),
            place: NodeLocation::of(placement, self.index),
            address: self.address(),
            ports: self.ports,
            directories,
            memory,
            cpus: machine::cpus() as f64,
            // Small enough for every emulated commit-log volume.
            commitlog_bytes: Some(COMMITLOG_BYTES),
            maintains_itself: true,
            settings: Settings::default(),
            launch_prefix: Vec::new(),
            oom_kills: None,
        }
    }

    /// Starts a node in a version (`None`: that of configurations that state none) and returns at once;
    /// [`Self::wait_ready`] follows.
    pub fn start(&self, version: Option<&str>, plan: &NodePlan) -> Result<Box<dyn RunningNode>> {
        self.version(version)?.installed.start(plan).map_err(RequestError::new)
    }

    /// Waits until clients are answered.
    pub fn wait_ready(&self, node: &mut dyn RunningNode, outbox: &Outbox) -> Result<()> {
        self.wait_ready_and(node, outbox, &|| {})
    }

    /// The same; what is done besides is done again and again until then.
    pub fn wait_ready_and(&self, node: &mut dyn RunningNode, outbox: &Outbox, besides: &dyn Fn()) -> Result<()> {
        let timeout = Duration::from_secs_f64(self.patience.start_s);
        let is_cancelled = || {
            besides();
            outbox.is_cancelled()
        };
        node.wait_ready(timeout, &is_cancelled).map(|_| ()).map_err(not_started)
    }

    /// Waits until it knows all nodes and nothing goes on in the background.
    pub fn settle(&self, placement: Placement, node: &mut dyn RunningNode, outbox: &Outbox) -> Result<()> {
        let timeout = Duration::from_secs_f64(self.patience.settle_s);
        let settled = node.settle(placement.nodes, timeout, &|| outbox.is_cancelled());
        settled.map(|_| ()).map_err(RequestError::new)
    }

    /// Directories of the data set below the data directories of a node.
    pub fn data_set_directories(&self, data: &[PathBuf]) -> Vec<PathBuf> {
        let below = |data: &PathBuf| self.server.keyspace_directories(data, KEYSPACE);
        data.iter().flat_map(below).collect()
    }

    /// Bytes of the data set below the data directories of a node.
    pub fn data_set_bytes(&self, data: &[PathBuf]) -> u64 {
        let directories = self.data_set_directories(data);
        directories.iter().map(|directory| storage::tree_bytes(directory)).fold(0, u64::saturating_add)
    }
}

/// A database that did not start, with what a user can do about one that is only slow.
fn not_started(error: ServerError) -> RequestError {
    let help = match &error {
        ServerError::NotReady(_) => {
            Some("on a very slow machine, raise start_timeout_s in [provider.local]".to_owned())
        }
        _ => None,
    };
    RequestError { help, ..RequestError::new(error) }
}
