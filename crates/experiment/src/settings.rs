//! Settings of a configuration: what of its database and its volumes is otherwise than iopslab has them. They cost
//! nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Keys of `cassandra.yaml` that decide what is in the files of a data set, or without which its table cannot be made:
/// the data set is loaded with them.
const SHAPE_FILES: [&str; 4] = ["column_index_size", "memtable", "sstable", "storage_compatibility_mode"];

/// Cassandra's default `chunk_length_in_kb`, bytes: the unit in which tables are compressed, read and cached.
pub const CHUNK_BYTES: f64 = 16_384.0;

/// The compaction strategy of a table of which nothing else is said.
pub const USUAL_STRATEGY: &str = "SizeTieredCompactionStrategy";

/// What of a configuration is otherwise than iopslab has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Settings {
    /// Options of the JVM, after iopslab's own.
    pub jvm: Vec<String>,
    /// Keys of `cassandra.yaml`, each with its value as JSON on one line, which is YAML too.
    pub cassandra: BTreeMap<String, String>,
    /// Options of the data set's table (`WITH` of CQL).
    pub table: BTreeMap<String, TableOption>,
    /// Read-ahead of its volumes, KiB.
    pub read_ahead_kb: Option<u32>,
}

/// What an option of a table is set to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TableOption {
    /// A number or a word, as CQL has it without quotes.
    Value(String),
    /// Options of its own, such as those of `compaction`.
    Map(BTreeMap<String, String>),
}

impl Settings {
    /// Whether everything is as iopslab has it.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Those that decide what is in the files of the data set: configurations that differ in none of them share it.
    #[must_use]
    pub fn of_files(&self) -> Self {
        let shapes = |(key, _): &(&String, &String)| SHAPE_FILES.contains(&key.as_str());
        let cassandra = self.cassandra.iter().filter(shapes);
        Self {
            cassandra: cassandra.map(|(key, value)| (key.clone(), value.clone())).collect(),
            table: self.table.clone(),
            ..Self::default()
        }
    }

    /// Bytes in which the table is compressed, read and cached: its `chunk_length_in_kb`, or Cassandra's default.
    pub fn chunk_bytes(&self) -> f64 {
        self.stated_chunk_bytes().unwrap_or(CHUNK_BYTES)
    }

    /// Its `chunk_length_in_kb` in bytes, where that is stated.
    pub fn stated_chunk_bytes(&self) -> Option<f64> {
        let Some(TableOption::Map(compression)) = self.table.get("compression") else {
            return None;
        };
        let kib = compression.get("chunk_length_in_kb")?.trim_matches('"');
        Some(kib.parse::<f64>().ok()? * 1024.0)
    }

    /// Whether the table is compressed: it is unless it states otherwise.
    pub fn is_compressed(&self) -> bool {
        let Some(TableOption::Map(compression)) = self.table.get("compression") else {
            return true;
        };
        compression.get("enabled").is_none_or(|enabled| enabled != "false")
    }

    /// The class of the table's compaction strategy.
    pub fn compaction_strategy(&self) -> &str {
        let Some(TableOption::Map(compaction)) = self.table.get("compaction") else {
            return USUAL_STRATEGY;
        };
        compaction.get("class").map_or(USUAL_STRATEGY, String::as_str)
    }

    /// Each setting for people: `jvm -XX:TieredStopAtLevel=1`, `table compression = LZ4Compressor, chunk_length_in_kb
    /// 4`.
    pub fn labels(&self) -> Vec<String> {
        let jvm = self.jvm.iter().map(|option| format!("jvm {option}"));
        let bare = |value: &str| value.trim_matches('"').to_owned();
        let cassandra = self.cassandra.iter();
        let cassandra = cassandra.map(|(key, value)| format!("cassandra {key} = {}", bare(value)));
        let table = self.table.iter();
        let table = table.map(|(name, option)| format!("table {name} = {}", option.label()));
        let read_ahead = self.read_ahead_kb.iter().map(|kb| format!("host read_ahead_kb = {kb}"));
        jvm.chain(cassandra).chain(table).chain(read_ahead).collect()
    }
}

impl TableOption {
    /// For people: the class first, then its options.
    pub fn label(&self) -> String {
        let map = match self {
            Self::Value(value) => return value.clone(),
            Self::Map(map) => map,
        };
        let class = map.get("class").cloned();
        let others = map.iter().filter(|(key, _)| *key != "class");
        let others = others.map(|(key, value)| format!("{key} {value}"));
        class.into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }
}

/// What of the settings was found in force in a node that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsInForce {
    /// Options that the JVM of the node runs with.
    pub jvm: Vec<String>,
    /// Keys of `cassandra.yaml` as the node shows them, or as its log does.
    pub cassandra: BTreeMap<String, String>,
    /// Options of the data set's table as its schema has them.
    pub table: BTreeMap<String, TableOption>,
    /// What the data set's files say of themselves, where options of the table decide it: each once.
    pub files: Vec<String>,
    /// Read-ahead of each volume by its role, KiB, as its device says it.
    pub read_ahead_kb: BTreeMap<String, u32>,
}

impl SettingsInForce {
    /// None was asked for.
    pub const NONE: Self = Self {
        jvm: Vec::new(),
        cassandra: BTreeMap::new(),
        table: BTreeMap::new(),
        files: Vec::new(),
        read_ahead_kb: BTreeMap::new(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_what_the_table_states_or_cassandras_default() {
        let stated = |option: Option<TableOption>| Settings {
            table: option.into_iter().map(|o| ("compression".to_owned(), o)).collect(),
            ..Settings::default()
        };
        let length = |kib: &str| {
            let pair = ("chunk_length_in_kb".to_owned(), kib.to_owned());
            stated(Some(TableOption::Map(BTreeMap::from([pair]))))
        };
        assert_eq!(stated(None).chunk_bytes(), 16_384.0);
        assert_eq!(stated(Some(TableOption::Map(BTreeMap::new()))).chunk_bytes(), 16_384.0);
        assert_eq!(stated(None).stated_chunk_bytes(), None);
        assert_eq!(length("16").stated_chunk_bytes(), Some(16_384.0));
        assert_eq!(length("4").chunk_bytes(), 4_096.0);
        assert_eq!(length("64").chunk_bytes(), 65_536.0);
    }

    #[test]
    fn a_table_is_compressed_and_size_tiered_unless_it_says_otherwise() {
        let with = |option: &str, key: &str, value: &str| {
            let map = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            Settings { table: BTreeMap::from([(option.to_owned(), TableOption::Map(map))]), ..Settings::default() }
        };
        let plain = Settings::default();
        assert!(plain.is_compressed() && plain.compaction_strategy() == USUAL_STRATEGY);
        assert!(with("compression", "chunk_length_in_kb", "4").is_compressed());
        assert!(!with("compression", "enabled", "false").is_compressed());
        let leveled = with("compaction", "class", "LeveledCompactionStrategy");
        assert_eq!(leveled.compaction_strategy(), "LeveledCompactionStrategy");
    }
}
