//! Draws each trial over time: small charts with the limit drawn in. Which charts and lines there are:
//! `analysis::panels`.

use std::thread::{self, ScopedJoinHandle, available_parallelism};

use analysis::{Analysis, Charts, Panel, TrialCharts, averaged};

use super::axis::{Scale, label, path};
use super::element::colour;
use super::time_chart::{FLOOR, HEIGHT, LEFT, RIGHT, TOP, WIDTH, fault_spans, grid, level, named, time};
use crate::document::html::{escaped, id};
use crate::figures::{several_of, when};

/// Bytes of all trials together, so that the page of a thousand trials stays below 10 MB.
const TRIALS_BYTES: f64 = 8.2e6;
/// Trials that are drawn on trial, to see how many bytes they take.
const SAMPLE: usize = 16;

/// How many neighbouring points of a line are averaged into one: as few as the page has room for.
fn group(charts: &Charts) -> usize {
    let every = charts.trials.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&TrialCharts> = charts.trials.iter().step_by(every).collect();
    let fits = |group: &usize| {
        let bytes: usize = sample.iter().map(|t| of_trial(t, 0, *group).len()).sum();
        bytes as f64 / sample.len() as f64 * charts.trials.len() as f64 <= TRIALS_BYTES
    };
    (1..16).find(fits).unwrap_or(16)
}

/// All trials, grouped by cell, each folded.
pub fn each_trial(analysis: &Analysis, charts: &Charts) -> String {
    if charts.trials.is_empty() {
        return "<p>No trial has been measured.</p>\n".to_owned();
    }
    let group = group(charts);
    let mut out = String::from(
        "<p class=\"soft\">Time runs from the start of measurement; grey is warm-up, the dotted line is where the \
         steady window begins, dashed lines are limits in force. Seconds below, the unit beside each title.</p>\n",
    );
    if group > 1 {
        out.push_str(&format!(
            "<p class=\"soft\">So many trials: each point is the mean of {group} neighbours; all samples are in the \
             trials' Parquet files.</p>\n"
        ));
    }
    let of_cells = analysis.cells.iter().flat_map(|cell| of_cell(charts, &cell.id));
    let mut drawn = drawn(&of_cells.collect::<Vec<_>>(), group).into_iter();
    for cell in &analysis.cells {
        let drawn: Vec<String> = drawn.by_ref().take(of_cell(charts, &cell.id).count()).collect();
        if !drawn.is_empty() {
            out.push_str(&format!("<h3 id=\"{}\">{}</h3>\n", id(&["time", &cell.id]), escaped(&cell.id)));
            out.extend(drawn);
        }
    }
    out
}

fn of_cell<'a>(charts: &'a Charts, cell: &'a str) -> impl Iterator<Item = &'a TrialCharts> {
    charts.trials.iter().filter(move |trial| trial.cell == cell)
}

/// Trials in their order, drawn on all CPUs: those of a thousand take longer than all else that a page has.
fn drawn(trials: &[&TrialCharts], group: usize) -> Vec<String> {
    let part = trials.len().div_ceil(available_parallelism().map_or(1, usize::from)).max(1);
    thread::scope(|scope| {
        let threads: Vec<ScopedJoinHandle<'_, Vec<String>>> = trials
            .chunks(part)
            .zip((1..).step_by(part))
            .map(|(trials, first)| {
                scope.spawn(move || {
                    trials.iter().zip(first..).map(|(trial, number)| of_trial(trial, number, group)).collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("drawing a trial does not panic")).collect()
    })
}

/// `number` is the trial's place on the page.
fn of_trial(trial: &TrialCharts, number: usize, group: usize) -> String {
    let block = trial.block.to_string();
    let done = trial.background.iter();
    let background: Vec<String> = done.map(|b| several_of(b.times.round() as u64, b.one, b.several)).collect();
    let mut out = format!(
        "<details id=\"{}\"><summary>Block {block}{}{}</summary>\n<p class=\"soft\">Evidence: \
         <code>trials/{}/{block}/</code></p>\n<div class=\"charts\">\n",
        id(&["trial", &trial.cell, &block]),
        if trial.valid { "" } else { " <span class=\"tag invalid\">invalid</span>" },
        when(!background.is_empty(), || format!(": {}", background.join(", "))),
        escaped(&trial.cell)
    );
    // The axis of time is the same in all panels of a trial: drawn in the first, referred to by the others.
    for (i, panel) in trial.panels.iter().enumerate() {
        let time = if i == 0 {
            format!("<g id=\"x{number}\">{}</g>", time_axis(trial))
        } else {
            format!("<use href=\"#x{number}\"/>")
        };
        out.push_str(&chart(trial, panel, &time, group));
    }
    out.push_str("</div>\n</details>\n");
    out
}

fn time_scale(trial: &TrialCharts) -> Scale {
    Scale::linear(-trial.warmup_s, trial.measured_s, LEFT, RIGHT)
}

/// Seconds, the warm-up in grey, what was done to a node, and where the steady window begins.
fn time_axis(trial: &TrialCharts) -> String {
    let x = time_scale(trial);
    let steady = when(trial.steady_from_s > 0.0, || {
        format!("<path class=\"steady\" d=\"M{:.0} {TOP}V{FLOOR:.0}\"/>", x.at(trial.steady_from_s))
    });
    time(&x) + &fault_spans(trial, &x) + &steady
}

fn chart(trial: &TrialCharts, panel: &Panel, axis: &str, group: usize) -> String {
    let values = || panel.lines.iter().flat_map(|l| l.points.iter().filter_map(|(_, v)| *v));
    let highest = values().fold(0.0, f64::max);
    // A limit far above everything would press the lines flat: it is named instead of drawn.
    let drawn = |limit: f64| limit <= highest * 4.0;
    let top = panel.limits.iter().map(|(_, v)| *v).filter(|v| drawn(*v)).fold(highest, f64::max);
    let x = time_scale(trial);
    // Where nothing happened, an axis from 0 to 1 says so.
    let top = if top > 0.0 { top * 1.05 } else { 1.0 };
    let y = Scale::linear(0.0, top, FLOOR, TOP);
    let mut svg = axis.to_owned() + &grid(&y);
    let mut limits = Vec::new();
    for (name, limit) in &panel.limits {
        if drawn(*limit) {
            svg.push_str(&level("limit", y.at(*limit)));
            limits.push(format!("<i class=\"k lim\"></i>{} {}", escaped(name), label(*limit)));
        } else {
            limits.push(format!("{} {} is far above", escaped(name), label(*limit)));
        }
    }
    for (index, line) in panel.lines.iter().enumerate() {
        let points = averaged(&line.points, group).map(|(t, v)| v.map(|v| (x.at(t), y.at(v))));
        svg.push_str(&format!("<path class=\"l s{}\" d=\"{}\"/>", colour(index), path(points)));
    }
    let limits = limits.into_iter().map(|name| format!("<li>{name}"));
    let names = named(panel.lines.iter()) + &limits.collect::<String>();
    format!(
        "<figure><figcaption><b>{}</b>, {}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">{svg}</svg>\
         <ul class=\"legend\">{}</ul></figure>\n",
        escaped(&panel.title),
        escaped(&panel.unit),
        escaped(&panel.title),
        names
    )
}
