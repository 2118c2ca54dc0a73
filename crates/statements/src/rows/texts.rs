//! CQL that loads and checks a row.

use crate::cql::{Column, quoted};

fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| quoted(&column.name)).collect()
}

/// `a = ? AND b = ?`.
fn all_equal(columns: &[Column]) -> String {
    names(columns).iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(" AND ")
}

/// Rows that are loaded stay, whatever the table's `default_time_to_live`.
pub(super) fn insert(keyspace: &str, table: &str, columns: &[Column]) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    let columns = names(columns).join(", ");
    format!("INSERT INTO {keyspace}.{} ({columns}) VALUES ({marks}) USING TTL 0", quoted(table))
}

pub(super) fn add(keyspace: &str, table: &str, counters: &[Column], key: &[Column]) -> String {
    let added: Vec<String> = names(counters).iter().map(|name| format!("{name} = {name} + ?")).collect();
    format!("UPDATE {keyspace}.{} SET {} WHERE {}", quoted(table), added.join(", "), all_equal(key))
}

pub(super) fn select(keyspace: &str, table: &str, columns: &[Column], key: &[Column]) -> String {
    format!("SELECT {} FROM {keyspace}.{} WHERE {}", names(columns).join(", "), quoted(table), all_equal(key))
}
