//! What the evidence does not carry.

use catalog::InstanceType;

use super::cluster::{Found, Loaded};
use super::question::{SAME_CACHE, SAME_MIX, Search};
use crate::document::{CacheTier, Doubt, Label, Range, Remark};

/// The evidence carries this far beyond its range before a proposal is marked as lying beyond it (practice).
const CARRIES: f64 = 2.0;
/// The same for the data of a node: SSTables read and bytes compacted grow with its logarithm only (practice).
const DATA_CARRIES: f64 = 10.0;

/// A value of a proposal, held against what was measured.
struct Held {
    value: Doubt,
    /// It lies within what was measured, or counts as the same.
    is_measured: bool,
    /// It lies no further outside than this factor.
    is_carried: bool,
    allowed_factor: f64,
}

impl Held {
    fn doubt(self) -> Option<Doubt> {
        (!self.is_carried).then_some(self.value)
    }

    fn extrapolated(self) -> Option<Remark> {
        let remark = Remark::Extrapolated { value: self.value, allowed_factor: self.allowed_factor };
        (self.is_carried && !self.is_measured).then_some(remark)
    }
}

impl Search<'_> {
    /// Whether mix, ratio of memory to data and vCPUs lie between what was measured.
    pub(super) fn is_between(&self, instance: &InstanceType, loaded: &Loaded) -> bool {
        self.is_mix_measured()
            && self.facts.cache_share.holds(loaded.cache_share, 1.0 + SAME_CACHE)
            && self.facts.data_bytes_per_node.holds(loaded.data_bytes, DATA_CARRIES)
            && self.facts.vcpus.holds(f64::from(instance.vcpus), 1.0)
    }

    /// Page cache, data of a node and vCPUs.
    fn held(&self, found: &Found<'_>) -> [Held; 3] {
        let (loaded, facts, vcpus) = (&found.loaded, &self.facts, found.instance.vcpus);
        let (share, bytes, same) = (loaded.cache_share, loaded.data_bytes, 1.0 + SAME_CACHE);
        let held = |measured: Range, value: f64, same: f64, allowed_factor: f64, shown: Doubt| Held {
            value: shown,
            is_measured: measured.holds(value, same),
            is_carried: measured.holds(value, allowed_factor),
            allowed_factor,
        };
        let cache = Doubt::CacheShare { share, measured: facts.cache_share };
        let data = Doubt::DataPerNode { bytes, measured: facts.data_bytes_per_node };
        let cpus = Doubt::Vcpus { vcpus, measured: facts.vcpus };
        [
            held(facts.cache_share, share, same, CARRIES, cache),
            held(facts.data_bytes_per_node, bytes, same, DATA_CARRIES, data),
            held(facts.vcpus, f64::from(vcpus), 1.0, CARRIES, cpus),
        ]
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
        let [cache, data, vcpus] = self.held(found);
        doubts.extend(cache.doubt().into_iter().chain(data.doubt()));
        if self.cpus.is_none() && self.cpus_worth(&found.instance.name).is_none() {
            doubts.push(Doubt::CpuSpeed);
        }
        if found.request.volumes.is_empty() && found.instance.lacks_local_bytes() {
            doubts.push(Doubt::DiskThroughput);
        }
        doubts.extend(vcpus.doubt());
        doubts
    }

    /// All that is in doubt of a cluster at the target: what lies outside the measured range, its p99 where nothing
    /// checks it, and whether its estimate tells it from one that misses the target.
    pub(super) fn in_doubt(&self, found: &Found<'_>) -> Vec<Doubt> {
        let mut doubts = self.doubts(found);
        // What lies outside has no error to be within.
        if doubts.is_empty() {
            doubts.extend(found.open(self.target.p99_ms));
        }
        let unchecked = self.p99.as_ref().and_then(|p99| p99.unchecked).filter(|_| found.p99_by.is_none());
        doubts.extend(self.target.p99_ms.zip(unchecked).map(|(asked_ms, why)| Doubt::P99 { asked_ms, why }));
        doubts
    }

    /// What lies outside the measured range, but not far enough to be a doubt: nothing of a measured cluster, and
    /// nothing that counts as the same.
    pub(super) fn extrapolated(&self, found: &Found<'_>) -> Vec<Remark> {
        if found.label == Label::Measured {
            return Vec::new();
        }
        self.held(found).into_iter().filter_map(Held::extrapolated).collect()
    }
}
