//! What machines and their volumes cost a month, line by line, each line with the day and the source of its price.
//!
//! A month is [`Basis::hours_per_month`] hours of every instance plus a month of every volume; the hourly figure is the month
//! divided by the same hours. Instance store costs nothing beside its instance. A price that is not known is an error: a sum
//! with a hole in it would pass for a small one.

mod basis;
mod capacity;
mod diff;
mod lines;
mod term;

pub use basis::{Basis, REGION};
pub use capacity::{CapacityRow, RunCost};
pub use diff::{CostDiff, CostDifference};
pub use term::TermTotal;

use serde::{Deserialize, Serialize};

use crate::{Catalog, ClusterRequest, PriceError, TooManyVolumes, VolumeError, VolumeRequest};

/// Money for machines and their volumes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// USD per hour: the month divided by its hours.
    pub usd_per_hour: f64,
    /// USD per month.
    pub usd_per_month: f64,
    /// What it consists of; the lines add up to the month.
    pub lines: Vec<CostLine>,
    /// What the reservations cost over their whole term; `None` where the instances are not reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub term: Option<TermTotal>,
    /// What the figure leaves out, and why; what is bought and cannot be reached.
    pub notes: Vec<String>,
    /// How it was counted; `price_date` is filled in with the latest day of any price used, which gives the same sum again.
    pub basis: Basis,
}

/// What a charge is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostKind {
    /// Hours of instances.
    #[default]
    Instances,
    /// Hours of EBS optimisation.
    EbsOptimisation,
    /// GB-months of volumes, free ones taken off.
    Storage,
    /// Provisioned IOPS.
    Iops,
    /// Provisioned throughput.
    Throughput,
    /// Data between availability zones.
    BetweenZones,
    /// Snapshots, which are a volume's backups.
    Snapshots,
    /// A percentage on top.
    Uplift,
}

impl CostKind {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Instances => "instances",
            Self::EbsOptimisation => "EBS optimisation",
            Self::Storage => "volume storage",
            Self::Iops => "provisioned IOPS",
            Self::Throughput => "provisioned throughput",
            Self::BetweenZones => "data between zones",
            Self::Snapshots => "snapshots",
            Self::Uplift => "uplift",
        }
    }
}

/// What is charged beside machines and volumes, a month.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extras {
    /// GB (10^9 bytes) that cross from one availability zone into another: replication, and clients elsewhere.
    pub cross_zone_gb: f64,
    /// GB of EBS snapshots that are kept.
    pub snapshot_gb: f64,
}

/// One charge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// What it is for.
    #[serde(default)]
    pub kind: CostKind,
    /// For people: `3 x i3.2xlarge, on-demand`.
    pub what: String,
    /// How many units a month, all nodes together.
    pub quantity: f64,
    /// `hour`, `GB-month`, `IOPS-month`, `MiB/s-month`, `GB`, `%`.
    pub unit: String,
    /// USD per unit.
    pub unit_usd: f64,
    /// USD per month.
    pub usd_per_month: f64,
    /// Day of the price; `None` where the basis itself is the source.
    pub price_date: Option<String>,
    /// Where the price was seen.
    pub source: String,
}

/// Why something cannot be priced.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CostError {
    /// No such instance type.
    #[error("unknown instance type `{given}`{}", near(.nearest))]
    UnknownInstance {
        /// What was written.
        given: String,
        /// Names like it.
        nearest: Vec<String>,
    },
    /// A volume that AWS does not (or did not then) sell.
    #[error("{volume}: {error}")]
    Volume {
        /// For people: `io1 volume of 100 GiB`.
        volume: String,
        /// The rule it breaks.
        error: VolumeError,
    },
    /// More volumes than the instance attaches.
    #[error(transparent)]
    TooMany(#[from] TooManyVolumes),
    /// A price that is not known.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// A region without prices.
    #[error("no prices of region `{given}` are known; known: {}; others by: iopslab catalog refresh --region {given}", .known.join(", "))]
    Region {
        /// What was written.
        given: String,
        /// Regions with prices.
        known: Vec<String>,
    },
    /// A price date that is none.
    #[error("`{given}` is no price date; expected a day, month or year such as 2017-11-12, 2017-11 or 2017")]
    Date {
        /// What was written.
        given: String,
    },
    /// Another value of the basis that cannot be.
    #[error("{key} is {given}; expected {least} to {most}")]
    Basis {
        /// Which one.
        key: &'static str,
        /// What was given.
        given: f64,
        /// Least possible.
        least: f64,
        /// Most possible.
        most: f64,
    },
    /// Two costs that are counted in different ways.
    #[error("the two costs are counted in different ways ({one}; {other}), so that their difference means nothing")]
    OtherBasis {
        /// Basis of one.
        one: String,
        /// Basis of the other.
        other: String,
    },
    /// A configuration of no machine.
    #[error("a configuration has at least one node")]
    NoNodes,
    /// Hours of a run that cannot be.
    #[error("a run of {given} hours cannot be; expected more than 0")]
    RunHours {
        /// What was given.
        given: f64,
    },
}

fn near(names: &[String]) -> String {
    if names.is_empty() {
        "; see: iopslab catalog list".to_owned()
    } else {
        format!("; nearest: {}", names.join(", "))
    }
}

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
        let machines = lines::Machines {
            instance,
            volumes,
            nodes,
        };
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

/// Rounds to a millionth of a dollar: below what anybody is charged, above the noise of binary fractions.
pub(crate) fn micro(usd: f64) -> f64 {
    // Not -0, which would be printed.
    (usd * 1e6).round() / 1e6 + 0.0
}
