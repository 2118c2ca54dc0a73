//! The loaded data set as files: the key that says when a capture of them can be used again.
//!
//! A snapshot is a copy of the *whole* data directory of a node that was drained and stopped, system keyspaces
//! included: they hold the schema, the table identities, the tokens and the host id, so that a restored node starts
//! with the data set in place. Nothing else is needed: a clean stop drains the node, which flushes every memtable, so
//! the commit log starts empty; hints, saved caches and logs live outside the data directory and a trial must not
//! inherit them.
//!
//! What must stay the same for a restored copy to start: the cluster name (stored in `system.local`, checked at start),
//! the node's address and ports, the partitioner, and the tokens.

use sha2::{Digest, Sha256};

use super::schema::{keyspace_statement, schema_statements};
use crate::plan::{NodeLocation, Replication};

/// Raised when the way of writing records, or the settings that shape files on disk, change.
const SNAPSHOT_FORMAT: u32 = 1;

/// Name of a snapshot: a hash of everything that decides what is in it (database version, data set, schema with the
/// options of its table, or the user's own, nodes and their places, data directories of each, keys of `cassandra.yaml`
/// that shape files). 16 hexadecimal digits after a readable prefix; equal inputs give equal names on every machine.
pub fn snapshot_key(
    version: &str,
    (dataset, own): (&experiment::Dataset, Option<&experiment::Own>),
    places: &[Option<NodeLocation>],
    replication: &Replication,
    settings: &experiment::Settings,
    directories: u32,
) -> String {
    // How many rows are expected of a snapshot, and of which seed requests are, decides nothing of its files.
    let unknown = experiment::Dataset { records: 0, fields: 0, field_length: 0, compressibility: 0.0, seed: 0 };
    let is_snapshot = own.is_some_and(|own| own.snapshot.is_some());
    let dataset = if is_snapshot { &unknown } else { dataset };
    let experiment::Dataset { records, fields, field_length, compressibility, seed } = dataset;
    let schema = match own {
        None => schema_statements("k", "t", dataset, replication, cassandra_model::table(settings)).join("\n"),
        Some(own) => format!("{}\n{}", keyspace_statement("k", replication), own.identity()),
    };
    let nodes = places.len();
    let placed: String =
        places.iter().flatten().map(|place| format!("place {:?} {:?}\n", place.data_centre, place.rack)).collect();
    let keys = cassandra_model::yaml(settings).iter();
    let keys: String = keys.map(|(key, setting)| format!("cassandra.yaml {key}: {}\n", setting.value())).collect();
    let spread = match directories {
        0 | 1 => String::new(),
        n => format!("data directories {n}\n"),
    };
    let text = format!(
        "format {SNAPSHOT_FORMAT}\ncassandra {version}\nrecords {records}\nfields \
         {fields}\nfield_length {field_length}\n\
         compressibility {:016x}\nseed {seed}\nnodes {nodes}\n{schema}\n{placed}{keys}{spread}",
        compressibility.to_bits()
    );
    let hash = guarded::hex(&Sha256::digest(text.as_bytes()));
    let what = if is_snapshot { "snapshot".to_owned() } else { format!("{records}x{fields}x{field_length}") };
    format!("cassandra-{version}-{what}-{}", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_definition_changes_the_key() {
        let base = experiment::Dataset { records: 1000, fields: 10, field_length: 100, compressibility: 0.0, seed: 1 };
        let one = [None];
        let place = |rack: &str| Some(NodeLocation { data_centre: "north".to_owned(), rack: rack.to_owned() });
        let each = Replication::Each;
        let none = experiment::Settings::default();
        let key = |dataset: experiment::Dataset| snapshot_key("5.0.9", (&dataset, None), &one, &each(1), &none, 1);
        let with = |settings: experiment::Settings| snapshot_key("5.0.9", (&base, None), &one, &each(1), &settings, 1);
        let table = |name: &str, key: &str, value: &str| {
            let map = [(key.to_owned(), value.to_owned())].into();
            let table = [(name.to_owned(), experiment::Setting::Map(map))].into();
            with(experiment::Settings::default().with(cassandra_model::TABLE, experiment::Section::Keys(table)))
        };
        let nodes = |places: &[Option<NodeLocation>], copies: &Replication| {
            snapshot_key("5.0.9", (&base, None), places, copies, &none, 1)
        };
        let by_centre = Replication::ByDataCentre([("north".to_owned(), 3)].into());
        let size = experiment::Setting::Value("\"64KiB\"".to_owned());
        let key_of_files = [("column_index_size".to_owned(), size)].into();
        let mut keys = vec![
            key(base),
            snapshot_key("5.0.8", (&base, None), &one, &each(1), &none, 1),
            snapshot_key("5.0.9", (&base, None), &one, &each(1), &none, 2),
            snapshot_key("5.0.9", (&base, None), &one, &each(1), &none, 3),
            nodes(&[None, None, None], &each(1)),
            nodes(&[None, None, None], &each(3)),
            nodes(&[place("a"), place("a"), place("a")], &each(3)),
            nodes(&[place("a"), place("b"), place("c")], &each(3)),
            nodes(&[place("a"), place("b"), place("c")], &by_centre),
            key(experiment::Dataset { records: 1001, ..base }),
            key(experiment::Dataset { fields: 11, ..base }),
            key(experiment::Dataset { field_length: 101, ..base }),
            key(experiment::Dataset { compressibility: 0.5, ..base }),
            key(experiment::Dataset { seed: 2, ..base }),
            table("compression", "chunk_length_in_kb", "4"),
            table("compression", "chunk_length_in_kb", "64"),
            table("compaction", "class", "LeveledCompactionStrategy"),
            with(experiment::Settings::default().with(cassandra_model::YAML, experiment::Section::Keys(key_of_files))),
        ];
        // Whoever changes the name has every data set loaded anew.
        assert_eq!(keys[0], "cassandra-5.0.9-1000x10x100-4dd71818309bcb6a");
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
