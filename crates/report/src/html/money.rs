//! What the money buys: cost against performance with its frontier, then every step up from the cheapest.

use analysis::{Analysis, BoundIs, LoadLevel, Status, ValueOfMoney, ValueVerdict};

use super::element::{Table, text};
use super::frontier::frontiers;
use crate::answer::step_reason;
use crate::figures::{MISSING, number};
use crate::labels;

/// The whole section.
pub fn money(analysis: &Analysis) -> String {
    if crate::capacity::any(analysis) {
        return String::new();
    }
    if analysis.value_of_money.is_empty() {
        return format!("{}{}", frontiers(analysis), missing(analysis));
    }
    format!(
        "{}<h3>Step by step</h3>\n{}{}<p class=\"soft\">Basis: {}; at full scale. {} Throughput ratios pair trials of the same \
         block; low and high are the ends of their intervals.</p>\n",
        frontiers(analysis),
        steps(analysis),
        reasons(analysis),
        text(&labels::basis(analysis)),
        text(labels::VALUE_WORDS),
    )
}

fn missing(analysis: &Analysis) -> String {
    let missing: String = analysis
        .configurations
        .iter()
        .filter_map(|c| {
            Some(format!(
                "<li>{}: {}</li>",
                text(&c.name),
                text(c.cost_missing.as_ref()?)
            ))
        })
        .collect();
    match missing.is_empty() {
        true if analysis.cells.iter().all(|c| matches!(c.load, LoadLevel::Rate { .. })) => {
            "<p>Steps of money are judged by throughput, and at a given rate every configuration that holds it has the \
             same: what is good enough says the objective.</p>\n"
                .to_owned()
        }
        true if analysis.cells.iter().any(analysis::CellAnalysis::has_lost_writes) => {
            "<p>Nothing to compare: fewer than two configurations have a price and a figure and kept their acknowledged \
             writes.</p>\n"
                .to_owned()
        }
        true => "<p>Nothing to compare: fewer than two configurations have a price and a figure.</p>\n".to_owned(),
        false => format!(
            "<p>Not computed, because prices are missing; a missing price never counts as zero.</p><ul>{missing}</ul>\n"
        ),
    }
}

/// One row a step; workload and load stand in it where there are several.
fn steps(analysis: &Analysis) -> String {
    let all = &analysis.value_of_money;
    let has_workloads = all.iter().any(|v| v.workload != all[0].workload);
    let has_loads = all.iter().any(|v| v.load != all[0].load);
    let mut head = Vec::new();
    head.extend((has_workloads || has_loads).then_some("Workload, load"));
    head.extend(["From", "To", "Verdict"]);
    let left = head.len();
    head.extend([
        "$/month more",
        "Cost, x",
        "Op/s, x",
        "low",
        "high",
        "Op/$, x",
        "low",
        "high",
        "p99, x",
        "$/month per op/s",
    ]);
    let mut place = Vec::new();
    place.extend((!has_workloads).then(|| all[0].workload.clone()));
    place.extend((!has_loads).then(|| labels::load(all[0].load)));
    let place = match place.is_empty() {
        true => String::new(),
        false => format!(" ({})", place.join(", ")),
    };
    let label = format!(
        "What each more expensive configuration gives for its price{place}: factors in throughput (op/s) and in throughput / cost (op/$) with their intervals"
    );
    let mut table = Table::new(&label, &head, left).class("money");
    for step in all {
        let mut row = Vec::new();
        let mut places = Vec::new();
        places.extend(has_workloads.then(|| text(&step.workload)));
        places.extend(has_loads.then(|| text(&labels::load(step.load))));
        row.extend((!places.is_empty()).then(|| places.join(", ")));
        row.extend([text(&step.from), text(&step.to), verdict(analysis, step)]);
        let interval = |low: f64, high: f64| match low < high {
            true => [number(low), number(high)],
            false => [MISSING.to_owned(), MISSING.to_owned()],
        };
        let (throughput, value) = (&step.throughput_ratio, step.value_ratio);
        row.extend([amount(step.extra_usd_per_month), number(step.cost_ratio)]);
        row.push(number(throughput.median));
        row.extend(interval(throughput.low, throughput.high));
        row.push(number(value.median));
        row.extend(interval(value.low, value.high));
        row.push(step.p99_ratio.map_or_else(|| MISSING.to_owned(), number));
        row.push(step.usd_per_extra_op_per_s.map_or_else(|| MISSING.to_owned(), amount));
        table.row(&row);
    }
    table.html()
}

/// Dollars without their sign, which stands in the head.
fn amount(usd: f64) -> String {
    labels::usd(usd).replace('$', "")
}

fn verdict(analysis: &Analysis, step: &ValueOfMoney) -> String {
    let class = match (step.withheld, step.verdict) {
        // Green says "take this".
        (None, ValueVerdict::WorthIt) if analysis.recommendation.status != Status::NoAnswerYet => "best",
        (None, ValueVerdict::NotWorthIt | ValueVerdict::Dominated) => "far",
        _ => "near",
    };
    let words = match step.withheld {
        Some(_) => "withheld",
        None => labels::verdict_words(step),
    };
    let knee = if step.knee {
        " <span class=\"tag\">knee</span>"
    } else {
        ""
    };
    let bound = match labels::bound(&step.throughput_ratio).filter(|_| step.withheld.is_none()) {
        Some(BoundIs::AtLeast) => " <span class=\"tag\">at least</span>",
        Some(BoundIs::AtMost) => " <span class=\"tag\">at most</span>",
        Some(BoundIs::Nothing) => " <span class=\"tag\">not carried over</span>",
        None => "",
    };
    format!("<td class=\"t heat {class}\">{words}{knee}{bound}</td>")
}

/// Why a step is withheld or not decided; of the others the columns tell all.
fn reasons(analysis: &Analysis) -> String {
    let open = |s: &&ValueOfMoney| s.withheld.is_some() || s.verdict == ValueVerdict::NotDecided;
    let items: String = analysis
        .value_of_money
        .iter()
        .filter(open)
        .map(|step| format!("<li>{}.</li>\n", text(&step_reason(analysis, step))))
        .collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul>\n{items}</ul>\n"),
    }
}
