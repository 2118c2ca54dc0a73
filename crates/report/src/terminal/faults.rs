//! Each cell before, during and after planned faults.

use analysis::{Analysis, CellAnalysis, PhaseAnalysis};

use super::table::{Column, fitted, folded};
use crate::faults::{Row, errors, rows, with_range};
use crate::wording::faults::kinds;
use crate::{compaction, labels};

/// What is left out first where a terminal is narrow.
const DROPPED: [&str; 3] = ["p95", "seconds", "p50"];

/// Characters of an error's kind before it goes on in the next line.
const ERRORS_WIDTH: usize = 16;

/// The fullest table that fits; `None` where nothing was done to a node.
pub fn table(analysis: &Analysis, width: usize) -> Option<String> {
    let rows = rows(analysis);
    (!rows.is_empty()).then(|| fitted(width, &DROPPED, |name| columns(&rows, name)))
}

/// A compaction, configurations side by side; `None` where there are not two to compare.
pub fn compactions(analysis: &Analysis, width: usize) -> Option<String> {
    const DROPPED: [&str; 5] = ["written", "p99 before", "p99 after", "after", "rate"];
    const KEYS: [&str; 10] = [
        "took",
        "written",
        "rate",
        "before",
        "during",
        "kept",
        "after",
        "p99 before",
        "p99 during",
        "p99 after",
    ];
    const HEADS: [&str; 10] = [
        "Took\ns",
        "Written\nMiB",
        "MiB/s",
        "Op/s\nbefore",
        "Op/s\nduring",
        "during /\nbefore",
        "Op/s\nafter",
        "p99, ms\nbefore",
        "p99, ms\nduring",
        "p99, ms\nafter",
    ];
    let rows = compaction::rows(analysis);
    let cells: Vec<&CellAnalysis> = rows.iter().map(|r| r.cell).collect();
    let numbers: Vec<[String; 10]> = rows.into_iter().map(compaction::Row::numbers).collect();
    let columns = |name: usize| {
        let mut columns = named(&cells, name);
        for (i, (key, head)) in KEYS.into_iter().zip(HEADS).enumerate() {
            let range = |row: &[String; 10]| row[i].replacen(" (", "\n(", 1).replacen("; ", "\n", 1);
            columns.push(Column::numbers(key, head, numbers.iter().map(range).collect()));
        }
        columns
    };
    (!cells.is_empty()).then(|| fitted(width, &DROPPED, columns))
}

/// Configuration, workload and load of each row's cell, the latter two where they differ. A cell is named in its first row.
fn named(cells: &[&CellAnalysis], name: usize) -> Vec<Column> {
    let first = cells[0];
    let names = |show: &dyn Fn(&CellAnalysis) -> String| -> Vec<String> {
        let is_first = |i: usize| i == 0 || cells[i - 1].id != cells[i].id;
        let shown = |(i, cell): (usize, &CellAnalysis)| if is_first(i) { show(cell) } else { String::new() };
        cells.iter().copied().enumerate().map(shown).collect()
    };
    let mut columns = vec![Column::text(
        "configuration",
        "Configuration",
        names(&|c| folded(&c.configuration, name)),
    )];
    if cells.iter().any(|c| c.workload != first.workload) {
        columns.push(Column::text(
            "workload",
            "Workload",
            names(&|c| folded(&c.workload, name)),
        ));
    }
    if cells.iter().any(|c| c.load != first.load) {
        columns.push(Column::text(
            "load",
            "In flight\nor rate",
            names(&|c| labels::short_load(c.load).replace(" Poisson", "\nPoisson")),
        ));
    }
    columns
}

fn columns(rows: &[Row<'_>], name: usize) -> Vec<Column> {
    let each = |show: &dyn Fn(&PhaseAnalysis) -> String| rows.iter().map(|r| show(r.phase)).collect::<Vec<String>>();
    let cells: Vec<&CellAnalysis> = rows.iter().map(|r| r.cell).collect();
    let mut columns = named(&cells, name);
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
