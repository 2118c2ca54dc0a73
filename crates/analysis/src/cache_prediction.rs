//! What a model of caches predicts of the hit ratio that is measured: the workload's own keys in memcached's LRU of the
//! tier's memory.

use experiment::{CachePolicy, CacheState, CacheTierSetup, Plan, Setups};
use miss_ratio::{Item, Policy, Rules, hit_ratios, key_bytes};

use crate::document::CellAnalysis;

/// Paces in a decade that have predictions of their own: within 13 % an age in whole seconds is the same.
const PACES_PER_DECADE: f64 = 10.0;

/// All that a prediction depends on: what is equal has one answer.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Asked<'a> {
    workload: &'a str,
    /// Items that fit all nodes of the tier.
    items: f64,
    rules: Rules,
}

/// Adds the hit ratio that is predicted to each cell behind a tier, once it is as full as it gets, at the cell's
/// throughput. Each takes a simulation, so that equal ones are made once.
pub fn add(plan: &Plan, setups: &Setups, cells: &mut [CellAnalysis]) {
    let mut known = Vec::new();
    for cell in cells {
        let Some(shown) = &mut cell.cache_tier else { continue };
        let tier = setups.of(&cell.configuration).and_then(|setup| setup.cache_tier.as_ref());
        let operations_per_s = cell.throughput_ops_per_s.as_ref().map(|estimate| estimate.median);
        let workload = cell.workload.as_str();
        let asked = tier.and_then(|tier| Asked::of(plan, tier, workload, operations_per_s));
        shown.predicted_hit_ratio = asked.and_then(|asked| once(&mut known, asked, || asked.hit_ratio(plan)));
    }
}

/// What is known, or is simulated now.
fn once<'a>(
    known: &mut Vec<(Asked<'a>, Option<f64>)>,
    asked: Asked<'a>,
    simulated: impl FnOnce() -> Option<f64>,
) -> Option<f64> {
    if let Some((_, hit_ratio)) = known.iter().find(|(before, _)| *before == asked) {
        return *hit_ratio;
    }
    let hit_ratio = simulated();
    known.push((asked, hit_ratio));
    hit_ratio
}

impl<'a> Asked<'a> {
    /// A workload behind this tier, at so many operations a second. `None`: nothing is predicted, because caches begin
    /// empty, a planned fault empties them, or it is not known when something expires.
    fn of(plan: &Plan, tier: &CacheTierSetup, workload: &'a str, operations_per_s: Option<f64>) -> Option<Self> {
        if plan.caches.state(workload) == CacheState::Cold || !plan.faults.is_empty() {
            return None;
        }
        let definition = plan.workloads.iter().find(|definition| definition.name == workload)?;
        let dataset = &plan.dataset;
        let key_bytes = key_bytes(definition.keys, dataset.records);
        let item = Item::of_record(key_bytes, dataset.fields, dataset.record_bytes() as u64)?;
        let policy = match tier.policy {
            CachePolicy::Aside => Policy::Aside,
            CachePolicy::Invalidate => Policy::Invalidate,
            CachePolicy::WriteThrough => Policy::WriteThrough,
        };
        let ttl_operations = match tier.ttl_s.map(f64::from).filter(|ttl_s| *ttl_s < plan.shape.longest_s()) {
            Some(ttl_s) => Some(ttl_s * operations_per_s?),
            None => None,
        };
        Some(Self {
            workload,
            items: item.in_memory(tier.memory_bytes as f64) * f64::from(tier.nodes),
            rules: Rules { policy, ttl_operations, operations_per_s: operations_per_s.map(pace) },
        })
    }

    /// Its hit ratio; `None`: rows are not chosen by YCSB's keys, or none is read alone.
    fn hit_ratio(self, plan: &Plan) -> Option<f64> {
        let definition = plan.workloads.iter().find(|definition| definition.name == self.workload)?;
        let points = hit_ratios(definition, plan.dataset.records, &self.rules, &[self.items]).ok()?;
        points.first().map(|point| point.hit_ratio)
    }
}

/// The nearest of [`PACES_PER_DECADE`].
fn pace(operations_per_s: f64) -> f64 {
    10_f64.powf((operations_per_s.log10() * PACES_PER_DECADE).round() / PACES_PER_DECADE)
}

#[cfg(test)]
mod tests {
    use experiment::{FaultAction, NodeFault};

    use super::*;
    use crate::story::{job, run, trials};

    fn tier(memory_bytes: u64, nodes: u32, ttl_s: Option<u32>) -> CacheTierSetup {
        let policy = CachePolicy::Invalidate;
        CacheTierSetup { nodes, cpus: 0.25, network_bytes_per_s: None, memory_bytes, ttl_s, policy }
    }

    /// Memory for so much of the records of a plan.
    fn memory_for(plan: &Plan, share: f64) -> u64 {
        let (dataset, keys) = (&plan.dataset, plan.workloads[0].keys);
        let item = Item::of_record(key_bytes(keys, dataset.records), dataset.fields, dataset.record_bytes() as u64);
        item.unwrap().memory_for(dataset.records as f64 * share) as u64
    }

    #[test]
    fn more_memory_finds_more_and_what_expires_soon_is_found_less_often() {
        let mut plan = job().plan;
        let workload = plan.workloads[0].name.clone();
        // A tenth of the records, and two fifths on two nodes.
        let tenth = memory_for(&plan, 0.1);
        let of = |plan: &Plan, tier: &CacheTierSetup, rate| Asked::of(plan, tier, &workload, rate)?.hit_ratio(plan);
        let small = of(&plan, &tier(tenth, 1, None), Some(1_000.0)).unwrap();
        let large = of(&plan, &tier(2 * tenth, 2, None), Some(1_000.0)).unwrap();
        assert!(0.0 < small && small < large && large < 1.0, "{small} and {large}");
        // Nothing lives that long in a trial, however little is asked for.
        assert_eq!(of(&plan, &tier(2 * tenth, 2, Some(1_000_000)), Some(1_000.0)), Some(large));
        assert!(of(&plan, &tier(2 * tenth, 2, Some(1_000_000)), None).is_some());
        let soon = of(&plan, &tier(2 * tenth, 2, Some(1)), Some(100.0)).unwrap();
        assert!(soon < large, "{soon} and {large}");
        assert_eq!(of(&plan, &tier(2 * tenth, 2, Some(1)), None), None, "it depends on how much is asked for");
        assert_eq!(Asked::of(&plan, &tier(tenth, 1, None), "another", Some(1_000.0)), None);
        let action = FaultAction::CacheKill { cache_node: 1 };
        plan.faults = vec![NodeFault { action, node: 1, at_s: 20.0, for_s: None }];
        assert_eq!(of(&plan, &tier(tenth, 1, None), Some(1_000.0)), None, "it is not as full as it gets");
    }

    #[test]
    fn what_is_equal_is_simulated_once() {
        let plan = job().plan;
        let workload = plan.workloads[0].name.clone();
        let of = |ttl_s, rate| Asked::of(&plan, &tier(1 << 26, 2, ttl_s), &workload, Some(rate)).unwrap();
        let mut known = Vec::new();
        let mut answers = Vec::new();
        // A little quicker is the same; twice as quick is not, nor is a TTL that is over in a trial.
        let asked = [of(None, 10_000.0), of(None, 10_500.0), of(None, 20_000.0), of(Some(1), 10_000.0)];
        for (number, asked) in asked.into_iter().chain(asked).enumerate() {
            answers.push(once(&mut known, asked, || Some(number as f64)).unwrap());
        }
        assert_eq!(answers, [0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 2.0, 3.0]);
        // What expires does so by the throughput as it was measured.
        assert_ne!(of(Some(1), 10_000.0), of(Some(1), 10_500.0));
    }

    #[test]
    fn what_decides_is_without_predictions() {
        let mut job = job();
        job.setups.setups[0].cache_tier = Some(tier(memory_for(&job.plan, 0.1), 1, None));
        let trials = trials();
        let mut shown = crate::analyse(&run(&job, &trials));
        let judged = crate::judge(&run(&job, &trials));
        let mut tiers: Vec<_> = shown.cells.iter_mut().filter_map(|cell| cell.cache_tier.as_mut()).collect();
        assert!(!tiers.is_empty());
        for tier in &mut tiers {
            assert!(tier.predicted_hit_ratio.take().is_some(), "{tier:?}");
        }
        assert_eq!(shown, judged);
    }
}
