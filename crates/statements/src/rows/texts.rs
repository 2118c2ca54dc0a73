//! CQL that loads and checks a row.

use crate::cql::{Column, quoted};

fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| quoted(&column.name)).collect()
}

/// `a = ? AND b = ?`.
fn all_equal(columns: &[Column]) -> String {
    names(columns).iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(" AND ")
}

pub(super) fn insert(keyspace: &str, table: &str, columns: &[Column]) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    format!("INSERT INTO {keyspace}.{} ({}) VALUES ({marks})", quoted(table), names(columns).join(", "))
}

pub(super) fn add(keyspace: &str, table: &str, counters: &[Column], key: &[Column]) -> String {
    let added: Vec<String> = names(counters).iter().map(|name| format!("{name} = {name} + ?")).collect();
    format!("UPDATE {keyspace}.{} SET {} WHERE {}", quoted(table), added.join(", "), all_equal(key))
}

pub(super) fn select(keyspace: &str, table: &str, columns: &[Column], key: &[Column]) -> String {
    format!("SELECT {} FROM {keyspace}.{} WHERE {}", names(columns).join(", "), quoted(table), all_equal(key))
}
