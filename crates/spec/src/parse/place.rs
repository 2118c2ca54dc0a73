//! Places inside an inline table, whose keys the TOML parser does not place.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::{Spanned, Value};

use super::keys::explain;
use crate::mistakes::Collector;

/// An inline table as a raw type; a mistake inside it is placed on the key it names, where that can be found.
pub(super) fn table<T: DeserializeOwned>(given: &Spanned<Value>, key: &str, mistakes: &mut Collector<'_>) -> Option<T> {
    match T::deserialize(given.get_ref().clone()) {
        Ok(value) => Some(value),
        Err(error) => {
            let (message, help) = explain(error.message());
            let named = message.split('`').nth(1).unwrap_or_default().to_owned();
            mistakes.add(
                within(mistakes.text, &given.span(), &named),
                format!("in {key}: {message}"),
                help,
            );
            None
        }
    }
}

/// Where `word` stands within `span`, not as a part of a longer one; the whole span if it does not.
pub(super) fn within(text: &str, span: &Range<usize>, word: &str) -> Range<usize> {
    let inside = text.get(span.clone()).filter(|_| !word.is_empty()).unwrap_or_default();
    let belongs = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut found = inside.match_indices(word).filter(|(at, _)| {
        let (before, after) = (&inside[..*at], &inside[at + word.len()..]);
        !belongs(before.chars().next_back()) && !belongs(after.chars().next())
    });
    found
        .next()
        .map_or_else(|| span.clone(), |(at, _)| span.start + at..span.start + at + word.len())
}
