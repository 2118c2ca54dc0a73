//! Which price counts on a day: the latest one that was seen on or before it.

use super::error::PriceError;
use super::instance::InstancePrice;
use super::other::{self, OtherCharge, OtherPrice};
use super::purchase::Purchase;
use super::volume::VolumePrice;
use crate::cloud::REGION;
use crate::{Catalog, Cloud, VolumeType};

impl Catalog {
    /// The latest price on or before `day` (`2017-11-12`; `None`: the latest of all).
    ///
    /// # Errors
    ///
    /// When no such price is known, with what is known instead.
    pub fn instance_price(
        &self,
        instance: &str,
        purchase: Purchase,
        region: &str,
        day: Option<&str>,
    ) -> Result<&InstancePrice, PriceError> {
        let history = self.price_history(instance);
        let region = Cloud::of(instance).region(region);
        let what = || format!("{purchase} price of {instance} in {region}");
        let here = |price: &&InstancePrice| price.region == region;
        let same: Vec<&InstancePrice> = history.iter().filter(here).filter(|p| p.purchase == purchase).collect();
        if same.is_empty() && purchase.is_stated() {
            return Err(PriceError::NotStated { what: what(), instance: instance.to_owned() });
        }
        if same.is_empty() {
            let mut known: Vec<String> = history.iter().filter(here).map(|p| p.purchase.to_string()).collect();
            known.dedup();
            let key = if purchase == Purchase::OnDemand { "usd_per_hour" } else { "reserved_usd_per_hour" };
            let instance = instance.to_owned();
            return Err(PriceError::UnknownOfInstance { what: what(), known, instance, key });
        }
        latest(&same, day, |price| &price.date, what)
    }

    /// The latest prices on or before `day` (`2017-11-12`; `None`: the latest of all).
    ///
    /// # Errors
    ///
    /// When no price of that time is known, with the days that are.
    pub fn volume_price(&self, kind: VolumeType, region: &str, day: Option<&str>) -> Result<&VolumePrice, PriceError> {
        let region = kind.cloud().region(region);
        let what = || format!("price of {kind} volumes in {region}");
        let history: Vec<&VolumePrice> =
            self.volume_prices().iter().filter(|price| price.kind == kind && price.region == region).collect();
        if history.is_empty() {
            return Err(PriceError::Unknown { what: what(), known: Vec::new() });
        }
        latest(&history, day, |price| &price.date, what)
    }

    /// The latest price on or before `day` (`None`: the latest of all).
    ///
    /// # Errors
    ///
    /// When none is known for that time or region.
    pub fn other_price(&self, what: OtherCharge, region: &str, day: Option<&str>) -> Result<OtherPrice, PriceError> {
        let words = || format!("price of {} in {region}", what.words());
        let known = if region == REGION { other::built_in(what) } else { Vec::new() };
        if known.is_empty() {
            return Err(PriceError::Unknown { what: words(), known: Vec::new() });
        }
        latest(&known.iter().collect::<Vec<_>>(), day, |price| &price.date, words).cloned()
    }
}

/// The latest of `dated` (oldest first) on or before a day; the very latest without a day.
fn latest<'a, T>(
    dated: &[&'a T],
    day: Option<&str>,
    date: impl Fn(&T) -> &String,
    what: impl Fn() -> String,
) -> Result<&'a T, PriceError> {
    let found = dated.iter().rfind(|one| day.is_none_or(|day| date(one).as_str() <= day));
    found.copied().ok_or_else(|| PriceError::OnlyLater {
        what: what(),
        asked: day.unwrap_or_default().to_owned(),
        days: dated.iter().map(|one| date(one).clone()).collect(),
    })
}
