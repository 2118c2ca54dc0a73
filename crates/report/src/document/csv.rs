//! A table as CSV, RFC 4180.

use super::table::{Rows, Shown};

/// With a head line, and CRLF line ends as the RFC says; missing figures are empty.
pub fn csv<T>(rows: Rows<T>) -> String {
    let table = rows.table();
    let cell = |shown: &Shown| match shown {
        Shown::Words(words) => escaped(&words.plain()),
        Shown::Missing | Shown::Range(..) => String::new(),
    };
    let head: Vec<String> = table.columns.iter().map(|column| escaped(&column.title)).collect();
    let rows = table.rows.iter().map(|row| row.cells.iter().map(|of| cell(&of.shown)).collect::<Vec<String>>());
    std::iter::once(head).chain(rows).map(|line| line.join(",") + "\r\n").collect()
}

fn escaped(value: &str) -> String {
    match value.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.to_owned(),
    }
}
