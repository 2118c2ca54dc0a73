//! What is learned from one run, and what its own load asks of a configuration: the target that is not typed.

use analysis::RunEvidence;
use experiment::{Configuration, Definition, PageCacheKeeps, Plan, Setup};
use workload::Distribution;

use super::question::CacheBudget;
use crate::observation::{Observation, observe, of_one_set};
use crate::target::{Survive, Target};

/// A little more than the room that disks have may be filled: a volume of that size is not made larger for a rounding.
const ROUNDING: f64 = 1.0 + 1e-9;
/// A database that may use all of its instance's memory leaves all of its page cache, up to rounding.
const ALL: f64 = 0.999;

/// What a run says of demands under its workloads that choose keys by this distribution; of one set of settings.
pub(super) fn learned<'a>(run: &'a RunEvidence<'a>, distribution: Distribution) -> Vec<Observation<'a>> {
    let alike = run.plan.workloads.iter().filter(|workload| workload.distribution == distribution);
    let names: Vec<String> = alike.map(|workload| workload.name.clone()).collect();
    // No name would mean all workloads.
    if names.is_empty() {
        return Vec::new();
    }
    of_one_set(observe(std::slice::from_ref(run), &names)).0
}

/// Operations of a target for each operation of a workload's clients: a read-modify-write is two.
pub(super) fn parts(workload: &Definition) -> f64 {
    workload.mix.reads() + workload.mix.writes()
}

/// The data of a plan under one of its workloads, on as many nodes as a configuration has and with as many copies,
/// every resource used in full. A node has as much room on its disks as the smallest of the experiment.
pub(super) fn target(
    plan: &Plan,
    workload: &Definition,
    like: &Configuration,
    observations: &[Observation<'_>],
) -> Target {
    let placement = like.placement;
    let data_bytes = plan.dataset.payload_bytes() as f64 * plan.data_scale();
    let on_disk = stats::median(observations.iter().map(|o| o.on_disk)).unwrap_or(1.0);
    let room_of_node = plan.configurations.iter().map(|configuration| configuration.data_volume.room_bytes());
    let least = room_of_node.fold(f64::INFINITY, f64::min);
    let room = least * f64::from(placement.nodes);
    let held = data_bytes * f64::from(placement.replication_factor) * on_disk;
    Target {
        operations_per_s: 1.0,
        read_share: workload.mix.reads() / parts(workload),
        p99_ms: None,
        data_bytes,
        growth_percent_per_year: 0.0,
        years: 0.0,
        replication_factor: placement.replication_factor,
        zones: 1,
        headroom_percent: 0.0,
        survive: Survive::None,
        consistency: like.consistency.unwrap_or(plan.target.consistency).read,
        disk_fill_percent: (held / room * ROUNDING * 100.0).min(100.0),
    }
}

/// What a node has for its page cache under a workload, bytes of the data set that the plan's stands for. One of a size
/// that misses as often as there stands for what the setup has without that.
pub(super) fn page_cache_bytes(plan: &Plan, workload: &str, setup: &Setup) -> f64 {
    if plan.place.model().page_cache == PageCacheKeeps::SameMisses {
        return setup.page_cache_budget_bytes as f64 * plan.data_scale();
    }
    plan.caches.setup(setup, workload, &plan.dataset).page_cache_budget_bytes as f64 * plan.data_scale()
}

/// What the experiment would leave another instance for its page cache under a workload: what its file states for all,
/// else as large a part of what its memory leaves as it is of a configuration of the plan; in both cases as many times
/// that as the data set stands for.
pub(super) fn cache_budget(plan: &Plan, workload: &str, setup: &Setup, like: &Configuration) -> CacheBudget {
    let bytes = page_cache_bytes(plan, workload, setup);
    let is_swept = bytes != setup.page_cache_budget_bytes as f64 * plan.data_scale();
    if is_swept || plan.place.model().page_cache_bytes.is_some() {
        return CacheBudget::Stated(bytes);
    }
    CacheBudget::OfMemory(share_of_cache(plan, like).unwrap_or(1.0) * plan.data_scale() / plan.scale())
}

/// The part of what an instance's memory leaves for the page cache that a memory limit leaves; `None`: there is none.
pub(super) fn share_of_cache(plan: &Plan, configuration: &Configuration) -> Option<f64> {
    let rules = &plan.target.database.product().memory;
    let left_by = |memory_bytes: u64| rules.page_cache_bytes(memory_bytes, &configuration.settings);
    let all = left_by(configuration.instance.memory_bytes)?;
    let left = left_by(configuration.memory_limit_bytes)?;
    Some(left / all).filter(|share| *share < ALL)
}
