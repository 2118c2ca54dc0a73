//! Places inside an inline table, whose keys the TOML parser does not place.

use std::ops::{Range, RangeInclusive};

use serde::de::DeserializeOwned;
use toml::de::{DeValue, ValueDeserializer};

use super::keys::{explain, key_of};
use crate::mistakes::Collector;
use crate::spanned::{Form, Spanned};

/// An inline table as its type; a mistake inside it is placed on the value or the key that it is about, where that
/// can be found.
pub(super) fn table<A, T: DeserializeOwned>(given: &Form<A, T>, key: &str, mistakes: &mut Collector<'_>) -> Option<T> {
    typed(given, key, mistakes)
}

/// The same of a value whose schema is whatever else.
pub(super) fn typed<S, T: DeserializeOwned>(
    given: &Spanned<toml::Value, S>,
    key: &str,
    mistakes: &mut Collector<'_>,
) -> Option<T> {
    match T::deserialize(given.get_ref().clone()) {
        Ok(value) => Some(value),
        Err(error) => {
            let (at, message, help) = placed::<T>(mistakes.text, &given.span()).unwrap_or_else(|| {
                let (message, help) = explain(error.message(), None);
                let named = message.split('`').nth(1).unwrap_or_default();
                (within(mistakes.text, &given.span(), named), message, help)
            });
            mistakes.refuse(at, format!("in {key}: {message}"), help)
        }
    }
}

/// What is wrong with the value at `span`, read again from its own text, which keeps the places inside it. `None`: a
/// table under a header of its own is not one piece of text.
fn placed<T: DeserializeOwned>(text: &str, span: &Range<usize>) -> Option<(Range<usize>, String, String)> {
    let value = DeValue::parse(text.get(span.clone())?).ok()?;
    let DeValue::Table(keys) = value.get_ref() else { return None };
    let keys = keys.clone();
    let error = T::deserialize(ValueDeserializer::from(value)).err()?;
    let at = error.span()?;
    let (message, help) = explain(error.message(), key_of(&keys, &at));
    Some((span.start + at.start..span.start + at.end, message, help))
}

/// Where `word` stands within `span`, not as a part of a longer one; the whole span if it does not.
pub(super) fn within(text: &str, span: &Range<usize>, word: &str) -> Range<usize> {
    let inside = text.get(span.clone()).filter(|_| !word.is_empty()).unwrap_or_default();
    let belongs = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut found = inside.match_indices(word).filter(|(at, _)| {
        let (before, after) = (&inside[..*at], &inside[at + word.len()..]);
        !belongs(before.chars().next_back()) && !belongs(after.chars().next())
    });
    found.next().map_or_else(|| span.clone(), |(at, _)| span.start + at..span.start + at + word.len())
}

impl Collector<'_> {
    /// Notes a mistake about a word inside of the value at `span`.
    pub(super) fn add_within(
        &mut self,
        span: &Range<usize>,
        word: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(within(self.text, span, word), message, help);
    }

    /// Refuses a number of the value at `span` that is out of its range.
    pub(super) fn number_within(
        &mut self,
        span: &Range<usize>,
        key: &str,
        number: Option<f64>,
        range: RangeInclusive<f64>,
    ) {
        if let Some(number) = number.filter(|number| !range.contains(number)) {
            let help = format!("a number from {} to {}", range.start(), range.end());
            self.add_within(span, key, format!("{key} cannot be {number}"), help);
        }
    }
}
