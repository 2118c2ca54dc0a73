//! What an hour of an instance cost: `data/instance_prices.csv`, with the source of each day in
//! `data/price_sources.csv`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::purchase::Purchase;
use crate::cloud::REGION;
use crate::table;

/// The price of one hour as it was seen on a day: Linux, shared tenancy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstancePrice {
    /// The day, `2017-11-12`.
    pub date: String,
    /// Region.
    pub region: String,
    /// How it is paid for.
    pub purchase: Purchase,
    /// USD per hour, upfront payments included.
    pub usd_per_hour: f64,
    /// What of it is paid upfront for the whole term, USD; `None`: no reservation, or the source does not say.
    pub upfront_usd: Option<f64>,
    /// Where it was seen.
    pub source: String,
}

/// The order of a history: region, purchase option, day.
pub(crate) fn order(price: &InstancePrice) -> (&str, Purchase, &str) {
    (&price.region, price.purchase, &price.date)
}

/// The table of this program.
pub(crate) fn built_in() -> BTreeMap<String, Vec<InstancePrice>> {
    let sources: BTreeMap<String, String> = table::read(include_str!("../../data/price_sources.csv"), |row| {
        let text = |column| row.text(column).unwrap_or_default().to_owned();
        (text("date"), text("source"))
    })
    .into_iter()
    .collect();
    let mut prices: BTreeMap<String, Vec<InstancePrice>> = BTreeMap::new();
    table::read(include_str!("../../data/instance_prices.csv"), |row| {
        let date = row.text("date").unwrap_or_default();
        let of_instance = prices.entry(row.text("name").unwrap_or_default().to_owned()).or_default();
        for purchase in Purchase::ALL {
            if let Some(usd_per_hour) = purchase.column().and_then(|column| row.number(column)) {
                let stated = purchase.upfront_column().and_then(|column| row.number(column));
                of_instance.push(InstancePrice {
                    date: date.to_owned(),
                    region: REGION.to_owned(),
                    purchase,
                    usd_per_hour,
                    upfront_usd: stated.or_else(|| purchase.upfront_usd(usd_per_hour)),
                    source: sources.get(date).cloned().unwrap_or_default(),
                });
            }
        }
    });
    for history in prices.values_mut() {
        history.sort_by(|a, b| order(a).cmp(&order(b)));
    }
    prices
}
