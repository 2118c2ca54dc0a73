//! `[basis]`: how money is counted.

use catalog::{Basis, Catalog, CostError, Purchase};

use crate::mistakes::Collector;
use crate::raw;
use crate::spanned::{Spanned, place};

/// The catalog's basis; what the file leaves out is the default.
pub(super) fn check(catalog: &Catalog, given: Option<&Spanned<raw::Basis>>, mistakes: &mut Collector<'_>) -> Basis {
    let default = Basis::default();
    let Some(raw) = given else { return default };
    let purchase = raw.purchase.as_ref().and_then(|word| {
        let help = "for example purchase = \"on-demand\"";
        word.parse::<Purchase>().map_err(|error| mistakes.add(word.span(), error.to_string(), help)).ok()
    });
    let basis = Basis {
        hours_per_month: raw.hours_per_month.as_deref().copied().unwrap_or(default.hours_per_month),
        purchase: purchase.unwrap_or(default.purchase),
        price_date: raw.price_date.as_deref().cloned(),
        uplift_percent: raw.uplift_percent.as_deref().copied().unwrap_or(default.uplift_percent),
        region: raw.region.as_deref().cloned().unwrap_or_else(|| default.region.clone()),
        ..default
    };
    if let Err(error) = basis.check(catalog) {
        let at = match &error {
            CostError::Region { .. } => place(&raw.region),
            CostError::Date { .. } => place(&raw.price_date),
            CostError::Basis { key: "hours per month", .. } => place(&raw.hours_per_month),
            CostError::Basis { .. } => place(&raw.uplift_percent),
            _ => None,
        };
        mistakes.add(at.unwrap_or_else(|| raw.span()), error.to_string(), "see docs/catalog.md");
    }
    basis
}
