//! Throughput over data set / page cache: points, the predicted curve, and where it tips over.

use analysis::CacheCurve;

use super::axis::{Axis, BELOW, Scale, axes, path, whisker};
use super::element::{dot, figure, line, words};
use super::scaling::{HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use crate::cache_curve::title;
use crate::document::html::escaped;
use crate::figures::{given, number};

/// `None` where no point has a throughput.
pub fn chart(curve: &CacheCurve) -> Option<String> {
    let measured = || curve.points.iter().filter_map(|p| Some((p, p.throughput_ops_per_s?)));
    let highest = measured().map(|(_, t)| t.high).max_by(f64::total_cmp)?;
    let (first, last) = (curve.points.first()?.ratio, curve.points.last()?.ratio);
    let (floor, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    let x = Scale::log(first / 1.15, last * 1.15, LEFT, right);
    let y = Scale::linear(0.0, highest * 1.08, floor, TOP);
    let ratios = Axis {
        scale: &x,
        marks: curve.points.iter().map(|p| (p.ratio, given((p.ratio * 100.0).round() / 100.0))).collect(),
        name: "data set / page cache",
    };
    let mut svg = axes(&ratios, &Axis::round(&y, 5, "operations/s"));
    let predicted = curve.predicted.iter().map(|p| Some((x.at(p.ratio), y.at(p.ops_per_s?))));
    svg += &line("l s1", path(predicted));
    let inside = |ratio: &f64| (first..=last).contains(ratio);
    if let Some(ratio) = curve.predicted_tipping_ratio.filter(inside) {
        let (at, said) = (x.at(ratio), format!("volume bounds from {}", number(ratio)));
        svg += &line("bound", format_args!("M{at:.0} {floor}V{TOP}"));
        svg += &words("t11", (at + 4.0, TOP + 10.0), said);
    }
    for (point, throughput) in measured() {
        let at = x.at(point.ratio);
        let said = format!("{}: {} operations/s", escaped(&point.cell), number(throughput.median));
        svg += &whisker("s0", at, (throughput.low, throughput.high), &y);
        svg += &dot("f0", (at, y.at(throughput.median)), said);
    }
    let name = title(curve);
    Some(figure(
        &format!("<b>{}</b>: points with their 95 % intervals, and the predicted curve", escaped(&name)),
        &format!("throughput over data set / page cache, {name}"),
        (WIDTH, HEIGHT),
        &svg,
    ))
}
