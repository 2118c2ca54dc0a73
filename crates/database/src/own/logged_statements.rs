//! The statements of a recording as a file of statements may have them, with the sizes of what was given to them.

use std::collections::HashMap;

use ::statements::{Effect, Logged, LoggedMarker, MarkerOf, NotOwn};
use profile::{StatementSeen, TableSchema, ValuesSeen};
use query_log::{Log, RecordedStatement, Value};

use super::node_operations::KeysAsked;

/// Of each marker which of a request's values it is, and whether that begins with a number that is asked for; `None`:
/// its value stood in the text.
type Given = Vec<Option<(usize, bool)>>;

/// Each statement once, whatever values stood in its text. Of values sizes are kept, and numbers of rows, of seconds
/// and of elements.
pub(super) fn logged_statements(log: &Log, tables: &[TableSchema]) -> Vec<StatementSeen> {
    let mut all: Vec<StatementSeen> = Vec::new();
    let mut known = HashMap::new();
    let place = |recorded: &RecordedStatement| {
        let logged = Logged::of(&recorded.text);
        let (what, serial) = match &logged {
            Ok(logged) => {
                let is_conditional = logged.effect == Effect::Conditional;
                (logged.text.clone(), recorded.serial.clone().filter(|_| is_conditional))
            }
            Err(NotOwn { what, why }) => (format!("{what}: {why}"), None),
        };
        let of_text = logged.as_ref().ok().and_then(|logged| logged.keyspace.clone());
        let (keyspace, consistency) = (of_text.or_else(|| recorded.keyspace.clone()), recorded.consistency.clone());
        let place = *known.entry((what, keyspace.clone(), consistency.clone(), serial.clone())).or_insert(all.len());
        if place == all.len() {
            let markers = logged.as_ref().map_or(0, |logged| logged.markers.len());
            let values = vec![ValuesSeen::default(); markers];
            let (logged, requests, operations) = (logged.clone(), 0, 0);
            all.push(StatementSeen { logged, keyspace, consistency, serial, requests, operations, values });
        }
        all[place].requests += recorded.requests;
        let keyspace = all[place].keyspace.as_ref();
        let numbered = |logged: Logged| {
            let of = |marker: LoggedMarker| Some((marker.value?, is_numbered(&marker, keyspace, tables)));
            logged.markers.into_iter().map(of).collect::<Given>()
        };
        let keys = logged.as_ref().map(|logged| KeysAsked::of(logged, keyspace, tables)).unwrap_or_default();
        (place, logged.map(numbered).unwrap_or_default(), keys)
    };
    // Two recorded texts may be one statement, whose values stand at other places.
    let places: Vec<(usize, Given, KeysAsked)> = log.statements().iter().map(place).collect();
    for request in log.requests() {
        let (place, markers, keys) = &places[request.statement as usize];
        let given: Vec<Value<'_>> = log.values(request).collect();
        all[*place].operations += keys.operations(&given);
        for (seen, marker) in all[*place].values.iter_mut().zip(markers) {
            let Some((value, is_numbered)) = marker else { continue };
            // A value that was not set is in a full query log as an empty one.
            if let Some(Value::Bytes(bytes)) = given.get(*value).filter(|given| **given != Value::Bytes(b"")) {
                seen.add(bytes, *is_numbered);
            }
        }
    }
    all
}

/// Whether the values of a marker begin with a number that is asked for; `keyspace`: that of its statement.
fn is_numbered(marker: &LoggedMarker, keyspace: Option<&String>, tables: &[TableSchema]) -> bool {
    match &marker.of {
        MarkerOf::Limit | MarkerOf::Ttl | MarkerOf::List(_) => true,
        MarkerOf::Column { name, .. } => {
            let of_table = tables.iter().filter(|table| table.name.is_meant(keyspace, &marker.table));
            of_table.filter_map(|table| table.column(name)).any(|column| column.is_collection())
        }
        MarkerOf::RangeEnd(_) | MarkerOf::Element | MarkerOf::Timestamp | MarkerOf::Token => false,
    }
}

#[cfg(test)]
mod tests {
    use profile::{ColumnKind, ColumnSchema, TableName};

    use super::*;

    /// The first four bytes of a text were kept where another keyspace has a list of that name.
    #[test]
    fn a_text_is_no_list_of_another_keyspaces_table() {
        let table = |keyspace: &str, cql_type: &str| {
            let (name, cql_type) = ("tags".to_owned(), cql_type.to_owned());
            let tags = ColumnSchema { name, cql_type, kind: ColumnKind::Regular, is_descending: false };
            let name = TableName { keyspace: keyspace.to_owned(), table: "t".to_owned() };
            TableSchema { name, described: vec![tags], ..TableSchema::default() }
        };
        let line = |keyspace: &str| {
            format!(
                r#"{{"at": 1, "statement": "UPDATE t SET tags = ? WHERE k = ?", "values": ["0x0000000207", "0x01"],
                "keyspace": "{keyspace}"}}"#
            )
            .replace('\n', "")
        };
        let mut log = Log::default();
        log.read_json_lines([line("blog"), line("shop")].join("\n").as_bytes()).unwrap();
        log.finish();
        let seen = logged_statements(&log, &[table("blog", "text"), table("shop", "list<text>")]);
        let numbers = |keyspace: &str| {
            let of = seen.iter().find(|one| one.keyspace.as_deref() == Some(keyspace)).unwrap();
            of.values[0].numbers.keys().copied().collect::<Vec<u32>>()
        };
        assert_eq!((numbers("blog"), numbers("shop")), (vec![], vec![2]));
    }
}
