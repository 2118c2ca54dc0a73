//! What a database says at one moment.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::statement::{Meaning, Series};

/// Values by series, at one moment. A series that the database did not report is absent.
///
/// Ascending by the addresses of the series: each is one static, and a run has a million moments, in which comparing
/// keys would take long.
#[derive(Clone, Default, PartialEq)]
pub struct Reported(Vec<(&'static Series, f64)>);

fn address(series: &Series) -> usize {
    std::ptr::from_ref(series).addr()
}

impl Reported {
    /// Where a series is, or would be.
    fn place(&self, series: &Series) -> Result<usize, usize> {
        self.0.binary_search_by_key(&address(series), |(known, _)| address(known))
    }

    /// The value of a series.
    pub fn get(&self, series: &Series) -> Option<f64> {
        self.place(series).ok().map(|at| self.0[at].1)
    }

    /// Sets a series; one without a value is taken out.
    pub fn set(&mut self, series: &'static Series, value: Option<f64>) {
        match (self.place(series), value) {
            (Ok(at), Some(value)) => self.0[at].1 = value,
            (Err(at), Some(value)) => self.0.insert(at, (series, value)),
            (Ok(at), None) => drop(self.0.remove(at)),
            (Err(_), None) => {}
        }
    }

    /// Adds to a series, from zero.
    pub fn add(&mut self, series: &'static Series, value: f64) {
        self.set(series, Some(self.get(series).unwrap_or(0.0) + value));
    }

    /// The value of the series with this meaning, whatever the product.
    pub fn meaning(&self, meaning: Meaning) -> Option<f64> {
        meaning.series().iter().find_map(|series| self.get(series))
    }

    /// The series that are known, with their values, in the same order whenever they are the same.
    pub fn known(&self) -> impl Iterator<Item = (&'static Series, f64)> + '_ {
        self.0.iter().copied()
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
        for (series, value) in other.0 {
            self.set(series, Some(value));
        }
    }

    fn by_key(&self) -> BTreeMap<&'static str, f64> {
        self.known().map(|(series, value)| (series.key, value)).collect()
    }
}

impl<const N: usize> From<[(&'static Series, f64); N]> for Reported {
    fn from(values: [(&'static Series, f64); N]) -> Self {
        let mut reported = Self::default();
        reported.extend(Self(values.into()));
        reported
    }
}

impl fmt::Debug for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.by_key(), f)
    }
}

impl Serialize for Reported {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.by_key().serialize(to)
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
        assert_eq!(format!("{back:?}"), r#"{"gc_pause_s": 0.25, "sstables": 9.0}"#);
        assert_eq!(back.meaning(Meaning::PausedS), Some(0.25));
        assert_eq!(serde_json::from_str::<Reported>(r#"{"sstables":null}"#).unwrap(), Reported::default());
        let unknown = serde_json::from_str::<Reported>(r#"{"horses":1}"#).unwrap_err().to_string();
        assert!(unknown.contains("no database reports horses"), "{unknown}");
    }

    #[test]
    fn each_series_has_the_value_that_it_was_given_last() {
        let all = crate::ALL.iter().flat_map(|product| product.all_series());
        // Set by key, which is not the order in which they are kept.
        let all: BTreeMap<&str, &'static Series> = all.map(|series| (series.key, series)).collect();
        let mut reported = Reported::default();
        for (series, number) in all.values().zip(0..) {
            reported.set(series, Some(f64::from(number)));
            reported.add(series, 0.5);
        }
        for (series, number) in all.values().zip(0..) {
            assert_eq!(reported.get(series), Some(f64::from(number) + 0.5), "{}", series.key);
        }
        let before = reported.clone();
        reported.set(&FLUSHES, None);
        assert_eq!((reported.get(&FLUSHES), reported.len()), (None, all.len() - 1));
        assert!(reported.known().all(|(series, value)| before.get(series) == Some(value)));
        reported.extend(before.clone());
        assert_eq!(reported, before);
        // The same series twice: the later one.
        assert_eq!(Reported::from([(&SSTABLES, 1.0), (&SSTABLES, 2.0)]).get(&SSTABLES), Some(2.0));
    }
}
