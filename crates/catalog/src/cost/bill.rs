//! What machines and their volumes cost together.

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::line::{CostLine, price_days};
use super::term::TermTotal;

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
    pub term: Option<TermTotal>,
    /// What the figure leaves out, and why; what is bought and cannot be reached.
    pub notes: Vec<String>,
    /// The regions of the prices: each cloud has its own.
    pub regions: Vec<String>,
    /// How it was counted; `price_date` is filled in with the latest day of any price used, which gives the same sum
    /// again.
    pub basis: Basis,
}

impl Cost {
    /// The basis, for people, with the regions and the days of all prices used: the age of a sum is that of its oldest.
    pub fn basis_words(&self) -> String {
        let price_date = price_days(self.lines.iter()).or_else(|| self.basis.price_date.clone());
        let region = match self.regions.is_empty() {
            true => self.basis.region.clone(),
            false => self.regions.join(" and "),
        };
        Basis { price_date, region, ..self.basis.clone() }.to_string()
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
