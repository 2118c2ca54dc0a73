//! Throughput over the number of nodes: what was measured, the law through it, and what would be proportional.

use analysis::{Analysis, Scaling};

use super::axis::{Axis, BELOW, Scale, axes};
use super::element::text;
use crate::figures::number;
use crate::wording::scaling::{sentences, title};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 22.0;
/// Points of the law's curve.
const STEPS: u32 = 60;

/// A chart and its sentences for each group of clusters; empty where there is none.
pub fn scaling(analysis: &Analysis) -> String {
    analysis.scaling.iter().map(|one| group(analysis, one)).collect()
}

fn group(analysis: &Analysis, scaling: &Scaling) -> String {
    let said: String = sentences(scaling)
        .iter()
        .map(|s| format!("<li>{}</li>", text(s)))
        .collect();
    format!(
        "<h3>{}</h3>\n<div class=\"charts\">\n{}</div>\n<ul>{said}</ul>\n",
        text(&title(scaling)),
        chart(analysis, scaling)
    )
}

fn chart(analysis: &Analysis, scaling: &Scaling) -> String {
    let most = scaling.points.last().map_or(1.0, |p| f64::from(p.nodes));
    let highest = scaling
        .points
        .iter()
        .map(|p| p.ops_per_s)
        .fold(scaling.of_one_ops_per_s * most, f64::max);
    let (floor, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    let x = Scale::linear(0.0, most * 1.05, LEFT, right);
    let y = Scale::linear(0.0, highest * 1.08, floor, TOP);
    let sizes = scaling.points.iter().map(|p| (f64::from(p.nodes), p.nodes.to_string()));
    let nodes = Axis {
        scale: &x,
        marks: sizes.collect(),
        name: "nodes",
    };
    let mut svg = axes(&nodes, &Axis::round(&y, 5, "operations/s"));
    let of_one = scaling.of_one_ops_per_s;
    svg.push_str(&format!(
        "<path class=\"bound\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/><text class=\"e t11\" x=\"{:.1}\" y=\"{:.1}\">proportional</text>",
        x.at(0.0),
        y.at(0.0),
        x.at(most),
        y.at(of_one * most),
        x.at(most),
        y.at(of_one * most) - 6.0
    ));
    let curve: Vec<String> = (0..=STEPS)
        .map(|i| 1.0 + (most - 1.0) * f64::from(i) / f64::from(STEPS))
        .map(|nodes| format!("{:.1} {:.1}", x.at(nodes), y.at(scaling.by_law_ops_per_s(nodes))))
        .collect();
    svg.push_str(&format!("<path class=\"l s0\" d=\"M{}\"/>", curve.join("L")));
    for point in &scaling.points {
        let at = x.at(f64::from(point.nodes));
        let cell = analysis.cell(&point.configuration, &scaling.workload, scaling.load);
        if let Some((low, high)) = cell.and_then(interval) {
            let inside = |value: f64| y.at(value).clamp(TOP, floor);
            let (low, high) = (inside(low), inside(high));
            svg.push_str(&format!(
                "<path class=\"whisker s0\" d=\"M{at:.1} {low:.1}V{high:.1}\"/>"
            ));
        }
        svg.push_str(&format!(
            "<circle class=\"dot f0\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4.5\"><title>{}: {} nodes, {} operations/s; by the law {}</title></circle>",
            y.at(point.ops_per_s),
            text(&point.configuration),
            point.nodes,
            number(point.ops_per_s),
            number(point.by_law_ops_per_s)
        ));
    }
    format!(
        "<figure><figcaption><b>Operations/s over nodes</b>: points with their 95 % intervals, and the Universal \
         Scalability Law through them</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"throughput over \
         the number of nodes, {}\">{svg}</svg></figure>\n",
        text(&title(scaling))
    )
}

/// The interval of a cell's throughput.
fn interval(cell: &analysis::CellAnalysis) -> Option<(f64, f64)> {
    let estimate = cell.throughput_ops_per_s?;
    Some((estimate.low, estimate.high))
}
