//! The decision matrix, and each metric by configuration as a heat map.

use analysis::{Analysis, Decision, Metric, Ranked, Status, Verdict};

use super::element::{Table, id, text};
use crate::figures::{MISSING, ms, number};
use crate::labels::{self, metric};

/// The matrix, the cautions, and the heat maps.
pub fn matrix(analysis: &Analysis) -> String {
    if crate::capacity::any(analysis) {
        return String::new();
    }
    if analysis.decision.is_empty() {
        return "<p>No cell has a valid trial: there is nothing to decide.</p>\n".to_owned();
    }
    let mut table = Table::new(
        "Best configuration by workload, load and metric",
        &[
            "Workload",
            "Load",
            "Metric",
            "Best by its estimate",
            "Statistically indistinguishable from it",
            "Cheapest of these",
            "Its value, geo. mean",
            "Unit",
        ],
        6,
    );
    for decision in &analysis.decision {
        let best = decision.ranking.first();
        let names = |names: &[String]| match names {
            [] => MISSING.to_owned(),
            names => text(&names.join(", ")),
        };
        table.row(&[
            text(&decision.workload),
            text(&labels::load(decision.load)),
            text(metric(decision.metric)),
            leading(analysis, &decision.best),
            names(&decision.indistinguishable),
            leading(analysis, &decision.cheapest_of_best),
            best.map_or_else(|| MISSING.to_owned(), |r| value(decision.metric, r)),
            format!("<td class=\"t\">{}</td>", unit(decision.metric)),
        ]);
    }
    let mut out = table.html();
    let cautions = crate::answer::cautions(analysis);
    if !cautions.is_empty() {
        let items: String = cautions.iter().map(|c| format!("<li>{}.</li>", text(c))).collect();
        out.push_str(&format!("<ul class=\"soft\">{items}</ul>\n"));
    }
    let shown = Metric::DECISIONS
        .into_iter()
        .filter(|m| analysis.decision.iter().any(|d| d.metric == *m));
    let maps: String = shown.map(|metric| heat_map(analysis, metric)).collect();
    out.push_str(&format!(
        "<ul class=\"legend\"><li><i class=\"sw best\"></i>best by its estimate<li><i class=\"sw near\"></i>within 12 %, \
         the same, or no difference shown<li><i class=\"sw far1\"></i>up to 1.5 times worse<li><i class=\"sw \
         far2\"></i>up to 4 times<li><i class=\"sw far3\"></i>more</ul>\n{maps}"
    ));
    out
}

/// A name, in bold where it is the one to run: nothing else may look like a winner.
fn leading(analysis: &Analysis, name: &str) -> String {
    match analysis.recommendation.run.as_deref() == Some(name) {
        true => format!("<b>{}</b>", text(name)),
        false => text(name),
    }
}

/// A value without its unit.
fn value(metric: Metric, ranked: &Ranked) -> String {
    match metric.is_latency() {
        true => ms(ranked.value),
        false => number(ranked.value),
    }
}

fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "operations/s",
        Metric::Runtime => "s",
        Metric::OperationsPerDollar => "operations/$",
        Metric::Mean | Metric::P50 | Metric::P95 | Metric::P99 | Metric::P999 => "ms",
    }
}

fn heat_map(analysis: &Analysis, name: Metric) -> String {
    let configurations: Vec<&str> = analysis.configurations.iter().map(|c| c.name.as_str()).collect();
    let head: Vec<&str> = ["Workload", "Load"]
        .into_iter()
        .chain(configurations.iter().copied())
        .collect();
    let of = if name.is_latency() {
        " of the worst operation kind"
    } else {
        ""
    };
    let label = format!("{}{of}, {}", metric(name), unit(name));
    let mut table = Table::new(&label, &head, 2).class("map");
    for decision in analysis.decision.iter().filter(|d| d.metric == name) {
        let mut cells = vec![text(&decision.workload), text(&labels::load(decision.load))];
        for configuration in &configurations {
            let ranked = decision.ranking.iter().find(|r| r.configuration == *configuration);
            cells.push(ranked.map_or_else(|| format!("<td>{MISSING}</td>"), |r| heat(analysis, decision, r)));
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

/// The value alone, so that it pastes as a number; factor and verdict as the colour and the title.
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
        (Verdict::NoDifferenceShown | Verdict::NotCarriedOver | Verdict::Same, _) => "near",
        (_, worse) if worse <= 1.12 => "near",
        (_, worse) if worse <= 1.5 => "far1",
        (_, worse) if worse <= 4.0 => "far2",
        _ => "far3",
    };
    let words = match ranked.verdict {
        Verdict::Reference => "best by its estimate",
        other => other.words(),
    };
    let kind = ranked
        .operation
        .map_or_else(String::new, |k| format!(", {}", labels::operation(k)));
    format!(
        "<td class=\"heat {class}\" title=\"{:.2} times the best, {words}{kind}\">{}</td>",
        ranked.to_best,
        text(&value(decision.metric, ranked))
    )
}
