//! What a warm page cache is worth.

use analysis::Analysis;

use super::element::{Table, text};
use crate::cache::{HEAD, METHOD, TITLE, rows};

/// A table; empty where not both states were asked for.
pub fn cache(analysis: &Analysis) -> String {
    let mut rows = rows(analysis).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut table = Table::new(TITLE, &HEAD, 3);
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| text(cell)).collect();
        table.row(&cells);
    }
    format!("<p class=\"soft\">{METHOD}</p>\n{}", table.html())
}
