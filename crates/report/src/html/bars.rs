//! Throughput of every cell as a bar with its interval.

use analysis::{Analysis, CellAnalysis};

use super::axis::{Scale, label};
use super::element::{colour, short, text};
use crate::labels;

const WIDTH: f64 = 760.0;
const ROW: f64 = 20.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 150.0;
/// Characters of a name that fit left of the bars.
const NAME: usize = 32;

/// One chart for each workload: bars grouped by load level.
pub fn bars(analysis: &Analysis) -> String {
    let mut out = String::new();
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis
            .cells
            .iter()
            .filter(|c| c.workload == workload.name && c.throughput_ops_per_s.is_some())
            .collect();
        if !cells.is_empty() {
            out.push_str(&chart(analysis, &workload.name, &workload.description, &cells));
        }
    }
    if out.is_empty() {
        return "<p>No cell has a valid trial.</p>\n".to_owned();
    }
    let single = analysis
        .cells
        .iter()
        .filter_map(|c| c.throughput_ops_per_s)
        .all(|t| t.n < 2);
    let key = if single {
        "One repetition of each cell: there is no interval."
    } else {
        "Bar and number: geometric mean. Whisker and brackets: 95 % interval, with fewer than three repetitions the observed range. Small ticks: smallest and largest repetition."
    };
    format!("<p class=\"soft\">{key}</p>\n{out}")
}

fn chart(analysis: &Analysis, name: &str, description: &str, cells: &[&CellAnalysis]) -> String {
    let mut levels = Vec::new();
    for cell in cells {
        if !levels.contains(&cell.load) {
            levels.push(cell.load);
        }
    }
    // An interval of two repetitions may reach far beyond all bars: the axis shows up to twice the longest.
    let longest = cells
        .iter()
        .filter_map(|c| c.throughput_ops_per_s)
        .map(|t| t.largest)
        .fold(0.0, f64::max);
    let far = cells
        .iter()
        .filter_map(|c| c.throughput_ops_per_s)
        .map(|t| t.high)
        .fold(longest, f64::max);
    let x = Scale::linear(0.0, far.min(longest * 1.6) * 1.02, LEFT, WIDTH - RIGHT);
    let height = (cells.len() as f64 + levels.len() as f64) * ROW + 26.0;
    let mut svg = String::new();
    for tick in x.ticks(5) {
        let at = x.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{at:.0} 0V{:.0}\"/><text x=\"{at:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            height - 18.0,
            height - 5.0,
            label(tick)
        ));
    }
    let mut y = 0.0;
    for level in levels {
        svg.push_str(&format!(
            "<text class=\"ink\" x=\"0\" y=\"{:.0}\">{}</text>",
            y + 14.0,
            text(&labels::load(level))
        ));
        y += ROW;
        for cell in cells.iter().filter(|c| c.load == level) {
            svg.push_str(&bar(analysis, cell, &x, y));
            y += ROW;
        }
    }
    format!(
        "<figure><figcaption><b>{}</b>, operations/s ({})</figcaption><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Throughput of {0}\">\
         <svg style=\"min-width:44rem;max-width:64rem\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Throughput by configuration, operations per second\">{svg}</svg></div></figure>\n",
        text(name),
        text(description)
    )
}

fn bar(analysis: &Analysis, cell: &CellAnalysis, x: &Scale, y: f64) -> String {
    let Some(throughput) = cell.throughput_ops_per_s else {
        return String::new();
    };
    let index = analysis
        .configurations
        .iter()
        .position(|c| c.name == cell.configuration)
        .unwrap_or(0);
    let (zero, end, middle) = (x.at(0.0), x.at(throughput.median), y + ROW / 2.0 - 1.0);
    let edge = WIDTH - RIGHT;
    let mut svg = format!(
        "<text class=\"ink\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text><rect class=\"f{}\" x=\"{zero:.0}\" y=\"{:.0}\" width=\"{:.1}\" height=\"13\"><title>{}: {} operations/s</title></rect>",
        LEFT - 6.0,
        y + 13.0,
        short(&cell.configuration, NAME),
        colour(index),
        y + 3.0,
        (end - zero).max(0.5),
        text(&cell.id),
        labels::estimate(Some(throughput))
    );
    if throughput.low < throughput.high {
        let (low, high) = (x.at(throughput.low).max(zero), x.at(throughput.high).min(edge));
        let whisker = format!(
            "M{low:.1} {middle:.0}H{high:.1}M{low:.1} {:.0}v8{}",
            middle - 4.0,
            if x.at(throughput.high) <= edge {
                format!("M{high:.1} {:.0}v8", middle - 4.0)
            } else {
                String::new()
            }
        );
        // In the colour of the page below, so that it is seen on a bar of any colour.
        svg.push_str(&format!(
            "<path class=\"halo\" d=\"{whisker}\"/><path class=\"whisker\" d=\"{whisker}\"/>"
        ));
        for repetition in [throughput.smallest, throughput.largest] {
            svg.push_str(&format!(
                "<path class=\"axis\" d=\"M{:.1} {:.0}v13\"/>",
                x.at(repetition),
                y + 3.0
            ));
        }
    }
    svg.push_str(&format!(
        "<text class=\"ink\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
        edge + 6.0,
        y + 13.0,
        labels::estimate(Some(throughput))
    ));
    svg
}
