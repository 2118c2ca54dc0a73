//! What an hour of an instance cost: `data/instance_prices.csv`, with the source of each day in `data/price_sources.csv`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

use super::{PriceError, Purchase, latest};
use crate::table;

/// The price of one hour as it was seen on a day: us-east-1, Linux, shared tenancy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstancePrice {
    /// The day, `2017-11-12`.
    pub date: String,
    /// How it is paid for.
    pub purchase: Purchase,
    /// USD per hour, upfront payments included.
    pub usd_per_hour: f64,
    /// Where it was seen.
    pub source: String,
}

/// Every known price of an instance type, by purchase option and oldest first; empty when none is known.
pub fn price_history(instance: &str) -> &'static [InstancePrice] {
    static PRICES: LazyLock<BTreeMap<String, Vec<InstancePrice>>> = LazyLock::new(read);
    PRICES.get(instance).map_or(&[], Vec::as_slice)
}

/// The latest price on or before `day` (`2017-11-12`; `None`: the latest of all).
///
/// # Errors
///
/// When no such price is known, with what is known instead.
pub fn instance_price(
    instance: &str,
    purchase: Purchase,
    day: Option<&str>,
) -> Result<&'static InstancePrice, PriceError> {
    let history = price_history(instance);
    let what = || format!("{purchase} price of {instance}");
    // The history is sorted by purchase option, so the prices of one option lie side by side.
    let from = history.partition_point(|price| price.purchase < purchase);
    let to = history.partition_point(|price| price.purchase <= purchase);
    let same = &history[from..to];
    if same.is_empty() {
        let mut known: Vec<String> = history.iter().map(|price| price.purchase.to_string()).collect();
        known.dedup();
        return Err(PriceError::Unknown { what: what(), known });
    }
    latest(same, day, |price| &price.date).ok_or_else(|| PriceError::OnlyLater {
        what: what(),
        asked: day.unwrap_or_default().to_owned(),
        days: same.iter().map(|price| price.date.clone()).collect(),
    })
}

fn read() -> BTreeMap<String, Vec<InstancePrice>> {
    let sources: BTreeMap<String, String> = table::read(include_str!("../../data/price_sources.csv"), |row| {
        let text = |column| row.text(column).unwrap_or_default().to_owned();
        (text("date"), text("source"))
    })
    .into_iter()
    .collect();
    let mut prices: BTreeMap<String, Vec<InstancePrice>> = BTreeMap::new();
    table::read(include_str!("../../data/instance_prices.csv"), |row| {
        let date = row.text("date").unwrap_or_default();
        let of_instance = prices
            .entry(row.text("name").unwrap_or_default().to_owned())
            .or_default();
        for purchase in Purchase::ALL {
            if let Some(usd_per_hour) = row.number(purchase.column()) {
                of_instance.push(InstancePrice {
                    date: date.to_owned(),
                    purchase,
                    usd_per_hour,
                    source: sources.get(date).cloned().unwrap_or_default(),
                });
            }
        }
    });
    for history in prices.values_mut() {
        history.sort_by(|a, b| (a.purchase, &a.date).cmp(&(b.purchase, &b.date)));
    }
    prices
}
