//! As how many operations a node counts a request of a recording: each partition of a batch is one, and each key of
//! `IN`.
//!
//! Source: a table's `ReadLatency` and `WriteLatency` of Apache Cassandra 5.0, which `SinglePartitionReadCommand` and
//! `ColumnFamilyStore.apply` count for each partition of each table.

use std::collections::BTreeSet;

use ::statements::{Logged, MarkerOf};
use profile::TableSchema;
use query_log::Value;

/// A key that a statement asks for.
enum Key {
    /// One, by the places of its values among those of a request.
    Of(Vec<usize>),
    /// Each that the list at this place has.
    List(usize),
    /// One that stands in the text, or a range.
    Unknown,
}

/// The keys of a statement, each with the place of its table.
#[derive(Default)]
pub(super) struct KeysAsked(Vec<(usize, Key)>);

impl KeysAsked {
    /// Those of tables that are known; `keyspace`: of the statement.
    pub(super) fn of(logged: &Logged, keyspace: Option<&String>, tables: &[TableSchema]) -> Self {
        let mut keys = Vec::new();
        for (part, table) in logged.parts.iter().enumerate() {
            let Some(place) = tables.iter().position(|known| known.name.is_meant(keyspace, table)) else { continue };
            let of_part = of_part(logged, part, &tables[place].key);
            keys.extend(of_part.into_iter().map(|key| (place, key)));
        }
        Self(keys)
    }

    /// How many operations a request with these values is. Partitions that it asks for twice are one.
    pub(super) fn operations(&self, given: &[Value<'_>]) -> u64 {
        let bytes = |place: &usize| match given.get(*place) {
            Some(Value::Bytes(bytes)) => Some(*bytes),
            _ => None,
        };
        // Most statements have one key.
        if let [(_, Key::Of(_) | Key::Unknown)] = self.0.as_slice() {
            return 1;
        }
        let (mut partitions, mut others) = (BTreeSet::new(), 0);
        for (table, key) in &self.0 {
            match key {
                Key::Of(values) => match values.iter().map(bytes).collect::<Option<Vec<&[u8]>>>() {
                    Some(key) => {
                        partitions.insert((*table, key));
                    }
                    None => others += 1,
                },
                Key::List(place) => match bytes(place) {
                    Some(list) => partitions.extend(elements(list).map(|key| (*table, vec![key]))),
                    None => others += 1,
                },
                Key::Unknown => others += 1,
            }
        }
        partitions.len() as u64 + others
    }
}

/// The keys of one statement of a batch.
fn of_part(logged: &Logged, part: usize, columns: &[String]) -> Vec<Key> {
    let markers = || logged.markers.iter().filter(move |marker| marker.part == part);
    if let [column] = columns {
        let listed = markers().filter_map(|marker| match (&marker.of, marker.value) {
            (MarkerOf::List(name), Some(value)) if name == column => Some(Key::List(value)),
            (MarkerOf::Column { name, is_listed: true, .. }, value) if name == column => {
                Some(value.map_or(Key::Unknown, |value| Key::Of(vec![value])))
            }
            _ => None,
        });
        let listed: Vec<Key> = listed.collect();
        if !listed.is_empty() {
            return listed;
        }
    }
    let value = |column: &String| {
        let is_it = |of: &MarkerOf| matches!(of, MarkerOf::Column { name, is_listed: false, .. } if name == column);
        markers().find(|marker| is_it(&marker.of))?.value
    };
    let values: Option<Vec<usize>> = columns.iter().map(value).collect();
    vec![values.filter(|values| !values.is_empty()).map_or(Key::Unknown, Key::Of)]
}

/// The elements of a list: how many there are comes first, and before each its length (native_protocol_v4.spec, section
/// 6).
fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list.get(4..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        let (element, after) = after.split_at_checked(length)?;
        rest = after;
        Some(element)
    })
}

#[cfg(test)]
mod tests {
    use profile::TableName;

    use super::*;

    fn table(name: &str, key: &[&str]) -> TableSchema {
        TableSchema {
            name: TableName { keyspace: "shop".to_owned(), table: name.to_owned() },
            key: key.iter().map(|column| (*column).to_owned()).collect(),
            ..TableSchema::default()
        }
    }

    #[test]
    fn each_partition_of_a_batch_and_of_a_list_is_an_operation_once() {
        let tables = [table("a", &["k"]), table("b", &["k", "d"])];
        let list: &[u8] = &[0, 0, 0, 3, 0, 0, 0, 1, 7, 0, 0, 0, 1, 8, 0, 0, 0, 1, 7];
        let two = "BEGIN BATCH INSERT INTO a (k, c) VALUES (?, ?); \
                   UPDATE a SET v = 1 WHERE k = ? AND c = ? APPLY BATCH";
        let both = "BEGIN BATCH DELETE FROM a WHERE k IN ?; DELETE FROM b WHERE k = ? AND d = ?; \
                    INSERT INTO a (k) VALUES (?) APPLY BATCH";
        let cases: [(&str, &[&[u8]], u64); 11] = [
            ("SELECT * FROM a WHERE k = ?", &[b"7"], 1),
            ("SELECT * FROM a WHERE token(k) > ?", &[b"7"], 1),
            ("SELECT * FROM a WHERE k IN ?", &[list], 2),
            ("SELECT * FROM a WHERE k IN (?, ?, ?)", &[b"7", b"8", b"7"], 2),
            ("SELECT * FROM a WHERE k IN ('7', ?, '8')", &[b"9"], 3),
            ("SELECT * FROM a WHERE k = ? AND c IN ?", &[b"7", list], 1),
            ("SELECT * FROM b WHERE k = ? AND d = ?", &[b"7", b"8"], 1),
            (two, &[b"7", b"1", b"7", b"2"], 1),
            (two, &[b"7", b"1", b"8", b"2"], 2),
            (both, &[list, b"7", b"8", &[7]], 3),
            (both, &[list, b"7", b"8", &[9]], 4),
        ];
        for (text, given, expected) in cases {
            let given: Vec<Value<'_>> = given.iter().map(|bytes| Value::Bytes(bytes)).collect();
            let keys = KeysAsked::of(&Logged::of(text).unwrap(), None, &tables);
            assert_eq!(keys.operations(&given), expected, "{text}");
        }
        let elsewhere = KeysAsked::of(&Logged::of(two).unwrap(), Some(&"other".to_owned()), &tables);
        assert_eq!(elsewhere.operations(&[]), 0);
    }
}
