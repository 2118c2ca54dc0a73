//! `settings.table`: options of the data set's table, by what that version's own classes say of them.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::numbers::is_finite;
use super::place::within;
use crate::known::{Kind, Known};
use crate::mistakes::{Collector, choice};
use crate::raw::Keys;
use crate::{TableOption, USUAL_STRATEGY};

/// With the word of the value that it is about (empty: all of it), what is wrong, and what to do.
type Problem = (String, String, String);

/// The compressor of a table of which nothing else is said.
const USUAL_COMPRESSOR: &str = "LZ4Compressor";
/// Below this no bloom filter can be made (`BloomCalculations` of Cassandra).
const LEAST_FALSE_POSITIVES: f64 = 6.71e-5;

/// Each option as CQL has it.
pub(super) fn check(
    given: &Keys,
    known: &'static Known,
    cassandra: &Keys,
    mistakes: &mut Collector<'_>,
) -> Option<BTreeMap<String, TableOption>> {
    let mut checked = BTreeMap::new();
    let mut all_good = true;
    for (key, value) in given {
        let name = key.get_ref().as_str();
        if let Some((what, help)) = name_problem(name, known) {
            mistakes.add(key.span(), what, help);
            all_good = false;
            continue;
        }
        match option(name, value, known, cassandra) {
            Ok(option) => {
                checked.insert(name.to_owned(), option);
            }
            Err((word, what, help)) => {
                mistakes.add(within(mistakes.text, &value.span(), &word), what, help);
                all_good = false;
            }
        }
    }
    all_good.then_some(checked)
}

fn name_problem(name: &str, known: &Known) -> Option<(String, String)> {
    if !known.table.contains(name) {
        let all: Vec<&str> = known.table.iter().copied().filter(|option| !is_kept(option)).collect();
        return Some((format!("a table has no option `{name}`"), choice(name, &all)));
    }
    is_kept(name).then(|| {
        let why = match name {
            "default_time_to_live" => "records would go while they are measured",
            "auto_repair" => "the data set is loaded whole on every replica, and its repair would be measured",
            "comment" | "extensions" => "it changes nothing that is measured",
            _ => "copies of files would fill a volume of limited size",
        };
        (format!("{name}: {why}"), "remove it".to_owned())
    })
}

fn is_kept(option: &str) -> bool {
    [
        "default_time_to_live",
        "comment",
        "extensions",
        "cdc",
        "incremental_backups",
        "allow_auto_snapshot",
        "auto_repair",
    ]
    .contains(&option)
}

fn option(name: &str, value: &Spanned<Value>, known: &Known, cassandra: &Keys) -> Result<TableOption, Problem> {
    let whole = |what: String, help: &str| (String::new(), what, help.to_owned());
    let given = value.get_ref();
    if !is_finite(given) {
        return Err(whole(
            format!("{name} cannot be {given}"),
            "finite numbers: not nan, not inf",
        ));
    }
    if ["compaction", "compression", "caching"].contains(&name) {
        let example = match name {
            "compaction" => "compaction = { class = \"LeveledCompactionStrategy\" }",
            "compression" => "compression = { class = \"LZ4Compressor\", chunk_length_in_kb = 4 }",
            _ => "caching = { keys = \"ALL\", rows_per_partition = \"NONE\" }",
        };
        let Value::Table(keys) = given else {
            return Err(whole(
                format!("{name} cannot be {given}"),
                &format!("a table: {example}"),
            ));
        };
        if keys.is_empty() {
            return Err(whole(format!("{name} says nothing"), &format!("for example {example}")));
        }
        return match name {
            "compaction" => compaction(keys, known),
            "compression" => compression(keys, known),
            _ => caching(keys, cassandra),
        };
    }
    let range = match name {
        "bloom_filter_fp_chance" => Some((LEAST_FALSE_POSITIVES, 1.0)),
        "crc_check_chance" => Some((0.0, 1.0)),
        _ => None,
    };
    let is_word = [
        "memtable",
        "speculative_retry",
        "additional_write_policy",
        "read_repair",
    ]
    .contains(&name);
    match (given, range) {
        (Value::Integer(_) | Value::Float(_), Some((least, most))) => {
            let number = number(given).unwrap_or(f64::NAN);
            if (least..=most).contains(&number) {
                return Ok(TableOption::Value(number.to_string()));
            }
            Err(whole(
                format!("{name} cannot be {given}"),
                &format!("{least} to {most}"),
            ))
        }
        (_, Some((_, most))) => Err(whole(
            format!("{name} cannot be {given}"),
            &format!("a number without quotes, at most {most}"),
        )),
        (Value::String(word), None) if is_word => {
            if name == "memtable" {
                memtable(word, cassandra)?;
            }
            if name == "read_repair" && !["BLOCKING", "NONE"].contains(&word.as_str()) {
                return Err(whole(
                    format!("read_repair cannot be \"{word}\""),
                    "valid: BLOCKING, NONE",
                ));
            }
            Ok(TableOption::Value(word.clone()))
        }
        (_, None) if is_word => Err(whole(format!("{name} cannot be {given}"), "text in quotes")),
        (Value::Integer(number), None) if *number >= 0 => Ok(TableOption::Value(number.to_string())),
        _ => Err(whole(
            format!("{name} cannot be {given}"),
            "a whole number from 0 on, without quotes",
        )),
    }
}

fn compaction(keys: &toml::Table, known: &Known) -> Result<TableOption, Problem> {
    let classes: Vec<&str> = known.compaction.keys().copied().collect();
    let class = class(keys, "compaction", USUAL_STRATEGY, &classes)?;
    let options = &known.compaction[class];
    let mut map = BTreeMap::from([("class".to_owned(), class.to_owned())]);
    for (key, value) in keys.iter().filter(|(key, _)| *key != "class") {
        let Some(kind) = options.get(key.as_str()) else {
            let all: Vec<&str> = options.keys().copied().collect();
            return Err((key.clone(), format!("{class} has no option `{key}`"), choice(key, &all)));
        };
        let is_good = match kind {
            Kind::Integer => matches!(value, Value::Integer(_)),
            Kind::Number => matches!(value, Value::Integer(_) | Value::Float(_)),
            Kind::Boolean => matches!(value, Value::Boolean(_)),
            _ => !matches!(value, Value::Table(_) | Value::Array(_) | Value::Datetime(_)),
        };
        if !is_good {
            let expected = match kind {
                Kind::Integer => "a whole number without quotes",
                Kind::Number => "a number without quotes",
                Kind::Boolean => "true or false, without quotes",
                _ => "text in quotes",
            };
            return Err((
                key.clone(),
                format!("{key} of compaction cannot be {value}"),
                expected.to_owned(),
            ));
        }
        map.insert(key.clone(), plain(value));
    }
    if map.get("enabled").is_some_and(|enabled| enabled == "false") {
        let what = "compaction cannot be off: the data set would not come to rest";
        return Err(("enabled".to_owned(), what.to_owned(), "remove `enabled`".to_owned()));
    }
    Ok(TableOption::Map(map))
}

fn compression(keys: &toml::Table, known: &Known) -> Result<TableOption, Problem> {
    if let Some(enabled) = keys.get("enabled") {
        return match enabled {
            Value::Boolean(false) if keys.len() == 1 => {
                Ok(TableOption::Map([("enabled".to_owned(), "false".to_owned())].into()))
            }
            Value::Boolean(false) => Err((
                "enabled".to_owned(),
                "compression that is off has no other options".to_owned(),
                "compression = { enabled = false }, or remove `enabled`".to_owned(),
            )),
            other => Err((
                "enabled".to_owned(),
                format!("enabled of compression cannot be {other}"),
                "enabled = false switches it off; without it compression is on".to_owned(),
            )),
        };
    }
    let classes: Vec<&str> = known.compression.keys().copied().collect();
    let class = class(keys, "compression", USUAL_COMPRESSOR, &classes)?;
    let options = &known.compression[class];
    let mut map = BTreeMap::from([("class".to_owned(), class.to_owned())]);
    for (key, value) in keys.iter().filter(|(key, _)| *key != "class") {
        if !options.contains(key.as_str()) {
            let all: Vec<&str> = options.iter().copied().collect();
            return Err((key.clone(), format!("{class} has no option `{key}`"), choice(key, &all)));
        }
        let is_power = |n: &i64| u64::try_from(*n).is_ok_and(u64::is_power_of_two);
        match (key.as_str(), value) {
            ("chunk_length_in_kb", Value::Integer(n)) if is_power(n) && *n <= 1024 => {}
            ("chunk_length_in_kb", _) => {
                let what = format!("chunks cannot have {value} KiB");
                let help = "a power of two without quotes, at most 1024: 4, 8, 16, 32, 64 ...";
                return Err((key.clone(), what, help.to_owned()));
            }
            ("min_compress_ratio" | "compression_level" | "lz4_high_compressor_level", _)
                if number(value).is_none() =>
            {
                let what = format!("{key} of compression cannot be {value}");
                return Err((key.clone(), what, "a number without quotes".to_owned()));
            }
            (_, Value::Table(_) | Value::Array(_) | Value::Datetime(_)) => {
                let what = format!("{key} of compression cannot be {value}");
                return Err((key.clone(), what, "a number, or a word in quotes".to_owned()));
            }
            _ => {}
        }
        map.insert(key.clone(), plain(value));
    }
    Ok(TableOption::Map(map))
}

/// The class that is named, or else the usual one.
fn class<'c>(keys: &toml::Table, of: &str, usual: &'c str, classes: &[&'c str]) -> Result<&'c str, Problem> {
    let Some(given) = keys.get("class") else {
        return Ok(usual);
    };
    let Some(name) = given.as_str() else {
        let what = format!("the class of {of} cannot be {given}");
        return Err(("class".to_owned(), what, format!("valid: {}", classes.join(", "))));
    };
    let found = classes.iter().find(|class| **class == name);
    found.copied().ok_or_else(|| {
        let short = match name {
            "STCS" => Some("SizeTieredCompactionStrategy"),
            "LCS" => Some("LeveledCompactionStrategy"),
            "TWCS" => Some("TimeWindowCompactionStrategy"),
            "UCS" => Some("UnifiedCompactionStrategy"),
            _ => None,
        };
        let help = short.map_or_else(|| choice(name, classes), |meant| format!("did you mean `{meant}`?"));
        (name.to_owned(), format!("{of} has no class `{name}`"), help)
    })
}

fn caching(keys: &toml::Table, cassandra: &Keys) -> Result<TableOption, Problem> {
    let mut map = BTreeMap::new();
    for (key, value) in keys {
        let text = plain(value);
        let is_count = || matches!(value, Value::Integer(n) if *n > 0);
        let problem = |help: &str| {
            Err((
                key.clone(),
                format!("{key} of caching cannot be {value}"),
                help.to_owned(),
            ))
        };
        match key.as_str() {
            "keys" if ["ALL", "NONE"].contains(&text.as_str()) => {}
            "keys" => return problem("valid: \"ALL\", \"NONE\""),
            "rows_per_partition" if text == "NONE" => {}
            "rows_per_partition" if text == "ALL" || is_count() => {
                let has_cache = cassandra.keys().any(|key| key.get_ref() == "row_cache_size");
                if !has_cache {
                    let what = "rows_per_partition: the row cache is off, so that no row would be cached";
                    let help = "give it room as well: cassandra = { row_cache_size = \"64MiB\" }";
                    return Err((key.clone(), what.to_owned(), help.to_owned()));
                }
            }
            "rows_per_partition" => return problem("valid: \"NONE\", \"ALL\", or a number of rows without quotes"),
            _ => {
                let what = format!("caching has no option `{key}`");
                return Err((key.clone(), what, choice(key, &["keys", "rows_per_partition"])));
            }
        }
        map.insert(key.clone(), text);
    }
    // What is left out is as without any of them.
    map.entry("keys".to_owned()).or_insert_with(|| "ALL".to_owned());
    map.entry("rows_per_partition".to_owned())
        .or_insert_with(|| "NONE".to_owned());
    Ok(TableOption::Map(map))
}

/// A memtable is one of those that `cassandra.yaml` names.
fn memtable(word: &str, cassandra: &Keys) -> Result<(), Problem> {
    let given = cassandra.iter().find(|(key, _)| key.get_ref() == "memtable");
    let named = given.and_then(|(_, value)| value.get_ref().get("configurations")?.as_table());
    if word == "default" || named.is_some_and(|named| named.contains_key(word)) {
        return Ok(());
    }
    let what = format!("no memtable is called `{word}`");
    let help = format!(
        "name it: cassandra = {{ memtable = {{ configurations = {{ {word} = {{ class_name = \"TrieMemtable\" }} }} }} }}"
    );
    Err((String::new(), what, help))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// As CQL has it between quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
