//! Whether what a Cassandra shows of a key is what was asked for: `10s` is `10000ms`.

use serde_json::Value;

use crate::amount::amount;
use crate::known::{Kind, known};

/// The values of a key of `cassandra.yaml` that can be compared one by one, as (name, value): of a key with keys of its
/// own each of these, `sstable.selected_format`; else itself. `value` is JSON, as settings have it.
pub fn values(key: &str, value: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    flatten(key, &value, &mut found);
    found
}

fn flatten(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                flatten(&format!("{name}.{key}"), value, found);
            }
        }
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        other => found.push((name.to_owned(), other.to_string())),
    }
}

/// Whether a Cassandra of this version that shows `shown` for `name` does as asked.
pub fn is_value(version: &str, name: &str, asked: &str, shown: &str) -> bool {
    let kind = known(version).and_then(|known| known.keys.get(name).copied());
    let same_words = || asked.eq_ignore_ascii_case(shown);
    match kind {
        Some(kind @ (Kind::Duration(_) | Kind::Size(_) | Kind::Rate)) => {
            amount(kind, asked).is_some_and(|wanted| amount(kind, shown) == Some(wanted))
        }
        Some(Kind::Integer | Kind::Number) => match (asked.parse::<f64>(), shown.parse::<f64>()) {
            (Ok(asked), Ok(shown)) => (asked - shown).abs() <= asked.abs() * 1e-6,
            _ => false,
        },
        Some(Kind::List) => {
            // Java's `[a, b]` beside JSON's `["a","b"]`.
            let bare = |text: &str| text.replace(['"', ' '], "");
            bare(asked) == bare(shown)
        }
        _ => same_words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_in_another_unit_and_no_other_is() {
        let is = |name, asked, shown| is_value("5.0.9", name, asked, shown);
        assert!(is("read_request_timeout", "10s", "10000ms"));
        assert!(!is("read_request_timeout", "10s", "5000ms"));
        assert!(is("compaction_throughput", "64MiB/s", "65536KiB/s"));
        assert!(is("file_cache_size", "1GiB", "1024MiB"));
        assert!(is("concurrent_reads", "64", "64"));
        assert!(!is("concurrent_reads", "64", "32"));
        assert!(is("memtable_cleanup_threshold", "0.5", "0.5"));
        assert!(is("disk_access_mode", "mmap", "mmap"));
        assert!(!is("disk_access_mode", "mmap", "mmap_index_only"));
        assert!(!is("file_cache_enabled", "true", "false"));
    }

    #[test]
    fn keys_of_a_key_are_compared_one_by_one() {
        let found = values("sstable", "{\"selected_format\":\"bti\"}");
        assert_eq!(found, [("sstable.selected_format".to_owned(), "bti".to_owned())]);
        assert_eq!(values("concurrent_reads", "64"), [("concurrent_reads".to_owned(), "64".to_owned())]);
        assert_eq!(values("read_request_timeout", "\"10s\""), [("read_request_timeout".to_owned(), "10s".to_owned())]);
    }
}
