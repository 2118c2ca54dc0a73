//! What a Cassandra can be set to: keys of `cassandra.yaml` with their types and old names, options of tables. It comes
//! from that version's own classes (`scripts/cassandra-settings.sh`), not from us; a test with the real jars holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// What is known, by version: one line each, the default first. The database's lock lists are of the same versions.
const VERSIONS: &[(&str, &str)] = &[
    ("5.0.9", include_str!("known/cassandra-5.0.9.txt")),
    ("6.0-alpha2", include_str!("known/cassandra-6.0-alpha2.txt")),
    ("4.1.10", include_str!("known/cassandra-4.1.10.txt")),
];

/// What one version can be set to.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Keys of `cassandra.yaml`; those below a key of kind [`Kind::Table`] are `key.name`.
    pub keys: BTreeMap<&'static str, Kind>,
    /// The name of today of an old name.
    pub old: BTreeMap<&'static str, &'static str>,
    /// Options of a table.
    pub table: BTreeSet<&'static str>,
    /// Options of each compaction strategy.
    pub compaction: BTreeMap<&'static str, BTreeMap<&'static str, Kind>>,
    /// Options of each compressor.
    pub compression: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number.
    Integer,
    Number,
    /// `true` or `false`.
    Boolean,
    Text,
    /// One of these words, with commas between them.
    OneOf(&'static str),
    /// A time, in no smaller unit than this.
    Duration(&'static str),
    /// Bytes, in no smaller unit than this.
    Size(&'static str),
    /// Bytes per second.
    Rate,
    /// Several.
    List,
    /// A class by its name, or with parameters.
    Class,
    /// Keys of the user's own.
    Map,
    /// Keys of its own, which are known too.
    Table,
}

/// What a version can be set to; `None`: not known.
pub(crate) fn known(version: &str) -> Option<&'static Known> {
    static READ: OnceLock<BTreeMap<&'static str, Known>> = OnceLock::new();
    let all = READ.get_or_init(|| VERSIONS.iter().map(|(version, text)| (*version, read(text))).collect());
    all.get(version)
}

/// The versions that an experiment may name: the default first, then the others, newest first.
pub fn versions() -> impl Iterator<Item = &'static str> {
    VERSIONS.iter().map(|(version, _)| *version)
}

/// Whether a version has this key of `cassandra.yaml`. One of which nothing is known has none.
pub fn has_key(version: &str, key: &str) -> bool {
    known(version).is_some_and(|known| known.keys.contains_key(key))
}

/// Whether a key of `cassandra.yaml` takes a class with parameters, or else the name of a class alone: 5.0 has made the
/// one of the other. `None`: it names no class, or this version does not have it.
pub fn takes_parameters(version: &str, key: &str) -> Option<bool> {
    match known(version)?.keys.get(key)? {
        Kind::Class => Some(true),
        Kind::Text => Some(false),
        _ => None,
    }
}

/// A line for each thing; the tests hold that every line is understood.
fn read(text: &'static str) -> Known {
    let mut known = Known::default();
    for line in text.lines() {
        let words: Vec<&'static str> = line.split(' ').collect();
        match *words.as_slice() {
            ["key", name, kind] => {
                known.keys.extend(kind_of(kind).map(|kind| (name, kind)));
            }
            ["old", old, name] => {
                known.old.insert(old, name);
            }
            ["table", option] => {
                known.table.insert(option);
            }
            ["compaction", class, option, kind] => {
                let options = known.compaction.entry(class).or_default();
                options.extend(kind_of(kind).map(|kind| (option, kind)));
            }
            ["compression", class, option] => {
                known.compression.entry(class).or_default().insert(option);
            }
            _ => {}
        }
    }
    known
}

fn kind_of(word: &'static str) -> Option<Kind> {
    let (name, more) = word.split_once(':').unwrap_or((word, ""));
    Some(match name {
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "text" => Kind::Text,
        "one-of" => Kind::OneOf(more),
        "duration" => Kind::Duration(more),
        "size" => Kind::Size(more),
        "rate" => Kind::Rate,
        "list" => Kind::List,
        "class" => Kind::Class,
        "map" => Kind::Map,
        "table" => Kind::Table,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

    #[test]
    fn every_line_of_every_version_is_understood() {
        for (version, text) in VERSIONS.iter().copied() {
            let known = known(version).expect("a version of the list");
            let options = known.compaction.values().map(BTreeMap::len).sum::<usize>();
            let compressors = known.compression.values().map(BTreeSet::len).sum::<usize>();
            let understood = known.keys.len() + known.old.len() + known.table.len() + options + compressors;
            let lines = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(understood, lines);
            assert_eq!(known.keys["concurrent_reads"], Kind::Integer);
            assert_eq!(known.keys["read_request_timeout"], Kind::Duration("ms"));
            assert_eq!(known.old["compaction_throughput_mb_per_sec"], "compaction_throughput");
            assert!(known.compression["LZ4Compressor"].contains("chunk_length_in_kb"));
            assert_eq!(known.compaction["LeveledCompactionStrategy"]["sstable_size_in_mb"], Kind::Integer);
        }
        assert!(super::known("5.0.1").is_none());
    }

    #[test]
    fn every_version_is_of_a_line_and_has_the_keys_that_plans_rest_on() {
        for version in versions() {
            assert!(Line::of(version).is_some(), "{version}");
            for key in ["autocompaction_on_startup_enabled", "key_cache_size", "file_cache_size", "initial_token"] {
                assert!(has_key(version, key), "{version}: {key}");
            }
            assert!(takes_parameters(version, "authenticator").is_some(), "{version}");
        }
        assert!(has_key("5.0.9", "storage_compatibility_mode") && !has_key("5.0.9", "storage_port_of_nobody"));
        assert!(!has_key("5.0.1", "concurrent_reads"), "nothing is known of it");
        assert_eq!(takes_parameters("5.0.9", "authenticator"), Some(true));
        assert_eq!(takes_parameters("5.0.9", "endpoint_snitch"), Some(false));
        assert_eq!(takes_parameters("5.0.9", "concurrent_reads"), None);
    }
}
