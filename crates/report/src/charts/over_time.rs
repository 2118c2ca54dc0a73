//! Trials over time, configurations beside each other: the same panel of each under one workload and load, on the same
//! axes, so that what differs is seen. The vertical axis of a panel is the same for all loads of a workload.

use std::collections::BTreeMap;

use analysis::{Analysis, CellAnalysis, Charts, Panel, TrialCharts};

use super::time_chart::{self, POINTS, REPETITIONS, lines, named, panels, values};
use crate::document::html::{escaped, id};
use crate::figures::when;
use crate::labels;

/// Panels that are compared; all others stand with each trial.
const PANELS: [&str; 5] = [Panel::THROUGHPUT, Panel::LATENCY, Panel::DATA_IOPS, Panel::DATA_BYTES, Panel::CPU];
/// Bytes of all these charts together, about.
const BYTES: usize = 1_200_000;
/// Bytes of a point in a path, about.
const POINT_BYTES: usize = 5;
/// Points of a line at the least: fewer show nothing.
const FEWEST: usize = 24;

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
pub fn over_time(analysis: &Analysis, charts: &Charts) -> String {
    if charts.trials.is_empty() {
        return "<p>No trial has been measured.</p>\n".to_owned();
    }
    let drawn = Drawn { analysis, charts, tops: tops(analysis, charts), points: points(analysis, charts) };
    let mut out = format!(
        "<p class=\"soft\">Each line is one repetition (at most {REPETITIONS} of a cell, valid ones before invalid \
         ones). Seconds from the start of measurement; grey is warm-up, dashed a limit in force. All panels of each \
         trial are in <a href=\"#trials\">Each trial</a>.</p>\n"
    );
    for (i, (workload, load)) in labels::places(analysis).into_iter().enumerate() {
        let open = if i == 0 { " open" } else { "" };
        let load_name = labels::load(load);
        let rows: String = PANELS.into_iter().map(|panel| drawn.row(workload, load, panel)).collect();
        if !rows.is_empty() {
            out.push_str(&format!(
                "<details class=\"multiples\" id=\"{}\"{open}><summary><b>{}</b>, {}</summary>\n{rows}</details>\n",
                id(&["over", workload, &load_name]),
                escaped(workload),
                escaped(&load_name)
            ));
        }
    }
    out
}

fn tops<'a>(analysis: &'a Analysis, charts: &Charts) -> Tops<'a> {
    let mut tops = Tops::new();
    for cell in &analysis.cells {
        for title in PANELS {
            let top = tops.entry((cell.workload.as_str(), title)).or_insert(0.0);
            let seen = panels(charts, cell, title).into_iter().flat_map(|(_, panel)| values(panel));
            *top = seen.fold(*top, f64::max);
        }
    }
    tops
}

/// Points of each line, as many as the page has room for.
fn points(analysis: &Analysis, charts: &Charts) -> usize {
    let drawn = analysis.cells.iter().flat_map(|c| PANELS.into_iter().flat_map(move |of| panels(charts, c, of)));
    let count: usize = drawn.map(|(_, panel)| lines(panel).count()).sum();
    (BYTES / POINT_BYTES / count.max(1)).clamp(FEWEST, POINTS)
}

impl Drawn<'_> {
    /// One panel of every configuration.
    fn row(&self, workload: &str, load: analysis::LoadLevel, title: &'static str) -> String {
        let Some(top) = self.tops.get(&(workload, title)) else { return String::new() };
        let cells = self.analysis.configurations.iter().filter_map(|c| self.analysis.cell(&c.name, workload, load));
        let mut shown: Option<&Panel> = None;
        let mut has_limit = false;
        let figures: String = cells
            .map(|cell| {
                let with_panel = panels(self.charts, cell, title);
                // The panel with most lines names them.
                shown = shown.into_iter().chain(with_panel.iter().map(|(_, p)| *p)).max_by_key(|p| p.lines.len());
                has_limit |= with_panel.iter().any(|(_, p)| !p.limits.is_empty());
                self.figure(cell, &with_panel, *top)
            })
            .collect();
        let Some(shown) = shown else { return String::new() };
        let names = named(lines(shown));
        let limit = if has_limit { "<li><i class=\"k lim\"></i>limit" } else { "" };
        format!(
            "<h4>{}{}</h4><ul class=\"legend\">{names}{limit}</ul>\n<div class=\"charts many\">\n{figures}</div>\n",
            escaped(title),
            when(!title.ends_with(&shown.unit), || format!(", {}", escaped(&shown.unit)))
        )
    }

    /// The repetitions of one configuration over each other.
    fn figure(&self, cell: &CellAnalysis, trials: &[(&TrialCharts, &Panel)], top: f64) -> String {
        let name = escaped(&cell.configuration);
        let Some((first, _)) = trials.first() else {
            let words = match (cell.trials, cell.trials_invalid.first()) {
                (0, _) => "not measured".to_owned(),
                (_, Some(invalid)) => format!("no valid trial: {}", escaped(&invalid.reason)),
                (_, None) => "not recorded".to_owned(),
            };
            return format!(
                "<figure><figcaption><b>{name}</b></figcaption><p class=\"empty hatch\">{words}</p></figure>\n"
            );
        };
        let tag = if first.valid { "" } else { " <span class=\"tag invalid\">invalid</span>" };
        let limits = trials.iter().flat_map(|(_, panel)| panel.limits.iter().map(|(_, limit)| *limit));
        // A limit far above everything would press the lines flat: it is named with each trial.
        let near: Vec<f64> = limits.filter(|limit| *limit <= top * 1.5).collect();
        let highest = near.iter().copied().fold(top, f64::max);
        time_chart::figure(&format!("<b>{name}</b>{tag}"), &name, trials, highest, near.first().copied(), self.points)
    }
}
