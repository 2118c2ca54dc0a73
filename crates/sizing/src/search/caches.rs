//! A cache tier before the database: how much it answers, what its nodes need, what is left to the database.
//!
//! The hit ratio is that of the workload's own keys in memcached's LRU of the nodes' memory ([`miss_ratio`]). The
//! database sees writes and the reads that miss. Of these it finds less in its page cache than of all reads: the cache
//! has taken the popular ones, so that they are taken as spread evenly over the data. What a request to a cache costs
//! its CPUs is measured by runs with a cache tier, or stated.

use std::collections::BTreeMap;

use catalog::{ClusterRequest, InstanceType, MIB};
use miss_ratio::{Item, Point, Policy, Rules, hit_ratios};
use workload::{Definition, Distribution, Mix};

use super::error::SizingError;
use super::machines::{Best, cheapest_first, keep};
use super::options::{CacheMachine, CacheOptions};
use super::question::{Search, Tier};
use crate::MOST_NODES;
use crate::document::{CacheTier, EvidenceFacts, Limit, Note, Proposal};
use crate::page_cache;
use crate::target::Target;

/// Bytes of a key: `user` and the 19 digits of YCSB's hash.
const KEY_BYTES: u64 = 23;
/// Numbers of nodes that are tried of a machine, until they hold all records twice, and [`FEW_NODES`] at the least.
const NODES_TRIED: [u32; 20] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
/// So many nodes are tried though fewer hold all records: the more there are, the less of the records is gone with one.
const FEW_NODES: f64 = 12.0;
/// More nodes are not tried where they add less to the hit ratio, be all of them up or a part down.
const WORTH_A_TRY: f64 = 0.001;

/// Why nothing is said of caches.
const NO_CPU_TIME: &str = "--cache-cpu-us is missing: no run has measured what a request takes of a cache node's CPU; \
                           give one with a cache_tier, too, or state it: CPU seconds of the process / requests x \
                           1,000,000";

/// How much of a tier's nodes is used.
struct Used {
    /// CPU time of a request, microseconds of one of its vCPUs.
    cpu_us: f64,
    cpu: f64,
    network: Option<f64>,
    requests_per_s: f64,
}

impl Used {
    fn busiest(&self) -> (Limit, f64) {
        match self.network {
            Some(network) if network > self.cpu => (Limit::Network, network),
            _ => (Limit::Cpu, self.cpu),
        }
    }
}

impl<'a> Search<'a> {
    /// The cheapest cluster of each machine behind each cache machine, cheapest first; and what there is to know.
    pub(super) fn behind_caches(&self, asked: &CacheOptions) -> Result<(Vec<Proposal>, Vec<Note>), SizingError> {
        let (tiers, notes) = self.tiers(asked, &asked.machines)?;
        let mut all = Vec::new();
        // Of one cache machine that number of nodes counts that makes both together cheapest.
        let mut by_machine: BTreeMap<&str, Vec<&Tier>> = BTreeMap::new();
        for tier in &tiers {
            by_machine.entry(&tier.shown.instance).or_default().push(tier);
        }
        for of_one in by_machine.into_values() {
            let mut best = Best::new();
            for tier in of_one {
                let cheapest = self.behind(tier).best().cheapest;
                cheapest.into_iter().for_each(|(name, proposal)| keep(&mut best, &name, proposal));
            }
            all.extend(cheapest_first(best));
        }
        Ok((all, notes))
    }

    /// The same search of the database behind a tier.
    pub(super) fn behind<'b>(&'b self, tier: &'b Tier) -> Search<'b>
    where
        'a: 'b,
    {
        let first = &self.observations[0];
        let chunk_bytes = first.product.unit_bytes_of(&first.configuration.settings);
        let data_bytes = self.target.data_at_the_end();
        Search {
            target: &tier.target,
            facts: EvidenceFacts { replica_read_share: tier.target.replica_read_share(), ..self.facts.clone() },
            page_cache: page_cache::of_cluster(Distribution::Uniform, data_bytes, self.record_bytes, chunk_bytes),
            tier: Some(tier),
            ..self.clone()
        }
    }

    /// Every tier of these machines that carries its requests, and why others do not.
    pub(super) fn tiers(
        &self,
        asked: &CacheOptions,
        machines: &[CacheMachine],
    ) -> Result<(Vec<Tier>, Vec<Note>), SizingError> {
        let input = SizingError::Input;
        if self.target.read_share == 0.0 {
            return Err(input("a cache answers reads, and the target has none".to_owned()));
        }
        let item = Item::of_record(KEY_BYTES, self.fields, self.record_bytes.ceil() as u64).ok_or_else(|| {
            input(format!(
                "records of {} bytes are larger than memcached stores (1 MiB with their key and lengths of fields)",
                self.record_bytes
            ))
        })?;
        let records = (self.target.data_at_the_end() / self.record_bytes).max(1.0);
        let read = self.target.read_share;
        let mix = Mix { read, update: 1.0 - read, ..Mix::default() };
        let definition = Definition::new("target", mix, self.distribution);
        let rules = asked.rules(self.target.operations_per_s);
        let mut tiers = Vec::new();
        let mut notes = vec![Note::CachePredicted {
            policy: asked.policy,
            ttl_s: asked.ttl_s,
            cpu_us: asked.cpu_us.or(self.facts.cache_request_cpu_us).ok_or_else(|| input(NO_CPU_TIME.to_owned()))?,
            cpu_is_measured: asked.cpu_us.is_none(),
            memory_share: asked.memory_share,
            item,
        }];
        for machine in machines {
            let name = &machine.instance;
            let instance =
                self.catalog.instance(name).ok_or_else(|| input(format!("unknown instance type `{name}`")))?;
            let one = request_of(instance, 1);
            if let Err(why) = self.catalog.cost(&one, self.basis) {
                notes.push(Note::CacheNotPriced { machine: name.clone(), why: why.to_string() });
                continue;
            }
            let of_node = item.in_memory(instance.memory_gib * 1024.0 * MIB * asked.memory_share);
            let counts = machine.nodes.map_or_else(|| counts(records / of_node), |nodes| vec![nodes]);
            let sizes: Vec<f64> = counts.iter().map(|nodes| of_node * f64::from(*nodes)).collect();
            let points = hit_ratios(&definition, records as u64, &rules, &sizes);
            let points = points.map_err(|error| input(error.to_string()))?;
            notes.extend(self.tiers_of(instance, asked, item, counts.iter().copied().zip(points), &mut tiers));
        }
        Ok((tiers, notes))
    }

    /// Tiers of one machine, of so many nodes with what they answer; a note where none of them carries its requests.
    fn tiers_of(
        &self,
        instance: &InstanceType,
        asked: &CacheOptions,
        item: Item,
        sizes: impl Iterator<Item = (u32, Point)>,
        tiers: &mut Vec<Tier>,
    ) -> Option<Note> {
        let (mut reached, mut too_full): (Option<[f64; 2]>, Option<Note>) = (None, None);
        for (nodes, point) in sizes {
            let answered = [point.hit_ratio, point.hit_ratio * self.share_up(nodes)];
            if reached.is_some_and(|before| !is_worth_a_try(before, answered)) {
                break;
            }
            let used = self.used(instance, asked, nodes, point.hit_ratio);
            let (limit, most) = used.busiest();
            let allowed = self.allowed_of_tier(nodes);
            if most > allowed {
                let configuration = request_of(instance, nodes).to_string();
                too_full = Some(Note::CacheTooFull { configuration, limit, used: most, allowed });
                continue;
            }
            reached = Some(answered);
            let target = self.left_to_the_database(nodes, point.hit_ratio);
            let request = request_of(instance, nodes);
            tiers.push(Tier {
                shown: CacheTier {
                    configuration: request.to_string(),
                    nodes,
                    instance: instance.name.clone(),
                    policy: asked.policy,
                    ttl_s: asked.ttl_s,
                    memory_bytes: item.memory_for(point.items),
                    share_of_records: point.share_of_records,
                    hit_ratio: point.hit_ratio,
                    hit_ratio_half_width: point.half_width,
                    hit_ratio_when_down: answered[1],
                    database_operations_per_s: target.operations_per_s,
                    database_read_share: target.read_share,
                    requests_per_s: used.requests_per_s,
                    cpu_us: used.cpu_us,
                    cpu_is_measured: asked.cpu_us.is_none(),
                    cpu: used.cpu,
                    network: used.network,
                    carries_per_s: self.target.operations_per_s * allowed / most,
                },
                request,
                asked_per_s: self.target.operations_per_s,
                target,
            });
        }
        too_full.filter(|_| reached.is_none())
    }

    /// Share of a tier's nodes that is up while the part is down that the target allows for.
    fn share_up(&self, nodes: u32) -> f64 {
        1.0 - f64::from(self.target.nodes_down(nodes).min(nodes)) / f64::from(nodes)
    }

    /// The most that a tier's nodes may be used, all being up: what a lost part was asked for comes to the others.
    /// Where none is left the database does all of it.
    fn allowed_of_tier(&self, nodes: u32) -> f64 {
        let up = self.share_up(nodes);
        let when_down = if up > 0.0 { self.target.busiest_when_down() * up } else { f64::INFINITY };
        self.target.busiest().min(when_down)
    }

    /// What requests ask of so many nodes, all being up. A read is one request, and one more to store what it missed.
    fn used(&self, instance: &InstanceType, asked: &CacheOptions, nodes: u32, hit_ratio: f64) -> Used {
        let all = self.target.operations_per_s;
        let (reads, writes) = (all * self.target.read_share, all * (1.0 - self.target.read_share));
        let missed = reads * (1.0 - hit_ratio);
        let (deleted, written) = match asked.policy {
            Policy::Aside => (0.0, 0.0),
            Policy::Invalidate => (writes, 0.0),
            Policy::WriteThrough => (0.0, writes),
        };
        let requests_per_s = reads + missed + deleted + written;
        let n = f64::from(nodes);
        // A record passes through a node's network once where it is found or stored.
        let bytes_per_s = (reads * hit_ratio + missed + written) * self.record_bytes;
        let cpu_us = self.request_cpu_us(instance, asked);
        Used {
            cpu_us,
            cpu: requests_per_s * cpu_us / 1e6 / (n * instance.lasting_vcpus()),
            network: instance.network_gbps.map(|gbps| bytes_per_s / (n * gbps * 1e9 / 8.0)),
            requests_per_s,
        }
    }

    /// CPU time of a request, microseconds of one of the machine's vCPUs: what was measured is of the CPU in which
    /// demands are counted, and is taken for the same where the speed of the vCPUs is not known.
    fn request_cpu_us(&self, instance: &InstanceType, asked: &CacheOptions) -> f64 {
        let measured = || self.facts.cache_request_cpu_us.unwrap_or(f64::INFINITY);
        asked.cpu_us.unwrap_or_else(|| measured() / self.cpus_worth(&instance.name).unwrap_or(1.0))
    }

    /// The database's part of the target: all writes, and the reads that miss while a part of the cache is down.
    fn left_to_the_database(&self, nodes: u32, hit_ratio: f64) -> Target {
        let all = self.target.operations_per_s;
        let reads = all * self.target.read_share * (1.0 - hit_ratio * self.share_up(nodes));
        // Less than one operation a second is no target.
        let both = (reads + all * (1.0 - self.target.read_share)).max(1.0);
        Target { operations_per_s: both, read_share: (reads / both).min(1.0), ..self.target.clone() }
    }
}

impl CacheOptions {
    /// How the tier is used, at so many operations per second.
    fn rules(&self, operations_per_s: f64) -> Rules {
        Rules {
            policy: self.policy,
            ttl_operations: self.ttl_s.map(|ttl| ttl * operations_per_s),
            operations_per_s: Some(operations_per_s),
        }
    }
}

fn request_of(instance: &InstanceType, nodes: u32) -> ClusterRequest {
    ClusterRequest { instance: instance.name.clone(), volumes: Vec::new(), nodes }
}

/// Whether more nodes answer more of the reads than fewer did: with all of them up, or with a part down.
fn is_worth_a_try(before: [f64; 2], now: [f64; 2]) -> bool {
    now.into_iter().zip(before).any(|(now, before)| now >= before + WORTH_A_TRY)
}

/// Numbers of nodes to try, where so many hold all records.
fn counts(for_all: f64) -> Vec<u32> {
    let for_all = for_all.ceil().max(1.0);
    let most = FEW_NODES.max(2.0 * for_all);
    let mut counts: Vec<u32> = NODES_TRIED.into_iter().filter(|nodes| f64::from(*nodes) <= most).collect();
    if for_all <= f64::from(MOST_NODES) {
        counts.push(for_all as u32);
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where one node holds all records and may be down, it spares the database nothing: two spare half.
    #[test]
    fn more_nodes_are_tried_than_hold_all_records_since_one_of_them_may_be_down() {
        assert_eq!(counts(0.2), [1, 2, 3, 4, 6, 8, 12]);
        assert_eq!(counts(9.5), [1, 2, 3, 4, 6, 8, 10, 12, 16]);
        assert_eq!(counts(f64::INFINITY), NODES_TRIED);
        assert!(is_worth_a_try([1.0, 0.0], [1.0, 0.5]), "half of it is left with one down");
        assert!(is_worth_a_try([0.5, 0.3], [0.6, 0.3]) && !is_worth_a_try([1.0, 1.0], [1.0, 1.0]));
    }
}
