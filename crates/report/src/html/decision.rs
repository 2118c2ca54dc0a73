//! The decision matrix as a heat map, and each metric by configuration.

use analysis::{Analysis, Decision, LoadLevel, Metric, Ranked, Status, Verdict};

use super::element::{Table, id, text};
use crate::labels::{self, metric, metric_value};

/// The matrix, the cautions, and the heat maps.
pub fn matrix(analysis: &Analysis) -> String {
    if analysis.decision.is_empty() {
        return "<p>No cell has a valid trial: there is nothing to decide.</p>\n".to_owned();
    }
    let shown: Vec<Metric> = Metric::DECISIONS
        .into_iter()
        .filter(|m| analysis.decision.iter().any(|d| d.metric == *m))
        .collect();
    let head: Vec<&str> = ["Workload", "Load"]
        .into_iter()
        .chain(shown.iter().map(|m| metric(*m)))
        .collect();
    let mut table = Table::new("Best configuration by workload, load and metric", &head, 7);
    for (workload, load) in rows(analysis) {
        let mut cells = vec![text(workload), text(&labels::load(load))];
        for metric in &shown {
            let decision = analysis
                .decision
                .iter()
                .find(|d| d.workload == workload && d.load == load && d.metric == *metric);
            cells.push(decision.map_or_else(|| "<td class=\"t\">-</td>".to_owned(), |d| best(analysis, d)));
        }
        table.row(&cells);
    }
    let mut out = table.html();
    let cautions = labels::cautions(analysis);
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

fn best(analysis: &Analysis, decision: &Decision) -> String {
    let value = decision.ranking.first().map_or(String::new(), |r| value(decision, r));
    let mut cell = format!(
        "<td class=\"t\">{}<small>{}</small>",
        leading(analysis, &decision.best),
        text(&value)
    );
    if !decision.indistinguishable.is_empty() {
        let others: Vec<String> = decision.indistinguishable.iter().map(|n| text(n)).collect();
        cell.push_str(&format!(
            "<small>statistically indistinguishable: {}</small>",
            others.join(", ")
        ));
    }
    if decision.cheapest_of_best != decision.best {
        cell.push_str(&format!(
            "<small>cheapest of these: {}</small>",
            leading(analysis, &decision.cheapest_of_best)
        ));
    }
    cell.push_str("</td>");
    cell
}

/// A name, in bold where it is the one to run: nothing else may look like a winner.
fn leading(analysis: &Analysis, name: &str) -> String {
    match analysis.recommendation.run.as_deref() == Some(name) {
        true => format!("<b>{}</b>", text(name)),
        false => text(name),
    }
}

/// A value with its unit; for latencies with the operation kind that is worst.
fn value(decision: &Decision, ranked: &Ranked) -> String {
    let kind = ranked
        .operation
        .map_or_else(String::new, |k| format!(" ({})", labels::operation(k)));
    format!("{}{kind}", metric_value(decision.metric, ranked.value))
}

fn heat_map(analysis: &Analysis, name: Metric) -> String {
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
            cells.push(ranked.map_or_else(|| "<td>-</td>".to_owned(), |r| heat(analysis, decision, r)));
        }
        table.row_with(
            &format!(
                " id=\"{}\"",
                id(&["map", name.name(), &decision.workload, &labels::load(decision.load)])
            ),
            &cells,
        );
    }
    let open = if name == Metric::Throughput { " open" } else { "" };
    format!(
        "<details{open}><summary>{} of every configuration</summary>\n{}</details>\n",
        text(metric(name)),
        table.html()
    )
}

fn heat(analysis: &Analysis, decision: &Decision, ranked: &Ranked) -> String {
    // How much worse than the best, whichever direction is better.
    let worse = if ranked.to_best >= 1.0 {
        ranked.to_best
    } else {
        1.0 / ranked.to_best.max(1e-9)
    };
    let class = match (ranked.verdict, worse) {
        // Green says "take this".
        (Verdict::Reference, _) if analysis.recommendation.status == Status::NoAnswerYet => "near",
        (Verdict::Reference, _) => "best",
        (Verdict::NoDifferenceShown | Verdict::Same, _) => "near",
        (_, worse) if worse <= 1.12 => "near",
        (_, worse) if worse <= 1.5 => "far1",
        (_, worse) if worse <= 4.0 => "far2",
        _ => "far3",
    };
    let words = match ranked.verdict {
        Verdict::Reference => "best by its estimate",
        other => other.words(),
    };
    format!(
        "<td class=\"heat {class}\">{}<small>{:.2}x, {words}</small></td>",
        text(&value(decision, ranked)),
        ranked.to_best
    )
}
