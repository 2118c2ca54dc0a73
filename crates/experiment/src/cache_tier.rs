//! A tier of memcached in front of a database: nodes of their own, which the client asks before it asks the database.

use catalog::{CpuSpeed, GIB, MIB};
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Memory that memcached takes beside what it holds items in: its hash table, connections and threads. A margin of
/// ours; what it really takes is seen in its cgroup.
const BESIDE_ITEMS_BYTES: f64 = 64.0 * MIB;
/// The same, as a share of the items' memory.
const BESIDE_ITEMS_SHARE: f64 = 0.1;
/// Largest record that memcached takes as one item: 1 MiB (memcached(1), `-I`), less what it keeps with it.
pub(crate) const MOST_RECORD_BYTES: f64 = MIB - 4_096.0;
/// Least memory for items of a node: below it a few pages of 1 MiB are all that it has.
pub(crate) const LEAST_BYTES: f64 = 8.0 * MIB;
/// Longest key that memcached takes (memcached, doc/protocol.txt, "Keys").
pub(crate) const MOST_KEY_BYTES: usize = 250;
/// Smallest CPU share of a node.
const LEAST_CPUS: f64 = 0.1;

/// The most memory for items on a machine with so much memory, bytes: what memcached takes beside it is there, too.
pub(crate) fn most_for_items(machine_bytes: f64) -> f64 {
    (machine_bytes - BESIDE_ITEMS_BYTES) / (1.0 + BESIDE_ITEMS_SHARE)
}

words! {
    /// What a write does to a record's copy in the cache, once the database has acknowledged it.
    #[derive(Default)]
    pub enum CachePolicy {
        /// Nothing: the copy stays until its time to live is over, or memory is needed.
        Aside = "aside",
        /// It is replaced by the record as written.
        WriteThrough = "write_through",
        /// It is deleted.
        #[default]
        Invalidate = "invalidate",
    }
}

/// The tier of a configuration, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheTier {
    /// Its nodes.
    pub nodes: u32,
    /// The machine of each, by its catalog name.
    pub instance: String,
    /// Its virtual CPUs.
    pub vcpus: f64,
    /// How fast one of these is; `None`: not known.
    pub cpu_speed: Option<CpuSpeed>,
    /// Network bandwidth of each that lasts, Gbit/s; `None`: not known.
    pub network_gbps: Option<f64>,
    /// Memory for items on each (memcached's `-m`), bytes.
    pub memory_bytes: u64,
    /// Seconds after which an item is gone; `None`: it stays as long as there is memory.
    pub ttl_s: Option<u32>,
    /// What writes do to it.
    pub policy: CachePolicy,
}

impl CacheTier {
    /// For people: `2 x r7g.large with 8 GiB for items, ttl 3600 s, invalidate`.
    pub fn label(&self) -> String {
        let memory_gib = (self.memory_bytes as f64 / GIB * 100.0).round() / 100.0;
        let ttl = self.ttl_s.map_or_else(|| "no ttl".to_owned(), |s| format!("ttl {s} s"));
        format!("{} x {} with {memory_gib} GiB for items, {ttl}, {}", self.nodes, self.instance, self.policy.name())
    }

    /// The tier on a machine that models it at 1:N, where its vCPUs are worth so many of that scale's.
    pub(crate) fn at(&self, scale: f64, worth_vcpus: f64) -> CacheTierSetup {
        CacheTierSetup {
            nodes: self.nodes,
            cpus: (worth_vcpus / scale).max(LEAST_CPUS),
            network_bytes_per_s: self.network_gbps.map(|gbps| gbps * 1e9 / 8.0 / scale),
            memory_bytes: (self.memory_bytes as f64 / scale) as u64,
            ttl_s: self.ttl_s,
            policy: self.policy,
        }
    }
}

/// The same as it is started on this machine; all figures are of one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheTierSetup {
    /// Its nodes.
    pub nodes: u32,
    /// CPUs that a node may use.
    pub cpus: f64,
    /// What the network of its machine carries in one direction at this scale, bytes per second; nothing holds it to
    /// that. `None`: not known.
    pub network_bytes_per_s: Option<f64>,
    /// Memory for items (`-m`), bytes.
    pub memory_bytes: u64,
    /// Seconds after which an item is gone: time is not divided by the scale.
    pub ttl_s: Option<u32>,
    /// What writes do to it.
    pub policy: CachePolicy,
}

impl CacheTierSetup {
    /// Memory that a node's processes may take, bytes.
    pub fn memory_limit_bytes(&self) -> u64 {
        (self.memory_bytes as f64 * (1.0 + BESIDE_ITEMS_SHARE) + BESIDE_ITEMS_BYTES) as u64
    }

    /// CPUs of all nodes.
    pub fn all_cpus(&self) -> f64 {
        self.cpus * f64::from(self.nodes)
    }

    /// What the networks of all machines carry in one direction, bytes per second.
    pub fn all_network_bytes_per_s(&self) -> Option<f64> {
        Some(self.network_bytes_per_s? * f64::from(self.nodes))
    }
}
