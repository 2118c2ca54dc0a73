//! What an operation cost, in `report.md`.

use analysis::Analysis;

use crate::table::table;
use crate::work::{METHOD, TITLE, groups};

/// A table for each workload and load; nothing where no cell has a valid trial.
pub fn section(analysis: &Analysis, text: &mut String) {
    let groups = groups(analysis);
    if groups.is_empty() {
        return;
    }
    text.push_str(&format!("## {TITLE}\n\n"));
    for group in groups {
        let head = group.head();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        text.push_str(&format!("{}:\n\n", group.title));
        text.push_str(&table(&head, 1, group.rows().into_iter()));
        text.push('\n');
    }
    text.push_str(&format!("{METHOD}\n\n"));
}
