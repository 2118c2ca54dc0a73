//! What machines and their volumes cost a month, line by line, each line with the day and the source of its price.
//!
//! A month is [`Basis::hours_per_month`] hours of every instance plus a month of every volume; the hourly figure is the
//! month divided by the same hours. Instance store costs nothing beside its instance. A price that is not known is an
//! error: a sum with a hole in it would pass for a small one.

mod basis;
mod bill;
mod capacity;
mod diff;
mod error;
mod line;
mod lines;
mod micro;
mod rds;
mod term;

pub use basis::Basis;
pub use bill::{Cost, Extras};
pub use capacity::{CapacityRow, RunCost};
pub use diff::{CostDiff, CostDifference};
pub use error::CostError;
pub use line::{CostKind, CostLine, price_days};
pub use term::TermTotal;

use crate::{Catalog, ClusterRequest, VolumeRequest};

impl Catalog {
    /// Prices one configuration.
    ///
    /// # Errors
    ///
    /// When a volume breaks a rule of its time, a price is not known, or the basis cannot be.
    pub fn cost(&self, request: &ClusterRequest, basis: &Basis) -> Result<Cost, CostError> {
        self.cost_of(&request.instance, &request.volumes, request.nodes, basis)
    }

    /// Prices `nodes` machines of a type with these EBS volumes each.
    ///
    /// # Errors
    ///
    /// As [`Self::cost`].
    pub fn cost_of(
        &self,
        instance: &str,
        volumes: &[VolumeRequest],
        nodes: u32,
        basis: &Basis,
    ) -> Result<Cost, CostError> {
        let machines = lines::Machines { instance, volumes, nodes };
        lines::priced(self, &[machines], Extras::default(), basis)
    }

    /// Prices several configurations as one bill: free GB count once.
    ///
    /// # Errors
    ///
    /// As [`Self::cost`]; also without any configuration.
    pub fn total_cost(&self, requests: &[ClusterRequest], basis: &Basis) -> Result<Cost, CostError> {
        self.total_cost_with(requests, Extras::default(), basis)
    }

    /// Prices several configurations and what is charged beside them as one bill.
    ///
    /// # Errors
    ///
    /// As [`Self::total_cost`].
    pub fn total_cost_with(
        &self,
        requests: &[ClusterRequest],
        extras: Extras,
        basis: &Basis,
    ) -> Result<Cost, CostError> {
        let machines: Vec<_> = requests
            .iter()
            .map(|request| lines::Machines {
                instance: &request.instance,
                volumes: &request.volumes,
                nodes: request.nodes,
            })
            .collect();
        lines::priced(self, &machines, extras, basis)
    }
}
