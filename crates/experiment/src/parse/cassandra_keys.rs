//! `settings.cassandra`: keys of `cassandra.yaml`, by what that version's own classes say of them.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::numbers::is_finite;
use super::place::within;
use crate::amount;
use crate::kept_key::kept_key;
use crate::known::{Kind, Known};
use crate::mistakes::{Collector, nearest};
use crate::raw::Keys;

/// The least that Cassandra takes for a buffer that reads ahead (`DatabaseDescriptor`).
const LEAST_READ_AHEAD_BYTES: u128 = 256 << 10;

/// What is wrong, and what to do.
type Problem = (String, String);

/// Each key with its value as JSON.
pub(super) fn check(
    given: &Keys,
    known: &'static Known,
    mistakes: &mut Collector<'_>,
) -> Option<BTreeMap<String, String>> {
    let mut checked = BTreeMap::new();
    let mut all_good = true;
    for (key, value) in given {
        let name = key.get_ref().as_str();
        let problem = match name_problem(name, known) {
            Some(problem) => Some((key.span(), problem)),
            None => value_problem(name, value.get_ref(), known).map(|(word, problem)| {
                let at = within(mistakes.text, &value.span(), word);
                (at, problem)
            }),
        };
        match problem {
            Some((at, (what, help))) => {
                mistakes.add(at, what, help);
                all_good = false;
            }
            None => {
                checked.insert(name.to_owned(), in_json(name, value.get_ref(), known));
            }
        }
    }
    let clashes = clashes(given);
    for (at, what, help) in &clashes {
        mistakes.add(at.clone(), what.clone(), *help);
    }
    (all_good && clashes.is_empty()).then_some(checked)
}

/// A class that is named alone is one without parameters.
fn in_json(name: &str, value: &Value, known: &Known) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    match known.keys.get(name) {
        Some(Kind::Class) if json.is_string() => serde_json::json!({ "class_name": json }).to_string(),
        _ => json.to_string(),
    }
}

fn name_problem(name: &str, known: &Known) -> Option<Problem> {
    if let Some(today) = known.old.get(name) {
        let unit = match known.keys.get(today) {
            Some(Kind::Duration(_)) => ", with a unit: \"10s\"",
            Some(Kind::Size(_)) => ", with a unit: \"16MiB\"",
            Some(Kind::Rate) => ", with a unit: \"64MiB/s\"",
            _ => "",
        };
        return Some((
            format!("`{name}` is the old name of `{today}`"),
            format!("write {today}{unit}"),
        ));
    }
    if !known.keys.contains_key(name) || name.contains('.') {
        let top = known.keys.keys().copied().filter(|key| !key.contains('.'));
        let near = nearest(name, top.chain(known.old.keys().copied()));
        let near = near.map(|near| known.old.get(near).copied().unwrap_or(near));
        let help = near.map_or_else(
            || "keys are those of this version's cassandra.yaml".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Some((format!("cassandra.yaml has no key `{name}`"), help));
    }
    kept_key(name).map(|kept| (format!("{name}: {}", kept.why), kept.help.to_owned()))
}

/// With the word of the value that it is about; empty: all of it.
fn value_problem<'v>(name: &str, value: &'v Value, known: &Known) -> Option<(&'v str, Problem)> {
    let kind = *known.keys.get(name)?;
    let expected = |what: String| {
        let is = format!("{name} cannot be {}", in_words(value));
        Some(("", (is, what)))
    };
    // JSON, in which values go on, has neither.
    if !is_finite(value) {
        return expected("finite numbers: not nan, not inf".to_owned());
    }
    match (kind, value) {
        (Kind::Integer, Value::Integer(_))
        | (Kind::Number, Value::Integer(_) | Value::Float(_))
        | (Kind::Boolean, Value::Boolean(_))
        | (Kind::Text | Kind::Class, Value::String(_)) => None,
        (Kind::Integer, _) => expected(format!("a whole number without quotes, such as {name} = 64")),
        (Kind::Number, _) => expected(format!("a number without quotes, such as {name} = 0.5")),
        (Kind::Boolean, _) => expected(format!("{name} = true or {name} = false, without quotes")),
        (Kind::Text, _) => expected("text in quotes".to_owned()),
        (Kind::OneOf(words), Value::String(word)) if words.split(',').any(|one| one == word) => None,
        (Kind::OneOf(words), _) => {
            let near = value.as_str().and_then(|word| nearest(word, words.split(',')));
            let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
            expected(format!("{near}valid: {}", words.replace(',', ", ")))
        }
        (Kind::Duration(_) | Kind::Size(_) | Kind::Rate, Value::String(text)) => {
            amount::problem(kind, text).and_then(expected)
        }
        (Kind::Duration(unit), _) => expected(format!("a time in quotes, with its unit: \"500{unit}\"")),
        (Kind::Size(unit), _) => expected(format!("a size in quotes, with its unit: \"64{unit}\"")),
        (Kind::Rate, _) => expected("a rate in quotes, with its unit: \"64MiB/s\"".to_owned()),
        (Kind::List, Value::Array(entries)) if entries.iter().all(|e| !e.is_table() && !e.is_array()) => None,
        (Kind::List, _) => expected(format!("a list in brackets, such as {name} = [\"...\"]")),
        (Kind::Class, Value::Table(keys)) => {
            let other = keys
                .keys()
                .find(|key| !["class_name", "parameters"].contains(&key.as_str()));
            match other {
                Some(other) => {
                    let what = format!("{name} has no key `{other}`");
                    Some((other.as_str(), (what, "valid: class_name, parameters".to_owned())))
                }
                None if keys.contains_key("class_name") => None,
                None => expected("{ class_name = \"...\" }".to_owned()),
            }
        }
        (Kind::Class, _) => expected("the name of a class in quotes, or { class_name = \"...\" }".to_owned()),
        (Kind::Map, Value::Table(_)) => None,
        (Kind::Table, Value::Table(keys)) => keys.iter().find_map(|(key, value)| {
            let below = format!("{name}.{key}");
            if known.keys.contains_key(below.as_str()) {
                return value_problem(&below, value, known);
            }
            let beginning = format!("{name}.");
            let all = known.keys.keys().filter_map(|key| key.strip_prefix(&beginning));
            let all: Vec<&str> = all.filter(|key| !key.contains('.')).collect();
            let help = crate::mistakes::choice(key, &all);
            Some((key.as_str(), (format!("{name} has no key `{key}`"), help)))
        }),
        (Kind::Map | Kind::Table, _) => expected(format!("a table: {name} = {{ ... }}")),
    }
}

fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text \"{text}\""),
        Value::Integer(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::Boolean(answer) => answer.to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
        Value::Datetime(date) => format!("the date {date}"),
    }
}

/// Values that Cassandra itself refuses, and those that would do nothing beside others.
fn clashes(given: &Keys) -> Vec<(std::ops::Range<usize>, String, &'static str)> {
    let entry = |name: &str| {
        given
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
    };
    let word = |name: &str| entry(name).and_then(|value| value.get_ref().as_str());
    let mut found = Vec::new();
    let mut refuse = |value: &Spanned<Value>, what: String, help| found.push((value.span(), what, help));
    if let Some(value) = entry("disk_access_mode").filter(|value| value.get_ref().as_str() == Some("direct")) {
        let what =
            "disk_access_mode = \"direct\": this Cassandra has it for the commit log alone, and does not start with it";
        refuse(
            value,
            what.to_owned(),
            "valid: auto, mmap, mmap_index_only (the default), standard; or commitlog_disk_access_mode = \"direct\"",
        );
    }
    let format = entry("sstable").and_then(|value| value.get_ref().get("selected_format")?.as_str());
    if let (Some(value), Some("bti"), Some(mode)) = (entry("sstable"), format, word("storage_compatibility_mode"))
        && mode == "CASSANDRA_4"
    {
        let what =
            "selected_format = \"bti\" with storage_compatibility_mode = \"CASSANDRA_4\": Cassandra does not start";
        refuse(
            value,
            what.to_owned(),
            "BTI needs storage_compatibility_mode = \"NONE\", as iopslab has it",
        );
    }
    if let Some(value) = entry("compressed_read_ahead_buffer_size") {
        let bytes = value.get_ref().as_str();
        let bytes = bytes.and_then(|text| amount::amount(Kind::Size("KiB"), text));
        if bytes.is_some_and(|bytes| 0 < bytes && bytes < LEAST_READ_AHEAD_BYTES) {
            let what =
                "compressed_read_ahead_buffer_size is at least 256KiB, or 0KiB: Cassandra does not start with less";
            refuse(value, what.to_owned(), "for example \"256KiB\"");
        }
        let has_cache = entry("file_cache_enabled").is_some_and(|on| on.get_ref().as_bool() == Some(true));
        let is_mapped = matches!(word("disk_access_mode"), Some("mmap" | "auto"));
        let beside = match (has_cache, is_mapped) {
            (true, _) => "file_cache_enabled = true",
            (_, true) => "a disk_access_mode that maps data files",
            _ => "",
        };
        if !beside.is_empty() {
            let what = format!("compressed_read_ahead_buffer_size does nothing beside {beside}");
            refuse(
                value,
                what,
                "it reads ahead in compressed tables, with standard access and the file cache off",
            );
        }
    }
    let is_other = |mode: &str| word("commitlog_sync").unwrap_or("periodic") != mode;
    for (key, mode) in [
        ("commitlog_sync_period", "periodic"),
        ("commitlog_sync_group_window", "group"),
    ] {
        if let Some(value) = entry(key).filter(|_| is_other(mode)) {
            let now = word("commitlog_sync").unwrap_or("periodic");
            refuse(
                value,
                format!("{key} does nothing with commitlog_sync = \"{now}\""),
                "remove it, or state the commitlog_sync that it belongs to",
            );
        }
    }
    found
}
