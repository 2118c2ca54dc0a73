//! What one fleet costs more or less than another, by what the money is for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bill::Cost;
use super::error::CostError;
use super::line::CostKind;
use super::micro::micro;

/// Two costs beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostDiff {
    /// What the money is for, in the order of a bill.
    pub rows: Vec<CostDifference>,
    /// USD a month that the second costs more; below 0: less.
    pub usd_per_month: f64,
    /// The second over the first; `None` where the first costs nothing.
    pub ratio: Option<f64>,
}

/// One kind of charge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CostDifference {
    /// What the money is for.
    pub kind: CostKind,
    /// USD a month of the first.
    pub from: f64,
    /// USD a month of the second.
    pub to: f64,
    /// The second less the first.
    pub difference: f64,
}

impl Cost {
    /// What `other` costs more than this one, by what the money is for.
    ///
    /// # Errors
    ///
    /// When the two are counted in different ways; days of prices aside, which each cost takes from what is known.
    pub fn difference(&self, other: &Self) -> Result<CostDiff, CostError> {
        let comparable = |cost: &Self| {
            let mut basis = cost.basis.clone();
            basis.price_date = None;
            basis
        };
        if comparable(self) != comparable(other) {
            return Err(CostError::OtherBasis { one: self.basis.to_string(), other: other.basis.to_string() });
        }
        let mut kinds: BTreeMap<CostKind, (f64, f64)> = BTreeMap::new();
        for line in &self.lines {
            kinds.entry(line.kind).or_default().0 += line.usd_per_month;
        }
        for line in &other.lines {
            kinds.entry(line.kind).or_default().1 += line.usd_per_month;
        }
        let rows = kinds.into_iter().map(|(kind, (from, to))| CostDifference {
            kind,
            from: micro(from),
            to: micro(to),
            difference: micro(to - from),
        });
        Ok(CostDiff {
            rows: rows.collect(),
            usd_per_month: micro(other.usd_per_month - self.usd_per_month),
            ratio: (self.usd_per_month > 0.0).then(|| other.usd_per_month / self.usd_per_month),
        })
    }
}
