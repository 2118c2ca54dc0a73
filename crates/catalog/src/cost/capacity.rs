//! What grows with the cluster: money in sets of three, and money of one benchmark run.

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::bill::Cost;
use super::error::CostError;
use super::micro::micro;
use crate::{Catalog, ClusterRequest};

/// A cluster of one, two or three times the nodes. Cassandra clusters grow by sets (of three, with three replicas in
/// three zones), and throughput with them; the published guide's table has these rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityRow {
    /// 1, 2, 3.
    pub factor: u32,
    /// Machines.
    pub nodes: u32,
    /// USD per month.
    pub usd_per_month: f64,
    /// USD per hour.
    pub usd_per_hour: f64,
}

/// Nodes of a set.
const SET: u32 = 3;

/// What one run costs: all its machines and volumes for its hours. AWS charges volumes by the second, prorated by the
/// month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCost {
    /// Hours that the machines exist.
    pub hours: f64,
    /// USD.
    pub usd: f64,
    /// The month that it is a part of.
    pub month: Cost,
}

impl Catalog {
    /// One, two and three times a configuration; one that states a single node is counted as a set of three.
    ///
    /// # Errors
    ///
    /// As [`Self::cost`].
    pub fn capacity_table(&self, request: &ClusterRequest, basis: &Basis) -> Result<Vec<CapacityRow>, CostError> {
        let set = if request.nodes == 1 { SET } else { request.nodes };
        (1..=3)
            .map(|factor| {
                let nodes = set * factor;
                let cost = self.cost_of(&request.instance, &request.volumes, nodes, basis)?;
                Ok(CapacityRow { factor, nodes, usd_per_month: cost.usd_per_month, usd_per_hour: cost.usd_per_hour })
            })
            .collect()
    }

    /// Prices a run of `hours` on these machines. A reservation is owed whether it is used or not: its price is then
    /// what the hours would cost a user who has it.
    ///
    /// # Errors
    ///
    /// As [`Self::cost`]; also for hours that cannot be.
    pub fn run_cost(&self, requests: &[ClusterRequest], hours: f64, basis: &Basis) -> Result<RunCost, CostError> {
        if !(hours.is_finite() && hours > 0.0) {
            return Err(CostError::RunHours { given: hours });
        }
        let month = self.total_cost(requests, basis)?;
        Ok(RunCost { hours, usd: micro(month.usd_per_month / basis.hours_per_month * hours), month })
    }
}
