//! As tables that fit a terminal.

use analysis::{CellChange, Change, Comparison, Metric};

use super::words::{self, SHOWN};
use crate::figures::MISSING;
use crate::labels;
use crate::terminal::table::{Column, fitted, folded};
use crate::wrap::wrapped;

/// The whole comparison, at most `width` columns wide.
pub fn comparison_terminal(comparison: &Comparison, width: usize) -> String {
    let mut text = wrapped(&format!("{} against {}", comparison.b, comparison.a), width, "");
    if comparison.same_run {
        text.push_str(&wrapped(&format!("Note: {}.", words::SAME_RUN), width, ""));
    }
    for gate in &comparison.gates {
        let line = format!("Gate {}: {}", gate.expression, words::outcome(gate));
        text.push_str(&format!("\n{}", wrapped(&line, width, "")));
        for reason in words::reasons(gate) {
            text.push_str(&wrapped(&format!("* {reason}"), width, "  "));
        }
    }
    for metric in SHOWN {
        let cells = comparison.cells.iter();
        let rows: Vec<(&CellChange, &Change)> = cells.filter_map(|c| Some((c, c.metrics.get(&metric)?))).collect();
        if !rows.is_empty() {
            let title = format!("{}, {}", labels::metric(metric), words::unit(metric));
            text.push_str(&format!("\n{title}\n{}\n", table(&rows, metric, width)));
        }
    }
    text.push_str(&format!("\n{}", wrapped(words::KEY, width, "")));
    for (title, entries) in words::lists(comparison) {
        text.push_str(&format!("\n{title}\n"));
        for entry in entries {
            text.push_str(&wrapped(&format!("* {entry}"), width, ""));
        }
    }
    text
}

fn table(rows: &[(&CellChange, &Change)], metric: Metric, width: usize) -> String {
    fitted(width, &["a", "b"], |name| {
        let each = |show: &dyn Fn(&CellChange, &Change) -> String| {
            rows.iter()
                .map(|(cell, change)| show(cell, change))
                .collect::<Vec<String>>()
        };
        let changed = |_: &CellChange, change: &Change| {
            let interval = match words::interval(change) {
                none if none == MISSING => String::new(),
                interval => format!("\n({interval})"),
            };
            format!("{:+.1} %{interval}", change.change_percent)
        };
        let shown = |_: &CellChange, change: &Change| words::shown(change).replacen(" (", "\n(", 1);
        vec![
            Column::text(
                "configuration",
                "Configuration",
                each(&|c, _| folded(&c.configuration, name)),
            ),
            Column::text("workload", "Workload", each(&|c, _| folded(&c.workload, name))),
            Column::text(
                "load",
                "In flight\nor rate",
                each(&|c, _| labels::short_load(c.load).replace(" Poisson", "\nPoisson")),
            ),
            Column::numbers("a", "A", each(&|_, change| words::value(metric, change.a.median))),
            Column::numbers("b", "B", each(&|_, change| words::value(metric, change.b.median))),
            Column::numbers("change", "Change", each(&changed)),
            Column::text("shown", "Shown", each(&shown)),
        ]
    })
}
