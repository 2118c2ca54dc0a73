//! The decision matrix, and each metric by configuration as a heat map.

use analysis::{Analysis, Decision, Metric, Ranked, Status, Verdict};

use crate::answer::cautions;
use crate::capacity::any;
use crate::document::html::id;
use crate::document::section::Section;
use crate::document::table::{Cell, Form, Rows, column, rows};
use crate::document::text::{Text, strong};
use crate::figures::{ms, number};
use crate::labels::{self, metric};

/// Empty where the question is what each carries.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("decision", "Decision").mostly(Form::ROOMY);
    if any(analysis) {
        return section;
    }
    if analysis.decision.is_empty() {
        let nothing = "No cell has a valid trial: there is nothing to decide.";
        return section.paragraph(nothing);
    }
    let table = rows("", &analysis.decision)
        .text(column("Workload").varies(), |d| d.workload.clone())
        .text(column("Load").varies(), |d| labels::load(d.load))
        .text("Metric", |d| metric(d.metric))
        .text("Best by its estimate", |d| leading(analysis, &d.best))
        .text("Statistically indistinguishable from it", |d| match d.indistinguishable.as_slice() {
            [] => None,
            names => Some(names.join(", ")),
        })
        .text("Cheapest of these", |d| leading(analysis, &d.cheapest_of_best))
        .number("Its value, geo. mean", |d| d.ranking.first().map(|r| value(d.metric, r)))
        .text("Unit", |d| {
            let kind = d.ranking.first().and_then(|best| best.operation);
            let kind = kind.map_or_else(String::new, |kind| format!(" ({})", labels::operation(kind)));
            format!("{}{kind}", unit(analysis, d.metric))
        });
    let section = section
        .table(table)
        .list(cautions(analysis).into_iter().map(|caution| format!("{caution}.")))
        .drawn(move || LEGEND.to_owned());
    let shown = Metric::DECISIONS.into_iter().filter(|m| analysis.decision.iter().any(|d| d.metric == *m));
    shown.fold(section, |section, of| {
        let summary = format!("{} of every configuration", metric(of));
        section.table(heat_map(analysis, of)).folded(summary, false).on(Form::PAGE)
    })
}

/// Of the heat maps.
const LEGEND: &str = "<ul class=\"legend\"><li><i class=\"sw best\"></i>best by its estimate<li><i class=\"sw \
                      near\"></i>within 12 %, the same, or no difference shown<li><i class=\"sw far1\"></i>up to 1.5 \
                      times worse<li><i class=\"sw far2\"></i>up to 4 times<li><i class=\"sw far3\"></i>more</ul>\n";

/// A name, in bold where it is the one to run: nothing else may look like a winner.
fn leading(analysis: &Analysis, name: &str) -> Text {
    if analysis.recommendation.run.as_deref() == Some(name) { strong(name) } else { name.into() }
}

/// A value without its unit.
fn value(metric: Metric, ranked: &Ranked) -> String {
    if metric.is_latency() { ms(ranked.value) } else { number(ranked.value) }
}

/// Of a 1:N model throughput is the model's, and what a dollar buys that of full scale.
fn unit(analysis: &Analysis, metric: Metric) -> String {
    match metric {
        Metric::Throughput => format!("operations/s{}", labels::in_model(analysis.scale)),
        Metric::Runtime => "s".to_owned(),
        Metric::OperationsPerDollar => format!("operations/${}", labels::at_full_scale(analysis)),
        Metric::Mean | Metric::P50 | Metric::P95 | Metric::P99 | Metric::P999 => "ms".to_owned(),
    }
}

fn heat_map(analysis: &Analysis, of: Metric) -> Rows<&Decision> {
    let worst = if of.is_latency() { " of the worst operation kind" } else { "" };
    let label = format!("{}{worst}, {}", metric(of), unit(analysis, of));
    let map = rows(label, analysis.decision.iter().filter(|d| d.metric == of))
        .class("map")
        .anchor(|d| id(&["map", of.name(), &d.workload, &labels::load(d.load)]))
        .text("Workload", |d| d.workload.clone())
        .text("Load", |d| labels::load(d.load));
    analysis.configurations.iter().fold(map, |map, c| {
        map.number(&*c.name, |d| {
            let ranked = d.ranking.iter().find(|r| r.configuration == c.name);
            ranked.map(|ranked| heat(analysis, d, ranked))
        })
    })
}

/// The value alone, so that it pastes as a number; factor and verdict as the colour and the hint.
fn heat(analysis: &Analysis, decision: &Decision, ranked: &Ranked) -> Cell {
    // How much worse than the best, whichever direction is better.
    let worse = if ranked.to_best >= 1.0 { ranked.to_best } else { 1.0 / ranked.to_best.max(1e-9) };
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
    let kind = ranked.operation.map_or_else(String::new, |k| format!(", {}", labels::operation(k)));
    let hint = format!("{:.2} times the best, {words}{kind}", ranked.to_best);
    Cell::styled(value(decision.metric, ranked), format!("heat {class}"), hint)
}
