//! `[basis]`: how money is counted.

use catalog::{Basis, Catalog};

use crate::mistakes::Collector;
use crate::raw;
use crate::spanned::Spanned;

/// The catalog's basis; what the file leaves out is the default.
pub(super) fn check(catalog: &Catalog, given: Option<&Spanned<raw::Basis>>, mistakes: &mut Collector<'_>) -> Basis {
    let default = Basis::default();
    let Some(raw) = given else { return default };
    let purchase = raw.purchase.as_ref().map(|word| word.parse());
    if let Some(Err(error)) = &purchase {
        let error: &catalog::UnknownPurchase = error;
        mistakes.add(raw.span(), error.to_string(), "for example purchase = \"on-demand\"");
    }
    let basis = Basis {
        hours_per_month: raw.hours_per_month.unwrap_or(default.hours_per_month),
        purchase: purchase.and_then(Result::ok).unwrap_or(default.purchase),
        price_date: raw.price_date.clone(),
        uplift_percent: raw.uplift_percent.unwrap_or(default.uplift_percent),
        region: raw.region.clone().unwrap_or_else(|| default.region.clone()),
        ..default
    };
    if let Err(error) = basis.check(catalog) {
        mistakes.add(raw.span(), error.to_string(), "see docs/catalog.md");
    }
    basis
}
