//! From text to typed values. A key that nobody knows is a mistake at its place and hides no other: it is taken out, or
//! read as the key that was probably meant, and the file is read again; so is it with the number that a text meant. A
//! value that means nothing is taken out as well: it hides no other of its kind, but what the file says is not checked
//! without it.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::mistakes::{Collector, choice, nearest};
use crate::raw;

use super::kinds::{Stands, meant_instead, wrong_kind};

/// Where to get a file that has all tables.
pub(super) const WHOLE_ONE: &str = "`iopslab init` writes a whole experiment";

/// Keys that are looked for in other tables, and those that have them.
const ELSEWHERE: [(&str, &str); 2] = [("nodes", "[[configuration]]"), ("heap_mib", "[provider.local]")];

/// The file as it is typed, or `None` where it cannot be read any further.
pub(super) fn read(text: &str, mistakes: &mut Collector<'_>) -> Option<raw::Experiment> {
    match DeTable::parse(text) {
        Ok(document) => typed(document, Vec::new(), mistakes),
        Err(error) => mistakes.refuse(error.span().unwrap_or(0..0), error.message(), ""),
    }
}

/// `taken`: keys whose values have been taken out.
fn typed(
    mut document: Spanned<DeTable<'_>>,
    mut taken: Vec<String>,
    mistakes: &mut Collector<'_>,
) -> Option<raw::Experiment> {
    loop {
        let error = match raw::Experiment::deserialize(Deserializer::from(document.clone())) {
            Ok(file) => return taken.is_empty().then_some(file),
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        let key = key_of(document.get_ref(), &span);
        let meant = meant_instead(error.message(), key);
        let unknown = unknown_key(error.message());
        let elsewhere = unknown.as_ref().and_then(|(given, _)| ELSEWHERE.iter().find(|(key, _)| key == given));
        let (message, help) = match elsewhere {
            Some((key, table)) => (format!("`{key}` belongs to {table}"), String::new()),
            None if error.message() == "missing field `load`" => {
                ("the key `load` is missing".to_owned(), WHOLE_ONE.to_owned())
            }
            None => explain(error.message(), key),
        };
        if missing_key(error.message()).is_none_or(|key| !taken.iter().any(|taken| taken == key)) {
            mistakes.add(span.clone(), message, help);
        }
        if let Some(meant) = meant {
            let mut with_meant: Spanned<DeTable<'_>> = document;
            let value = placed_at(DeValue::parse(&meant).ok()?.into_inner(), &span);
            return if put(with_meant.get_mut(), &span, &value) { typed(with_meant, taken, mistakes) } else { None };
        }
        let Some((_, valid)) = unknown else {
            let is_of_several = missing_key(error.message()).is_some();
            taken.push(take_out(document.get_mut(), &span, is_of_several)?);
            continue;
        };
        // What belongs elsewhere was not meant for a key here.
        let valid = if elsewhere.is_some() { Vec::new() } else { valid };
        if !replace(document.get_mut(), &span, &valid) {
            return None;
        }
    }
}

/// The key that nobody knows, and those that may stand there, out of serde's message.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut quoted = message.strip_prefix("unknown field")?.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

/// The key that is missing, out of serde's message.
fn missing_key(message: &str) -> Option<&str> {
    message.strip_prefix("missing field")?.split('`').nth(1)
}

/// Serde's message in plain words, with the nearest name where it names a choice. `key`: whose value it is about, and
/// what of it.
pub(super) fn explain(message: &str, key: Option<(&str, Stands)>) -> (String, String) {
    if let Some((given, valid)) = unknown_key(message) {
        return (format!("unknown key `{given}`"), choice(given, &valid));
    }
    if let Some(words) = wrong_kind(message, key) {
        return words;
    }
    match missing_key(message) {
        Some(missing) => (format!("the key `{missing}` is missing"), String::new()),
        None => (message.to_owned(), String::new()),
    }
}

/// What is wrong with a TOML file that is no experiment, in the same words, and what was expected; empty where that is
/// all.
pub fn plain_words(text: &str, error: &toml::de::Error) -> (String, String) {
    let document = DeTable::parse(text);
    let key = document.as_ref().ok().zip(error.span()).and_then(|(table, at)| key_of(table.get_ref(), &at));
    explain(error.message(), key)
}

/// The key whose value, or an element of whose list, stands at this place, and which of them.
pub(super) fn key_of<'t>(table: &'t DeTable<'_>, at: &Range<usize>) -> Option<(&'t str, Stands)> {
    table.iter().find_map(|(key, value)| {
        let key: &'t str = key.get_ref();
        if value.span() == *at {
            let is_list = matches!(value.get_ref(), DeValue::Array(_));
            return Some((key, if is_list { Stands::List } else { Stands::Value }));
        }
        match value.get_ref() {
            DeValue::Table(inner) => key_of(inner, at),
            DeValue::Array(values) => values.iter().find_map(|value| match value.get_ref() {
                DeValue::Table(inner) => key_of(inner, at),
                _ => (value.span() == *at).then_some((key, Stands::Element)),
            }),
            _ => None,
        }
    })
}

/// Takes out the key at this place, wherever it is. Its value moves to the nearest valid key, unless that is there too:
/// else the key that was meant would be missed besides, and its value not be checked.
fn replace(table: &mut DeTable<'_>, at: &Range<usize>, valid: &[&str]) -> bool {
    let Some(given) = table.keys().find(|key| key.span() == *at).map(|key| key.get_ref().to_string()) else {
        return table.iter_mut().any(|(_, value)| replace_in(value.get_mut(), at, valid));
    };
    let value = table.remove(given.as_str());
    let meant = nearest(&given, valid.iter().copied()).filter(|meant| !table.contains_key(*meant));
    if let (Some(meant), Some(value)) = (meant, value) {
        table.insert(Spanned::new(at.clone(), Cow::Owned(meant.to_owned())), value);
    }
    true
}

/// Takes out what stands at this place, wherever it is; gives back its key, or that of its list. Several tables stand
/// where the first of them does: `is_of_several` says that this one is meant.
fn take_out(table: &mut DeTable<'_>, at: &Range<usize>, is_of_several: bool) -> Option<String> {
    let is_meant = |value: &DeValue<'_>| !(is_of_several && matches!(value, DeValue::Array(_)));
    let own = table.iter().find(|(_, value)| value.span() == *at && is_meant(value.get_ref()));
    if let Some(key) = own.map(|(key, _)| key.get_ref().to_string()) {
        table.remove(key.as_str());
        return Some(key);
    }
    table.iter_mut().find_map(|(key, value)| match value.get_mut() {
        DeValue::Table(inner) => take_out(inner, at, is_of_several),
        DeValue::Array(values) if values.iter().any(|value| value.span() == *at) => {
            *values = values.iter().filter(|value| value.span() != *at).cloned().collect();
            Some(key.get_ref().to_string())
        }
        DeValue::Array(values) => values.iter_mut().find_map(|value| match value.get_mut() {
            DeValue::Table(inner) => take_out(inner, at, is_of_several),
            _ => None,
        }),
        _ => None,
    })
}

/// A list whose elements stand at this place; another value as it is.
fn placed_at<'v>(value: DeValue<'v>, at: &Range<usize>) -> DeValue<'v> {
    let DeValue::Array(values) = value else { return value };
    DeValue::Array(values.into_iter().map(|value| Spanned::new(at.clone(), value.into_inner())).collect())
}

/// Puts a value in the place of the one that stands there, wherever it is.
fn put<'v>(table: &mut DeTable<'v>, at: &Range<usize>, value: &DeValue<'v>) -> bool {
    table.iter_mut().any(|(_, stated)| put_in(stated, at, value))
}

fn put_in<'v>(stated: &mut Spanned<DeValue<'v>>, at: &Range<usize>, value: &DeValue<'v>) -> bool {
    if stated.span() == *at {
        *stated.get_mut() = value.clone();
        return true;
    }
    match stated.get_mut() {
        DeValue::Table(table) => put(table, at, value),
        DeValue::Array(values) => values.iter_mut().any(|inner| put_in(inner, at, value)),
        _ => false,
    }
}

fn replace_in(value: &mut DeValue<'_>, at: &Range<usize>, valid: &[&str]) -> bool {
    match value {
        DeValue::Table(table) => replace(table, at, valid),
        DeValue::Array(values) => values.iter_mut().any(|value| replace_in(value.get_mut(), at, valid)),
        _ => false,
    }
}
