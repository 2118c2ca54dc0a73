//! One small chart of a cell over time: its repetitions over each other, with warm-up, a limit, and the seconds in
//! which a node was away or a disk failed.

use analysis::{CellAnalysis, Charts, Line, Panel, TrialCharts};

use super::axis::{Scale, label, path};
use super::element::colour;

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 128.0;
const LEFT: f64 = 40.0;
const BOTTOM: f64 = 18.0;
const TOP: f64 = 6.0;
/// Repetitions that are drawn over each other.
pub const REPETITIONS: usize = 3;
/// Points of a line at the most: no more are seen at this size.
pub const POINTS: usize = 110;

/// The trials of a cell that are drawn.
pub fn trials<'a>(charts: &'a Charts, cell: &CellAnalysis) -> Vec<&'a TrialCharts> {
    let of_cell = || charts.trials.iter().filter(|t| t.cell == cell.id);
    let valid: Vec<&TrialCharts> = of_cell().filter(|t| t.valid).take(REPETITIONS).collect();
    match valid.is_empty() {
        true => of_cell().take(REPETITIONS).collect(),
        false => valid,
    }
}

/// The lines of a panel that are compared: of latencies the tails alone.
pub fn lines(panel: &Panel) -> impl Iterator<Item = &Line> {
    let is_latency = panel.title == Panel::LATENCY;
    let has_tail = panel.lines.iter().any(|l| l.name.ends_with("p99"));
    panel
        .lines
        .iter()
        .filter(move |l| !is_latency || !has_tail || l.name.ends_with("p99"))
}

pub fn panel<'a>(trial: &'a TrialCharts, title: &str) -> Option<&'a Panel> {
    trial.panels.iter().find(|p| p.title == title)
}

/// A chart from 0 to a little above `highest`, under `heading` (HTML) and with `name` for who cannot see it; empty without
/// trials. The darker the shade, the more repetitions had one.
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
    let y = Scale::linear(0.0, highest, HEIGHT - BOTTOM, TOP);
    let longest = trials.iter().map(|(t, _)| t.measured_s).fold(0.0, f64::max);
    let warmup = trials.iter().map(|(t, _)| t.warmup_s).fold(0.0, f64::max);
    let x = Scale::linear(-warmup, longest, LEFT, WIDTH - 4.0);
    let mut svg = frame(&x, &y);
    for (trial, _) in trials {
        svg.push_str(&fault_spans(trial, &x, HEIGHT - BOTTOM));
    }
    if let Some(limit) = limit {
        svg.push_str(&format!(
            "<path class=\"limit\" d=\"M{LEFT} {0:.0}H{1}\"/>",
            y.at(limit),
            WIDTH - 4.0
        ));
    }
    for (_, panel) in trials {
        for (i, line) in lines(panel).enumerate() {
            let points = averaged(&line.points, points).map(|(t, v)| v.map(|v| (x.at(t), y.at(v))));
            svg.push_str(&format!("<path class=\"thin s{}\" d=\"{}\"/>", colour(i), path(points)));
        }
    }
    format!(
        "<figure><figcaption>{heading}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name} \
         over time\">{svg}</svg></figure>\n"
    )
}

/// The seconds in which a node was away or a disk failed by plan, shaded down to `floor`.
pub fn fault_spans(trial: &TrialCharts, x: &Scale, floor: f64) -> String {
    let shade = |(from_s, to_s): &(f64, f64)| {
        let (from, to) = (x.at(*from_s), x.at(*to_s));
        format!(
            "<rect class=\"gone\" x=\"{from:.0}\" y=\"{TOP}\" width=\"{:.0}\" height=\"{:.0}\"/>",
            (to - from).max(1.0),
            floor - TOP
        )
    };
    trial.fault_spans.iter().map(shade).collect()
}

/// Warm-up, grid and numbers.
fn frame(x: &Scale, y: &Scale) -> String {
    let floor = HEIGHT - BOTTOM;
    let mut svg = String::new();
    if x.at(0.0) > LEFT + 0.5 {
        svg.push_str(&format!(
            "<rect class=\"warm\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.0}\" height=\"{:.0}\"/>",
            x.at(0.0) - LEFT,
            floor - TOP
        ));
    }
    for tick in y.ticks(3) {
        let at = y.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.0}H{}\"/><text class=\"e\" x=\"{}\" y=\"{:.0}\">{}</text>",
            WIDTH - 4.0,
            LEFT - 4.0,
            at + 3.0,
            label(tick)
        ));
    }
    let ticks = x.ticks(4);
    for (i, tick) in ticks.iter().enumerate() {
        let unit = if i + 1 == ticks.len() { " s" } else { "" };
        let at = x.at(*tick);
        let (at, class) = if at > WIDTH - 16.0 { (WIDTH, "e") } else { (at, "m") };
        svg.push_str(&format!(
            "<text class=\"{class}\" x=\"{at:.0}\" y=\"{:.0}\">{}{unit}</text>",
            HEIGHT - 4.0,
            label(*tick)
        ));
    }
    svg
}

/// At most so many points: means of groups of neighbours. A gap is where nothing is known.
fn averaged(points: &[(f64, Option<f64>)], most: usize) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
    points.chunks(points.len().div_ceil(most).max(1)).map(|chunk| {
        let known: Vec<f64> = chunk.iter().filter_map(|(_, v)| *v).collect();
        let time = chunk.iter().map(|(t, _)| t).sum::<f64>() / chunk.len() as f64;
        let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        (time, mean)
    })
}
