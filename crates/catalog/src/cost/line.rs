//! One charge, and what it is for.

use serde::{Deserialize, Serialize};

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
