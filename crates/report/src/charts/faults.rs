//! Throughput and tail latency of each cell over time, with the seconds of planned faults shaded.

use analysis::{Analysis, CellAnalysis, Charts, Panel};

use super::time_chart::{POINTS, figure, lines, named, panels, values};
use crate::answer::cell_name;
use crate::document::html::escaped;

/// Charts of this section, one above the other.
const PANELS: [&str; 2] = [Panel::THROUGHPUT, Panel::LATENCY];
/// Cells that are drawn; the charts of all trials stand with each trial.
const CELLS: usize = 12;

/// Throughput of each cell over time, and below it the tail latency.
pub fn drawn(analysis: &Analysis, charts: &Charts) -> String {
    let all: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.faults.is_some()).collect();
    let cells = &all[..all.len().min(CELLS)];
    let mut out = String::new();
    for title in PANELS {
        let of_cells: Vec<(&CellAnalysis, Vec<_>)> = cells.iter().map(|c| (*c, panels(charts, c, title))).collect();
        let drawn = || of_cells.iter().flat_map(|(_, drawn)| drawn).map(|(_, panel)| *panel);
        let Some(shown) = drawn().max_by_key(|p| p.lines.len()) else { continue };
        let top = drawn().flat_map(values).fold(0.0, f64::max);
        let figures: String = of_cells
            .iter()
            .map(|(cell, drawn)| {
                let name = escaped(&cell_name(analysis, cell));
                figure(&format!("<b>{name}</b>"), &name, drawn, top, None, POINTS)
            })
            .collect();
        out.push_str(&format!(
            "<h4>{}, {}</h4><ul class=\"legend\">{}<li><i class=\"k gone\"></i>planned fault</ul>\n\
             <div class=\"charts\">\n{figures}</div>\n",
            escaped(title),
            escaped(&shown.unit),
            named(lines(shown))
        ));
    }
    if all.len() > cells.len() && !out.is_empty() {
        out.push_str(&format!(
            "<p class=\"soft\">The first {CELLS} of {} cells; \
             the others stand in <a href=\"#trials\">Each trial</a>.</p>\n",
            all.len()
        ));
    }
    out
}
