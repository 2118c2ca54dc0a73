//! What the money buys: every step up from the cheapest, and cost against throughput with its efficient frontier.

use analysis::{Analysis, CellAnalysis, Status, ValueVerdict};

use super::axis::{Scale, label};
use super::element::{Table, colour, short, text};
use crate::answer::step_reason;
use crate::figures::{MISSING, given, number};
use crate::labels;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 48.0;
const BOTTOM: f64 = 34.0;

/// The whole section.
pub fn money(analysis: &Analysis) -> String {
    if analysis.value_of_money.is_empty() {
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
        return match missing.is_empty() {
            true => "<p>Nothing to compare: fewer than two configurations have a price and a figure.</p>\n".to_owned(),
            false => format!(
                "<p>Not computed, because prices are missing; a missing price never counts as zero.</p><ul>{missing}</ul>\n"
            ),
        };
    }
    let mut table = Table::new(
        "What each more expensive configuration gives for its price",
        &[
            "Workload",
            "Load",
            "Step",
            "Verdict",
            "Extra $/month",
            "Cost",
            "Throughput (interval)",
            "Throughput / cost",
            "p99",
            "$/month per extra op/s",
        ],
        4,
    );
    for v in &analysis.value_of_money {
        let is_answered = analysis.recommendation.status != Status::NoAnswerYet;
        let class = match (v.withheld, v.verdict) {
            // Green says "take this".
            (None, ValueVerdict::WorthIt) if !is_answered => "near",
            (None, ValueVerdict::WorthIt) => "best",
            (None, ValueVerdict::NotWorthIt | ValueVerdict::Dominated) => "far",
            _ => "near",
        };
        // The columns tell the rest.
        let (verdict, why) = match (v.withheld, v.verdict) {
            (Some(_), _) => ("withheld", Some(step_reason(analysis, v))),
            (None, ValueVerdict::NotDecided) => (v.verdict.words(), Some(step_reason(analysis, v))),
            (None, verdict) => (verdict.words(), None),
        };
        let why = why.map_or_else(String::new, |why| format!("<small>{}.</small>", text(&why)));
        let knee = if v.knee { " <span class=\"tag\">knee</span>" } else { "" };
        table.row(&[
            text(&v.workload),
            text(&labels::load(v.load)),
            format!("{} &rarr; {}", text(&v.from), text(&v.to)),
            format!("<td class=\"t heat {class}\">{verdict}{knee}{why}</td>"),
            labels::usd(v.extra_usd_per_month),
            format!("{}x", number(v.cost_ratio)),
            labels::ratio(Some(&v.throughput_ratio)),
            labels::range(v.value_ratio),
            v.p99_ratio
                .map_or_else(|| MISSING.to_owned(), |r| format!("{}x", number(r))),
            v.usd_per_extra_op_per_s.map_or_else(|| MISSING.to_owned(), labels::usd),
        ]);
    }
    format!(
        "{}<p class=\"soft\">Basis: {}; at full scale. {} Throughput ratios pair trials of the same block.</p>\n{}",
        table.html(),
        text(&labels::basis(&analysis.basis)),
        text(labels::VALUE_WORDS),
        scatters(analysis)
    )
}

fn scatters(analysis: &Analysis) -> String {
    let mut out = String::new();
    for workload in &analysis.workloads {
        let mut levels = Vec::new();
        for cell in analysis.cells.iter().filter(|c| c.workload == workload.name) {
            if !levels.contains(&cell.load) {
                levels.push(cell.load);
            }
        }
        for level in levels {
            let cells: Vec<&CellAnalysis> = analysis
                .cells
                .iter()
                .filter(|c| c.workload == workload.name && c.load == level)
                .filter(|c| c.usd_per_month.is_some() && c.throughput_ops_per_s.is_some())
                .collect();
            if cells.len() > 1 {
                out.push_str(&scatter(
                    analysis,
                    &format!("{}, {}", workload.name, labels::load(level)),
                    &cells,
                ));
            }
        }
    }
    if out.is_empty() {
        return out;
    }
    let model = if analysis.scale == 1.0 {
        String::new()
    } else {
        format!(" on the 1:{} model, cost at full scale", given(analysis.scale))
    };
    format!(
        "<h3>Cost against throughput</h3><p class=\"soft\">The line joins the efficient configurations: nothing cheaper is faster. Bars: 95 % interval. Throughput as measured{model}.</p><div class=\"charts\">\n{out}</div>\n"
    )
}

fn scatter(analysis: &Analysis, title: &str, cells: &[&CellAnalysis]) -> String {
    let mut points: Vec<(f64, f64, &CellAnalysis)> = cells
        .iter()
        .filter_map(|c| Some((c.usd_per_month?, c.throughput_ops_per_s?.median, *c)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let dearest = points.iter().map(|p| p.0).fold(0.0, f64::max);
    let fastest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let x = Scale::linear(0.0, dearest * 1.15, LEFT, WIDTH - 8.0);
    let y = Scale::linear(0.0, fastest * 1.12, HEIGHT - BOTTOM, 8.0);
    let mut svg = String::new();
    for tick in y.ticks(4) {
        let at = y.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.0}H{:.0}\"/><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            WIDTH - 8.0,
            LEFT - 4.0,
            at + 3.0,
            label(tick)
        ));
    }
    for tick in x.ticks(4) {
        svg.push_str(&format!(
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">${}</text>",
            x.at(tick),
            HEIGHT - BOTTOM + 13.0,
            label(tick)
        ));
    }
    svg.push_str(&format!(
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">$ a month</text>",
        WIDTH - 8.0,
        HEIGHT - 4.0
    ));
    let mut frontier = String::new();
    let mut best = f64::NEG_INFINITY;
    for (usd, ops, _) in &points {
        if *ops > best {
            best = *ops;
            frontier.push_str(&format!(
                "{}{:.0} {:.0}",
                if frontier.is_empty() { "M" } else { "L" },
                x.at(*usd),
                y.at(*ops)
            ));
        }
    }
    svg.push_str(&format!("<path class=\"limit\" d=\"{frontier}\"/>"));
    for (usd, ops, cell) in &points {
        let index = analysis
            .configurations
            .iter()
            .position(|c| c.name == cell.configuration)
            .unwrap_or(0);
        let (px, py) = (x.at(*usd), y.at(*ops));
        let end = px > WIDTH * 0.65;
        if let Some(t) = cell.throughput_ops_per_s.filter(|t| t.low < t.high) {
            svg.push_str(&format!(
                "<path class=\"axis\" d=\"M{px:.0} {:.0}V{:.0}\"/>",
                y.at(t.low.max(0.0)),
                y.at(t.high.min(fastest * 1.12))
            ));
        }
        svg.push_str(&format!(
            "<circle class=\"f{}\" cx=\"{px:.0}\" cy=\"{py:.0}\" r=\"5\"><title>{}: {} a month, {} operations/s</title></circle><text class=\"ink\" x=\"{:.0}\" y=\"{:.0}\"{}>{}</text>",
            colour(index),
            text(&cell.configuration),
            labels::usd(*usd),
            labels::estimate(cell.throughput_ops_per_s),
            if end { px - 7.0 } else { px + 7.0 },
            py - 6.0,
            if end { " text-anchor=\"end\"" } else { "" },
            short(&cell.configuration, 28)
        ));
    }
    format!(
        "<figure><figcaption><b>{}</b>, operations/s</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Cost against throughput\">{svg}</svg></figure>\n",
        text(title)
    )
}
