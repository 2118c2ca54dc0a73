//! `settings.table`: options of the data set's table, by what that version's own classes say of them.

use std::collections::BTreeMap;

use product::{At, Problem, Setting, choice};
use toml::{Table, Value};

use crate::known::{Kind, Known};
use crate::settings::{TABLE, USUAL_STRATEGY, is_finite};

/// With the word of the value that it is about (empty: all of it), what is wrong, and what to do.
type Wrong = (String, String, String);

/// The compressor of a table of which nothing else is said.
const USUAL_COMPRESSOR: &str = "LZ4Compressor";
/// Below this no bloom filter can be made (`BloomCalculations` of Cassandra).
const LEAST_FALSE_POSITIVES: f64 = 6.71e-5;
/// Options that are words.
const OF_WORDS: [&str; 4] = ["memtable", "speculative_retry", "additional_write_policy", "read_repair"];
/// Options that an experiment may not state, and why.
const KEPT: &[(&str, &str)] = &[
    ("default_time_to_live", "records would go while they are measured"),
    ("comment", "it changes nothing that is measured"),
    ("extensions", "it changes nothing that is measured"),
    ("cdc", "copies of files would fill a volume of limited size"),
    ("incremental_backups", "copies of files would fill a volume of limited size"),
    ("allow_auto_snapshot", "copies of files would fill a volume of limited size"),
    ("auto_repair", "the data set is loaded whole on every replica, and its repair would be measured"),
];

/// Why a table may not have this option while it is measured; `None`: it may. A time to live is not among them: a table
/// of the user's own may have one.
pub fn kept_table_option(name: &str) -> Option<&'static str> {
    let is_harmless = ["default_time_to_live", "comment", "extensions"].contains(&name);
    KEPT.iter().find(|(kept, _)| *kept == name && !is_harmless).map(|(_, why)| *why)
}

/// Each option as CQL has it.
pub(crate) fn check(
    given: &Table,
    known: &'static Known,
    cassandra: &Table,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Setting> {
    let mut checked = BTreeMap::new();
    let mut add = |at, what, help| problems.push(Problem { section: TABLE, at, what, help });
    for (key, value) in given {
        if let Some((what, help)) = name_problem(key, known) {
            add(At::Key(key.clone()), what, help);
            continue;
        }
        match option(key, value, known, cassandra) {
            Ok(option) => drop(checked.insert(key.clone(), option)),
            Err((word, what, help)) => add(At::Value { key: key.clone(), word }, what, help),
        }
    }
    checked
}

fn name_problem(name: &str, known: &Known) -> Option<(String, String)> {
    let why = |name: &str| KEPT.iter().find(|(kept, _)| *kept == name);
    if !known.table.contains(name) {
        let all: Vec<&str> = known.table.iter().copied().filter(|option| why(option).is_none()).collect();
        return Some((format!("a table has no option `{name}`"), choice(name, &all)));
    }
    why(name).map(|(_, why)| (format!("{name}: {why}"), "remove it".to_owned()))
}

fn option(name: &str, given: &Value, known: &Known, cassandra: &Table) -> Result<Setting, Wrong> {
    let not = |help: &str| Err((String::new(), format!("{name} cannot be {given}"), help.to_owned()));
    let share = |least: f64| match number(given) {
        Some(number) if (least..=1.0).contains(&number) => Ok(Setting::Value(number.to_string())),
        Some(_) => not(&format!("{least} to 1")),
        None => not("a number without quotes, at most 1"),
    };
    let example = match name {
        "compaction" => "compaction = { class = \"LeveledCompactionStrategy\" }",
        "compression" => "compression = { class = \"LZ4Compressor\", chunk_length_in_kb = 4 }",
        _ => "caching = { keys = \"ALL\", rows_per_partition = \"NONE\" }",
    };
    match (name, given) {
        _ if !is_finite(given) => not("finite numbers: not nan, not inf"),
        ("compaction" | "compression" | "caching", Value::Table(keys)) if keys.is_empty() => {
            Err((String::new(), format!("{name} says nothing"), format!("for example {example}")))
        }
        ("compaction", Value::Table(keys)) => compaction(keys, known),
        ("compression", Value::Table(keys)) => compression(keys, known),
        ("caching", Value::Table(keys)) => caching(keys, cassandra),
        ("compaction" | "compression" | "caching", _) => not(&format!("a table: {example}")),
        ("bloom_filter_fp_chance", _) => share(LEAST_FALSE_POSITIVES),
        ("crc_check_chance", _) => share(0.0),
        ("memtable", Value::String(word)) => memtable(word, cassandra),
        ("read_repair", Value::String(word)) if word != "BLOCKING" && word != "NONE" => not("valid: BLOCKING, NONE"),
        (_, Value::String(word)) if OF_WORDS.contains(&name) => Ok(Setting::Value(word.clone())),
        _ if OF_WORDS.contains(&name) => not("text in quotes"),
        (_, Value::Integer(number @ 0..)) => Ok(Setting::Value(number.to_string())),
        _ => not("a whole number from 0 on, without quotes"),
    }
}

fn about(key: &str, what: String, help: &str) -> Wrong {
    (key.to_owned(), what, help.to_owned())
}

fn compaction(keys: &Table, known: &Known) -> Result<Setting, Wrong> {
    let classes: Vec<&str> = known.compaction.keys().copied().collect();
    let class = class(keys, "compaction", USUAL_STRATEGY, &classes)?;
    let options = &known.compaction[class];
    let mut map = BTreeMap::from([("class".to_owned(), class.to_owned())]);
    for (key, value) in keys.iter().filter(|(key, _)| *key != "class") {
        let Some(kind) = options.get(key.as_str()) else {
            let all: Vec<&str> = options.keys().copied().collect();
            return Err((key.clone(), format!("{class} has no option `{key}`"), choice(key, &all)));
        };
        let (is_good, expected) = match kind {
            Kind::Integer => (value.is_integer(), "a whole number without quotes"),
            Kind::Number => (number(value).is_some(), "a number without quotes"),
            Kind::Boolean => (value.is_bool(), "true or false, without quotes"),
            _ => (is_plain(value), "text in quotes"),
        };
        if !is_good {
            return Err(about(key, format!("{key} of compaction cannot be {value}"), expected));
        }
        map.insert(key.clone(), plain(value));
    }
    if map.get("enabled").is_some_and(|enabled| enabled == "false") {
        let what = "compaction cannot be off: the data set would never be at rest";
        return Err(about("enabled", what.to_owned(), "remove `enabled`"));
    }
    Ok(Setting::Map(map))
}

fn compression(keys: &Table, known: &Known) -> Result<Setting, Wrong> {
    match keys.get("enabled") {
        None => {}
        Some(Value::Boolean(false)) if keys.len() == 1 => {
            return Ok(Setting::Map([("enabled".to_owned(), "false".to_owned())].into()));
        }
        Some(Value::Boolean(false)) => {
            let what = "compression that is off has no other options".to_owned();
            return Err(about("enabled", what, "compression = { enabled = false }, or remove `enabled`"));
        }
        Some(other) => {
            let what = format!("enabled of compression cannot be {other}");
            let help = "enabled = false switches it off; without it compression is on";
            return Err(about("enabled", what, help));
        }
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
        let wrong = |help: &str| Err(about(key, format!("{key} of compression cannot be {value}"), help));
        match (key.as_str(), value) {
            ("chunk_length_in_kb", Value::Integer(n)) if is_power(n) && *n <= 1024 => {}
            ("chunk_length_in_kb", _) => {
                let help = "a power of two without quotes, at most 1024: 4, 8, 16, 32, 64 ...";
                return Err(about(key, format!("chunks cannot have {value} KiB"), help));
            }
            ("min_compress_ratio" | "compression_level" | "lz4_high_compressor_level", _)
                if number(value).is_none() =>
            {
                return wrong("a number without quotes");
            }
            _ if !is_plain(value) => return wrong("a number, or a word in quotes"),
            _ => {}
        }
        map.insert(key.clone(), plain(value));
    }
    Ok(Setting::Map(map))
}

/// The class that is named, or else the usual one.
fn class<'c>(keys: &Table, of: &str, usual: &'c str, classes: &[&'c str]) -> Result<&'c str, Wrong> {
    let Some(given) = keys.get("class") else { return Ok(usual) };
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

fn caching(keys: &Table, cassandra: &Table) -> Result<Setting, Wrong> {
    // What is left out is as without any of them.
    let mut map: BTreeMap<String, String> =
        [("keys", "ALL"), ("rows_per_partition", "NONE")].map(|(key, usual)| (key.to_owned(), usual.to_owned())).into();
    for (key, value) in keys {
        let text = plain(value);
        let is_count = || matches!(value, Value::Integer(n) if *n > 0);
        let problem = |help: &str| Err(about(key, format!("{key} of caching cannot be {value}"), help));
        match (key.as_str(), text.as_str()) {
            ("keys", "ALL" | "NONE") | ("rows_per_partition", "NONE") => {}
            ("keys", _) => return problem("valid: \"ALL\", \"NONE\""),
            ("rows_per_partition", count) if count == "ALL" || is_count() => {
                if !cassandra.contains_key("row_cache_size") {
                    let what = "rows_per_partition: the row cache is off, so that no row would be cached".to_owned();
                    let help = "give it room as well: cassandra = { row_cache_size = \"64MiB\" }";
                    return Err(about(key, what, help));
                }
            }
            ("rows_per_partition", _) => {
                return problem("valid: \"NONE\", \"ALL\", or a number of rows without quotes");
            }
            _ => {
                let what = format!("caching has no option `{key}`");
                return Err((key.clone(), what, choice(key, &["keys", "rows_per_partition"])));
            }
        }
        map.insert(key.clone(), text);
    }
    Ok(Setting::Map(map))
}

/// A memtable is one of those that `cassandra.yaml` names.
fn memtable(word: &str, cassandra: &Table) -> Result<Setting, Wrong> {
    let named = cassandra.get("memtable").and_then(|value| value.get("configurations")?.as_table());
    if word == "default" || named.is_some_and(|named| named.contains_key(word)) {
        return Ok(Setting::Value(word.to_owned()));
    }
    let what = format!("no memtable is called `{word}`");
    let help = format!(
        "name it: cassandra = {{ memtable = {{ configurations = \
         {{ {word} = {{ class_name = \"TrieMemtable\" }} }} }} }}"
    );
    Err((String::new(), what, help))
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| Some(value.as_integer()? as f64))
}

/// Whether it is one word or number.
fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Table(_) | Value::Array(_) | Value::Datetime(_))
}

/// As CQL has it between quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
