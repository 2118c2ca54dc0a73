//! One small chart of a cell over time: its repetitions over each other, with warm-up, a limit, and the seconds in
//! which a node was away or a disk failed.

use analysis::{CellAnalysis, Charts, Line, Panel, TrialCharts, averaged};

use super::axis::{Scale, label, path};
use super::element::colour;
use crate::document::html::escaped;
use crate::figures::when;

pub const WIDTH: f64 = 310.0;
pub const HEIGHT: f64 = 130.0;
pub const LEFT: f64 = 42.0;
pub const RIGHT: f64 = WIDTH - 4.0;
pub const TOP: f64 = 6.0;
/// Below it stand the seconds.
pub const FLOOR: f64 = HEIGHT - 17.0;
/// Repetitions that are drawn over each other.
pub const REPETITIONS: usize = 3;
/// Points of a line at the most: no more are seen at this size.
pub const POINTS: usize = 110;

/// The trials of a cell that are drawn, each with its panel of this title.
pub fn panels<'a>(charts: &'a Charts, cell: &CellAnalysis, title: &str) -> Vec<(&'a TrialCharts, &'a Panel)> {
    let panel = |trial: &'a TrialCharts| Some((trial, trial.panels.iter().find(|panel| panel.title == title)?));
    trials(charts, cell).into_iter().filter_map(panel).collect()
}

fn trials<'a>(charts: &'a Charts, cell: &CellAnalysis) -> Vec<&'a TrialCharts> {
    let of_cell = || charts.trials.iter().filter(|t| t.cell == cell.id);
    let valid: Vec<&TrialCharts> = of_cell().filter(|t| t.valid).take(REPETITIONS).collect();
    if valid.is_empty() { of_cell().take(REPETITIONS).collect() } else { valid }
}

/// The lines of a panel that are compared: of latencies the tails alone.
pub fn lines(panel: &Panel) -> impl Iterator<Item = &Line> {
    let is_latency = panel.title == Panel::LATENCY;
    let has_tail = panel.lines.iter().any(|l| l.name.ends_with("p99"));
    panel.lines.iter().filter(move |l| !is_latency || !has_tail || l.name.ends_with("p99"))
}

/// The values of these lines.
pub fn values(panel: &Panel) -> impl Iterator<Item = f64> {
    lines(panel).flat_map(|line| line.points.iter().filter_map(|(_, value)| *value))
}

/// A chart from 0 to a little above `highest`, under `heading` (HTML) and with `name` for who cannot see it; empty
/// without trials. The darker the shade, the more repetitions had one.
pub fn figure(
    heading: &str,
    name: &str,
    trials: &[(&TrialCharts, &Panel)],
    highest: f64,
    limit: Option<f64>,
    points: usize,
) -> String {
    if trials.is_empty() {
        return String::new();
    }
    let highest = if highest > 0.0 { highest * 1.05 } else { 1.0 };
    let y = Scale::linear(0.0, highest, FLOOR, TOP);
    let longest = trials.iter().map(|(t, _)| t.measured_s).fold(0.0, f64::max);
    let warmup = trials.iter().map(|(t, _)| t.warmup_s).fold(0.0, f64::max);
    let x = Scale::linear(-warmup, longest, LEFT, RIGHT);
    let mut svg = time(&x) + &grid(&y);
    for (trial, _) in trials {
        svg.push_str(&fault_spans(trial, &x));
    }
    if let Some(limit) = limit {
        svg.push_str(&level("limit", y.at(limit)));
    }
    for (_, panel) in trials {
        for (i, line) in lines(panel).enumerate() {
            let group = line.points.len().div_ceil(points).max(1);
            let points = averaged(&line.points, group).map(|(t, v)| v.map(|v| (x.at(t), y.at(v))));
            svg.push_str(&format!("<path class=\"thin s{}\" d=\"{}\"/>", colour(i), path(points)));
        }
    }
    format!(
        "<figure><figcaption>{heading}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{name} over time\">{svg}</svg></figure>\n"
    )
}

/// The lines that charts show, in a legend.
pub fn named<'a>(lines: impl Iterator<Item = &'a Line>) -> String {
    let item = |(i, line): (usize, &Line)| format!("<li><i class=\"k s{}\"></i>{}", colour(i), escaped(&line.name));
    lines.enumerate().map(item).collect()
}

/// A line across the chart.
pub fn level(class: &str, at: f64) -> String {
    format!("<path class=\"{class}\" d=\"M{LEFT} {at:.0}H{RIGHT}\"/>")
}

/// The seconds in which a node was away or a disk failed by plan, shaded.
pub fn fault_spans(trial: &TrialCharts, x: &Scale) -> String {
    trial.fault_spans.iter().map(|(from, to)| shade("gone", x.at(*from), x.at(*to))).collect()
}

fn shade(class: &str, from: f64, to: f64) -> String {
    let width = (to - from).max(1.0);
    format!("<rect class=\"{class}\" x=\"{from:.0}\" y=\"{TOP}\" width=\"{width:.0}\" height=\"{:.0}\"/>", FLOOR - TOP)
}

/// The axis of time: seconds, and the warm-up in grey.
pub fn time(x: &Scale) -> String {
    let mut svg = when(x.at(0.0) > LEFT + 0.5, || shade("warm", LEFT, x.at(0.0)));
    let ticks = x.ticks(4);
    for (i, tick) in ticks.iter().enumerate() {
        let unit = if i + 1 == ticks.len() { " s" } else { "" };
        let at = x.at(*tick);
        // The last label ends at the border instead of being cut by it.
        let (at, class) = if at > WIDTH - 16.0 { (WIDTH, "e") } else { (at, "m") };
        svg.push_str(&format!(
            "<text class=\"{class}\" x=\"{at:.0}\" y=\"{:.0}\">{}{unit}</text>",
            HEIGHT - 4.0,
            label(*tick)
        ));
    }
    svg
}

/// Lines at round values, and the numbers beside them.
pub fn grid(y: &Scale) -> String {
    let (mut lines, mut numbers) = (String::new(), String::new());
    for tick in y.ticks(3) {
        let at = y.at(tick);
        lines.push_str(&format!("M{LEFT} {at:.0}H{RIGHT}"));
        numbers.push_str(&format!("<text class=\"e\" x=\"38\" y=\"{:.0}\">{}</text>", at + 3.0, label(tick)));
    }
    format!("{numbers}<path class=\"grid\" d=\"{lines}\"/>")
}
