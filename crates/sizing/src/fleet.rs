//! What a fleet has and costs, and two fleets beside each other.

use std::collections::BTreeMap;

use catalog::{Basis, Catalog, ClusterRequest, Cost, CostError, CostKind, CostLine};

use crate::document::{Fleet, FleetComparison, FleetTotals};
use crate::market::Market;

/// The machines of a fleet.
#[derive(Debug, Clone, Copy)]
pub struct FleetMachines<'a> {
    /// Those of its database.
    pub database: &'a [ClusterRequest],
    /// Those of caches before it: their disks hold nothing.
    pub caches: &'a [ClusterRequest],
}

impl FleetTotals {
    /// What machines of these kinds have; `usable` is the share of the disks that holds distinct data: fill / copies.
    pub(super) fn of(market: &Market<'_>, requests: &[ClusterRequest], usable: f64) -> Result<Self, String> {
        let mut total = Self { iops: Some(0.0), mb_per_s: Some(0.0), network_gbps: Some(0.0), ..Self::default() };
        for request in requests {
            let node = market.node(request).map_err(|error| error.to_string())?;
            let nodes = f64::from(request.nodes);
            let add = |sum: Option<f64>, each: Option<f64>| Some(sum? + each? * nodes);
            total.nodes += request.nodes;
            total.vcpus += u64::from(request.nodes) * u64::from(node.instance.vcpus);
            total.memory_gib += nodes * node.instance.memory_gib;
            total.disk_tb += nodes * node.disk_bytes / 1e12;
            total.iops = add(total.iops, node.iops);
            total.mb_per_s = add(total.mb_per_s, node.mb_per_s);
            total.network_gbps = add(total.network_gbps, node.instance.network_gbps);
        }
        total.usable_tb = total.disk_tb * usable;
        Ok(total)
    }

    /// The same with caches, whose disks hold nothing.
    fn with_caches(self, caches: &Self) -> Self {
        let both = |own: Option<f64>, other: Option<f64>| Some(own? + other?);
        Self {
            nodes: self.nodes + caches.nodes,
            vcpus: self.vcpus + caches.vcpus,
            memory_gib: self.memory_gib + caches.memory_gib,
            network_gbps: both(self.network_gbps, caches.network_gbps),
            ..self
        }
    }

    /// A zone's part.
    pub(super) fn of_one(&self, zones: u32) -> Self {
        let part = f64::from(zones);
        Self {
            nodes: self.nodes / zones,
            vcpus: self.vcpus / u64::from(zones),
            memory_gib: self.memory_gib / part,
            disk_tb: self.disk_tb / part,
            usable_tb: self.usable_tb / part,
            iops: self.iops.map(|v| v / part),
            mb_per_s: self.mb_per_s.map(|v| v / part),
            network_gbps: self.network_gbps.map(|v| v / part),
        }
    }
}

/// Puts a proposed fleet beside the current one. `usable` is the share of the disks that holds distinct data: fill /
/// copies.
///
/// # Errors
/// When a configuration cannot be, or the basis cannot. A price that is not known is no error: the fleet then has none.
pub fn compare_fleets(
    catalog: &Catalog,
    current: FleetMachines<'_>,
    proposed: FleetMachines<'_>,
    usable: f64,
    basis: &Basis,
) -> Result<FleetComparison, String> {
    basis.check(catalog).map_err(|error| error.to_string())?;
    compare(&Market::of(catalog, basis, &[], &[]), current, proposed, usable)
}

/// The same on a market, whose basis was checked.
pub(super) fn compare(
    market: &Market<'_>,
    current: FleetMachines<'_>,
    proposed: FleetMachines<'_>,
    usable: f64,
) -> Result<FleetComparison, String> {
    let (current, proposed) = (fleet(market, current, usable)?, fleet(market, proposed, usable)?);
    let figures = |fleet: &Fleet| {
        let t = &fleet.total;
        [
            ("nodes", Some(f64::from(t.nodes))),
            ("vcpus", Some(t.vcpus as f64)),
            ("memory_gib", Some(t.memory_gib)),
            ("disk_tb", Some(t.disk_tb)),
            ("usable_tb", Some(t.usable_tb)),
            ("iops", t.iops),
            ("mb_per_s", t.mb_per_s),
            ("network_gbps", t.network_gbps),
            ("usd_per_hour", fleet.usd_per_hour),
            ("usd_per_month", fleet.usd_per_month),
        ]
    };
    let ratios: BTreeMap<String, f64> = figures(&current)
        .into_iter()
        .zip(figures(&proposed))
        .filter_map(|((name, now), (_, then))| Some((name.to_owned(), stats::ratio(then?, now?)?)))
        .collect();
    Ok(FleetComparison {
        decision: None,
        current,
        proposed,
        current_use: None,
        current_cache: None,
        ratios,
        basis: market.basis.clone(),
    })
}

fn days(cost: &Cost) -> Vec<String> {
    let is_hourly = |line: &&CostLine| matches!(line.kind, CostKind::Instances | CostKind::EbsOptimisation);
    let hourly = cost.lines.iter().filter(is_hourly);
    let mut days: Vec<String> = hourly.filter_map(|line| line.price_date.clone()).collect();
    days.sort();
    days.dedup();
    days
}

fn fleet(market: &Market<'_>, machines: FleetMachines<'_>, usable: f64) -> Result<Fleet, String> {
    let all: Vec<ClusterRequest> = machines.database.iter().chain(machines.caches).cloned().collect();
    let total = |requests| FleetTotals::of(market, requests, usable);
    let caches = total(machines.caches)?;
    let cost = match market.total_cost(&all) {
        Ok(cost) => Ok(cost),
        Err(error @ CostError::Price(_)) => Err(error.to_string()),
        Err(other) => return Err(other.to_string()),
    };
    Ok(Fleet {
        configurations: all.iter().map(ToString::to_string).collect(),
        cache_nodes: caches.nodes,
        total: total(machines.database)?.with_caches(&caches),
        usd_per_hour: cost.as_ref().ok().map(|c| c.usd_per_hour),
        usd_per_month: cost.as_ref().ok().map(|c| c.usd_per_month),
        price_days: cost.as_ref().map_or_else(|_| Vec::new(), days),
        notes: cost.as_ref().map_or_else(|_| Vec::new(), |c| c.notes.clone()),
        price_missing: cost.err(),
    })
}
