//! What a model of caches predicts of the hit ratio that is measured: the workload's own keys in memcached's LRU of the
//! tier's memory.

use experiment::{CachePolicy, CacheState, CacheTierSetup, Plan};
use miss_ratio::{Item, Policy, Rules, hit_ratios, key_bytes};

/// What the client of a run stores beside a record: when the database had answered with it ...
const BESIDE_RECORD_BYTES: u64 = 8;
/// ... and the length of each field (`record.rs` of `database::memcached`).
const BESIDE_FIELD_BYTES: u64 = 4;

/// The hit ratio of a workload behind this tier, once it is as full as it gets, at so many operations a second.
/// `None`: it is not predicted, because caches begin empty, a planned fault empties them, or rows are not chosen by
/// YCSB's keys.
pub fn hit_ratio(plan: &Plan, tier: &CacheTierSetup, workload: &str, operations_per_s: Option<f64>) -> Option<f64> {
    if plan.caches.state(workload) == CacheState::Cold || !plan.faults.is_empty() {
        return None;
    }
    let definition = plan.workloads.iter().find(|definition| definition.name == workload)?;
    let dataset = &plan.dataset;
    let beside_bytes = BESIDE_RECORD_BYTES + BESIDE_FIELD_BYTES * u64::from(dataset.fields);
    let item = Item::of(key_bytes(definition.keys, dataset.records), dataset.record_bytes() as u64 + beside_bytes)?;
    let items = item.in_memory(tier.memory_bytes as f64) * f64::from(tier.nodes);
    let policy = match tier.policy {
        CachePolicy::Aside => Policy::Aside,
        CachePolicy::Invalidate => Policy::Invalidate,
        CachePolicy::WriteThrough => Policy::WriteThrough,
    };
    let ttl_operations = match tier.ttl_s.map(f64::from).filter(|ttl_s| *ttl_s < plan.shape.longest_s()) {
        Some(ttl_s) => Some(ttl_s * operations_per_s?),
        None => None,
    };
    let rules = Rules { policy, ttl_operations, operations_per_s };
    let points = hit_ratios(definition, dataset.records, &rules, &[items]).ok()?;
    points.first().map(|point| point.hit_ratio)
}

#[cfg(test)]
mod tests {
    use experiment::{FaultAction, NodeFault};

    use super::*;
    use crate::story::job;

    fn tier(memory_bytes: u64, nodes: u32, ttl_s: Option<u32>) -> CacheTierSetup {
        CacheTierSetup { nodes, cpus: 0.25, memory_bytes, ttl_s, policy: CachePolicy::Invalidate }
    }

    #[test]
    fn more_memory_finds_more_and_what_expires_soon_is_found_less_often() {
        let mut plan = job().plan;
        let workload = plan.workloads[0].name.clone();
        let item = Item::of(
            key_bytes(plan.workloads[0].keys, plan.dataset.records),
            plan.dataset.record_bytes() as u64 + 8 + 4 * u64::from(plan.dataset.fields),
        );
        // A tenth of the records, and two fifths on two nodes.
        let tenth = item.unwrap().memory_for(plan.dataset.records as f64 * 0.1) as u64;
        let of = |plan: &Plan, tier: &CacheTierSetup, rate| hit_ratio(plan, tier, &workload, rate);
        let small = of(&plan, &tier(tenth, 1, None), Some(1_000.0)).unwrap();
        let large = of(&plan, &tier(2 * tenth, 2, None), Some(1_000.0)).unwrap();
        assert!(0.0 < small && small < large && large < 1.0, "{small} and {large}");
        // Nothing lives that long in a trial, however little is asked for.
        assert_eq!(of(&plan, &tier(2 * tenth, 2, Some(1_000_000)), Some(1_000.0)), Some(large));
        assert!(of(&plan, &tier(2 * tenth, 2, Some(1_000_000)), None).is_some());
        let soon = of(&plan, &tier(2 * tenth, 2, Some(1)), Some(100.0)).unwrap();
        assert!(soon < large, "{soon} and {large}");
        assert_eq!(of(&plan, &tier(2 * tenth, 2, Some(1)), None), None, "it depends on how much is asked for");
        assert_eq!(hit_ratio(&plan, &tier(tenth, 1, None), "another", Some(1_000.0)), None);
        let action = FaultAction::CacheKill { cache_node: 1 };
        plan.faults = vec![NodeFault { action, node: 1, at_s: 20.0, for_s: None }];
        assert_eq!(of(&plan, &tier(tenth, 1, None), Some(1_000.0)), None, "it is not as full as it gets");
    }
}
