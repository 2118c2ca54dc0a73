//! What the database itself reported.

use std::collections::BTreeMap;

use reported::{ALL, Figure, Reports};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the database reported of the measured window: medians over a cell's valid trials, all nodes together. A figure
/// that no database was asked for (a CQL cluster that exists, the simulator), or that it does not have (a cache that is
/// off), is null.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseFigures(Vec<(&'static Figure, Option<f64>)>);

impl DatabaseFigures {
    /// The figures of a product.
    pub fn of(product: &Reports, value: impl Fn(&'static Figure) -> Option<f64>) -> Self {
        Self(product.figures.iter().map(|figure| (*figure, value(figure))).collect())
    }

    /// A figure; `None`: it is not known, or its product does not have it.
    pub fn get(&self, figure: &Figure) -> Option<f64> {
        self.0.iter().find(|(known, _)| known.key == figure.key).and_then(|(_, value)| *value)
    }

    /// Sets a figure of the product; of another product it is no figure.
    pub fn set(&mut self, figure: &Figure, value: Option<f64>) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known.key == figure.key) {
            *known = value;
        }
    }

    /// Whose figures these are.
    pub fn product(&self) -> Option<&'static Reports> {
        let (first, _) = self.0.first()?;
        ALL.iter().copied().find(|product| product.figures.iter().any(|figure| figure.key == first.key))
    }

    /// The figures of its product, known or not.
    pub fn figures(&self) -> impl Iterator<Item = &'static Figure> {
        self.0.iter().map(|(figure, _)| *figure)
    }
}

impl Serialize for DatabaseFigures {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(figure, value)| (figure.key, value)))
    }
}

impl<'de> Deserialize<'de> for DatabaseFigures {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = BTreeMap::<String, Option<f64>>::deserialize(from)?;
        let is_its = |product: &&&Reports| product.figures.iter().any(|figure| read.contains_key(figure.key));
        let of = |product: &&Reports| Self::of(product, |figure| read.get(figure.key).copied().flatten());
        Ok(ALL.iter().find(is_its).map(of).unwrap_or_default())
    }
}
