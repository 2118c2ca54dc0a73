//! What each configuration carries: one row for each, and workload.

use analysis::Analysis;

use super::table::{Column, fitted, folded};
use crate::capacity::rows;

/// What is left out first where a terminal is narrow.
const DROPPED: [&str; 5] = ["probes", "closed", "per usd", "limit", "missed"];

const KEYS: [&str; 9] = [
    "configuration",
    "workload",
    "carries",
    "usd",
    "per usd",
    "missed",
    "limit",
    "closed",
    "probes",
];
const NUMBERS: [&str; 4] = ["carries", "usd", "per usd", "closed"];

/// The fullest table that fits.
pub fn table(analysis: &Analysis, width: usize) -> String {
    fitted(width, &DROPPED, |name| columns(analysis, name))
}

fn columns(analysis: &Analysis, name: usize) -> Vec<Column> {
    let (head, rows) = rows(analysis);
    let column = |(i, key): (usize, &'static str)| {
        let cells: Vec<String> = rows.iter().map(|row| shown(key, &row[i], name)).collect();
        let head = head[i]
            .replacen(", ", ",\n", 1)
            .replace(" per $", "\nper $")
            .replace("Fullest ", "Fullest\n")
            .replace("Missed ", "Missed\n");
        match NUMBERS.contains(&key) {
            true => Column::numbers(key, &head, cells),
            false => Column::text(key, &head, cells),
        }
    };
    let is_shown = |(_, key): &(usize, &str)| *key != "workload" || analysis.workloads.len() > 1;
    KEYS.into_iter().enumerate().filter(is_shown).map(column).collect()
}

fn shown(key: &str, cell: &str, name: usize) -> String {
    match key {
        "configuration" | "workload" => folded(cell, name),
        "carries" => cell.replace(" (", "\n("),
        "missed" => cell.replace(" is ", "\nis "),
        "limit" => cell.replace(" at ", "\nat "),
        "probes" => cell.replace(", ", "\n"),
        _ => cell.to_owned(),
    }
}
