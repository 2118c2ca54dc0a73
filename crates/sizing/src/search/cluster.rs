//! A cluster of so many nodes under the target: how full it is, and whether that is too full.

use catalog::{ClusterRequest, InstanceType, MIB, VolumeNeed};

use super::machines::Order;
use super::question::{CacheBudget, SAME_CACHE, SAME_MIX, Search};
use crate::candidate::NodeError;
use crate::demand::Machine;
use crate::document::{Allowance, Label, Limit, Obstacle, P99By, Utilisation};
use crate::market::is_order;
use crate::observation::{Observation, Work};
use crate::sustained::SustainedRate;

/// Cells that are held at a volume's limit repeat themselves more exactly than a real machine would (practice).
pub(super) const LEAST_HALF_WIDTH: f64 = 0.01;

/// A node of a cluster of so many, under the target.
pub(super) struct Loaded {
    pub work: Work,
    pub data_bytes: f64,
    pub cache_share: f64,
}

/// A cluster under the target, whether it meets it or not.
pub(super) struct Found<'a> {
    pub instance: &'a InstanceType,
    pub request: ClusterRequest,
    pub is_made: bool,
    pub loaded: Loaded,
    pub utilisation: Utilisation,
    /// The fullest resource, ...
    pub busiest: Limit,
    /// ... how full it is by measurement or by the model, ...
    pub used: f64,
    /// ... and how full it may be.
    pub allowed: f64,
    pub allowance: Allowance,
    /// Above this use it is shown not to meet the target, and by what: as much, or more where a p99 was not shown to be
    /// missed at all uses at which it was not shown to be kept.
    pub refused: (f64, Allowance),
    /// What checks the p99 that was asked for.
    pub p99_by: Option<P99By>,
    /// Share of its disks that the data fills, and may fill.
    pub disk_fill: f64,
    pub disk_fill_allowed: f64,
    pub label: Label,
    pub half_width: Option<f64>,
}

impl Found<'_> {
    /// What is fullest of what it may be, with how full it is, may be, and what says so.
    pub fn tightest(&self) -> (Limit, f64, f64, Allowance) {
        if self.disk_fill / self.disk_fill_allowed > self.used / self.allowed {
            (Limit::DiskSpace, self.disk_fill, self.disk_fill_allowed, Allowance::DiskFill)
        } else {
            (self.busiest, self.used, self.allowed, self.allowance)
        }
    }

    pub fn meets_the_target(&self) -> bool {
        self.used <= self.allowed && self.disk_fill <= self.disk_fill_allowed
    }
}

impl<'a> Search<'a> {
    /// The most that may be used with all nodes up, so that there is enough with a part down; and which of the two says
    /// so. `for_p99`: the most at which a p99 that was asked for is kept.
    fn allowed(&self, nodes: u32, for_p99: Option<f64>) -> (f64, Allowance) {
        let most = |allowed: f64| for_p99.map_or(allowed, |most| most.min(allowed));
        let busiest = most(self.target.busiest());
        let with_part_down = most(self.target.busiest_when_down()) / self.target.load_when_down(nodes);
        let is_lowered = busiest < self.target.busiest();
        match (with_part_down < busiest, is_lowered) {
            (is_down, true) => (if is_down { with_part_down } else { busiest }, Allowance::P99),
            (true, false) => (with_part_down, Allowance::PartDown),
            (false, false) => (busiest, Allowance::Headroom),
        }
    }

    /// What each of so many nodes does and holds at the target.
    fn loaded(&self, memory_gib: f64, nodes: u32) -> Loaded {
        let n = f64::from(nodes);
        let copies = f64::from(self.target.replication_factor);
        let data_bytes = self.target.data_at_the_end() * copies / n * self.facts.on_disk;
        let first = &self.observations[0];
        let left_by = |memory_bytes| first.product.memory.page_cache_bytes(memory_bytes, &first.configuration.settings);
        let page_cache = match self.cache_budget {
            CacheBudget::OfMemory(share) => share * left_by((memory_gib * 1024.0 * MIB) as u64).unwrap_or(0.0),
            CacheBudget::Stated(bytes) => bytes,
        };
        let cache_share = (page_cache / data_bytes).min(1.0);
        let (reads, writes) = self.target.replica_operations();
        Loaded {
            work: Work {
                reads: reads * self.target.operations_per_s / n,
                writes: writes * self.target.operations_per_s / n,
                client_reads: self.target.read_share * self.target.operations_per_s / n,
                client_writes: (1.0 - self.target.read_share) * self.target.operations_per_s / n,
                hit_ratio: self.page_cache.hit_ratio(cache_share),
                record_bytes: self.record_bytes,
            },
            data_bytes,
            cache_share,
        }
    }

    /// A cluster of so many nodes, or why it cannot be.
    pub(super) fn cluster(&self, order: &Order<'_>, nodes: u32) -> Result<Found<'a>, Obstacle> {
        let name = order.instance();
        let unknown = || Obstacle::Rule(format!("unknown instance type `{name}`"));
        let instance = self.catalog.instance(name).ok_or_else(unknown)?;
        if self.target.nodes_down(nodes) >= nodes {
            return Err(Obstacle::NoNodeLeft);
        }
        let loaded = self.loaded(instance.memory_gib, nodes);
        let alone = self.facts.demand.utilisation(&Machine::UNLIMITED, &loaded.work);
        let mut allowed = self.allowed(nodes, self.p99.as_ref().map(|p99| p99.most));
        let mut refused = self.allowed(nodes, self.p99.as_ref().and_then(|p99| p99.missed));
        let mut p99_by =
            self.p99.as_ref().filter(|p99| p99.unchecked.is_none()).map(|p99| P99By::Kept { used: p99.most });
        let disk_fill_allowed = self.target.disk_fill_percent / 100.0;
        let of_volumes = allowed.0 * (1.0 - self.spare);
        let need = VolumeNeed {
            gib: loaded.data_bytes / disk_fill_allowed / 1024.0 / MIB,
            iops: alone.device_iops / of_volumes,
            mib_per_s: alone.device_bytes_per_s / of_volumes / MIB,
        };
        let request = order.request(need, nodes);
        let node = self.market.node(&request).map_err(|error| match error {
            NodeError::Volume(_) if order.is_made() => Obstacle::NoVolume(self.lacks(order, need)),
            other => Obstacle::Rule(other.to_string()),
        })?;
        if node.disk_bytes == 0.0 {
            return Err(Obstacle::NoDisks);
        }
        let disk_fill = loaded.data_bytes / node.disk_bytes;
        let mut machine = node.machine.ok_or(Obstacle::DisksUnknown)?;
        machine.cpus = self.cpus.unwrap_or_else(|| machine.cpus * self.cpus_worth(name).unwrap_or(1.0));
        let utilisation = self.facts.demand.utilisation(&machine, &loaded.work);
        let operations = loaded.work.reads + loaded.work.writes;
        // What was measured read all of its keys, and none behind a cache.
        let measured = self.measured(&request, instance, &loaded).filter(|_| self.tier.is_none());
        let (busiest, used, label, half_width) = match measured {
            Some(Measured::UnderP99(sustained)) => {
                let half = (sustained.high - sustained.low) / 2.0 / sustained.throughput;
                let (busiest, modelled) = utilisation.busiest();
                let used = operations / sustained.beside.replica_operations(sustained.throughput);
                // The p99 is in the rate already.
                (allowed, p99_by) = (self.allowed(nodes, None), Some(P99By::Found { scale: sustained.beside.scale }));
                refused = self.refused_beside(sustained, allowed, (refused.0 * used / modelled, refused.1));
                (busiest, used, Label::Measured, Some(half.max(LEAST_HALF_WIDTH)))
            }
            Some(Measured::AtLimit(observation)) => (
                observation.bounded_by().first().copied().unwrap_or(Limit::Cpu),
                operations / observation.replica_operations(observation.throughput),
                Label::Measured,
                observation.half_width.map(|half| half.max(LEAST_HALF_WIDTH)),
            ),
            None if self.facts.held_out.is_accepted() => {
                let (busiest, used) = utilisation.busiest();
                let is_between = self.is_between(instance, &loaded);
                let label = if is_between { Label::Interpolated } else { Label::Modelled };
                (busiest, used, label, self.facts.held_out.p90_error)
            }
            None => return Err(Obstacle::NotMeasured),
        };
        Ok(Found {
            instance,
            request,
            is_made: order.is_made(),
            loaded,
            utilisation,
            busiest,
            used,
            allowed: allowed.0,
            allowance: allowed.1,
            refused,
            p99_by,
            disk_fill,
            disk_fill_allowed,
            label,
            half_width,
        })
    }

    /// Above which use of what a machine was found to carry it is shown to miss the p99 that is asked for. What a model
    /// of 1:N was found to carry is the least that full scale carries; and what was found under a lower bound, or ended
    /// by another part of its objective, is the least that this one lets through: there other evidence refuses it.
    fn refused_beside(
        &self,
        found: &SustainedRate<'_>,
        allowed: (f64, Allowance),
        by_others: (f64, Allowance),
    ) -> (f64, Allowance) {
        let is_same_bound = self.target.p99_ms.is_some_and(|asked_ms| found.bound_ms >= asked_ms);
        match is_same_bound && found.is_of_p99 && found.beside.scale <= 1.0 {
            true => allowed,
            false => (by_others.0.max(allowed.0), by_others.1),
        }
    }

    /// What no volume has enough of: the first part of a need that cannot be bought alone.
    fn lacks(&self, order: &Order<'_>, need: VolumeNeed) -> Limit {
        const NOTHING: VolumeNeed = VolumeNeed { gib: 0.0, iops: 0.0, mib_per_s: 0.0 };
        let is_sold = |part: VolumeNeed| self.market.node(&order.request(part, 1)).is_ok();
        if !is_sold(VolumeNeed { gib: need.gib, ..NOTHING }) {
            Limit::DiskSpace
        } else if !is_sold(VolumeNeed { iops: need.iops, ..NOTHING }) {
            Limit::VolumeIops
        } else {
            Limit::VolumeThroughput
        }
    }

    /// What measured this very machine, mix and ratio of memory to data: what it was found to carry under the p99 that
    /// is asked for or a lower one, else the cell that did most once it had stabilised. Local disks whose MB/s nobody
    /// knows are held to IOPS alone where they are modelled: those are not the ones that can be bought.
    fn measured(&self, request: &ClusterRequest, instance: &InstanceType, loaded: &Loaded) -> Option<Measured<'_>> {
        let lacks_bytes = request.volumes.is_empty() && instance.lacks_local_bytes();
        let is_it = |o: &Observation<'_>| {
            is_order(o.configuration, request)
                && !(lacks_bytes && self.runs[o.run].plan.place.is_modelled())
                && (o.read_share() - self.facts.replica_read_share).abs() <= SAME_MIX
                && (loaded.cache_share / o.cache_given.min(1.0) - 1.0).abs() <= SAME_CACHE
        };
        let asked_ms = self.target.p99_ms.unwrap_or(f64::INFINITY);
        let sustained = self.sustained.iter();
        let sustained = sustained.filter(|found| found.bound_ms <= asked_ms && is_it(found.beside));
        let at_limit = self.observations.iter().filter(|o| o.is_capacity() && o.is_at_rest && is_it(o));
        let sustained = sustained.max_by(|a, b| a.throughput.total_cmp(&b.throughput));
        sustained
            .map(Measured::UnderP99)
            .or_else(|| at_limit.max_by(|a, b| a.throughput.total_cmp(&b.throughput)).map(Measured::AtLimit))
    }
}

/// A measurement of the machine that is ordered.
enum Measured<'a> {
    /// The rate that it carries under a p99.
    UnderP99(&'a SustainedRate<'a>),
    /// A resource of it was at its limit.
    AtLimit(&'a Observation<'a>),
}
