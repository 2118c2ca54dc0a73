//! What a month of a volume cost: `data/volume_prices.csv`.

use serde::Serialize;

use crate::{CostKind, ResolvedVolume, VolumeRules, VolumeType, table};

/// io2 charges less for IOPS above this many.
const SECOND_TIER_IOPS: f64 = 32_000.0;
/// io2 charges still less for IOPS above this many.
const THIRD_TIER_IOPS: f64 = 64_000.0;

/// What a whole volume of up to a size costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PriceStep {
    /// The size.
    pub gib: f64,
    /// USD a month.
    pub usd: f64,
}

/// The monthly prices of a volume type as they were seen on a day. `None`: the type has no such charge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VolumePrice {
    /// Type.
    pub kind: VolumeType,
    /// The day, `2019-05-01`.
    pub date: String,
    /// Region.
    pub region: String,
    /// USD per GB-month. AWS's price pages say GB where the volume's size is in GiB; it is the same number. `None`: by
    /// [`Self::steps`] alone.
    pub usd_per_gb: Option<f64>,
    /// Of whole volumes by their size, the smallest first (Azure's Premium SSD), in place of [`Self::usd_per_gb`].
    pub steps: Vec<PriceStep>,
    /// USD per provisioned IOPS above [`Self::iops_above`].
    pub usd_per_iops: Option<f64>,
    /// IOPS that are included.
    pub iops_above: f64,
    /// USD per provisioned IOPS above 32,000 (io2).
    pub usd_per_iops_above_32000: Option<f64>,
    /// USD per provisioned IOPS above 64,000 (io2).
    pub usd_per_iops_above_64000: Option<f64>,
    /// USD per MiB/s above [`Self::mib_above`].
    pub usd_per_mib_per_s: Option<f64>,
    /// MiB/s that are included.
    pub mib_above: f64,
    /// USD per million I/O requests (standard).
    pub usd_per_million_io: Option<f64>,
    /// Where it was seen.
    pub source: String,
}

/// One charge of a volume: so many units at so many USD a month.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Charge {
    pub(crate) kind: CostKind,
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) quantity: f64,
    pub(crate) unit_usd: f64,
}

impl VolumePrice {
    /// What is charged of a volume by the rules that it follows, its storage first and before any free GB-months: then
    /// IOPS and MiB/s above the included ones. `None` when a price is missing.
    pub(crate) fn charges(&self, volume: &ResolvedVolume, rules: &VolumeRules) -> Option<Vec<Charge>> {
        let mut charges = vec![self.storage(volume.request.size_gib)?];
        let iops = volume.request.iops.unwrap_or(0.0);
        let second = if self.usd_per_iops_above_32000.is_some() { SECOND_TIER_IOPS } else { f64::INFINITY };
        let third = if self.usd_per_iops_above_64000.is_some() { THIRD_TIER_IOPS } else { f64::INFINITY };
        for (what, from, to, usd) in [
            ("provisioned IOPS", self.iops_above, second, self.usd_per_iops),
            ("provisioned IOPS above 32,000", second, third, self.usd_per_iops_above_32000),
            ("provisioned IOPS above 64,000", third, f64::INFINITY, self.usd_per_iops_above_64000),
        ] {
            let quantity = iops.min(to) - from;
            if quantity > 0.0 {
                charges.push(Charge { kind: CostKind::Iops, what, unit: "IOPS-month", quantity, unit_usd: usd? });
            }
        }
        // Where none are stated: what many IOPS ask for beyond what the type includes.
        let included = rules.included_mib_per_s.unwrap_or(f64::INFINITY);
        let asked_for = Some(volume.baseline_mib_per_s).filter(|mib_per_s| *mib_per_s > included);
        let quantity = volume.request.mib_per_s.or(asked_for).unwrap_or(0.0) - self.mib_above;
        if quantity > 0.0 {
            let unit_usd = self.usd_per_mib_per_s?;
            charges.push(Charge {
                kind: CostKind::Throughput,
                what: "throughput",
                unit: "MiB/s-month",
                quantity,
                unit_usd,
            });
        }
        Some(charges)
    }

    fn storage(&self, gib: f64) -> Option<Charge> {
        let step = self.steps.iter().find(|step| gib <= step.gib);
        let (what, unit, quantity, unit_usd) = match step {
            Some(step) => ("storage by steps of size", "volume-month", 1.0, step.usd),
            None => ("storage", "GB-month", gib, self.usd_per_gb?),
        };
        Some(Charge { kind: CostKind::Storage, what, unit, quantity, unit_usd })
    }
}

/// The order of all prices: region, type, day.
pub(crate) fn volume_order(price: &VolumePrice) -> (&str, VolumeType, &str) {
    (&price.region, price.kind, &price.date)
}

/// The table of this program.
pub(crate) fn built_in() -> Vec<VolumePrice> {
    let mut prices = table::read(include_str!("../../data/volume_prices.csv"), read);
    prices.sort_by(|a: &VolumePrice, b| volume_order(a).cmp(&volume_order(b)));
    prices
}

fn read(row: &table::Row<'_>) -> VolumePrice {
    let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
    VolumePrice {
        kind: text("type").parse().unwrap_or_else(|error| panic!("data/volume_prices.csv: {error}")),
        date: text("date"),
        region: text("region"),
        usd_per_gb: row.number("usd_per_gb"),
        usd_per_iops: row.number("usd_per_iops"),
        iops_above: row.number("iops_above").unwrap_or(0.0),
        usd_per_iops_above_32000: row.number("usd_per_iops_above_32000"),
        usd_per_iops_above_64000: row.number("usd_per_iops_above_64000"),
        usd_per_mib_per_s: row.number("usd_per_mib"),
        mib_above: row.number("mib_above").unwrap_or(0.0),
        usd_per_million_io: row.number("usd_per_million_io"),
        steps: row.text("usd_steps").map(steps).unwrap_or_default(),
        source: text("source"),
    }
}

/// `32:5.2795 64:10.207`: GiB and USD of each step.
fn steps(text: &str) -> Vec<PriceStep> {
    let step = |given: &str| {
        let (gib, usd) = given.split_once(':')?;
        Some(PriceStep { gib: gib.parse().ok()?, usd: usd.parse().ok()? })
    };
    let steps = text.split(' ');
    steps.map(|given| step(given).unwrap_or_else(|| panic!("data/volume_prices.csv: step `{given}`"))).collect()
}
