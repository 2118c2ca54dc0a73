//! What an operation cost, a table for each workload and load.

use analysis::Analysis;

use super::element::{Table, text};
use crate::work::{METHOD, groups};

/// The tables; empty where no cell has a valid trial.
pub fn work(analysis: &Analysis) -> String {
    let mut out = String::new();
    for group in groups(analysis) {
        let head = group.head();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = Table::new(&group.title, &head, 1).class("dense");
        for row in group.rows() {
            table.row(&row.iter().map(|cell| text(cell)).collect::<Vec<_>>());
        }
        out.push_str(&table.html());
    }
    if !out.is_empty() {
        out.push_str(&format!("<p class=\"soft\">{METHOD}</p>\n"));
    }
    out
}
