//! What the evidence does not carry.

use catalog::InstanceType;

use super::cluster::{Found, Loaded};
use super::question::{SAME_CACHE, SAME_MIX, Search};
use crate::document::{CacheTier, Doubt, Label};

/// The evidence carries this far beyond its range before a proposal is marked as lying beyond it (practice).
const CARRIES: f64 = 2.0;
/// The same for the data of a node: SSTables read and bytes compacted grow with its logarithm only (practice).
const DATA_CARRIES: f64 = 10.0;

impl Search<'_> {
    /// Whether mix, ratio of memory to data and vCPUs lie between what was measured.
    pub(super) fn is_between(&self, instance: &InstanceType, loaded: &Loaded) -> bool {
        self.is_mix_measured()
            && self.facts.cache_share.holds(loaded.cache_share, 1.0 + SAME_CACHE)
            && self.facts.data_bytes_per_node.holds(loaded.data_bytes, DATA_CARRIES)
            && self.facts.vcpus.holds(f64::from(instance.vcpus), 1.0)
    }

    fn is_mix_measured(&self) -> bool {
        let measured = &self.facts.read_share;
        (measured.low - SAME_MIX..=measured.high + SAME_MIX).contains(&self.facts.replica_read_share)
    }

    /// What lies so far outside the evidence that its held-out error says nothing about it. A measured cluster lies
    /// inside.
    pub(super) fn doubts(&self, found: &Found<'_>) -> Vec<Doubt> {
        if found.label == Label::Measured {
            return Vec::new();
        }
        let (mut doubts, loaded, facts) = (Vec::new(), &found.loaded, &self.facts);
        if let Some(tier) = self.tier {
            let CacheTier { hit_ratio, hit_ratio_half_width: half_width, cpu_is_measured, .. } = tier.shown;
            doubts.push(Doubt::Cache { hit_ratio, half_width, cpu_is_measured });
        }
        if !self.is_mix_measured() {
            doubts.push(Doubt::Mix { read_share: facts.replica_read_share, measured: facts.read_share });
        }
        let was_the_limit = |o: &crate::observation::Observation<'_>| o.bounded_by().contains(&found.busiest);
        if facts.capacity_cells > 0 && !self.observations.iter().any(was_the_limit) {
            doubts.push(Doubt::NeverTheLimit { limit: found.busiest });
        }
        if !facts.demand.misses_measured && loaded.work.hit_ratio < 1.0 {
            doubts.push(Doubt::NoDeviceReads);
        }
        if !facts.cache_share.holds(loaded.cache_share, CARRIES) {
            doubts.push(Doubt::CacheShare { share: loaded.cache_share, measured: facts.cache_share });
        }
        if !facts.data_bytes_per_node.holds(loaded.data_bytes, DATA_CARRIES) {
            doubts.push(Doubt::DataPerNode { bytes: loaded.data_bytes, measured: facts.data_bytes_per_node });
        }
        if self.cpus.is_none() && self.cpus_worth(&found.instance.name).is_none() {
            doubts.push(Doubt::CpuSpeed);
        }
        if !facts.vcpus.holds(f64::from(found.instance.vcpus), CARRIES) {
            doubts.push(Doubt::Vcpus { vcpus: found.instance.vcpus, measured: facts.vcpus });
        }
        doubts
    }
}
