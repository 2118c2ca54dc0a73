//! Charges beside machines and volumes: `data/other_prices.csv`.

use serde::Serialize;

use crate::table;

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

    pub(super) fn words(self) -> &'static str {
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

/// The prices of one of them in the table of this program, all of [`crate::REGION`], oldest first.
pub(super) fn built_in(what: OtherCharge) -> Vec<OtherPrice> {
    let all = table::read(include_str!("../../data/other_prices.csv"), |row| {
        (row.text("what") == Some(what.name())).then(|| OtherPrice {
            what,
            date: row.text("date").unwrap_or_default().to_owned(),
            usd: row.required("usd"),
            source: row.text("source").unwrap_or_default().to_owned(),
        })
    });
    all.into_iter().flatten().collect()
}
