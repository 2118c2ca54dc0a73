//! A range of figures.

use serde::{Deserialize, Serialize};

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Least.
    pub low: f64,
    /// Most.
    pub high: f64,
}

impl Range {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self { low: f64::INFINITY, high: f64::NEG_INFINITY }, |range, value| Self {
            low: range.low.min(value),
            high: range.high.max(value),
        })
    }

    /// Whether a value lies in the range, widened by a factor.
    pub(crate) fn holds(&self, value: f64, factor: f64) -> bool {
        value >= self.low / factor && value <= self.high * factor
    }
}
