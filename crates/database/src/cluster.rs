//! A local database to play with, of 1 to 3 nodes: `iopslab db start | status | stop`.
//!
//! The nodes outlive the command that started them, so what is needed to find them again is in `cluster.json` in the
//! cluster's directory: for each node its process id *and* that process's start time, because a process id alone may
//! belong to somebody else by now.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use experiment::Settings;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::ended::send;
use crate::loader::KEYSPACE;
use crate::plan::{Directories, MemoryPlan, NodeLocation, NodePlan, Ports};
use crate::server::{RunningNode, Server, ServerError};

const STATE_MOST_BYTES: u64 = 1 << 20;
const STATE_FILE: &str = "cluster.json";
const FORMAT_VERSION: u32 = 2;
const READY_TIMEOUT: Duration = Duration::from_secs(180);
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// What to start. Node i listens at `first_address` + i.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSpec {
    /// Everything of the cluster lives here; what a cluster stopped here before has stored is found again.
    pub directory: PathBuf,
    /// 1 to 3.
    pub nodes: u32,
    /// Where each node stands; empty: the database takes them all for one place.
    pub places: Vec<NodeLocation>,
    /// Memory of each node.
    pub memory: MemoryPlan,
    /// Cache of the software.
    pub cache: PathBuf,
    /// Address of the first node.
    pub first_address: Ipv4Addr,
    /// Ports of the first node. The next nodes have other addresses; their management ports are the next ones, since
    /// management has one address for all.
    pub ports: Ports,
}

impl ClusterSpec {
    /// The database's own ports at 127.0.0.1 and the next addresses, 512 MiB of main memory each.
    pub fn new(server: &dyn Server, directory: &Path, nodes: u32, cache: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            nodes,
            places: Vec::new(),
            memory: server.memory(512 << 20),
            cache: cache.to_owned(),
            first_address: Ipv4Addr::LOCALHOST,
            ports: server.ports(),
        }
    }

    fn plans(&self) -> Vec<NodePlan> {
        let addresses: Vec<Ipv4Addr> =
            (0..self.nodes).map(|i| Ipv4Addr::from_bits(self.first_address.to_bits().wrapping_add(i))).collect();
        let plan = |(index, address): (u32, &Ipv4Addr)| NodePlan {
            cluster: "iopslab".to_owned(),
            index,
            nodes: self.nodes,
            seeds: addresses.clone(),
            place: self.places.get(index as usize).cloned(),
            address: *address,
            ports: Ports {
                management: self.ports.management.wrapping_add(u16::try_from(index).unwrap_or(0)),
                ..self.ports
            },
            directories: Directories::below(&self.directory.join(format!("node{}", index + 1))),
            memory: self.memory,
            cpus: std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64),
            commitlog_bytes: None,
            maintains_itself: true,
            settings: Settings::default(),
            launch_prefix: Vec::new(),
            oom_kills: None,
        };
        (0..self.nodes).zip(&addresses).map(plan).collect()
    }
}

/// What went wrong with a local cluster.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "wrapped errors speak for themselves")]
pub enum ClusterError {
    #[error("a local cluster has 1 to 3 nodes, not {0}")]
    Nodes(u32),
    #[error("a cluster already runs in {} ({running} of {nodes} nodes); stop it first", directory.display())]
    AlreadyRunning { directory: PathBuf, running: usize, nodes: usize },
    #[error(
        "{} holds a cluster of {existing}, which cannot become {asked}; use another directory or remove this one",
        directory.display()
    )]
    OtherShape { directory: PathBuf, existing: String, asked: String },
    #[error("no cluster was started in {}", directory.display())]
    Missing { directory: PathBuf },
    /// The state file is not readable as such.
    #[error("{}: {reason}", path.display())]
    State { path: PathBuf, reason: String },
    #[error("node {address} (process {pid}) does not end")]
    Stuck { address: SocketAddr, pid: u32 },
    /// The cluster's directory.
    #[error("node files: {}: {source}", path.display())]
    Directory { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// A node as the state file remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownNode {
    address: SocketAddr,
    management_port: u16,
    pid: u32,
    /// Clock ticks after boot at which the process started (`/proc/PID/stat`, field 22).
    started_ticks: u64,
    directory: PathBuf,
}

impl KnownNode {
    fn runs(&self) -> bool {
        guarded::start_time_ticks(self.pid) == Some(self.started_ticks)
    }

    /// Only reaches the process that was started, not a later one with its id.
    fn signal(&self, signal: Signal) {
        if self.runs() {
            send(self.pid, signal);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    format_version: u32,
    /// What [`Server::name`] says.
    database: String,
    version: String,
    nodes: Vec<KnownNode>,
}

/// A node's state now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeStatus {
    /// Where clients are answered.
    pub address: SocketAddr,
    /// Process id; `None` when it does not run.
    pub pid: Option<u32>,
    /// Whether they are.
    pub answers: bool,
    /// Logs and data.
    pub directory: PathBuf,
}

/// A local cluster, started by this or an earlier process.
pub struct Cluster {
    directory: PathBuf,
    state: State,
    /// Nodes started by this process: they must be waited for when they end.
    owned: Vec<Box<dyn RunningNode>>,
}

impl Cluster {
    /// Installs what is missing, starts all nodes at once, waits until every node answers clients and sees all nodes in
    /// their places, and lets clients make tables in the keyspace `ycsb`. On failure nothing is left running.
    pub fn start(
        spec: &ClusterSpec,
        server: &dyn Server,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, ClusterError> {
        if !(1..=3).contains(&spec.nodes) {
            return Err(ClusterError::Nodes(spec.nodes));
        }
        check_earlier(spec, server)?;
        let plans = spec.plans();
        for plan in &plans {
            server.check(plan.address, plan.ports)?;
        }
        let mut said = String::new();
        let mut on_install = |doing: &str, share: Option<(u64, u64)>| {
            let text = match share {
                // In steps of ten: a line each.
                Some((done, total)) => format!("{doing}: {} %", done * 10 / total.max(1) * 10),
                None => doing.to_owned(),
            };
            if text != said {
                progress(&text);
                said = text;
            }
        };
        let installed = server.install(&spec.cache, &[], &mut on_install, &|| false, &|_| Ok(()))?;
        fs::create_dir_all(&spec.directory)
            .map_err(|source| ClusterError::Directory { path: spec.directory.clone(), source })?;
        let (database, version) = (server.name().to_owned(), server.version().to_owned());
        let state = State { format_version: FORMAT_VERSION, database, version, nodes: Vec::new() };
        let mut cluster = Self { directory: spec.directory.clone(), state, owned: Vec::new() };
        if let Err(error) = cluster.start_nodes(&plans, |plan| installed.start(plan), progress) {
            cluster.owned.iter_mut().for_each(|node| node.kill());
            return Err(error);
        }
        Ok(cluster)
    }

    fn start_nodes(
        &mut self,
        plans: &[NodePlan],
        start: impl Fn(&NodePlan) -> Result<Box<dyn RunningNode>, ServerError>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), ClusterError> {
        let nodes = u32::try_from(plans.len()).unwrap_or(u32::MAX);
        for plan in plans {
            let node = start(plan)?;
            let pid = node.pid();
            self.owned.push(node);
            self.state.nodes.push(KnownNode {
                address: plan.client_address(),
                management_port: plan.ports.management,
                pid,
                started_ticks: guarded::start_time_ticks(pid).unwrap_or(0),
                directory: plan.directories.own.clone(),
            });
            // After each node: a command that is killed here leaves nodes that `stop` can find.
            self.save()?;
        }
        for (node, plan) in self.owned.iter_mut().zip(plans) {
            let took = node.wait_ready(READY_TIMEOUT, &|| false)?;
            progress(&format!("{} answers clients after {:.1} s", plan.client_address(), took.as_secs_f64()));
        }
        for node in &mut self.owned {
            node.settle(nodes, READY_TIMEOUT, &|| false)?;
            node.open_to_clients(KEYSPACE)?;
        }
        progress(&format!("{nodes} of {nodes} nodes settled"));
        Ok(())
    }

    /// The cluster that was started in `directory`.
    pub fn open(directory: &Path) -> Result<Self, ClusterError> {
        let path = directory.join(STATE_FILE);
        let state_error = |reason: String| ClusterError::State { path: path.clone(), reason };
        let text = guarded::if_there(guarded::text(&path, STATE_MOST_BYTES));
        let text = text.map_err(|error| state_error(error.to_string()))?;
        let text = text.ok_or_else(|| ClusterError::Missing { directory: directory.to_owned() })?;
        let state: State = serde_json::from_str(&text).map_err(|error| state_error(error.to_string()))?;
        if state.format_version != FORMAT_VERSION {
            return Err(state_error(format!(
                "written by another iopslab (format {}, this one reads {FORMAT_VERSION})",
                state.format_version
            )));
        }
        Ok(Self { directory: directory.to_owned(), state, owned: Vec::new() })
    }

    /// Where all nodes answer clients.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.state.nodes.iter().map(|node| node.address).collect()
    }

    /// The database, as [`Server::name`] has it.
    pub fn database(&self) -> &str {
        &self.state.database
    }

    /// The database's version.
    pub fn version(&self) -> &str {
        &self.state.version
    }

    /// Each node's state now.
    pub fn status(&self, server: &dyn Server) -> Vec<NodeStatus> {
        let status = |node: &KnownNode| {
            let runs = node.runs();
            NodeStatus {
                address: node.address,
                pid: runs.then_some(node.pid),
                answers: runs && server.answers(node.address, Duration::from_secs(3)),
                directory: node.directory.clone(),
            }
        };
        self.state.nodes.iter().map(status).collect()
    }

    /// Stops all nodes of a server at once and in order; SIGKILL after a minute. Their data stays, for the next start
    /// in the same directory.
    pub fn stop(&mut self, server: &dyn Server) -> Result<(), ClusterError> {
        for (signal, timeout) in [(server.ends_on(), STOP_TIMEOUT), (Signal::KILL, Duration::from_secs(20))] {
            self.state.nodes.iter().for_each(|node| node.signal(signal));
            let deadline = Instant::now() + timeout;
            while self.any_running() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        match self.state.nodes.iter().find(|node| node.runs()) {
            Some(node) => Err(ClusterError::Stuck { address: node.address, pid: node.pid }),
            None => Ok(()),
        }
    }

    fn any_running(&mut self) -> bool {
        // Waits for those that this process has started, so that none stays as a zombie.
        self.owned.retain_mut(|node| node.ended().is_none());
        self.state.nodes.iter().any(KnownNode::runs)
    }

    fn save(&self) -> Result<(), ClusterError> {
        let path = self.directory.join(STATE_FILE);
        let text = serde_json::to_string_pretty(&self.state)
            .map_err(|error| ClusterError::State { path: path.clone(), reason: error.to_string() })?;
        guarded::replace(&path, (text + "\n").as_bytes(), 0o644)
            .map_err(|error| ClusterError::State { path, reason: error.to_string() })
    }
}

/// What an earlier start has left in the directory must be stopped and of the same shape.
fn check_earlier(spec: &ClusterSpec, server: &dyn Server) -> Result<(), ClusterError> {
    let earlier = match Cluster::open(&spec.directory) {
        Ok(cluster) => cluster,
        Err(ClusterError::Missing { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let nodes = earlier.state.nodes.len();
    let running = earlier.state.nodes.iter().filter(|node| node.runs()).count();
    let directory = spec.directory.clone();
    if running > 0 {
        return Err(ClusterError::AlreadyRunning { directory, running, nodes });
    }
    let first = earlier.state.nodes.first().map(|node| node.address.ip());
    let is_same =
        earlier.database() == server.name() && nodes == spec.nodes as usize && first == Some(spec.first_address.into());
    if is_same {
        return Ok(());
    }
    let shape = |database: &str, nodes: usize, first: String| format!("{nodes} node(s) of {database} from {first}");
    Err(ClusterError::OtherShape {
        directory,
        existing: shape(earlier.database(), nodes, first.map_or_else(|| "?".into(), |address| address.to_string())),
        asked: shape(server.name(), spec.nodes as usize, spec.first_address.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassandra::Cassandra;

    #[test]
    fn nodes_of_a_cluster_share_ports_but_neither_addresses_nor_management_ports() {
        let plans = ClusterSpec::new(&Cassandra::new("5.0.9", None), "/d".as_ref(), 3, "/c".as_ref()).plans();
        assert_eq!(plans.iter().map(|p| p.address.octets()[3]).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(plans.iter().map(|p| p.ports.management).collect::<Vec<_>>(), [7199, 7200, 7201]);
        assert!(plans.iter().all(|p| p.seeds.len() == 3 && p.ports.clients == 9042));
    }

    #[test]
    fn a_number_of_nodes_out_of_range_is_refused() {
        let server = Cassandra::new("5.0.9", None);
        let spec = ClusterSpec::new(&server, "/nonexistent".as_ref(), 4, "/nonexistent".as_ref());
        assert!(matches!(Cluster::start(&spec, &server, &mut |_| {}), Err(ClusterError::Nodes(4))));
    }
}
