//! What the evidence does not carry.

use catalog::InstanceType;

use super::cluster::{Found, Loaded};
use super::question::{SAME_CACHE, SAME_MIX, Search};
use crate::document::{CacheTier, Doubt, Label, Range, Remark};

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

    /// What lies beyond the evidence, and not so far that it is a doubt. A measured cluster lies inside, and so does
    /// what counts as the same.
    pub(super) fn extrapolated(&self, found: &Found<'_>) -> Vec<Remark> {
        if found.label == Label::Measured {
            return Vec::new();
        }
        let (loaded, facts, vcpus) = (&found.loaded, &self.facts, found.instance.vcpus);
        let (share, bytes, same) = (loaded.cache_share, loaded.data_bytes, 1.0 + SAME_CACHE);
        let beyond = |measured: Range, value: f64, same: f64, carries: f64, shown: Doubt| {
            let is_beyond = !measured.holds(value, same) && measured.holds(value, carries);
            is_beyond.then_some(Remark::Extrapolated { value: shown, allowed_factor: carries })
        };
        let cache = Doubt::CacheShare { share, measured: facts.cache_share };
        let data = Doubt::DataPerNode { bytes, measured: facts.data_bytes_per_node };
        let cpus = Doubt::Vcpus { vcpus, measured: facts.vcpus };
        let all = [
            beyond(facts.cache_share, share, same, CARRIES, cache),
            beyond(facts.data_bytes_per_node, bytes, same, DATA_CARRIES, data),
            beyond(facts.vcpus, f64::from(vcpus), 1.0, CARRIES, cpus),
        ];
        all.into_iter().flatten().collect()
    }
}
