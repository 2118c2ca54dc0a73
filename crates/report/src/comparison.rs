//! Two runs against each other, as Markdown: a table that fits a pull-request comment and reads well in a terminal.

use analysis::{Change, Comparison, METRICS, Verdict};

use crate::figures::{MISSING, ms, number};
use crate::labels;
use crate::table::table;

/// Longest list of differing settings that is shown; the JSON document has all.
const DIFFERENCES_SHOWN: usize = 12;

/// The whole comparison.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {} against {}\n\n", comparison.b, comparison.a);
    for gate in &comparison.gates {
        let outcome = if gate.failed { "FAILED" } else { "passed" };
        text.push_str(&format!("* Gate `{}`: **{outcome}**\n", gate.expression));
        for reason in &gate.reasons {
            text.push_str(&format!("  * {reason}\n"));
        }
    }
    if !comparison.gates.is_empty() {
        text.push('\n');
    }
    for (metric, _) in METRICS
        .iter()
        .filter(|(m, _)| ["throughput", "mean", "p99"].contains(m))
    {
        let rows: Vec<Vec<String>> = comparison
            .cells
            .iter()
            .filter_map(|cell| Some(row(cell, metric, cell.metrics.get(*metric)?)))
            .collect();
        if !rows.is_empty() {
            let unit = if *metric == "throughput" { "op/s" } else { "ms" };
            let (a, b) = (format!("A, {unit}"), format!("B, {unit}"));
            let head = [
                "Configuration",
                "Workload",
                "Load",
                &a,
                &b,
                "Change",
                "95 % interval",
                "Shown",
            ];
            text.push_str(&format!("**{metric}**\n\n{}\n", table(&head, 3, rows.into_iter())));
        }
    }
    text.push_str(
        "A is the first run, B the second. Change: ratio of geometric means over repetitions, Welch's t test on logarithms; \"shown\" after \
         Holm over all cells of a metric. Latencies are those of the operation kind with the largest share.\n",
    );
    list(&mut text, "Not compared", &comparison.not_compared);
    list(&mut text, "What else differs between the runs", &comparison.differences);
    text
}

fn row(cell: &analysis::CellChange, metric: &str, change: &Change) -> Vec<String> {
    let value = |v: f64| if metric == "throughput" { number(v) } else { ms(v) };
    let shown = match (change.verdict, change.smallest_detectable_percent) {
        (Verdict::NoDifferenceShown, Some(least)) => format!("no difference ({least:.0} % would have been)"),
        (Verdict::NotComparable, _) => "not tested (one trial)".to_owned(),
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
