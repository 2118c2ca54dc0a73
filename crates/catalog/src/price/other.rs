//! Charges beside machines and volumes: `data/other_prices.csv`.

use serde::Serialize;

use super::PriceError;
use crate::{Catalog, REGION, table};

/// What may come on top of machines and their volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherCharge {
    /// A GB that leaves an availability zone, and again a GB that enters one.
    BetweenZones,
    /// A GB-month of EBS snapshots.
    Snapshot,
}

impl OtherCharge {
    fn name(self) -> &'static str {
        match self {
            Self::BetweenZones => "between_zones",
            Self::Snapshot => "snapshot",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::BetweenZones => "data between zones",
            Self::Snapshot => "snapshots",
        }
    }
}

/// A price of one of them as it was seen on a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherPrice {
    /// What for.
    pub what: OtherCharge,
    /// The day.
    pub date: String,
    /// USD per GB, or per GB-month.
    pub usd: f64,
    /// Where it was seen.
    pub source: String,
}

impl Catalog {
    /// The latest price on or before `day` (`None`: the latest of all).
    ///
    /// # Errors
    ///
    /// When none is known for that time or region.
    pub fn other_price(&self, what: OtherCharge, region: &str, day: Option<&str>) -> Result<OtherPrice, PriceError> {
        let words = || format!("price of {} in {region}", what.words());
        let mut all = table::read(include_str!("../../data/other_prices.csv"), |row| {
            (row.text("what") == Some(what.name())).then(|| OtherPrice {
                what,
                date: row.text("date").unwrap_or_default().to_owned(),
                usd: row.required("usd"),
                source: row.text("source").unwrap_or_default().to_owned(),
            })
        });
        all.retain(|_| region == REGION);
        let known: Vec<OtherPrice> = all.into_iter().flatten().collect();
        if known.is_empty() {
            return Err(PriceError::Unknown {
                what: words(),
                known: Vec::new(),
            });
        }
        let days = known.iter().map(|price| price.date.clone()).collect();
        let latest = known
            .into_iter()
            .rfind(|price| day.is_none_or(|day| price.date.as_str() <= day));
        latest.ok_or_else(|| PriceError::OnlyLater {
            what: words(),
            asked: day.unwrap_or_default().to_owned(),
            days,
        })
    }
}
