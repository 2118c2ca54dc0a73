//! A local cluster of 1 to 3 nodes to play with: `iopslab db start | status | stop`.
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

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::{
    admin::{Admin, AdminError},
    distribution::ensure_distribution,
    distribution_error::DistributionError,
    java::{JavaError, find_java},
    node::Node,
    node_config::{NodeConfig, balanced_tokens},
    node_error::NodeError,
    start_archive::ensure_start_archive,
};

const STATE_FILE: &str = "cluster.json";
const FORMAT_VERSION: u32 = 1;
const READY_TIMEOUT: Duration = Duration::from_secs(180);
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// What to start. Node i listens at `first_address` + i.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSpec {
    /// Everything of the cluster lives here; what a cluster stopped here before has stored is found again.
    pub directory: PathBuf,
    /// 1 to 3.
    pub nodes: u32,
    /// Heap of each node.
    pub heap_bytes: u64,
    /// Cassandra version.
    pub version: String,
    /// Cache of the jars.
    pub cache: PathBuf,
    /// Address of the first node.
    pub first_address: Ipv4Addr,
    /// CQL port of all nodes.
    pub native_port: u16,
    /// Port between the nodes.
    pub storage_port: u16,
    /// JMX port of the first node; the next nodes take the next ports.
    pub jmx_port: u16,
}

impl ClusterSpec {
    /// Default addresses (127.0.0.1 on) and ports, 512 MiB of heap.
    pub fn new(directory: &Path, nodes: u32, version: &str, cache: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            nodes,
            heap_bytes: 512 << 20,
            version: version.to_owned(),
            cache: cache.to_owned(),
            first_address: Ipv4Addr::LOCALHOST,
            native_port: 9042,
            storage_port: 7000,
            jmx_port: 7199,
        }
    }

    fn node_configs(&self) -> Vec<NodeConfig> {
        let addresses: Vec<Ipv4Addr> = (0..self.nodes)
            .map(|i| Ipv4Addr::from_bits(self.first_address.to_bits().wrapping_add(i)))
            .collect();
        let config = |index: u32, address: Ipv4Addr| {
            let directory = self.directory.join(format!("node{}", index + 1));
            let mut config = NodeConfig::new("iopslab", address, &directory);
            config.native_port = self.native_port;
            config.storage_port = self.storage_port;
            config.jmx_port = self.jmx_port.wrapping_add(u16::try_from(index).unwrap_or(0));
            config.heap_bytes = self.heap_bytes;
            config.direct_memory_bytes = (self.heap_bytes / 2).max(256 << 20);
            config.seeds.clone_from(&addresses);
            config.initial_tokens = balanced_tokens(index, self.nodes);
            config
        };
        (0..self.nodes)
            .zip(&addresses)
            .map(|(index, address)| config(index, *address))
            .collect()
    }
}

/// What went wrong with a local cluster.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "wrapped errors speak for themselves")]
pub enum ClusterError {
    /// Not 1 to 3.
    #[error("a local cluster has 1 to 3 nodes, not {0}")]
    Nodes(u32),
    /// There is one.
    #[error("a cluster already runs in {} ({running} of {nodes} nodes); stop it first", directory.display())]
    AlreadyRunning {
        directory: PathBuf,
        running: usize,
        nodes: usize,
    },
    /// A cluster of another shape has left its data here.
    #[error(
        "{} holds a cluster of {existing}, which cannot become {asked}; use another directory or remove this one",
        directory.display()
    )]
    OtherShape {
        directory: PathBuf,
        existing: String,
        asked: String,
    },
    /// Nothing was started here.
    #[error("no cluster was started in {}", directory.display())]
    Missing { directory: PathBuf },
    /// The state file is not readable as such.
    #[error("{}: {reason}", path.display())]
    State { path: PathBuf, reason: String },
    /// Still running after SIGKILL.
    #[error("node {address} (process {pid}) does not end")]
    Stuck { address: SocketAddr, pid: u32 },
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    #[error(transparent)]
    Java(#[from] JavaError),
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error(transparent)]
    Admin(#[from] AdminError),
}

/// A node as the state file remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownNode {
    address: SocketAddr,
    jmx_port: u16,
    pid: u32,
    /// Clock ticks after boot at which the process started (`/proc/PID/stat`, field 22).
    started_ticks: u64,
    directory: PathBuf,
}

impl KnownNode {
    fn runs(&self) -> bool {
        started_ticks(self.pid) == Some(self.started_ticks)
    }

    /// Only reaches the process that was started, not a later one with its id.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid)
            .ok()
            .and_then(Pid::from_raw)
            .filter(|_| self.runs())
        {
            let _ = kill_process(pid, signal);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    format_version: u32,
    version: String,
    nodes: Vec<KnownNode>,
}

/// A node's state now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeStatus {
    /// CQL address.
    pub address: SocketAddr,
    /// Process id; `None` when it does not run.
    pub pid: Option<u32>,
    /// Whether CQL answers.
    pub answers_cql: bool,
    /// Logs and data.
    pub directory: PathBuf,
}

/// A local cluster, started by this or an earlier process.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    state: State,
    /// Nodes started by this process: they must be waited for when they end.
    owned: Vec<Node>,
}

impl Cluster {
    /// Fetch what is missing, start all nodes at once, wait until every node answers CQL and sees all nodes as NORMAL.
    /// On failure nothing is left running.
    pub fn start(spec: &ClusterSpec, progress: &mut dyn FnMut(&str)) -> Result<Self, ClusterError> {
        if !(1..=3).contains(&spec.nodes) {
            return Err(ClusterError::Nodes(spec.nodes));
        }
        check_earlier(spec)?;
        let configs = spec.node_configs();
        for config in &configs {
            Node::check_ports(config)?;
        }
        let java = find_java()?;
        let mut said = 101;
        let mut on_fetch = |fetched: super::Fetched| {
            let percent = fetched.bytes_done * 10 / fetched.bytes_total.max(1) * 10;
            if percent != said {
                said = percent;
                progress(&format!("fetching Cassandra {}: {percent} %", spec.version));
            }
        };
        let mut distribution = ensure_distribution(&spec.version, &spec.cache, &mut on_fetch, &|| false)?;
        if let Err(error) = ensure_start_archive(&mut distribution, &java, &|| false) {
            tracing::warn!(%error, "no class-data archive: nodes start more slowly");
        }
        fs::create_dir_all(&spec.directory).map_err(|source| NodeError::io(&spec.directory, source))?;
        let state = State {
            format_version: FORMAT_VERSION,
            version: spec.version.clone(),
            nodes: Vec::new(),
        };
        let mut cluster = Self {
            directory: spec.directory.clone(),
            state,
            owned: Vec::new(),
        };
        let started = cluster.start_nodes(
            configs,
            |config| Node::start(&distribution, &java, config, &[]),
            progress,
        );
        if let Err(error) = started {
            cluster.owned.iter_mut().for_each(Node::kill);
            return Err(error);
        }
        Ok(cluster)
    }

    fn start_nodes(
        &mut self,
        configs: Vec<NodeConfig>,
        start: impl Fn(NodeConfig) -> Result<Node, NodeError>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), ClusterError> {
        let nodes = u32::try_from(configs.len()).unwrap_or(u32::MAX);
        for config in configs {
            let known = KnownNode {
                address: config.cql_address(),
                jmx_port: config.jmx_port,
                pid: 0,
                started_ticks: 0,
                directory: config.directory.clone(),
            };
            let node = start(config)?;
            let pid = node.pid();
            self.owned.push(node);
            self.state.nodes.push(KnownNode {
                pid,
                started_ticks: started_ticks(pid).unwrap_or(0),
                ..known
            });
            // After each node: a command that is killed here leaves nodes that `stop` can find.
            self.save()?;
        }
        for node in &mut self.owned {
            let took = node.wait_ready(READY_TIMEOUT, &|| false)?;
            progress(&format!(
                "{} answers CQL after {:.1} s",
                node.config().cql_address(),
                took.as_secs_f64()
            ));
        }
        for node in &self.owned {
            let admin = Admin::connect(node.config().cql_address(), Duration::from_secs(10))?;
            admin.wait_settled(nodes, READY_TIMEOUT, &|| false)?;
        }
        progress(&format!("{nodes} of {nodes} nodes NORMAL and settled"));
        Ok(())
    }

    /// The cluster that was started in `directory`.
    pub fn open(directory: &Path) -> Result<Self, ClusterError> {
        let path = directory.join(STATE_FILE);
        let state_error = |reason: String| ClusterError::State {
            path: path.clone(),
            reason,
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ClusterError::Missing {
                    directory: directory.to_owned(),
                });
            }
            Err(error) => return Err(state_error(error.to_string())),
        };
        let state: State = serde_json::from_str(&text).map_err(|error| state_error(error.to_string()))?;
        if state.format_version > FORMAT_VERSION {
            return Err(state_error(format!(
                "written by a newer iopslab (format {})",
                state.format_version
            )));
        }
        Ok(Self {
            directory: directory.to_owned(),
            state,
            owned: Vec::new(),
        })
    }

    /// CQL addresses of all nodes.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.state.nodes.iter().map(|node| node.address).collect()
    }

    /// Cassandra version.
    pub fn version(&self) -> &str {
        &self.state.version
    }

    /// Each node's state now.
    pub fn status(&self) -> Vec<NodeStatus> {
        let status = |node: &KnownNode| {
            let runs = node.runs();
            let answers = || {
                Admin::connect(node.address, Duration::from_secs(3))
                    .and_then(|admin| admin.ping())
                    .is_ok()
            };
            NodeStatus {
                address: node.address,
                pid: runs.then_some(node.pid),
                answers_cql: runs && answers(),
                directory: node.directory.clone(),
            }
        };
        self.state.nodes.iter().map(status).collect()
    }

    /// Stop all nodes at once (drained); SIGKILL after a minute. Their data stays, for the next start in the same
    /// directory.
    pub fn stop(&mut self) -> Result<(), ClusterError> {
        for (signal, timeout) in [(Signal::TERM, STOP_TIMEOUT), (Signal::KILL, Duration::from_secs(20))] {
            self.state.nodes.iter().for_each(|node| node.signal(signal));
            let deadline = Instant::now() + timeout;
            while self.any_running() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        match self.state.nodes.iter().find(|node| node.runs()) {
            Some(node) => Err(ClusterError::Stuck {
                address: node.address,
                pid: node.pid,
            }),
            None => Ok(()),
        }
    }

    fn any_running(&mut self) -> bool {
        // Waits for those that this process has started, so that none stays as a zombie.
        self.owned.retain_mut(|node| node.exited().is_none());
        self.state.nodes.iter().any(KnownNode::runs)
    }

    fn save(&self) -> Result<(), ClusterError> {
        let path = self.directory.join(STATE_FILE);
        let aside = path.with_extension("json.new");
        let text = serde_json::to_string_pretty(&self.state).map_err(|error| ClusterError::State {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        fs::write(&aside, text + "\n")
            .and_then(|()| fs::rename(&aside, &path))
            .map_err(|error| ClusterError::State {
                path,
                reason: error.to_string(),
            })
    }
}

/// What an earlier start has left in the directory must be stopped and of the same shape.
fn check_earlier(spec: &ClusterSpec) -> Result<(), ClusterError> {
    let earlier = match Cluster::open(&spec.directory) {
        Ok(cluster) => cluster,
        Err(ClusterError::Missing { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let nodes = earlier.state.nodes.len();
    let running = earlier.state.nodes.iter().filter(|node| node.runs()).count();
    let directory = spec.directory.clone();
    if running > 0 {
        return Err(ClusterError::AlreadyRunning {
            directory,
            running,
            nodes,
        });
    }
    let first = earlier.state.nodes.first().map(|node| node.address.ip());
    if nodes != spec.nodes as usize || first != Some(spec.first_address.into()) {
        let shape = |nodes: usize, first: String| format!("{nodes} node(s) from address {first}");
        return Err(ClusterError::OtherShape {
            directory,
            existing: shape(nodes, first.map_or_else(|| "?".into(), |address| address.to_string())),
            asked: shape(spec.nodes as usize, spec.first_address.to_string()),
        });
    }
    Ok(())
}

/// Start time of a live process, in clock ticks after boot; `None` if there is none or it is a zombie.
fn started_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may itself hold any character.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_id_and_start_time() {
        let own = started_ticks(std::process::id()).unwrap();
        assert!(own > 0);
        assert_eq!(started_ticks(u32::MAX), None);
    }

    #[test]
    fn nodes_of_a_cluster_share_ports_but_neither_addresses_nor_jmx_ports() {
        let configs = ClusterSpec::new("/d".as_ref(), 3, "5.0.9", "/c".as_ref()).node_configs();
        assert_eq!(
            configs.iter().map(|c| c.address.octets()[3]).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(
            configs.iter().map(|c| c.jmx_port).collect::<Vec<_>>(),
            [7199, 7200, 7201]
        );
        assert!(configs.iter().all(|c| c.seeds.len() == 3 && c.native_port == 9042));
    }

    #[test]
    fn a_number_of_nodes_out_of_range_is_refused() {
        let spec = ClusterSpec::new("/nonexistent".as_ref(), 4, "5.0.9", "/nonexistent".as_ref());
        assert!(matches!(
            Cluster::start(&spec, &mut |_| {}),
            Err(ClusterError::Nodes(4))
        ));
    }
}
