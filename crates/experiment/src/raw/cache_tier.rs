//! A tier of caches of a configuration.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::CachePolicy;
use crate::spanned::Spanned;

/// Nodes of memcached in front of the database. The client gets a record from them, and reads the database where they
/// do not have it. On this machine, or by SSH and on AWS on machines of their own, and for YCSB's workloads.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheTier {
    /// Memory for items on each node (memcached's `-m`), GiB; at most what the instance has beside a tenth of it and
    /// 64 MiB.
    pub memory_gib: Spanned<f64>,
    /// Nodes, 1 to 64. Default 1.
    pub nodes: Option<Spanned<i64, u32>>,
    /// A catalog name such as `r7g.large`: the machine of each node, which is priced.
    pub instance: Spanned<String>,
    /// Seconds after which an item is gone, 1 to 2592000 (30 days). Default: it stays as long as there is memory.
    pub ttl_s: Option<Spanned<i64, u32>>,
    /// What a write does to the record's copy once the database has acknowledged it. `invalidate` (default): it is
    /// deleted. `write_through`: it is replaced. `aside`: nothing, so that it is read until its time is over.
    pub policy: Option<Spanned<String, CachePolicy>>,
}
