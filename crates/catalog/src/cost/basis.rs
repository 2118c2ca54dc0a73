//! How money is counted. The same machines cost different sums under different conventions, so no figure goes without
//! its basis.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::CostError;
use super::rds;
use crate::cloud::REGION;
use crate::{Catalog, Purchase, day};

/// How money is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basis {
    /// Hours in a month: 730 (a twelfth of a year), 720, 732 (AWS's calculator until 2018) or 744.
    pub hours_per_month: f64,
    /// How instances are paid for.
    pub purchase: Purchase,
    /// The day whose prices count: the latest ones known on or before it. `None`: the latest of all. Beside a sum: the
    /// latest day of any price used; `None`: nothing has been priced.
    pub price_date: Option<String>,
    /// Percentage on top of everything, such as a support plan's.
    pub uplift_percent: f64,
    /// Whether the uplift is charged by whole dollars a month, any fraction upwards.
    pub round_up_uplift: bool,
    /// USD an hour of instance types whose price the user states (a Savings Plan, spot, an offer): it counts whatever
    /// is known else.
    pub stated_usd_per_hour: BTreeMap<String, f64>,
    /// GB-months of EBS storage that are free, once for the account.
    pub free_gb: f64,
    /// Region.
    pub region: String,
    /// Whether EBS optimisation is paid for where it costs extra (types of before 2015).
    pub ebs_optimised: bool,
}

impl Default for Basis {
    fn default() -> Self {
        Self {
            hours_per_month: 730.0,
            purchase: Purchase::OnDemand,
            price_date: None,
            uplift_percent: 0.0,
            round_up_uplift: false,
            stated_usd_per_hour: BTreeMap::new(),
            free_gb: 0.0,
            region: REGION.to_owned(),
            ebs_optimised: false,
        }
    }
}

impl Basis {
    /// Whether every value is possible.
    ///
    /// # Errors
    ///
    /// The first one that is not.
    pub fn check(&self, catalog: &Catalog) -> Result<(), CostError> {
        self.checked_day(catalog).map(|_| ())
    }

    /// The last day whose prices count, once every value has been found possible.
    pub(super) fn checked_day(&self, catalog: &Catalog) -> Result<Option<String>, CostError> {
        let range = |key, given: f64, (least, most): (f64, f64)| {
            let possible = (least..=most).contains(&given);
            possible.then_some(()).ok_or(CostError::Basis { key, given, least, most })
        };
        range("hours per month", self.hours_per_month, (1.0, 8784.0))?;
        range("uplift percent", self.uplift_percent, (0.0, 1000.0))?;
        range("free GB", self.free_gb, (0.0, 1e9))?;
        for (name, usd) in &self.stated_usd_per_hour {
            if !rds::is_machine(catalog, name) {
                return Err(CostError::UnknownInstance {
                    given: name.clone(),
                    nearest: catalog.nearest_instances(name).into_iter().map(str::to_owned).collect(),
                });
            }
            range("stated price", *usd, (1e-6, 1e6))?;
        }
        if !catalog.knows_region(&self.region) {
            return Err(CostError::Region {
                given: self.region.clone(),
                known: catalog.regions().into_iter().map(str::to_owned).collect(),
            });
        }
        let parsed =
            self.price_date.as_ref().map(|date| day::last(date).ok_or_else(|| CostError::Date { given: date.clone() }));
        parsed.transpose()
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.price_date.as_deref().unwrap_or("the latest day known");
        write!(
            f,
            "{} hours per month, {}, prices of {date}, {}, uplift {} %, {} GB free",
            self.hours_per_month, self.purchase, self.region, self.uplift_percent, self.free_gb
        )?;
        if self.round_up_uplift {
            write!(f, ", uplift rounded up to whole USD")?;
        }
        for (name, usd) in &self.stated_usd_per_hour {
            write!(f, ", {name} at {usd} USD an hour as stated")?;
        }
        if self.ebs_optimised {
            write!(f, ", EBS optimisation paid where it costs extra")?;
        }
        Ok(())
    }
}
