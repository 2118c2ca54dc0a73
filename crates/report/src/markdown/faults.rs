//! Each cell before, during and after planned faults, and what became of acknowledged writes.

use analysis::Analysis;

use crate::figures::MISSING;
use crate::table::table;
use crate::wording::faults as wording;
use crate::{compaction, faults, labels};

/// The whole section; nothing where no fault was planned.
pub fn section(analysis: &Analysis, text: &mut String) {
    if !faults::any(analysis) {
        return;
    }
    text.push_str(&format!("## {}\n\n", faults::title(analysis)));
    let rows = faults::rows(analysis);
    if !rows.is_empty() {
        let rows = rows.into_iter().map(|row| {
            let phase = row.phase;
            vec![
                row.cell.configuration.clone(),
                row.cell.workload.clone(),
                labels::load(row.cell.load),
                row.name,
                faults::with_range(phase.seconds, 1.0),
                faults::with_range(phase.throughput_ops_per_s, 1.0),
                faults::with_range(phase.p50_us, 1e3),
                faults::with_range(phase.p95_us, 1e3),
                faults::with_range(phase.p99_us, 1e3),
                faults::errors(phase),
                match wording::kinds(phase).as_slice() {
                    [] => MISSING.to_owned(),
                    kinds => kinds.join(", "),
                },
            ]
        });
        let head = [
            "Configuration",
            "Workload",
            "Load",
            "Phase",
            "Seconds",
            "Operations/s, median",
            "p50, ms",
            "p95, ms",
            "p99, ms",
            "Errors",
            "By kind",
        ];
        text.push_str(&table(&head, 4, rows));
        text.push_str(&format!("\n{}\n\n", wording::method()));
    }
    compactions(analysis, text);
    for (name, sentences) in faults::reported(analysis) {
        text.push_str(&format!("**{name}**\n\n"));
        for sentence in sentences {
            text.push_str(&format!("* {sentence}\n"));
        }
        text.push('\n');
    }
}

/// A compaction, configurations side by side.
fn compactions(analysis: &Analysis, text: &mut String) {
    let rows = compaction::rows(analysis);
    if rows.is_empty() {
        return;
    }
    let rows = rows.into_iter().map(compaction::Row::columns);
    text.push_str(&format!("{}:\n\n", compaction::TITLE));
    text.push_str(&table(&compaction::HEAD, compaction::TEXTS, rows));
    text.push('\n');
}
