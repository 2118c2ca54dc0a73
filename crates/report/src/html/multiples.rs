//! Trials over time, configurations beside each other: the same panel of each under one workload and load, on the same
//! axes, so that what differs is seen. The vertical axis of a panel is the same for all loads of a workload.

use std::collections::BTreeMap;

use analysis::{Analysis, CellAnalysis, Charts, Line, Panel, TrialCharts};

use super::axis::{Scale, label, path};
use super::element::{colour, id, text};
use super::limits::rows;
use crate::labels;

pub const WIDTH: f64 = 300.0;
pub const HEIGHT: f64 = 128.0;
pub const LEFT: f64 = 40.0;
pub const BOTTOM: f64 = 18.0;
pub const TOP: f64 = 6.0;
/// Panels that are compared; all others stand with each trial.
const PANELS: [&str; 5] = [
    Panel::THROUGHPUT,
    Panel::LATENCY,
    Panel::DATA_IOPS,
    Panel::DATA_BYTES,
    Panel::CPU,
];
/// Repetitions that are drawn over each other.
const REPETITIONS: usize = 3;
/// Bytes of all these charts together, about.
const BYTES: usize = 1_200_000;
/// Bytes of a point in a path, about.
const POINT_BYTES: usize = 5;
/// Points of a line: no more are seen at this size, and fewer show nothing.
const POINTS: (usize, usize) = (24, 110);

/// Largest value of a panel under a workload.
type Tops<'a> = BTreeMap<(&'a str, &'static str), f64>;

/// What is drawn of a run.
struct Drawn<'a> {
    analysis: &'a Analysis,
    charts: &'a Charts,
    tops: Tops<'a>,
    points: usize,
}

/// One group for each workload and load, the first unfolded.
pub fn multiples(analysis: &Analysis, charts: &Charts) -> String {
    if charts.trials.is_empty() {
        return "<p>No trial has been measured.</p>\n".to_owned();
    }
    let drawn = Drawn {
        analysis,
        charts,
        tops: tops(analysis, charts),
        points: points(analysis, charts),
    };
    let mut out = format!(
        "<p class=\"soft\">Each line is one repetition (at most {REPETITIONS} of a cell, valid ones before invalid ones). \
         Seconds from the start of measurement; grey is warm-up, dashed a limit in force. All panels of each trial are in \
         <a href=\"#trials\">Each trial</a>.</p>\n"
    );
    for (i, (workload, load)) in rows(analysis).into_iter().enumerate() {
        let open = if i == 0 { " open" } else { "" };
        let load_name = labels::load(load);
        let rows: String = PANELS
            .into_iter()
            .map(|panel| drawn.row(workload, load, panel))
            .collect();
        if !rows.is_empty() {
            out.push_str(&format!(
                "<details class=\"multiples\" id=\"{}\"{open}><summary><b>{}</b>, {}</summary>\n{rows}</details>\n",
                id(&["over", workload, &load_name]),
                text(workload),
                text(&load_name)
            ));
        }
    }
    out
}

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

fn tops<'a>(analysis: &'a Analysis, charts: &Charts) -> Tops<'a> {
    let mut tops = Tops::new();
    for cell in &analysis.cells {
        for trial in trials(charts, cell) {
            for title in PANELS {
                let values = panel(trial, title).into_iter().flat_map(lines);
                let values = values.flat_map(|l| l.points.iter().filter_map(|(_, v)| *v));
                let top = tops.entry((cell.workload.as_str(), title)).or_insert(0.0);
                *top = values.fold(*top, f64::max);
            }
        }
    }
    tops
}

/// Points of each line, as many as the page has room for.
fn points(analysis: &Analysis, charts: &Charts) -> usize {
    let drawn = analysis.cells.iter().flat_map(|cell| trials(charts, cell));
    let count = drawn
        .flat_map(|trial| PANELS.into_iter().filter_map(move |title| panel(trial, title)))
        .map(|panel| lines(panel).count())
        .sum::<usize>();
    (BYTES / POINT_BYTES / count.max(1)).clamp(POINTS.0, POINTS.1)
}

impl Drawn<'_> {
    /// One panel of every configuration.
    fn row(&self, workload: &str, load: analysis::LoadLevel, title: &'static str) -> String {
        let Some(top) = self.tops.get(&(workload, title)) else {
            return String::new();
        };
        let cells = self.analysis.configurations.iter();
        let cells = cells.filter_map(|c| self.analysis.cell(&c.name, workload, load));
        let mut shown: Option<&Panel> = None;
        let mut has_limit = false;
        let figures: String = cells
            .map(|cell| {
                let drawn = trials(self.charts, cell);
                let with_panel: Vec<(&TrialCharts, &Panel)> =
                    drawn.into_iter().filter_map(|t| Some((t, panel(t, title)?))).collect();
                // The panel with most lines names them.
                shown = shown
                    .into_iter()
                    .chain(with_panel.iter().map(|(_, p)| *p))
                    .max_by_key(|p| p.lines.len());
                has_limit |= with_panel.iter().any(|(_, p)| !p.limits.is_empty());
                self.figure(cell, &with_panel, *top)
            })
            .collect();
        let Some(shown) = shown else {
            return String::new();
        };
        let names: String = lines(shown)
            .enumerate()
            .map(|(i, line)| format!("<li><i class=\"k s{}\"></i>{}", colour(i), text(&line.name)))
            .chain(has_limit.then(|| "<li><i class=\"k lim\"></i>limit".to_owned()))
            .collect();
        format!(
            "<h4>{}{}</h4><ul class=\"legend\">{names}</ul>\n<div class=\"charts many\">\n{figures}</div>\n",
            text(title),
            match title.ends_with(&shown.unit) {
                true => String::new(),
                false => format!(", {}", text(&shown.unit)),
            }
        )
    }

    /// The repetitions of one configuration over each other.
    fn figure(&self, cell: &CellAnalysis, trials: &[(&TrialCharts, &Panel)], top: f64) -> String {
        let name = text(&cell.configuration);
        let Some((first, _)) = trials.first() else {
            let words = match (cell.trials, cell.trials_invalid.first()) {
                (0, _) => "not measured".to_owned(),
                (_, Some(invalid)) => format!("no valid trial: {}", text(&invalid.reason)),
                (_, None) => "not recorded".to_owned(),
            };
            return format!(
                "<figure><figcaption><b>{name}</b></figcaption><p class=\"empty hatch\">{words}</p></figure>\n"
            );
        };
        let tag = match first.valid {
            true => "",
            false => " <span class=\"tag invalid\">invalid</span>",
        };
        let limits = trials
            .iter()
            .flat_map(|(_, panel)| panel.limits.iter().map(|(_, limit)| *limit));
        // A limit far above everything would press the lines flat: it is named with each trial.
        let near: Vec<f64> = limits.filter(|limit| *limit <= top * 1.5).collect();
        let highest = near.iter().copied().fold(top, f64::max);
        let highest = if highest > 0.0 { highest * 1.05 } else { 1.0 };
        let y = Scale::linear(0.0, highest, HEIGHT - BOTTOM, TOP);
        let longest = trials.iter().map(|(t, _)| t.measured_s).fold(0.0, f64::max);
        let warmup = trials.iter().map(|(t, _)| t.warmup_s).fold(0.0, f64::max);
        let x = Scale::linear(-warmup, longest, LEFT, WIDTH - 4.0);
        let mut svg = frame(&x, &y);
        for (trial, _) in trials {
            svg.push_str(&away(trial, &x, HEIGHT - BOTTOM));
        }
        if let Some(limit) = near.first() {
            svg.push_str(&format!(
                "<path class=\"limit\" d=\"M{LEFT} {0:.0}H{1}\"/>",
                y.at(*limit),
                WIDTH - 4.0
            ));
        }
        for (_, panel) in trials {
            for (i, line) in lines(panel).enumerate() {
                let points = averaged(&line.points, self.points).map(|(t, v)| v.map(|v| (x.at(t), y.at(v))));
                svg.push_str(&format!("<path class=\"thin s{}\" d=\"{}\"/>", colour(i), path(points)));
            }
        }
        format!(
            "<figure><figcaption><b>{name}</b>{tag}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{name} over time\">{svg}</svg></figure>\n"
        )
    }
}

/// The seconds in which a node was away by plan, shaded down to `floor`.
pub fn away(trial: &TrialCharts, x: &Scale, floor: f64) -> String {
    let shade = |(from_s, to_s): &(f64, f64)| {
        let (from, to) = (x.at(*from_s), x.at(*to_s));
        format!(
            "<rect class=\"gone\" x=\"{from:.0}\" y=\"{TOP}\" width=\"{:.0}\" height=\"{:.0}\"/>",
            (to - from).max(1.0),
            floor - TOP
        )
    };
    trial.away.iter().map(shade).collect()
}

/// Warm-up, grid and numbers.
pub fn frame(x: &Scale, y: &Scale) -> String {
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
pub fn averaged(points: &[(f64, Option<f64>)], most: usize) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
    points.chunks(points.len().div_ceil(most).max(1)).map(|chunk| {
        let known: Vec<f64> = chunk.iter().filter_map(|(_, v)| *v).collect();
        let time = chunk.iter().map(|(t, _)| t).sum::<f64>() / chunk.len() as f64;
        let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
        (time, mean)
    })
}
