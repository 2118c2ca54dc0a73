//! Settings of a Cassandra: the names of their sections, and what they say of the table.

use std::collections::BTreeMap;

use product::{Setting, Settings};
use toml::Value;

/// The section of options of the JVM.
pub const JVM: &str = "jvm";
/// The section of keys of `cassandra.yaml`.
pub const YAML: &str = "cassandra";
/// The section of options of the data set's table.
pub const TABLE: &str = "table";

/// Cassandra's default `chunk_length_in_kb`, bytes: the unit in which tables are compressed, read and cached.
pub const CHUNK_BYTES: f64 = 16_384.0;

/// The compaction strategy of a table of which nothing else is said.
pub const USUAL_STRATEGY: &str = "SizeTieredCompactionStrategy";

/// Options of the table that its SSTables keep as they were when they were written.
pub const OPTIONS_IN_FILES: [&str; 2] = ["bloom_filter_fp_chance", "compression"];

/// Keys of `cassandra.yaml` of which the same is true.
pub const KEYS_IN_FILES: [&str; 2] = ["column_index_size", "sstable"];

/// Options of the JVM, after iopslab's own.
pub fn jvm(settings: &Settings) -> &[String] {
    settings.options(JVM)
}

/// Keys of `cassandra.yaml`, each with its value as JSON on one line, which is YAML too.
pub fn yaml(settings: &Settings) -> &BTreeMap<String, Setting> {
    settings.keys(YAML)
}

/// Options of the data set's table (`WITH` of CQL): a value is a number or a word, as CQL has it without quotes.
pub fn table(settings: &Settings) -> &BTreeMap<String, Setting> {
    settings.keys(TABLE)
}

fn option_of<'s>(settings: &'s Settings, name: &str, key: &str) -> Option<&'s str> {
    match table(settings).get(name)? {
        Setting::Map(options) => options.get(key).map(String::as_str),
        Setting::Value(_) => None,
    }
}

/// Bytes in which the table is compressed, read and cached: its `chunk_length_in_kb`, or Cassandra's default.
pub fn chunk_bytes(settings: &Settings) -> f64 {
    stated_chunk_bytes(settings).unwrap_or(CHUNK_BYTES)
}

/// Its `chunk_length_in_kb` in bytes, where that is stated.
pub(crate) fn stated_chunk_bytes(settings: &Settings) -> Option<f64> {
    let kib = option_of(settings, "compression", "chunk_length_in_kb")?.trim_matches('"');
    Some(kib.parse::<f64>().ok()? * 1024.0)
}

/// Whether the table is compressed: it is unless it states otherwise.
pub fn is_compressed(settings: &Settings) -> bool {
    option_of(settings, "compression", "enabled") != Some("false")
}

/// The class of the table's compaction strategy.
pub fn compaction_strategy(settings: &Settings) -> &str {
    option_of(settings, "compaction", "class").unwrap_or(USUAL_STRATEGY)
}

/// Whether every number inside of a value is one: TOML has `nan` and `inf`, and JSON has neither.
pub(crate) fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::Array(values) => values.iter().all(is_finite),
        Value::Table(keys) => keys.values().all(is_finite),
        Value::String(_) | Value::Integer(_) | Value::Boolean(_) | Value::Datetime(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use product::Section;

    use super::*;

    fn with(option: &str, pairs: &[(&str, &str)]) -> Settings {
        let map = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let keys = BTreeMap::from([(option.to_owned(), Setting::Map(map))]);
        Settings::default().with(TABLE, Section::Keys(keys))
    }

    #[test]
    fn a_chunk_is_what_the_table_states_or_cassandras_default() {
        let length = |kib: &str| with("compression", &[("chunk_length_in_kb", kib)]);
        assert_eq!(chunk_bytes(&Settings::default()), 16_384.0);
        assert_eq!(chunk_bytes(&with("compression", &[])), 16_384.0);
        assert_eq!(stated_chunk_bytes(&Settings::default()), None);
        assert_eq!(stated_chunk_bytes(&length("16")), Some(16_384.0));
        assert_eq!(chunk_bytes(&length("4")), 4_096.0);
        assert_eq!(chunk_bytes(&length("64")), 65_536.0);
    }

    #[test]
    fn a_table_is_compressed_and_size_tiered_unless_it_says_otherwise() {
        let plain = Settings::default();
        assert!(is_compressed(&plain) && compaction_strategy(&plain) == USUAL_STRATEGY);
        assert!(is_compressed(&with("compression", &[("chunk_length_in_kb", "4")])));
        assert!(!is_compressed(&with("compression", &[("enabled", "false")])));
        let leveled = with("compaction", &[("class", "LeveledCompactionStrategy")]);
        assert_eq!(compaction_strategy(&leveled), "LeveledCompactionStrategy");
    }
}
