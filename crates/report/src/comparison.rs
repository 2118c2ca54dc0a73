//! Two runs against each other, as Markdown: a table that fits a pull-request comment and reads well in a terminal.

use analysis::{Change, Comparison, GateCell, GateOutcome, GateResult, Metric, Obstacle, Verdict};

use crate::figures::{MISSING, ms, number, several_of};
use crate::labels;
use crate::table::table;

/// Longest list of differing settings that is shown; the JSON document has all.
const DIFFERENCES_SHOWN: usize = 12;
/// Differing host facts that a gate names; the list of differences has all.
const FACTS_SHOWN: usize = 3;
/// Metrics with a table.
const SHOWN: [Metric; 3] = [Metric::Throughput, Metric::Mean, Metric::P99];

/// The whole comparison.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {} against {}\n\n", comparison.b, comparison.a);
    for result in &comparison.gates {
        gate(result, &mut text);
    }
    if !comparison.gates.is_empty() {
        text.push('\n');
    }
    for metric in SHOWN {
        let rows: Vec<Vec<String>> = comparison
            .cells
            .iter()
            .filter_map(|cell| Some(row(cell, metric, cell.metrics.get(&metric)?)))
            .collect();
        if !rows.is_empty() {
            let unit = if metric == Metric::Throughput { "op/s" } else { "ms" };
            let (a, b) = (format!("A, {unit}"), format!("B, {unit}"));
            let head = [
                "Configuration",
                "Workload",
                "Load",
                &a,
                &b,
                "Change",
                "Interval",
                "Shown",
            ];
            let table = table(&head, 3, rows.into_iter());
            text.push_str(&format!("**{}**\n\n{table}\n", labels::metric(metric)));
        }
    }
    text.push_str(
        "A is the first run, B the second. Change: ratio of geometric means over repetitions, the spread within \
        cells pooled over both runs. \
         Intervals are adjusted for all cells of a metric (Holm), at the level of what is shown. Latencies are \
         those of the worst operation kind.\n",
    );
    list(&mut text, "Not compared", &comparison.not_compared);
    list(&mut text, "What else differs between the runs", &comparison.differences);
    text
}

/// A gate: how it ended, each cell that did not pass, and what keeps it from deciding.
fn gate(result: &GateResult, text: &mut String) {
    let outcome = match result.outcome {
        GateOutcome::Passed => "passed",
        GateOutcome::Failed => "FAILED",
        GateOutcome::Inconclusive => "INCONCLUSIVE",
    };
    text.push_str(&format!("* Gate `{}`: **{outcome}**\n", result.expression));
    for cell in &result.cells {
        text.push_str(&format!("  * {}\n", gate_cell(cell)));
    }
    for obstacle in &result.obstacles {
        text.push_str(&format!("  * {}\n", obstacle_words(obstacle)));
    }
    if let Some(repetitions) = result.would_decide_repetitions {
        text.push_str(&format!(
            "  * about {repetitions} repetitions of each cell in both runs would decide, if what was seen is the \
            truth\n"
        ));
    } else if result.outcome == GateOutcome::Inconclusive && result.obstacles.is_empty() {
        text.push_str("  * no affordable number of repetitions would decide: the change lies on the threshold\n");
    }
}

fn gate_cell(cell: &GateCell) -> String {
    let change = &cell.change;
    let seen = format!(
        "{}: {} {:+.1} %",
        cell.cell,
        labels::metric(cell.metric),
        change.change_percent
    );
    match (change.verdict, cell.outcome) {
        (Verdict::TooFew, _) => format!("{seen}: fewer than three valid repetitions, so that nothing can be tested"),
        (_, outcome) => {
            let interval = format!("{:+.1} to {:+.1} %", change.low_percent, change.high_percent);
            let words = match outcome {
                GateOutcome::Failed => "wholly beyond the threshold",
                _ => "the interval holds the threshold",
            };
            format!("{seen} ({interval}): {words}")
        }
    }
}

fn obstacle_words(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::NothingCompared => "the two runs have no valid cell in common that has this metric".to_owned(),
        Obstacle::CellsMissing { cells } => {
            let cells = several_of(*cells, "cell stands", "cells stand");
            format!("{cells} in one of the runs only, or without valid trials: see \"Not compared\"")
        }
        Obstacle::DifferentHosts { facts } => {
            let mut shown: Vec<String> = facts.iter().take(FACTS_SHOWN).cloned().collect();
            if facts.len() > FACTS_SHOWN {
                shown.push(format!("{} more", facts.len() - FACTS_SHOWN));
            }
            format!(
                "the runs were made on different hosts, whose difference is part of every change: {}",
                shown.join("; ")
            )
        }
    }
}

fn row(cell: &analysis::CellChange, metric: Metric, change: &Change) -> Vec<String> {
    let value = |v: f64| if metric == Metric::Throughput { number(v) } else { ms(v) };
    let shown = match (change.verdict, change.smallest_detectable_percent) {
        (Verdict::NoDifferenceShown, Some(least)) => format!("no difference ({least:.0} % would have been)"),
        (Verdict::TooFew | Verdict::NotComparable, _) => "not tested (too few repetitions)".to_owned(),
        (verdict, _) => verdict.words().to_owned(),
    };
    vec![
        cell.configuration.clone(),
        cell.workload.clone(),
        labels::load(cell.load),
        value(change.a.median),
        value(change.b.median),
        format!("{:+.1} %", change.change_percent),
        match change.p_value {
            Some(_) => format!("{:+.1} to {:+.1} %", change.low_percent, change.high_percent),
            None => MISSING.to_owned(),
        },
        shown,
    ]
}

fn list(text: &mut String, title: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}:\n\n"));
    for entry in entries.iter().take(DIFFERENCES_SHOWN) {
        text.push_str(&format!("* {entry}\n"));
    }
    if entries.len() > DIFFERENCES_SHOWN {
        text.push_str(&format!(
            "* and {} more (--format json)\n",
            entries.len() - DIFFERENCES_SHOWN
        ));
    }
}
