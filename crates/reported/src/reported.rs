//! What a database says at one moment.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::statement::{Meaning, Series};

/// Values by series, at one moment. A series that the database did not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reported(BTreeMap<&'static str, f64>);

impl Reported {
    /// The value of a series.
    pub fn get(&self, series: &Series) -> Option<f64> {
        self.0.get(series.key).copied()
    }

    /// Sets a series; one without a value is taken out.
    pub fn set(&mut self, series: &'static Series, value: Option<f64>) {
        match value {
            Some(value) => drop(self.0.insert(series.key, value)),
            None => drop(self.0.remove(series.key)),
        }
    }

    /// Adds to a series, from zero.
    pub fn add(&mut self, series: &'static Series, value: f64) {
        *self.0.entry(series.key).or_default() += value;
    }

    /// The value of the series with this meaning, whatever the product.
    pub fn meaning(&self, meaning: Meaning) -> Option<f64> {
        meaning.series().iter().find_map(|series| self.get(series))
    }

    /// How many series are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in what `other` knows.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl<const N: usize> From<[(&'static Series, f64); N]> for Reported {
    fn from(values: [(&'static Series, f64); N]) -> Self {
        Self(values.into_iter().map(|(series, value)| (series.key, value)).collect())
    }
}

impl<'de> Deserialize<'de> for Reported {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // What is no number (an infinite rate) is written as null.
        let mut reported = Self::default();
        for (key, value) in BTreeMap::<String, Option<f64>>::deserialize(from)? {
            let series = Series::of_key(&key).ok_or_else(|| D::Error::custom(format!("no database reports {key}")))?;
            reported.set(series, value);
        }
        Ok(reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cassandra::{FLUSHES, SSTABLES};
    use crate::jvm::GC_PAUSE_S;

    #[test]
    fn what_a_database_reports_goes_through_json_and_missing_stays_missing() {
        let reported = Reported::from([(&SSTABLES, 9.0), (&GC_PAUSE_S, 0.25)]);
        let text = serde_json::to_string(&reported).unwrap();
        assert_eq!(text, r#"{"gc_pause_s":0.25,"sstables":9.0}"#);
        let back: Reported = serde_json::from_str(&text).unwrap();
        assert_eq!(back, reported);
        assert_eq!((back.get(&SSTABLES), back.get(&FLUSHES)), (Some(9.0), None));
        assert_eq!(back.meaning(Meaning::PausedS), Some(0.25));
        assert_eq!(serde_json::from_str::<Reported>(r#"{"sstables":null}"#).unwrap(), Reported::default());
        let unknown = serde_json::from_str::<Reported>(r#"{"horses":1}"#).unwrap_err().to_string();
        assert!(unknown.contains("no database reports horses"), "{unknown}");
    }
}
