//! The decision matrix as a heat map, and each metric by configuration.

use analysis::{Analysis, Decision, LoadLevel, Ranked, Verdict};

use super::element::{Table, id, text};
use crate::labels::{self, metric, metric_value};

const METRICS: [&str; 5] = ["throughput", "runtime", "mean", "p99", "operations_per_dollar"];

/// The matrix, the cautions, and the heat maps.
pub fn matrix(analysis: &Analysis) -> String {
    if analysis.decision.is_empty() {
        return "<p>No cell has a valid trial: there is nothing to decide.</p>\n".to_owned();
    }
    let shown: Vec<&str> = METRICS
        .into_iter()
        .filter(|m| analysis.decision.iter().any(|d| d.metric == *m))
        .collect();
    let head: Vec<String> = ["Workload".to_owned(), "Load".to_owned()]
        .into_iter()
        .chain(shown.iter().map(|m| metric(m)))
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new("Best configuration by workload, load and metric", &head, 7);
    for (workload, load) in rows(analysis) {
        let mut cells = vec![text(workload), text(&labels::load(load))];
        for metric in &shown {
            let decision = analysis
                .decision
                .iter()
                .find(|d| d.workload == workload && d.load == load && d.metric == *metric);
            cells.push(decision.map_or_else(|| "<td class=\"t\">-</td>".to_owned(), best));
        }
        table.row(&cells);
    }
    let mut out = table.html();
    let mut cautions: Vec<String> = analysis
        .decision
        .iter()
        .filter_map(|d| Some(format!("{}: {}", metric(&d.metric), d.caution.as_ref()?)))
        .collect();
    cautions.sort();
    cautions.dedup();
    if !cautions.is_empty() {
        let items: String = cautions.iter().map(|c| format!("<li>{}.</li>", text(c))).collect();
        out.push_str(&format!("<ul class=\"soft\">{items}</ul>\n"));
    }
    for metric in shown {
        out.push_str(&heat_map(analysis, metric));
    }
    out
}

fn rows(analysis: &Analysis) -> Vec<(&str, LoadLevel)> {
    let mut rows = Vec::new();
    for d in &analysis.decision {
        if !rows.contains(&(d.workload.as_str(), d.load)) {
            rows.push((d.workload.as_str(), d.load));
        }
    }
    rows
}

fn best(decision: &Decision) -> String {
    let value = decision
        .ranking
        .first()
        .map_or(String::new(), |r| metric_value(&decision.metric, r.value));
    let mut cell = format!(
        "<td class=\"t\"><b>{}</b><small>{}</small>",
        text(&decision.best),
        text(&value)
    );
    if !decision.indistinguishable.is_empty() {
        let others: Vec<String> = decision.indistinguishable.iter().map(|n| text(n)).collect();
        cell.push_str(&format!("<small>not told apart: {}</small>", others.join(", ")));
    }
    if decision.cheapest_of_best != decision.best {
        cell.push_str(&format!(
            "<small>cheapest of these: <b>{}</b></small>",
            text(&decision.cheapest_of_best)
        ));
    }
    cell.push_str("</td>");
    cell
}

fn heat_map(analysis: &Analysis, name: &str) -> String {
    let configurations: Vec<&str> = analysis.configurations.iter().map(|c| c.name.as_str()).collect();
    let head: Vec<&str> = ["Workload", "Load"]
        .into_iter()
        .chain(configurations.iter().copied())
        .collect();
    let mut table = Table::new(
        &format!(
            "{} by configuration; below each value: its factor to the best of the row, and whether the difference is shown",
            metric(name)
        ),
        &head,
        2,
    );
    for decision in analysis.decision.iter().filter(|d| d.metric == name) {
        let mut cells = vec![text(&decision.workload), text(&labels::load(decision.load))];
        for configuration in &configurations {
            let ranked = decision.ranking.iter().find(|r| r.configuration == *configuration);
            cells.push(ranked.map_or_else(|| "<td>-</td>".to_owned(), |r| heat(name, r)));
        }
        table.row_with(
            &format!(
                " id=\"{}\"",
                id(&["map", name, &decision.workload, &labels::load(decision.load)])
            ),
            &cells,
        );
    }
    let open = if name == "throughput" { " open" } else { "" };
    format!(
        "<details{open}><summary>{} of every configuration</summary>\n{}</details>\n",
        text(&metric(name)),
        table.html()
    )
}

fn heat(metric: &str, ranked: &Ranked) -> String {
    // How much worse than the best, whichever direction is better.
    let worse = if ranked.to_best >= 1.0 {
        ranked.to_best
    } else {
        1.0 / ranked.to_best.max(1e-9)
    };
    let class = match (ranked.verdict, worse) {
        (Verdict::Reference, _) => "best",
        (Verdict::NoDifferenceShown, _) => "near",
        (_, worse) if worse <= 1.12 => "near",
        (_, worse) if worse <= 1.5 => "far1",
        (_, worse) if worse <= 4.0 => "far2",
        _ => "far3",
    };
    let words = match ranked.verdict {
        Verdict::Reference => "best",
        Verdict::NotComparable => "not tested",
        other => other.words(),
    };
    format!(
        "<td class=\"heat {class}\">{}<small>{:.2}x, {words}</small></td>",
        text(&metric_value(metric, ranked.value)),
        ranked.to_best
    )
}
