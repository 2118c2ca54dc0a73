//! What the configurations of an experiment cost, frozen into the plan so that a report never depends on a later
//! price list. Lines and basis are the catalog's own.

use catalog::{Basis, CostLine};
use serde::{Deserialize, Serialize};

/// Money of a whole plan, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// How it is counted, with the latest day of any price used.
    pub basis: Basis,
    /// One entry a configuration, in the order of the file.
    pub configurations: Vec<ConfigurationMoney>,
}

/// What one configuration costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationMoney {
    /// Its name.
    pub configuration: String,
    /// All its nodes and volumes; `None` where any price is missing.
    pub usd_per_month: Option<f64>,
    /// The parts, each with the day and the source of its price.
    pub lines: Vec<CostLine>,
    /// Why there is no figure.
    pub missing: Option<String>,
}
