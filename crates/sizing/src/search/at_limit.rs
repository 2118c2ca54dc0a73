//! What a configuration does with its fullest resource used in full.

use catalog::ClusterRequest;

use super::machines::Order;
use super::question::Search;
use crate::document::{Doubt, Limit, Obstacle};
use crate::target::Target;

/// Where no volume is sold for what CPUs could do, this part of it is tried, ...
const LESS: f64 = 0.75;
/// ... and so on, so many times.
const TRIES: u32 = 6;

/// A configuration at its limit, by the model.
pub(super) struct AtLimit {
    pub request: ClusterRequest,
    /// Operations of the target per second.
    pub operations_per_s: f64,
    /// Its fullest resource.
    pub limit: Limit,
    pub doubts: Vec<Doubt>,
    /// Whether its disks have the room that the target asks for.
    pub holds_its_data: bool,
    /// Operations per second with which all but its volumes would be used in full.
    without_volumes: f64,
}

impl Search<'_> {
    /// What an order does at its limit, whatever rate the target has. A volume that is made to measure is the smallest
    /// that lets everything else be used in full, or what the instance lets through: less would leave CPUs idle that
    /// are paid for, and more would be paid for nothing.
    pub(super) fn at_limit(&self, order: &Order<'_>, nodes: u32) -> Result<AtLimit, Obstacle> {
        let one = self.asked(order, nodes, 1.0)?;
        if !order.is_made() {
            return Ok(one);
        }
        let mut rate = one.without_volumes;
        let mut made = self.asked(order, nodes, rate);
        for _ in 0..TRIES {
            if !matches!(made, Err(Obstacle::NoVolume(_))) {
                break;
            }
            rate *= LESS;
            made = self.asked(order, nodes, rate);
        }
        match made? {
            made if made.operations_per_s < rate => self.asked(order, nodes, made.operations_per_s),
            made => Ok(made),
        }
    }

    /// What it does at its limit, where it is made for so many operations per second.
    fn asked(&self, order: &Order<'_>, nodes: u32, operations_per_s: f64) -> Result<AtLimit, Obstacle> {
        let target = Target { operations_per_s, ..self.target.clone() };
        let search = Search { target: &target, ..self.clone() };
        let found = search.cluster(order, nodes)?;
        Ok(AtLimit {
            operations_per_s: operations_per_s * found.allowed / found.used,
            limit: found.busiest,
            doubts: search.doubts(&found),
            holds_its_data: found.disk_fill <= found.disk_fill_allowed,
            without_volumes: operations_per_s / found.utilisation.cpu.max(found.utilisation.network),
            request: found.request,
        })
    }
}
