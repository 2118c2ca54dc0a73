//! Everything that defines one node: its name, addresses, directories, memory and threads.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
};

use experiment::TableOption;

use super::log;
use crate::account::Account;
use crate::plan::{NodeLocation, NodePlan, Ports};

/// Everything that defines one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// Cluster name; a data directory remembers it and starts under no other.
    pub cluster_name: String,
    /// Address for CQL and for other nodes.
    pub address: Ipv4Addr,
    /// CQL port.
    pub native_port: u16,
    /// Port for other nodes.
    pub storage_port: u16,
    /// Management port, on 127.0.0.1 whatever `address` is: it must differ between the nodes of one machine.
    pub jmx_port: u16,
    /// Configuration, logs, hints, saved caches and temporary files.
    pub directory: PathBuf,
    /// Tables; at least one.
    pub data_directories: Vec<PathBuf>,
    /// Commit log.
    pub commitlog_directory: PathBuf,
    /// Java heap.
    pub heap_bytes: u64,
    /// Limit of Java's direct memory (network buffers, file buffers).
    pub direct_memory_bytes: u64,
    /// Key cache; Cassandra counts it in whole MiB.
    pub key_cache_bytes: u64,
    /// CPUs that the node may use; sizes its thread pools.
    pub processors: f64,
    /// Addresses of the seeds; all nodes of a small cluster that starts at once.
    pub seeds: Vec<Ipv4Addr>,
    /// Where the node stands; `None`: the server's own single place.
    pub place: Option<NodeLocation>,
    /// Tokens for the first start (see [`balanced_tokens`]); empty: 16 random ones.
    pub initial_tokens: Vec<i64>,
    /// Limit of compaction (shipped default 64); 0 is unlimited.
    pub compaction_mib_per_s: u32,
    /// Whether tables are compacted by themselves from the start.
    pub automatic_compaction: bool,
    /// Compactions at a time; `None`: the server's own choice, 2 for one data directory.
    pub concurrent_compactors: Option<u32>,
    /// Read threads; `None`: 32, as shipped.
    pub concurrent_reads: Option<u32>,
    /// Write threads; `None`: 8 per CPU, 16 to 128.
    pub concurrent_writes: Option<u32>,
    /// Commit-log space; `None`: the server's choice, a quarter of its volume and at most 8 GiB.
    pub commitlog_total_bytes: Option<u64>,
    /// `cassandra.yaml` keys with their YAML text, which replace or add to those that iopslab writes.
    pub extra_yaml: Vec<(String, String)>,
    /// More JVM arguments, after iopslab's own.
    pub extra_jvm: Vec<String>,
    /// Options of the data set's table, instead of the usual ones.
    pub table_options: BTreeMap<String, TableOption>,
    /// Whom it runs as; `None`: whoever starts it.
    pub account: Option<Account>,
}

impl NodeConfig {
    /// A single node with default ports, 1 GiB heap, and all its directories below `directory`.
    pub fn new(cluster_name: &str, address: Ipv4Addr, directory: &Path) -> Self {
        Self {
            cluster_name: cluster_name.to_owned(),
            address,
            native_port: 9042,
            storage_port: 7000,
            jmx_port: 7199,
            directory: directory.to_owned(),
            data_directories: vec![directory.join("data")],
            commitlog_directory: directory.join("commitlog"),
            heap_bytes: 1 << 30,
            direct_memory_bytes: 512 << 20,
            key_cache_bytes: Self::key_cache_of(1 << 30),
            processors: std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64),
            seeds: vec![address],
            place: None,
            initial_tokens: balanced_tokens(0, 1),
            compaction_mib_per_s: 64,
            automatic_compaction: true,
            concurrent_compactors: None,
            concurrent_reads: None,
            concurrent_writes: None,
            commitlog_total_bytes: None,
            extra_yaml: Vec::new(),
            extra_jvm: Vec::new(),
            table_options: BTreeMap::new(),
            account: None,
        }
    }

    /// The server's own choice of a key cache: a twentieth of the heap, 1 to 100 MiB.
    pub(crate) fn key_cache_of(heap_bytes: u64) -> u64 {
        (heap_bytes / 20).clamp(1 << 20, 100 << 20)
    }

    /// Where CQL is answered.
    pub fn cql_address(&self) -> SocketAddr {
        SocketAddrV4::new(self.address, self.native_port).into()
    }

    /// Its ports.
    pub fn ports(&self) -> Ports {
        Ports {
            clients: self.native_port,
            peers: self.storage_port,
            management: self.jmx_port,
        }
    }

    /// Whole CPUs, at least one.
    pub(crate) fn cpu_count(&self) -> u32 {
        self.processors.ceil().clamp(1.0, 4096.0) as u32
    }

    /// Where the snitch finds [`Self::place`].
    pub(crate) fn place_file(&self) -> PathBuf {
        self.directory.join("conf/cassandra-rackdc.properties")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    pub(crate) fn system_log(&self) -> PathBuf {
        self.logs().join("system.log")
    }

    pub(crate) fn gc_log(&self) -> PathBuf {
        self.logs().join("gc.log")
    }

    /// What the process itself prints: messages of the JVM, before and below logging.
    pub(crate) fn console_log(&self) -> PathBuf {
        self.logs().join("console.log")
    }

    /// The last lines of the server's log, then those that the JVM printed, if any of interest.
    pub(crate) fn log_tail(&self, lines: usize) -> Vec<String> {
        let mut tail = log::tail(&self.system_log(), lines);
        // JDK 17 warns about the security manager at every start of Cassandra.
        tail.extend(
            log::tail(&self.console_log(), lines)
                .into_iter()
                .filter(|line| !line.starts_with("WARNING:")),
        );
        tail.split_off(tail.len().saturating_sub(lines))
    }
}

impl From<&NodePlan> for NodeConfig {
    fn from(plan: &NodePlan) -> Self {
        Self {
            native_port: plan.ports.clients,
            storage_port: plan.ports.peers,
            jmx_port: plan.ports.management,
            data_directories: plan.directories.data.clone(),
            commitlog_directory: plan.directories.commitlog.clone(),
            heap_bytes: plan.memory.main_bytes,
            direct_memory_bytes: plan.memory.buffer_bytes,
            key_cache_bytes: plan.memory.key_cache_bytes,
            processors: plan.cpus,
            seeds: plan.seeds.clone(),
            place: plan.place.clone(),
            initial_tokens: balanced_tokens(plan.index, plan.nodes),
            commitlog_total_bytes: plan.commitlog_bytes,
            automatic_compaction: plan.compacts,
            extra_yaml: plan.settings.cassandra.clone().into_iter().collect(),
            extra_jvm: plan.settings.jvm.clone(),
            table_options: plan.settings.table.clone(),
            ..Self::new(&plan.cluster, plan.address, &plan.directories.own)
        }
    }
}

/// Tokens of node `index` (from 0) of `nodes`: 16 each, all spaced evenly over the Murmur3 ring, so that every node
/// owns exactly the same share. Random tokens, the server's way, leave three nodes with shares that differ by some 10 %
/// and from run to run.
pub fn balanced_tokens(index: u32, nodes: u32) -> Vec<i64> {
    let per_node = 16;
    let total = i128::from(nodes.max(1)) * per_node;
    (0..per_node)
        // Half a gap from the ends: the ring's lowest value is not an ordinary token.
        .map(|k| 2 * (k * i128::from(nodes.max(1)) + i128::from(index)) + 1)
        .map(|half_gaps| i128::from(i64::MIN) + (half_gaps << 63) / total)
        .map(|token| i64::try_from(token).unwrap_or(i64::MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::balanced_tokens;

    #[test]
    fn tokens_are_even_and_unique_over_all_nodes() {
        let mut all: Vec<i64> = (0..3).flat_map(|node| balanced_tokens(node, 3)).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 48);
        assert!(all[0] > i64::MIN);
        let gaps: Vec<i128> = all.windows(2).map(|w| i128::from(w[1]) - i128::from(w[0])).collect();
        let even = (1_i128 << 64) / 48;
        assert!(gaps.iter().all(|gap| (gap - even).abs() <= 1), "{gaps:?}");
    }
}
