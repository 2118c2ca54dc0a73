//! What is stated of a statement and changes nothing.

use super::names::{Named, named};
use super::plan::{Asked, Bound, Step};
use crate::cql::Marker;
use crate::data::{RowChoice, StatementData};

/// Distinct keys that new rows are to have at least.
const NEW_ROWS: u64 = 1 << 31;

/// What is stated of a statement and no marker of it uses, and new rows that would soon have the keys of others.
pub(super) fn unused(data: &StatementData, markers: &[Marker], asked: &[Asked], bound: &[&Bound]) -> Vec<String> {
    let has = |what: Named<'_>| markers.iter().any(|marker| named(&marker.name) == what);
    let has_list = bound.iter().any(|bound| matches!(bound, Bound::List { .. }));
    let is_range = |bound: &&Bound| {
        matches!(bound, Bound::Value { step: Step::Beyond(_), .. } | Bound::Tuple { step: Step::Beyond(_), .. })
    };
    // Whether it is for this table that a row is chosen, and not its partition alone.
    let chooses = |(number, asked): &(usize, &Asked)| {
        let is_of_row = |bound: &&Bound| match bound {
            Bound::Value { asked: of, column, .. } => of == number && !asked.rows.is_key(*column).0,
            Bound::Tuple { asked: of, columns, .. } | Bound::List { asked: of, columns, .. } => {
                of == number && !asked.rows.is_key(columns[0]).0
            }
            Bound::Element { asked: of, .. } => of == number,
            _ => false,
        };
        !asked.rows.table().clustering.is_empty() && bound.iter().any(is_of_row)
    };
    let of_rows: Vec<&Asked> = asked.iter().enumerate().filter(chooses).map(|(_, asked)| asked).collect();
    let stated = [
        ("limit", data.limit.is_some() && !has(Named::Limit), "LIMIT ?"),
        ("ttl_s", data.ttl_s.is_some() && !has(Named::Ttl), "USING TTL ?"),
        ("in_keys", data.in_keys.is_some() && !has_list, "IN ?"),
        ("range_rows", data.range_rows.is_some() && !bound.iter().any(is_range), "range with two ends"),
        ("rows", data.rows != RowChoice::Uniform && of_rows.is_empty(), "? of a clustering column"),
    ];
    let unused = stated.into_iter().filter(|(_, is_unused, _)| *is_unused);
    let unused = unused.map(|(key, _, lacks)| format!("{key} changes nothing: the statement has no {lacks}"));
    let new = of_rows.into_iter().filter(|asked| data.rows == RowChoice::New && asked.rows.rows_room() < NEW_ROWS);
    let new = new.map(|asked| {
        let (name, room) = (&asked.rows.table().name, asked.rows.rows_room());
        format!("rows = new: the clustering columns of {name} have {room} values, and new rows would soon be old ones")
    });
    unused.chain(new).collect()
}
