//! Throughput of every cell as a bar with its interval, also of configurations without a price.

use analysis::{Analysis, CellAnalysis, LoadLevel};

use super::axis::{Scale, label};
use super::element::{colour, figure, index, line, name, words};
use super::placing::width_of;
use crate::document::html::escaped;
use crate::figures::when;
use crate::labels;

const WIDTH: f64 = 400.0;
const ROW: f64 = 34.0;
const LEFT: f64 = 2.0;
const RIGHT: f64 = 10.0;
/// Between a name and its figures, and the size of both.
const GAP: f64 = 8.0;
const TYPE: f64 = 12.0;

/// One chart for each workload and load.
pub fn bars(analysis: &Analysis) -> String {
    let mut out = String::new();
    for (workload, load) in labels::places(analysis) {
        let cells = analysis.configurations.iter();
        let cells: Vec<&CellAnalysis> = cells
            .filter_map(|c| analysis.cell(&c.name, workload, load))
            .filter(|c| c.throughput_ops_per_s.is_some())
            .collect();
        if !cells.is_empty() {
            out.push_str(&chart(analysis, workload, load, &cells));
        }
    }
    if out.is_empty() {
        return "<p>No cell has a valid trial.</p>\n".to_owned();
    }
    let throughputs = analysis.cells.iter().filter_map(|c| c.throughput_ops_per_s);
    let key = match throughputs.into_iter().all(|t| t.n < 2) {
        true => "One repetition of each cell: there is no interval.",
        false => {
            "Bar and number: geometric mean. Whisker and brackets: 95 % interval, with fewer than three repetitions \
             the observed range. Small ticks: smallest and largest repetition."
        }
    };
    format!("<p class=\"soft\">{key}</p>\n<div class=\"charts two\">\n{out}</div>\n")
}

fn chart(analysis: &Analysis, workload: &str, load: LoadLevel, cells: &[&CellAnalysis]) -> String {
    let all = || cells.iter().filter_map(|c| c.throughput_ops_per_s);
    // An interval of few repetitions may reach far beyond all bars: the axis shows a part of it.
    let longest = all().map(|t| t.largest).fold(0.0, f64::max);
    let far = all().map(|t| t.high).fold(longest, f64::max);
    let x = Scale::linear(0.0, far.min(longest * 1.6) * 1.02, LEFT, WIDTH - RIGHT);
    let height = cells.len() as f64 * ROW + 20.0;
    let mut svg = String::new();
    for tick in x.ticks(5) {
        let at = x.at(tick);
        let (place, class) = if tick == 0.0 { (0.0, "t11") } else { (at, "m t11") };
        svg += &line("grid", format_args!("M{at:.0} 0V{:.0}", height - 16.0));
        svg += &words(class, (place, height - 3.0), label(tick));
    }
    for (row, cell) in cells.iter().enumerate() {
        svg.push_str(&bar(analysis, cell, &x, row as f64 * ROW));
    }
    let place = format!(
        "<b>{}</b>, {}: operations/s{}",
        escaped(workload),
        escaped(&labels::load(load)),
        labels::in_model(analysis.scale)
    );
    figure(&place, "Throughput by configuration, operations per second", (WIDTH, height), &svg)
}

fn bar(analysis: &Analysis, cell: &CellAnalysis, x: &Scale, y: f64) -> String {
    let Some(throughput) = cell.throughput_ops_per_s else { return String::new() };
    let (zero, end, edge) = (x.at(0.0), x.at(throughput.median), WIDTH - RIGHT);
    let (top, middle) = (y + 18.0, y + 23.5);
    let figures = labels::estimate(Some(throughput));
    let room = edge - LEFT - GAP - width_of(&figures, TYPE);
    let mut svg = name("ink t12", (LEFT, y + 13.0), &cell.configuration, (room, TYPE));
    svg += &words("ink e t12", (edge, y + 13.0), &figures);
    svg += &format!(
        "<rect class=\"f{}\" x=\"{zero:.0}\" y=\"{top:.0}\" width=\"{:.1}\" height=\"11\"><title>{}: {figures} \
         operations/s</title></rect>",
        colour(index(analysis, &cell.configuration)),
        (end - zero).max(0.5),
        escaped(&cell.id),
    );
    if throughput.low < throughput.high {
        let (low, high) = (x.at(throughput.low).max(zero), x.at(throughput.high).min(edge));
        let cap = |at: f64| format!("M{at:.1} {:.1}v7", middle - 3.5);
        // An end beyond the chart has no cap.
        let end = when(x.at(throughput.high) <= edge, || cap(high));
        let whisker = format!("M{low:.1} {middle}H{high:.1}{}{end}", cap(low));
        // In the colour of the page below, so that it is seen on a bar of any colour.
        svg += &(line("halo", &whisker) + &line("whisker", &whisker));
        for repetition in [throughput.smallest, throughput.largest] {
            svg += &line("axis", format_args!("M{:.1} {top:.0}v11", x.at(repetition)));
        }
    }
    svg
}
