//! What a Cassandra can be set to: keys of `cassandra.yaml` with their types and old names, options of tables. It comes
//! from that version's own classes (`scripts/cassandra-settings.sh`), not from us; a test with the real jars holds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// What is known, by version.
const VERSIONS: [(&str, &str); 1] = [("5.0.9", include_str!("known/cassandra-5.0.9.txt"))];

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
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Text.
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

/// The versions of which it is known.
pub(crate) fn known_versions() -> String {
    VERSIONS.map(|(version, _)| version).join(", ")
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

    #[test]
    fn every_line_of_every_version_is_understood() {
        for (version, text) in VERSIONS {
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
}
