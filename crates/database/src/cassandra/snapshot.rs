//! The loaded data set as files: what to capture, and the key that says when a capture can be used again.
//!
//! A snapshot is a copy of the *whole* data directory of a node that was drained and stopped, system keyspaces
//! included: they hold the schema, the table identities, the tokens and the host id, so that a restored node starts
//! with the data set in place. Nothing else is needed: a clean stop drains the node, which flushes every memtable, so
//! the commit log starts empty; hints, saved caches and logs live outside the data directory and a trial must not
//! inherit them.
//!
//! What must stay the same for a restored copy to start: the cluster name (stored in `system.local`, checked at start),
//! the node's address and ports, the partitioner, and the tokens.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{admin::schema_statements, hash::hex};

/// Raised when the way of writing records, or the settings that shape files on disk, change.
const SNAPSHOT_FORMAT: u32 = 1;

/// What to copy, of a *stopped* node: every entry of the data directory (one per keyspace).
pub fn captured_directories(data_directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(data_directory)? {
        let entry = entry?;
        // A mounted volume may have one of these; it is the file system's, not Cassandra's.
        if entry.file_name() != "lost+found" {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}

/// Name of a snapshot: a hash of everything that decides what is in it (database version, data set, schema, nodes).
/// 16 hexadecimal digits after a readable prefix; equal inputs give equal names on every machine.
pub fn snapshot_key(version: &str, dataset: &spec::Dataset, nodes: u32, replication: u32) -> String {
    let spec::Dataset {
        records,
        fields,
        field_length,
        compressibility,
        seed,
    } = dataset;
    let schema = schema_statements("k", "t", dataset, replication).join("\n");
    let text = format!(
        "format {SNAPSHOT_FORMAT}\ncassandra {version}\nrecords {records}\nfields {fields}\nfield_length {field_length}\n\
         compressibility {:016x}\nseed {seed}\nnodes {nodes}\n{schema}\n",
        compressibility.to_bits()
    );
    let hash = hex(&Sha256::digest(text.as_bytes()));
    format!("cassandra-{version}-{records}x{fields}x{field_length}-{}", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_definition_changes_the_key() {
        let base = spec::Dataset {
            records: 1000,
            fields: 10,
            field_length: 100,
            compressibility: 0.0,
            seed: 1,
        };
        let mut keys = vec![
            snapshot_key("5.0.9", &base, 1, 1),
            snapshot_key("5.0.8", &base, 1, 1),
            snapshot_key("5.0.9", &base, 3, 1),
            snapshot_key("5.0.9", &base, 3, 3),
            snapshot_key("5.0.9", &spec::Dataset { records: 1001, ..base }, 1, 1),
            snapshot_key("5.0.9", &spec::Dataset { fields: 11, ..base }, 1, 1),
            snapshot_key(
                "5.0.9",
                &spec::Dataset {
                    field_length: 101,
                    ..base
                },
                1,
                1,
            ),
            snapshot_key(
                "5.0.9",
                &spec::Dataset {
                    compressibility: 0.5,
                    ..base
                },
                1,
                1,
            ),
            snapshot_key("5.0.9", &spec::Dataset { seed: 2, ..base }, 1, 1),
        ];
        assert_eq!(keys[0], snapshot_key("5.0.9", &base, 1, 1));
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
