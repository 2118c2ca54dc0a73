//! Each cell before, during and after planned faults.

use analysis::{Analysis, CellAnalysis, PhaseAnalysis};

use super::table::{Column, fitted, folded};
use crate::away::{Row, errors, rows, with_range};
use crate::labels;
use crate::wording::away::kinds;

/// What is left out first where a terminal is narrow.
const DROPPED: [&str; 3] = ["p95", "seconds", "p50"];

/// Characters of an error's kind before it goes on in the next line.
const ERRORS_WIDTH: usize = 16;

/// The fullest table that fits; `None` where nothing was done to a node.
pub fn table(analysis: &Analysis, width: usize) -> Option<String> {
    let rows = rows(analysis);
    (!rows.is_empty()).then(|| fitted(width, &DROPPED, |name| columns(&rows, name)))
}

fn columns(rows: &[Row<'_>], name: usize) -> Vec<Column> {
    let first = rows[0].cell;
    // A cell is named in its first row.
    let names = |show: &dyn Fn(&CellAnalysis) -> String| -> Vec<String> {
        let is_first = |i: usize| i == 0 || rows[i - 1].cell.id != rows[i].cell.id;
        let shown = |(i, row): (usize, &Row<'_>)| if is_first(i) { show(row.cell) } else { String::new() };
        rows.iter().enumerate().map(shown).collect()
    };
    let each = |show: &dyn Fn(&PhaseAnalysis) -> String| rows.iter().map(|r| show(r.phase)).collect::<Vec<String>>();
    let mut columns = vec![Column::text(
        "configuration",
        "Configuration",
        names(&|c| folded(&c.configuration, name)),
    )];
    if rows.iter().any(|r| r.cell.workload != first.workload) {
        columns.push(Column::text(
            "workload",
            "Workload",
            names(&|c| folded(&c.workload, name)),
        ));
    }
    if rows.iter().any(|r| r.cell.load != first.load) {
        columns.push(Column::text(
            "load",
            "In flight\nor rate",
            names(&|c| labels::short_load(c.load).replace(" Poisson", "\nPoisson")),
        ));
    }
    let range = |figure, unit| with_range(figure, unit).replacen(" (", "\n(", 1);
    columns.push(Column::text(
        "phase",
        "Phase",
        rows.iter().map(|r| r.name.clone()).collect(),
    ));
    columns.push(Column::numbers("seconds", "Seconds", each(&|p| range(p.seconds, 1.0))));
    columns.push(Column::numbers(
        "throughput",
        "Operations/s\nmedian",
        each(&|p| range(p.throughput_ops_per_s, 1.0)),
    ));
    columns.push(Column::numbers("p50", "p50\nms", each(&|p| range(p.p50_us, 1e3))));
    columns.push(Column::numbers("p95", "p95\nms", each(&|p| range(p.p95_us, 1e3))));
    columns.push(Column::numbers("p99", "p99\nms", each(&|p| range(p.p99_us, 1e3))));
    let failed = |p: &PhaseAnalysis| {
        let lines = std::iter::once(errors(p)).chain(kinds(p));
        let folded: Vec<String> = lines.map(|line| folded(&line, ERRORS_WIDTH)).collect();
        folded.join("\n")
    };
    columns.push(Column::text("errors", "Errors", each(&failed)));
    columns
}
