//! The table of a data set in SQL, and the key that says when a loaded one can be used again.

use experiment::{Dataset, Own};
use sha2::{Digest as _, Sha256};

use super::conf::CLIENT;

/// Raised when the way of writing records, or of bringing them to rest, changes.
const SNAPSHOT_FORMAT: u32 = 1;
/// The first number that PostgreSQL gives to what a user makes (`FirstNormalObjectId`): directories of databases below
/// `base` are named by numbers, and lower ones are its own.
pub(crate) const FIRST_OF_USERS: u32 = 16_384;

/// A name in a statement.
pub(crate) fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The columns of YCSB's table besides its key.
pub(crate) fn fields(count: u32) -> Vec<String> {
    (0..count).map(|field| format!("field{field}")).collect()
}

/// YCSB's table, and what the clients' user may do with it.
pub(crate) fn table(table: &str, dataset: &Dataset) -> Vec<String> {
    let table = name(table);
    let columns: Vec<String> = fields(dataset.fields).iter().map(|field| format!("{field} text")).collect();
    vec![
        format!("CREATE TABLE IF NOT EXISTS {table} (y_id text PRIMARY KEY, {})", columns.join(", ")),
        format!("GRANT SELECT, INSERT, UPDATE ON {table} TO {CLIENT}"),
    ]
}

/// What brings a loaded database to the shape that it keeps, whatever the timing of its load was: indexes made anew,
/// every row seen by everybody and marked so, statistics taken, everything in its files.
pub(crate) fn maintenance(database: &str) -> Vec<String> {
    vec![format!("REINDEX DATABASE {}", name(database)), "VACUUM (FREEZE, ANALYZE)".to_owned(), "CHECKPOINT".to_owned()]
}

/// Name of a snapshot: a hash of everything that decides what is in it (database version, data set, schema, or the
/// user's own with its rows). 16 hexadecimal digits after a readable prefix; equal inputs give equal names on every
/// machine. No setting of `postgresql.conf` shapes files.
pub(crate) fn snapshot_key(version: &str, dataset: &Dataset, own: Option<&Own>) -> String {
    let Dataset { records, fields, field_length, compressibility, seed } = dataset;
    let schema = own.map_or_else(|| table("t", dataset), |own| vec![own.identity()]);
    let schema = [schema, maintenance("d")].concat().join("\n");
    let text = format!(
        "format {SNAPSHOT_FORMAT}\npostgresql {version}\nrecords {records}\nfields {fields}\nfield_length \
         {field_length}\ncompressibility {:016x}\nseed {seed}\n{schema}\n",
        compressibility.to_bits()
    );
    let hash = guarded::hex(&Sha256::digest(text.as_bytes()));
    format!("postgresql-{version}-{records}x{fields}x{field_length}-{}", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Dataset = Dataset { records: 1_000, fields: 2, field_length: 100, compressibility: 0.0, seed: 1 };

    #[test]
    fn the_table_is_that_of_ycsb_and_its_clients_can_read_and_write_it() {
        assert_eq!(
            table("usertable", &BASE),
            [
                "CREATE TABLE IF NOT EXISTS \"usertable\" (y_id text PRIMARY KEY, field0 text, field1 text)",
                "GRANT SELECT, INSERT, UPDATE ON \"usertable\" TO iopslab",
            ]
        );
        assert_eq!(name("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn every_part_of_the_definition_changes_the_key() {
        let mut keys = vec![
            snapshot_key("18.3", &BASE, None),
            snapshot_key("18.4", &BASE, None),
            snapshot_key("18.3", &Dataset { records: 1_001, ..BASE }, None),
            snapshot_key("18.3", &Dataset { fields: 3, ..BASE }, None),
            snapshot_key("18.3", &Dataset { field_length: 101, ..BASE }, None),
            snapshot_key("18.3", &Dataset { compressibility: 0.5, ..BASE }, None),
            snapshot_key("18.3", &Dataset { seed: 2, ..BASE }, None),
        ];
        assert!(keys[0].starts_with("postgresql-18.3-1000x2x100-"), "{}", keys[0]);
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
