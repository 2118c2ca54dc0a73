//! What a node is to be: plain values that every database understands.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};

use experiment::{Placement, Settings};

/// The data centre of clusters that iopslab places; racks are `rack1` and so on.
const DATA_CENTRE: &str = "dc1";

/// Everything that the outside decides about one node. What only one database knows (thread pools, caches, flags) is
/// that database's own business.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePlan {
    /// Name of the cluster; a data directory remembers it and starts under no other.
    pub cluster: String,
    /// Number of this node in its cluster, from 0.
    pub index: u32,
    /// Nodes of the cluster that start together; they share the data evenly.
    pub nodes: u32,
    /// Addresses at which a node finds the others at its start.
    pub seeds: Vec<Ipv4Addr>,
    /// Where the node stands. Either all nodes of a cluster have a place or none has: without, the database takes them
    /// all for one place.
    pub place: Option<NodeLocation>,
    /// Address for clients and for other nodes.
    pub address: Ipv4Addr,
    /// Its ports.
    pub ports: Ports,
    /// Its directories.
    pub directories: Directories,
    /// Memory that it takes for itself.
    pub memory: MemoryPlan,
    /// CPUs that it may use; sizes its thread pools.
    pub cpus: f64,
    /// Bytes that its commit log may take; `None`: the database's own choice.
    pub commitlog_bytes: Option<u64>,
    /// Whether it brings the files of its tables into shape by itself from its start.
    pub maintains_itself: bool,
    /// What is otherwise than this server is started as a rule.
    pub settings: Settings,
    /// Comes before the server's program on the command line, and ends by replacing itself with its arguments (`exec
    /// "$@"`): it puts the node into its cgroups. Empty: nothing comes before.
    pub launch_prefix: Vec<String>,
    /// Where the kernel counts what it killed for lack of memory in them (`oom_kill N`), if they limit that.
    pub oom_kills: Option<PathBuf>,
}

impl NodePlan {
    /// Where clients are answered.
    pub fn client_address(&self) -> SocketAddr {
        SocketAddrV4::new(self.address, self.ports.clients).into()
    }
}

/// Where a node stands: replicas are spread over the racks of a data centre.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeLocation {
    /// Data centre (a cloud's region).
    pub data_centre: String,
    /// Rack (a cloud's zone).
    pub rack: String,
}

impl NodeLocation {
    /// That of a node by its number, from 0, in a cluster that iopslab places: one data centre, racks by turns. One
    /// that is alone stands nowhere in particular.
    pub fn of(placement: Placement, index: u32) -> Option<Self> {
        placement
            .is_cluster()
            .then(|| Self { data_centre: DATA_CENTRE.to_owned(), rack: format!("rack{}", index % placement.racks + 1) })
    }
}

/// Ports of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// CQL.
    pub clients: u16,
    /// Other nodes.
    pub peers: u16,
    /// Management, on 127.0.0.1 whatever the node's address is: it differs between the nodes of one machine.
    pub management: u16,
}

/// Directories of a node; they are created if they are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    /// Configuration, logs, temporary files: what is not measured.
    pub own: PathBuf,
    /// Tables: the node spreads them over these, by ranges of its tokens, so that their order is part of what it has.
    pub data: Vec<PathBuf>,
    /// Commit log.
    pub commitlog: PathBuf,
}

impl Directories {
    /// All below one directory.
    pub fn below(own: &Path) -> Self {
        Self { own: own.to_owned(), data: vec![own.join("data")], commitlog: own.join("commitlog") }
    }
}

/// Memory that a node takes for itself; what is left of its limit is page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Records, indexes and working memory, bytes. For a server in Java: its heap.
    pub main_bytes: u64,
    /// Buffers for network and files besides, bytes. For a server in Java: its direct memory.
    pub buffer_bytes: u64,
    /// Where keys lie in its files, bytes. For Cassandra: its key cache.
    pub key_cache_bytes: u64,
}

/// How many copies of each record a keyspace keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replication {
    /// So many in each data centre.
    Each(u32),
    /// So many in each of these data centres, and none elsewhere.
    ByDataCentre(BTreeMap<String, u32>),
}

impl Replication {
    /// The copies that a cluster keeps which iopslab places.
    pub fn of(placement: Placement) -> Self {
        Self::Each(placement.replication_factor)
    }
}
