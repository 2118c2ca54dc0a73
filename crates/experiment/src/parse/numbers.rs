//! Numbers with a range: out of it, the mistake names the key, the value and the range.

use std::ops::RangeInclusive;

use toml::{Spanned, Value};

use crate::mistakes::Collector;

/// Whether every number inside of a value is one: TOML has `nan` and `inf`, and JSON has neither.
pub(super) fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::Array(values) => values.iter().all(is_finite),
        Value::Table(keys) => keys.values().all(is_finite),
        Value::String(_) | Value::Integer(_) | Value::Boolean(_) | Value::Datetime(_) => true,
    }
}

/// Range checks that note a mistake and give `None`.
pub(super) trait Check {
    /// A whole number in `low..=high`, or `default` when the key is absent.
    fn integer(&mut self, given: Option<&Spanned<i64>>, key: &str, low: i64, high: i64, default: i64) -> Option<i64>;
    /// A number in `range`, or `default` when the key is absent.
    fn number(
        &mut self,
        given: Option<&Spanned<f64>>,
        key: &str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> Option<f64>;
}

impl Check for Collector<'_> {
    fn integer(&mut self, given: Option<&Spanned<i64>>, key: &str, low: i64, high: i64, default: i64) -> Option<i64> {
        let Some(given) = given else { return Some(default) };
        let value = *given.get_ref();
        if (low..=high).contains(&value) {
            return Some(value);
        }
        let help = if high == i64::MAX {
            format!("a whole number, at least {low}")
        } else {
            format!("a whole number from {low} to {high}")
        };
        self.add(given.span(), format!("{key} cannot be {value}"), help);
        None
    }

    fn number(
        &mut self,
        given: Option<&Spanned<f64>>,
        key: &str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> Option<f64> {
        let Some(given) = given else { return Some(default) };
        let value = *given.get_ref();
        if range.contains(&value) {
            return Some(value);
        }
        self.add(
            given.span(),
            format!("{key} cannot be {value}"),
            format!("a number from {} to {}", range.start(), range.end()),
        );
        None
    }
}
