//! Each trial over time: small charts with the limit drawn in, so that the moment when memory fills and the disk wakes up is seen.

use analysis::{Analysis, Charts, Panel, TrialCharts};

use super::axis::{Scale, label, path};
use super::element::{colour, id, text};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 42.0;
const BOTTOM: f64 = 16.0;
const TOP: f64 = 6.0;
/// More trials than this: every line keeps half of its points, so that the page stays below 10 MB.
const MANY_TRIALS: usize = 200;

/// All trials, grouped by cell, each folded.
pub fn timelines(analysis: &Analysis, charts: &Charts) -> String {
    if charts.trials.is_empty() {
        return "<p>No trial has been measured.</p>\n".to_owned();
    }
    let step = if charts.trials.len() > MANY_TRIALS {
        2 + charts.trials.len() / 500
    } else {
        1
    };
    let mut out = String::from(
        "<p class=\"soft\">Time runs from the start of measurement; grey is warm-up, the dotted line is where the steady window begins, dashed lines are \
         limits in force.</p>\n",
    );
    for cell in &analysis.cells {
        let mut trials = charts.trials.iter().filter(|t| t.cell == cell.id).peekable();
        if trials.peek().is_none() {
            continue;
        }
        out.push_str(&format!(
            "<h3 id=\"{}\">{}</h3>\n",
            id(&["time", &cell.id]),
            text(&cell.id)
        ));
        for trial in trials {
            out.push_str(&of_trial(trial, step));
        }
    }
    out
}

fn of_trial(trial: &TrialCharts, step: usize) -> String {
    let block = trial.block.to_string();
    let mut out = format!(
        "<details id=\"{}\"><summary>Block {block}{}</summary>\n<div class=\"charts\">\n",
        id(&["trial", &trial.cell, &block]),
        if trial.valid {
            ""
        } else {
            " <span class=\"tag invalid\">invalid</span>"
        }
    );
    for panel in &trial.panels {
        out.push_str(&chart(trial, panel, step));
    }
    out.push_str("</div>\n</details>\n");
    out
}

fn chart(trial: &TrialCharts, panel: &Panel, step: usize) -> String {
    let values = || panel.lines.iter().flat_map(|l| l.points.iter().filter_map(|(_, v)| *v));
    let highest = values().fold(0.0, f64::max);
    // A limit far above everything would press the lines flat: it is named instead of drawn.
    let drawn = |limit: f64| limit <= highest * 4.0;
    let limits = panel
        .limits
        .iter()
        .map(|(_, v)| *v)
        .filter(|v| drawn(*v))
        .fold(0.0, f64::max);
    let x = Scale::linear(-trial.warmup_s, trial.measured_s, LEFT, WIDTH - 4.0);
    let y = Scale::linear(0.0, (highest.max(limits) * 1.05).max(1e-9), HEIGHT - BOTTOM, TOP);
    let mut svg = String::new();
    if trial.warmup_s > 0.0 {
        svg.push_str(&format!(
            "<rect class=\"warm\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.0}\" height=\"{:.0}\"/>",
            x.at(0.0) - LEFT,
            HEIGHT - BOTTOM - TOP
        ));
    }
    for tick in y.ticks(3) {
        let at = y.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.0}H{:.0}\"/><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            WIDTH - 4.0,
            LEFT - 4.0,
            at + 3.0,
            label(tick)
        ));
    }
    for tick in x.ticks(4) {
        let at = x.at(tick);
        svg.push_str(&format!(
            "<text x=\"{at:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 4.0,
            label(tick)
        ));
    }
    if trial.steady_from_s > 0.0 {
        let at = x.at(trial.steady_from_s);
        svg.push_str(&format!(
            "<path class=\"steady\" d=\"M{at:.0} {TOP}V{:.0}\"/>",
            HEIGHT - BOTTOM
        ));
    }
    let mut beyond = Vec::new();
    for (name, limit) in &panel.limits {
        if drawn(*limit) {
            let at = y.at(*limit);
            svg.push_str(&format!(
                "<path class=\"limit\" d=\"M{LEFT} {at:.0}H{:.0}\"><title>{}: {}</title></path>",
                WIDTH - 4.0,
                text(name),
                label(*limit)
            ));
        } else {
            beyond.push(format!("{} {} is far above", text(name), label(*limit)));
        }
    }
    for (index, line) in panel.lines.iter().enumerate() {
        let points = line
            .points
            .iter()
            .step_by(step)
            .map(|(t, v)| v.map(|v| (x.at(*t), y.at(v))));
        svg.push_str(&format!(
            "<path class=\"l s{}\" d=\"{}\"/>",
            colour(index),
            path(points)
        ));
    }
    let names: Vec<String> = panel
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            format!(
                "<svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><path class=\"l s{}\" d=\"M0 5h26\"/></svg>{}",
                colour(index),
                text(&line.name)
            )
        })
        .map(|item| format!("<li>{item}</li>"))
        .chain(beyond.into_iter().map(|b| format!("<li>{b}</li>")))
        .collect();
    format!(
        "<figure><figcaption><b>{}</b>, {}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} over time in seconds\">{svg}</svg>\
         <ul class=\"legend\">{}</ul></figure>\n",
        text(&panel.title),
        text(&panel.unit),
        text(&panel.title),
        names.concat()
    )
}
