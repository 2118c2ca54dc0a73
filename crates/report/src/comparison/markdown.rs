//! As Markdown: a table that fits a pull-request comment.

use analysis::{CellChange, Change, Comparison, Metric};

use super::words::{self, SHOWN};
use crate::labels;
use crate::neutral::neutral;
use crate::table::table;

/// The whole comparison.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {} against {}\n\n", comparison.b, comparison.a);
    if comparison.same_run {
        text.push_str(&format!("**Note:** {}.\n\n", words::SAME_RUN));
    }
    for gate in &comparison.gates {
        text.push_str(&format!("* Gate `{}`: **{}**\n", gate.expression, words::outcome(gate)));
        for reason in words::reasons(gate) {
            text.push_str(&format!("  * {reason}\n"));
        }
    }
    if !comparison.gates.is_empty() {
        text.push('\n');
    }
    for metric in SHOWN {
        let rows: Vec<Vec<String>> = comparison
            .cells
            .iter()
            .filter_map(|cell| Some(row(cell, metric, cell.metrics.get(&metric)?)))
            .collect();
        if !rows.is_empty() {
            let unit = words::unit(metric);
            let (a, b) = (format!("A, {unit}"), format!("B, {unit}"));
            let head = [
                "Configuration",
                "Workload",
                "Load",
                &a,
                &b,
                "Change",
                "Interval",
                "Shown",
            ];
            let table = table(&head, 3, rows.into_iter());
            text.push_str(&format!("**{}**\n\n{table}\n", labels::metric(metric)));
        }
    }
    text.push_str(&format!("{}\n", words::KEY));
    for (title, entries) in words::lists(comparison) {
        text.push_str(&format!("\n{title}:\n\n"));
        for entry in entries {
            text.push_str(&format!("* {entry}\n"));
        }
    }
    neutral(&text)
}

fn row(cell: &CellChange, metric: Metric, change: &Change) -> Vec<String> {
    vec![
        cell.configuration.clone(),
        cell.workload.clone(),
        labels::load(cell.load),
        words::value(metric, change.a.median),
        words::value(metric, change.b.median),
        format!("{:+.1} %", change.change_percent),
        words::interval(change),
        words::shown(change),
    ]
}
