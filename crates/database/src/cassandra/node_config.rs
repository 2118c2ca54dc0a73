//! A node's plan with the files that Cassandra has for it, and whom it runs as.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use experiment::Settings;

use crate::account::Account;
use crate::log_tail::tail;
use crate::plan::{Directories, MemoryPlan, NodePlan, Ports};

/// The ports of the shipped configuration.
pub(crate) const PORTS: Ports = Ports { clients: 9042, peers: 7000, management: 7199 };
/// Where its logs are in its own directory, which is where it starts.
pub(crate) const LOGS: &str = "logs";
/// Cassandra's own log there.
pub(crate) const SYSTEM_LOG: &str = "system.log";
/// The garbage collector's.
pub(crate) const GC_LOG: &str = "gc.log";

/// Everything that defines one node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeConfig {
    /// What it is to be.
    pub plan: NodePlan,
    /// Whom it runs as; `None`: whoever starts it.
    pub account: Option<Account>,
}

impl NodeConfig {
    /// A single node with default ports, 1 GiB heap, and all its directories below `directory`.
    pub fn new(cluster: &str, address: Ipv4Addr, directory: &Path) -> Self {
        let plan = NodePlan {
            cluster: cluster.to_owned(),
            index: 0,
            nodes: 1,
            seeds: vec![address],
            place: None,
            address,
            ports: PORTS,
            directories: Directories::below(directory),
            memory: MemoryPlan {
                main_bytes: 1 << 30,
                buffer_bytes: 512 << 20,
                key_cache_bytes: Self::key_cache_of(1 << 30),
            },
            cpus: std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64),
            commitlog_bytes: None,
            maintains_itself: true,
            settings: Settings::default(),
            launch_prefix: Vec::new(),
            oom_kills: None,
        };
        Self { plan, account: None }
    }

    /// The server's own choice of a key cache: a twentieth of the heap, 1 to 100 MiB.
    pub(crate) fn key_cache_of(heap_bytes: u64) -> u64 {
        (heap_bytes / 20).clamp(1 << 20, 100 << 20)
    }

    /// Whole CPUs, at least one.
    pub(crate) fn cpu_count(&self) -> u32 {
        self.plan.cpus.ceil().clamp(1.0, 4096.0) as u32
    }

    /// Where the snitch finds its place.
    pub(crate) fn place_file(&self) -> PathBuf {
        self.plan.directories.own.join("conf/cassandra-rackdc.properties")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.plan.directories.own.join(LOGS)
    }

    /// Cassandra's own log.
    pub fn system_log(&self) -> PathBuf {
        self.logs().join(SYSTEM_LOG)
    }

    /// The garbage collector's log.
    pub fn gc_log(&self) -> PathBuf {
        self.logs().join(GC_LOG)
    }

    /// What the process itself prints: messages of the JVM, before and below logging.
    pub(crate) fn console_log(&self) -> PathBuf {
        self.logs().join("console.log")
    }

    /// The last lines of the server's log, then those that the JVM printed, if any of interest.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        let mut last = tail(&self.system_log(), lines);
        // JDK 17 warns about the security manager at every start of Cassandra.
        last.extend(tail(&self.console_log(), lines).into_iter().filter(|line| !line.starts_with("WARNING:")));
        last.split_off(last.len().saturating_sub(lines))
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
