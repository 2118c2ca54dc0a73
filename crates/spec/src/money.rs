//! What the configurations of an experiment cost, frozen into the plan so that a report never depends on a later price list.

use serde::{Deserialize, Serialize};

/// Money of a whole plan, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// How it is counted.
    pub basis: MoneyBasis,
    /// One entry a configuration, in the order of the file.
    pub configurations: Vec<ConfigurationMoney>,
}

/// How money is counted; printed beside every figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MoneyBasis {
    /// Hours in a month.
    pub hours_per_month: f64,
    /// Purchase option: `on-demand`, ...
    pub purchase: String,
    /// Region.
    pub region: String,
    /// Latest date of the prices used; `None`: nothing has been priced.
    pub price_date: Option<String>,
    /// Added for support, per cent.
    pub uplift_percent: f64,
}

/// What one configuration costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationMoney {
    /// Its name.
    pub configuration: String,
    /// All its nodes and volumes; `None` where any price is missing.
    pub usd_per_month: Option<f64>,
    /// The parts.
    pub lines: Vec<MoneyLine>,
    /// Why there is no figure.
    pub missing: Option<String>,
}

/// One part of a cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MoneyLine {
    /// What is paid for.
    pub what: String,
    /// Money.
    pub usd_per_month: f64,
}
