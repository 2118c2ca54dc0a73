//! Cost against performance with its frontier: what the best is that a budget buys, under each workload and load.
//!
//! Performance is throughput or, where an objective was stated, the figure that decides. Each chart is drawn twice, for
//! a wide and for a narrow page; the style shows one of them.

mod axes;
mod draw;
mod read;

use analysis::Analysis;

use crate::document::html::escaped;
use crate::figures::{given, when};
use crate::labels;
use axes::{NARROW, WIDE};
use draw::draw;
use read::{Chart, Measure, charts};

/// Charts that are drawn large; of more, each takes half of the page.
const LARGE: usize = 2;

/// The chart of the first place that has two or more configurations with a price and a figure, and how to read all of
/// them; empty where there is none.
pub fn first(analysis: &Analysis) -> String {
    let charts = charts(analysis);
    charts.first().map_or_else(String::new, |chart| {
        let key = key(analysis, &charts);
        format!("{}<details><summary>How to read the picture</summary>\n{key}</details>\n", figure(chart, true))
    })
}

/// The charts of the places after the first.
pub fn others(analysis: &Analysis) -> String {
    let charts = charts(analysis);
    let charts = charts.get(1..).unwrap_or_default();
    let is_large = charts.len() <= LARGE;
    let figures: String = charts.iter().map(|chart| figure(chart, is_large)).collect();
    if is_large { figures } else { format!("<div class=\"charts two\">\n{figures}</div>\n") }
}

fn figure(chart: &Chart, is_large: bool) -> String {
    let narrow = draw(chart, &NARROW);
    let drawn = match is_large {
        true => {
            let wide = draw(chart, &WIDE);
            format!("{}{}", wide.svg("w-only"), narrow.svg("n-only"))
        }
        false => narrow.svg(""),
    };
    let unnamed: Vec<String> = narrow.unnamed.iter().map(|name| escaped(name)).collect();
    let mut below = String::new();
    if !unnamed.is_empty() {
        below.push_str(&format!(" Without a label for want of room: {}.", unnamed.join(", ")));
    }
    if !chart.missing.is_empty() {
        let missing: Vec<String> = chart.missing.iter().map(|m| escaped(m)).collect();
        below.push_str(&format!(" Not drawn: {}.", missing.join(", ")));
    }
    let below = if below.is_empty() { below } else { format!("<p class=\"soft\">{}</p>", below.trim_start()) };
    let estimated = when(chart.is_estimated, || ", estimated for full scale,".to_owned());
    format!(
        "<figure class=\"frontier\"><figcaption><b>{}</b>: {} against $ a month</figcaption>{drawn}{below}</figure>\n",
        escaped(&chart.title),
        escaped(&format!("{}{estimated}", chart.measure.title())),
    )
}

/// How to read the charts.
fn key(analysis: &Analysis, charts: &[Chart]) -> String {
    let model = when(analysis.scale != 1.0 && charts.iter().any(|c| c.measure == Measure::Throughput), || {
        let scale = given(analysis.scale);
        format!(" Throughput is what the 1:{scale} model did, times {scale}: an estimate for full scale, as cost is.")
    });
    let ray = charts.iter().any(|c| c.value_of.is_some());
    let ray = match ray {
        true => "<li><i class=\"k ray\"></i>as much throughput per dollar as the cheapest: above it a dollar buys more",
        false => "",
    };
    let bound = charts.iter().any(|c| c.measure.bound().is_some());
    let bound = if bound { "<li><i class=\"k bound\"></i>the objective" } else { "" };
    let (best, is_better) = match charts.iter().all(|c| c.measure == Measure::Throughput) {
        true => ("throughput", "Up and left is better."),
        false => (
            "figure",
            "Throughput: up and left is better; latency: down and left is better, and an arrow lies beyond the axis.",
        ),
    };
    format!(
        "<ul class=\"legend\"><li><i class=\"k front\"></i>frontier: best {best} for the budget \
         (estimates){ray}{bound}<li><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><circle class=\"dot off\" \
         cx=\"13\" cy=\"5\" r=\"4\"/></svg>off the frontier<li><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><circle \
         class=\"dot held\" cx=\"13\" cy=\"5\" r=\"4\"/></svg>says nothing about its storage</ul>\n\
         <p class=\"soft\">{is_better} Bars: 95 % interval; dashed: the observed range of fewer than three \
         repetitions.{model} Cost: {}.</p>\n",
        escaped(&labels::basis(analysis))
    )
}
