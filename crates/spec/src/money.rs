//! What the configurations of an experiment cost, frozen into the plan so that a report never depends on a later price list.

use catalog::Catalog;
use serde::{Deserialize, Serialize};

use crate::Configuration;

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

/// Prices every configuration at full scale: its nodes with their volumes, or what the file states.
pub(crate) fn of_configurations(catalog: &Catalog, configurations: &[Configuration], basis: &catalog::Basis) -> Money {
    let mut latest: Option<String> = None;
    let configurations = configurations
        .iter()
        .map(|configuration| {
            let (money, date) = of_configuration(catalog, configuration, basis);
            latest = date.max(latest.take());
            money
        })
        .collect();
    Money {
        basis: MoneyBasis {
            hours_per_month: basis.hours_per_month,
            purchase: basis.purchase.to_string(),
            region: basis.region.clone(),
            price_date: latest,
            uplift_percent: basis.uplift_percent,
        },
        configurations,
    }
}

/// A configuration's money, and the latest day of the prices used.
fn of_configuration(
    catalog: &Catalog,
    configuration: &Configuration,
    basis: &catalog::Basis,
) -> (ConfigurationMoney, Option<String>) {
    let money = |usd_per_month, lines, missing| ConfigurationMoney {
        configuration: configuration.name.clone(),
        usd_per_month,
        lines,
        missing,
    };
    if let Some(usd) = configuration.price_usd_per_month {
        let line = MoneyLine {
            what: "as the experiment states it".to_owned(),
            usd_per_month: usd,
        };
        return (money(Some(usd), vec![line], None), None);
    }
    let missing = |why: String| (money(None, Vec::new(), Some(why)), None);
    if !configuration.instance.from_catalog {
        return missing("its instance is given by its size; price_usd_per_month can state its price".to_owned());
    }
    let volumes = std::iter::once(&configuration.data_volume).chain(&configuration.commitlog_volume);
    let mut orders = Vec::new();
    for volume in volumes {
        match (&volume.order, volume.kind.as_str()) {
            (Some(order), _) => orders.push(*order),
            // Instance store costs nothing beside its instance.
            (None, "local") => {}
            (None, _) => {
                let why = format!(
                    "the volume {} is given by its limits; price_usd_per_month can state the price",
                    volume.label
                );
                return missing(why);
            }
        }
    }
    match catalog.cost_of(&configuration.instance.label, &orders, configuration.nodes, basis) {
        Err(error) => missing(error.to_string()),
        Ok(cost) => {
            let lines = cost
                .lines
                .iter()
                .map(|line| MoneyLine {
                    what: line.what.clone(),
                    usd_per_month: line.usd_per_month,
                })
                .collect();
            (money(Some(cost.usd_per_month), lines, None), cost.basis.price_date)
        }
    }
}
