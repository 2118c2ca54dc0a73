//! `settings.cassandra`: keys of `cassandra.yaml`, by what that version's own classes say of them.

use std::collections::BTreeMap;

use product::{At, Problem, Setting, choice, nearest};
use toml::{Table, Value};

use crate::amount;
use crate::kept_key::kept_key;
use crate::known::{Kind, Known};
use crate::settings::{YAML, is_finite};

/// The least that Cassandra takes for a buffer that reads ahead (`DatabaseDescriptor`).
const LEAST_READ_AHEAD_BYTES: u128 = 256 << 10;

/// What is wrong, and what to do.
type Wrong = (String, String);

/// Each key with its value as JSON on one line, which is YAML too.
pub(crate) fn check(given: &Table, known: &'static Known, problems: &mut Vec<Problem>) -> BTreeMap<String, Setting> {
    let mut checked = BTreeMap::new();
    let mut add = |at: At, (what, help): Wrong| problems.push(Problem { section: YAML, at, what, help });
    for (key, value) in given {
        if let Some(wrong) = name_problem(key, known) {
            add(At::Key(key.clone()), wrong);
        } else if let Some((word, wrong)) = value_problem(key, value, known) {
            add(At::Value { key: key.clone(), word: word.to_owned() }, wrong);
        } else {
            checked.insert(key.clone(), Setting::Value(in_json(key, value, known)));
        }
    }
    clashes(given, problems);
    checked
}

/// A class that is named alone is one without parameters.
fn in_json(name: &str, value: &Value, known: &Known) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    match known.keys.get(name) {
        Some(Kind::Class) if json.is_string() => serde_json::json!({ "class_name": json }).to_string(),
        _ => json.to_string(),
    }
}

fn name_problem(name: &str, known: &Known) -> Option<Wrong> {
    if let Some(today) = known.old.get(name) {
        let unit = match known.keys.get(today) {
            Some(Kind::Duration(_)) => ", with a unit: \"10s\"",
            Some(Kind::Size(_)) => ", with a unit: \"16MiB\"",
            Some(Kind::Rate) => ", with a unit: \"64MiB/s\"",
            _ => "",
        };
        return Some((format!("`{name}` is the old name of `{today}`"), format!("write {today}{unit}")));
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
fn value_problem<'v>(name: &str, value: &'v Value, known: &Known) -> Option<(&'v str, Wrong)> {
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
            let other = keys.keys().find(|key| !["class_name", "parameters"].contains(&key.as_str()));
            match other {
                Some(other) => {
                    let what = format!("{name} has no key `{other}`");
                    Some((other.as_str(), (what, choice(other, &["class_name", "parameters"]))))
                }
                None if keys.contains_key("class_name") => None,
                None => expected("{ class_name = \"...\" }".to_owned()),
            }
        }
        (Kind::Class, _) => expected("the name of a class in quotes, or { class_name = \"...\" }".to_owned()),
        (Kind::Map, Value::Table(_)) => None,
        (Kind::Table, Value::Table(keys)) => keys.iter().find_map(|(key, value)| {
            let below = format!("{name}.{key}");
            if let Some(kept) = kept_key(&below) {
                return Some((key.as_str(), (format!("{below}: {}", kept.why), kept.help.to_owned())));
            }
            if known.keys.contains_key(below.as_str()) {
                return value_problem(&below, value, known);
            }
            let beginning = format!("{name}.");
            let all = known.keys.keys().filter_map(|key| key.strip_prefix(&beginning));
            let all: Vec<&str> = all.filter(|key| !key.contains('.')).collect();
            let help = choice(key, &all);
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
fn clashes(given: &Table, problems: &mut Vec<Problem>) {
    let word = |name: &str| given.get(name).and_then(|value| value.as_str());
    let mut refuse = |name: &str, what: String, help: &str| {
        if given.contains_key(name) {
            let at = At::Value { key: name.to_owned(), word: String::new() };
            problems.push(Problem { section: YAML, at, what, help: help.to_owned() });
        }
    };
    let access = word("disk_access_mode");
    if access == Some("direct") {
        let what =
            "disk_access_mode = \"direct\": this Cassandra has it for the commit log alone, and does not start with it";
        let help =
            "valid: auto, mmap, mmap_index_only (the default), standard; or commitlog_disk_access_mode = \"direct\"";
        refuse("disk_access_mode", what.to_owned(), help);
    }
    let format = given.get("sstable").and_then(|value| value.get("selected_format")?.as_str());
    if (format, word("storage_compatibility_mode")) == (Some("bti"), Some("CASSANDRA_4")) {
        let what =
            "selected_format = \"bti\" with storage_compatibility_mode = \"CASSANDRA_4\": Cassandra does not start";
        let help = "BTI needs storage_compatibility_mode = \"NONE\", as iopslab has it";
        refuse("sstable", what.to_owned(), help);
    }
    let buffer = "compressed_read_ahead_buffer_size";
    let bytes = word(buffer).and_then(|text| amount::amount(Kind::Size("KiB"), text));
    if bytes.is_some_and(|bytes| 0 < bytes && bytes < LEAST_READ_AHEAD_BYTES) {
        let what = format!("{buffer} is at least 256KiB, or 0KiB: Cassandra does not start with less");
        refuse(buffer, what, "for example \"256KiB\"");
    }
    let has_cache = given.get("file_cache_enabled").is_some_and(|on| on.as_bool() == Some(true));
    let is_mapped = matches!(access, Some("mmap" | "auto"));
    if has_cache || is_mapped {
        let beside = if has_cache { "file_cache_enabled = true" } else { "a disk_access_mode that maps data files" };
        let help = "it reads ahead in compressed tables, with standard access and the file cache off";
        refuse(buffer, format!("{buffer} does nothing beside {beside}"), help);
    }
    let now = word("commitlog_sync").unwrap_or("periodic");
    for (key, mode) in [("commitlog_sync_period", "periodic"), ("commitlog_sync_group_window", "group")] {
        if now != mode {
            let help = "remove it, or state the commitlog_sync that it belongs to";
            refuse(key, format!("{key} does nothing with commitlog_sync = \"{now}\""), help);
        }
    }
}
