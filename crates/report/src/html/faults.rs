//! Planned faults: each cell before, during and after them in a table, what happened in sentences, and throughput and
//! tail latency over time with the fault's seconds shaded.

use analysis::{Analysis, CellAnalysis, Charts, Panel, Summary, TrialCharts};

use super::element::{Table, colour, text};
use super::small::{POINTS, figure, lines, panel, trials};
use crate::faults::{any, name, reported, rows};
use crate::figures::{MISSING, count, number, optional};
use crate::wording::faults::{kinds, method};
use crate::{compaction, labels};

/// Charts of this section, one above the other.
const PANELS: [&str; 2] = [Panel::THROUGHPUT, Panel::LATENCY];
/// Cells that are drawn; the charts of all trials stand with each trial.
const CELLS: usize = 12;

/// The whole section; empty where no fault was planned.
pub fn section(analysis: &Analysis, charts: &Charts) -> String {
    if !any(analysis) {
        return String::new();
    }
    let mut out = format!("<p class=\"soft\">{}</p>\n", text(&method()));
    out.push_str(&table(analysis));
    out.push_str(&compactions(analysis));
    for (name, sentences) in reported(analysis) {
        let items: String = sentences.iter().map(|s| format!("<li>{}</li>\n", text(s))).collect();
        out.push_str(&format!("<h3>{}</h3>\n<ul>{items}</ul>\n", text(&name)));
    }
    out.push_str(&drawn(analysis, charts));
    out
}

fn table(analysis: &Analysis) -> String {
    let rows = rows(analysis);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        "Before, during and after: medians over repetitions, of throughput and p99 the lowest and highest too; errors of all \
         repetitions",
        &[
            "Configuration",
            "Workload",
            "Load",
            "Phase",
            "Seconds",
            "Op/s, median",
            "low",
            "high",
            "p50, ms",
            "p95, ms",
            "p99, ms",
            "low",
            "high",
            "Errors",
            "Errors, %",
            "Errors by kind",
        ],
        4,
    )
    .class("dense");
    let median = |s: Option<Summary>, unit: f64| optional(s.map(|s| s.median / unit));
    for row in rows {
        let phase = row.phase;
        let [low, high] = ends(phase.throughput_ops_per_s, 1.0);
        let [p99_low, p99_high] = ends(phase.p99_us, 1e3);
        let kinds = kinds(phase);
        table.row(&[
            text(&row.cell.configuration),
            text(&row.cell.workload),
            text(&labels::load(row.cell.load)),
            row.name,
            median(phase.seconds, 1.0),
            median(phase.throughput_ops_per_s, 1.0),
            low,
            high,
            median(phase.p50_us, 1e3),
            median(phase.p95_us, 1e3),
            median(phase.p99_us, 1e3),
            p99_low,
            p99_high,
            match phase.operations {
                0 => MISSING.to_owned(),
                _ => count(phase.failed()),
            },
            median(phase.error_share, 0.01),
            format!(
                "<td class=\"t\">{}</td>",
                match kinds.is_empty() {
                    true => MISSING.to_owned(),
                    false => kinds.join(", "),
                }
            ),
        ]);
    }
    table.html()
}

/// A compaction, configurations side by side; nothing where there are not two to compare.
fn compactions(analysis: &Analysis) -> String {
    let rows = compaction::rows(analysis);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(compaction::TITLE, &compaction::HEAD, compaction::TEXTS).class("dense");
    for row in rows {
        table.row(&row.columns().iter().map(|cell| text(cell)).collect::<Vec<_>>());
    }
    table.html()
}

/// Lowest and highest over repetitions; nothing where they are one.
fn ends(summary: Option<Summary>, unit: f64) -> [String; 2] {
    match summary {
        Some(s) if s.low < s.high => [number(s.low / unit), number(s.high / unit)],
        _ => [MISSING.to_owned(), MISSING.to_owned()],
    }
}

/// Throughput of each cell over time, and below it the tail latency.
fn drawn(analysis: &Analysis, charts: &Charts) -> String {
    let all: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.faults.is_some()).collect();
    let cells = &all[..all.len().min(CELLS)];
    let mut out = String::new();
    for title in PANELS {
        let with_panel = |cell: &CellAnalysis| -> Vec<(&TrialCharts, &Panel)> {
            let of_cell = trials(charts, cell).into_iter();
            of_cell.filter_map(|t| Some((t, panel(t, title)?))).collect()
        };
        let panels: Vec<(&CellAnalysis, Vec<_>)> = cells.iter().map(|c| (*c, with_panel(c))).collect();
        let shown = panels.iter().flat_map(|(_, drawn)| drawn).map(|(_, panel)| *panel);
        let Some(shown) = shown.max_by_key(|p| p.lines.len()) else {
            continue;
        };
        let values = panels
            .iter()
            .flat_map(|(_, drawn)| drawn)
            .flat_map(|(_, panel)| lines(panel));
        let top = values
            .flat_map(|l| l.points.iter().filter_map(|(_, v)| *v))
            .fold(0.0, f64::max);
        let names: String = lines(shown)
            .enumerate()
            .map(|(i, line)| format!("<li><i class=\"k s{}\"></i>{}", colour(i), text(&line.name)))
            .collect();
        let figures: String = panels
            .iter()
            .map(|(cell, drawn)| {
                let name = text(&name(analysis, cell));
                figure(&format!("<b>{name}</b>"), &name, drawn, top, None, POINTS)
            })
            .collect();
        out.push_str(&format!(
            "<h4>{}, {}</h4><ul class=\"legend\">{names}<li><i class=\"k gone\"></i>planned fault</ul>\n\
             <div class=\"charts\">\n{figures}</div>\n",
            text(title),
            text(&shown.unit)
        ));
    }
    if all.len() > cells.len() && !out.is_empty() {
        out.push_str(&format!(
            "<p class=\"soft\">The first {CELLS} of {} cells; the others stand in <a href=\"#trials\">Each trial</a>.</p>\n",
            all.len()
        ));
    }
    out
}
