//! From a cluster that meets the target to a proposal with its money.

use catalog::{ClusterRequest, CostError, VolumeRequest};

use super::cluster::Found;
use super::question::Search;
use crate::document::{Doubt, FleetTotals, Limit, NodesBecause, Obstacle, Proposal, Remark};

/// Where copies and zones set the number of nodes and nothing is as full as this share of what it may be, nothing else
/// is a limit.
const HARDLY_USED: f64 = 0.5;

impl Search<'_> {
    /// Prices a cluster and says what lies outside the measured range.
    pub(super) fn priced(&self, found: Found<'_>, because: NodesBecause) -> Result<Proposal, Obstacle> {
        let cache = self.tier.map(|tier| tier.shown.clone());
        let ordered: Vec<ClusterRequest> =
            std::iter::once(&found.request).chain(self.tier.map(|tier| &tier.request)).cloned().collect();
        let cost = self.market.total_cost(&ordered).map_err(|error| match error {
            CostError::Price(_) => Obstacle::PriceUnknown,
            CostError::Volume { .. } => Obstacle::NoVolume(found.tightest().0),
            other => Obstacle::Rule(other.to_string()),
        })?;
        let nodes = found.request.nodes;
        let total = FleetTotals::of(&self.market, std::slice::from_ref(&found.request), self.usable())
            .map_err(Obstacle::Rule)?;
        let doubts = self.in_doubt(&found);
        let has_error = !doubts.iter().any(Doubt::is_outside);
        let measured = self.market.measured(&found.request);
        let mut remarks = self.extrapolated(&found);
        remarks.extend(cost.notes.into_iter().map(Remark::Price));
        if found.instance.network_gbps.is_none() {
            remarks.push(Remark::NetworkUnknown);
        }
        if cache.as_ref().is_some_and(|cache| cache.network.is_none()) {
            remarks.push(Remark::CacheNetworkUnknown);
        }
        if total.mb_per_s.is_none() && !doubts.contains(&Doubt::DiskThroughput) {
            remarks.push(Remark::DiskThroughputUnknown);
        }
        let storage = match found.request.volumes.as_slice() {
            [] => found.instance.local_disks.as_ref().map_or_else(String::new, |disks| disks.label()),
            volumes => volumes.iter().map(VolumeRequest::label).collect::<Vec<_>>().join(" + "),
        };
        Ok(Proposal {
            configuration: found.request.to_string(),
            measured_as: measured.map(|machine| machine.configurations.clone()).unwrap_or_default(),
            cache,
            nodes,
            nodes_per_zone: nodes / self.target.zones,
            instance: found.instance.name.clone(),
            storage,
            usd_per_month: cost.usd_per_month,
            usd_per_hour: cost.usd_per_hour,
            cost: cost.lines,
            label: found.label,
            uncertainty_percent: found.half_width.filter(|_| has_error).map(|half| half * 100.0),
            doubts,
            p99_by: found.p99_by,
            remarks,
            limit: limit(&found, &because),
            nodes_because: because,
            operations_per_s: self.carries(found.allowed / found.used),
            busiest: found.busiest,
            used: found.used,
            allowed: found.allowed,
            utilisation: found.utilisation,
            utilisation_when_down: found.used * self.target.load_when_down(nodes),
            data_bytes_per_node: found.loaded.data_bytes,
            disk_fill: found.disk_fill,
            cache_share: found.loaded.cache_share,
            hit_ratio: found.loaded.work.hit_ratio,
            per_zone: total.of_one(self.target.zones),
            total,
        })
    }

    /// Client operations per second of a database that may do so many times what the target asks of it; at most what
    /// the cache before it carries.
    fn carries(&self, times: f64) -> f64 {
        let database = self.target.operations_per_s;
        self.tier.map_or(database * times, |tier| {
            let asked = tier.asked_per_s;
            (asked * times).min(tier.shown.carries_per_s)
        })
    }
}

/// What set the number of nodes; else what is fullest of what it may be.
fn limit(found: &Found<'_>, because: &NodesBecause) -> Limit {
    let (fullest, used, allowed, _) = found.tightest();
    match because {
        // A volume made to measure is always as full as it may be: that is how it is made.
        NodesBecause::Copies { .. } if !found.is_made && used < HARDLY_USED * allowed => Limit::Copies,
        _ => because.limit().unwrap_or(fullest),
    }
}
