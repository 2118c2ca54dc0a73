//! Throughput over the number of nodes: what was measured, the law through it, and what would be proportional.

use analysis::{Analysis, Scaling};

use super::axis::{Axis, BELOW, Scale, axes, whisker};
use super::element::{dot, figure, line, words};
use crate::document::html::escaped;
use crate::figures::number;
use crate::wording::scaling::title;

// Of the curve of page caches too.
pub const WIDTH: f64 = 560.0;
pub const HEIGHT: f64 = 300.0;
pub const LEFT: f64 = 56.0;
pub const RIGHT: f64 = 16.0;
pub const TOP: f64 = 22.0;
/// Points of the law's curve.
const STEPS: u32 = 60;

/// A chart of a group of clusters.
pub fn chart(analysis: &Analysis, scaling: &Scaling) -> String {
    let most = scaling.points.last().map_or(1.0, |p| f64::from(p.nodes));
    let highest = scaling.points.iter().map(|p| p.ops_per_s).fold(scaling.of_one_ops_per_s * most, f64::max);
    let (floor, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    let x = Scale::linear(0.0, most * 1.05, LEFT, right);
    let y = Scale::linear(0.0, highest * 1.08, floor, TOP);
    let sizes = scaling.points.iter().map(|p| (f64::from(p.nodes), p.nodes.to_string()));
    let nodes = Axis { scale: &x, marks: sizes.collect(), name: "nodes" };
    let mut svg = axes(&nodes, &Axis::round(&y, 5, "operations/s"));
    let of_one = scaling.of_one_ops_per_s;
    let (to_x, to_y) = (x.at(most), y.at(of_one * most));
    svg += &line("bound", format_args!("M{:.1} {:.1}L{to_x:.1} {to_y:.1}", x.at(0.0), y.at(0.0)));
    svg += &words("e t11", (to_x, to_y - 6.0), "proportional");
    let curve: Vec<String> = (0..=STEPS)
        .map(|i| 1.0 + (most - 1.0) * f64::from(i) / f64::from(STEPS))
        .map(|nodes| format!("{:.1} {:.1}", x.at(nodes), y.at(scaling.by_law_ops_per_s(nodes))))
        .collect();
    svg += &line("l s0", format_args!("M{}", curve.join("L")));
    for point in &scaling.points {
        let at = x.at(f64::from(point.nodes));
        let cell = analysis.cell(&point.configuration, &scaling.workload, scaling.load);
        if let Some(estimate) = cell.and_then(|cell| cell.throughput_ops_per_s) {
            svg += &whisker("s0", at, (estimate.low, estimate.high), &y);
        }
        let said = format!(
            "{}: {} nodes, {} operations/s; by the law {}",
            escaped(&point.configuration),
            point.nodes,
            number(point.ops_per_s),
            number(point.by_law_ops_per_s)
        );
        svg += &dot("f0", (at, y.at(point.ops_per_s)), said);
    }
    let drawn = figure(
        "<b>Operations/s over nodes</b>: points with their 95 % intervals, \
         and the Universal Scalability Law through them",
        &format!("throughput over the number of nodes, {}", title(scaling)),
        (WIDTH, HEIGHT),
        &svg,
    );
    format!("<div class=\"charts\">\n{drawn}</div>\n")
}
