//! What to search.

use std::collections::BTreeSet;

use catalog::{Catalog, Cloud, ClusterRequest, InstanceType};
use miss_ratio::{LONGEST_TTL_S, Policy};

/// What to search.
#[derive(Debug, Clone, Default)]
pub struct SizingOptions {
    /// Only evidence of these workloads; all when empty.
    pub workloads: Vec<String>,
    /// Only these machines, one node each: how many it takes is what is asked. When empty the whole catalog, and the
    /// machines that were measured.
    pub candidates: Vec<ClusterRequest>,
    /// Only these families, such as `i4i`; all when empty.
    pub families: Vec<String>,
    /// Only this architecture; where none is stated, `x86_64` of the catalog, and all machines that were measured.
    pub architecture: Option<String>,
    /// How many proposals; the cheapest and the best one are always among them.
    pub most: usize,
    /// The fleet of today, to be judged and put beside a proposal.
    pub current: Vec<ClusterRequest>,
    /// A cache before the database, to be ranked with clusters that have none.
    pub cache: Option<CacheOptions>,
}

/// A cache tier that is asked about.
#[derive(Debug, Clone)]
pub struct CacheOptions {
    /// Its machines, each by itself; none where only the cache of today is asked about.
    pub machines: Vec<CacheMachine>,
    /// The cache before the fleet of today; `None`: it has none.
    pub current: Option<ClusterRequest>,
    /// What a write does to it.
    pub policy: Policy,
    /// Seconds after which an item expires; `None`: never.
    pub ttl_s: Option<f64>,
    /// CPU time of a request as it is stated, microseconds of one of its vCPUs; `None`: as the runs have measured it.
    pub cpu_us: Option<f64>,
    /// Share of a node's memory that is for items, 0..=1.
    pub memory_share: f64,
}

/// A machine of a cache tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheMachine {
    /// Instance type.
    pub instance: String,
    /// How many; `None`: several numbers are tried.
    pub nodes: Option<u32>,
}

impl CacheOptions {
    /// Whether its figures can be.
    fn check(&self) -> Result<(), String> {
        if let Some(ttl) = self.ttl_s.filter(|ttl| !(1.0..=LONGEST_TTL_S).contains(ttl)) {
            return Err(format!("the TTL of a cache is 1 to {LONGEST_TTL_S} seconds, not {ttl}"));
        }
        if let Some(cpu_us) = self.cpu_us.filter(|cpu_us| !(*cpu_us > 0.0 && *cpu_us <= 1e6)) {
            return Err(format!("CPU time of {cpu_us} us for a request to a cache; expected above 0 to 1000000"));
        }
        if !(self.memory_share > 0.0 && self.memory_share <= 1.0) {
            return Err("the share of a cache node's memory for items is above 0 % and at most 100 %".to_owned());
        }
        Ok(())
    }
}

impl SizingOptions {
    /// Whether families and architecture exist, and candidates leave the number of nodes open.
    pub(super) fn check(&self, catalog: &Catalog) -> Result<(), String> {
        self.cache.as_ref().map_or(Ok(()), CacheOptions::check)?;
        if self.cache.as_ref().is_some_and(|cache| cache.current.is_some()) && self.current.len() != 1 {
            return Err(format!(
                "the cache of today stands before a fleet of one kind of machines, and the fleet has {} kinds",
                self.current.len()
            ));
        }
        let family = |instance: &InstanceType| instance.name.split('.').next().unwrap_or_default().to_owned();
        for wanted in &self.families {
            let mut of_aws = catalog.instances().iter().filter(|instance| instance.cloud() == Cloud::Aws);
            if !of_aws.any(|instance| family(instance) == *wanted) {
                let near = catalog.nearest_instances(&format!("{wanted}.large"));
                let near: Vec<&str> = near.iter().filter_map(|name| name.split('.').next()).collect();
                let near = if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) };
                return Err(format!("no instance type is of a family `{wanted}`{near}"));
            }
        }
        let known: BTreeSet<&str> = catalog.instances().iter().map(|i| i.architecture.as_str()).collect();
        if let Some(wanted) = self.architecture.as_deref().filter(|wanted| !known.contains(wanted)) {
            let known: Vec<&str> = known.into_iter().collect();
            return Err(format!("no instance type has the architecture `{wanted}`; known: {}", known.join(", ")));
        }
        match self.candidates.iter().find(|candidate| candidate.nodes > 1) {
            Some(stated) => Err(format!(
                "the candidate {stated} states its nodes, which is what is to be found; leave out `*{0}`, or ask \
                 whether {0} carry the target: --current '{stated}'",
                stated.nodes
            )),
            None => Ok(()),
        }
    }
}
