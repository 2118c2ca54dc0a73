//! One charge, and what it is for: the one type of a line of money, from the catalog's bill through `plan.json` to
//! `analysis.json`, so that no line loses the day and the source of its price.

use serde::{Deserialize, Serialize};

/// What a charge is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostKind {
    /// Hours of instances.
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
    /// Several of these together: a price stated for everything.
    NotItemised,
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
            Self::NotItemised => "not itemised",
        }
    }
}

/// One charge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// What it is for.
    pub kind: CostKind,
    /// For people: `3 x i3.2xlarge, on-demand`.
    pub what: String,
    /// How many units a month, all nodes together.
    pub quantity: f64,
    /// `hour`, `GB-month`, `volume-month`, `IOPS-month`, `MiB/s-month`, `GB`, `%`, `month`.
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

/// Unit of a line that is one price for a month.
const MONTH: &str = "month";

impl CostLine {
    /// A price for a month that somebody states.
    pub fn stated(what: &str, usd_per_month: f64, source: &str) -> Self {
        Self {
            kind: CostKind::NotItemised,
            what: what.to_owned(),
            quantity: 1.0,
            unit: MONTH.to_owned(),
            unit_usd: usd_per_month,
            usd_per_month,
            price_date: None,
            source: source.to_owned(),
        }
    }
}

/// The days of all prices in a sum, from the oldest to the newest: its age is that of the oldest. `None`: no price has
/// a day.
pub fn price_days<'a>(lines: impl Iterator<Item = &'a CostLine>) -> Option<String> {
    let mut days: Vec<&str> = lines.filter_map(|line| line.price_date.as_deref()).collect();
    days.sort_unstable();
    let (oldest, newest) = (days.first()?, days.last()?);
    Some(if oldest == newest { (*oldest).to_owned() } else { format!("{oldest} to {newest}") })
}
