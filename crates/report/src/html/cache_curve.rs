//! Throughput over data set / page cache: points, the predicted curve, and where it tips over.

use analysis::{Analysis, CacheCurve};

use super::axis::{Axis, BELOW, Scale, axes, path};
use super::element::{Table, text};
use crate::cache_curve::{HEAD, METHOD, TITLE, rows, sentences, title};
use crate::figures::{given, number};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 22.0;

/// A chart for each curve, and the table; empty where nothing was swept.
pub fn cache_curve(analysis: &Analysis) -> String {
    if analysis.cache_curves.is_empty() {
        return String::new();
    }
    let charts: String = analysis.cache_curves.iter().filter_map(chart).collect();
    let said: String = sentences(analysis).map(|s| format!("<li>{}</li>", text(&s))).collect();
    let mut table = Table::new(TITLE, &HEAD, 3);
    for row in rows(analysis) {
        table.row(&row.iter().map(|cell| text(cell)).collect::<Vec<_>>());
    }
    format!(
        "<p class=\"soft\">{}</p>\n<ul>{said}</ul>\n<div class=\"charts\">\n{charts}</div>\n{}",
        text(METHOD),
        table.html()
    )
}

/// `None` where no point has a throughput.
fn chart(curve: &CacheCurve) -> Option<String> {
    let measured = || curve.points.iter().filter_map(|p| Some((p, p.throughput_ops_per_s?)));
    let highest = measured().map(|(_, t)| t.high).max_by(f64::total_cmp)?;
    let (first, last) = (curve.points.first()?.ratio, curve.points.last()?.ratio);
    let (floor, right) = (HEIGHT - BELOW, WIDTH - RIGHT);
    let x = Scale::log(first / 1.15, last * 1.15, LEFT, right);
    let y = Scale::linear(0.0, highest * 1.08, floor, TOP);
    let ratios = Axis {
        scale: &x,
        marks: curve
            .points
            .iter()
            .map(|p| (p.ratio, given((p.ratio * 100.0).round() / 100.0)))
            .collect(),
        name: "data set / page cache",
    };
    let mut svg = axes(&ratios, &Axis::round(&y, 5, "operations/s"));
    let predicted = curve
        .predicted
        .iter()
        .map(|p| Some((x.at(p.ratio), y.at(p.ops_per_s?))));
    svg.push_str(&format!("<path class=\"l s1\" d=\"{}\"/>", path(predicted)));
    let inside = |ratio: &f64| (first..=last).contains(ratio);
    if let Some(ratio) = curve.predicted_tipping_ratio.filter(inside) {
        svg.push_str(&format!(
            "<path class=\"bound\" d=\"M{0:.0} {floor}V{TOP}\"/><text class=\"t11\" x=\"{1:.0}\" y=\"{2:.0}\">volume bounds from {3}</text>",
            x.at(ratio),
            x.at(ratio) + 4.0,
            TOP + 10.0,
            number(ratio)
        ));
    }
    for (point, throughput) in measured() {
        let at = x.at(point.ratio);
        let inside = |value: f64| y.at(value).clamp(TOP, floor);
        svg.push_str(&format!(
            "<path class=\"whisker s0\" d=\"M{at:.1} {:.1}V{:.1}\"/><circle class=\"dot f0\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4.5\"><title>{}: {} operations/s</title></circle>",
            inside(throughput.low),
            inside(throughput.high),
            y.at(throughput.median),
            text(&point.cell),
            number(throughput.median)
        ));
    }
    Some(format!(
        "<figure><figcaption><b>{0}</b>: points with their 95 % intervals, and the predicted curve</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-label=\"throughput over data set / page cache, {0}\">{svg}</svg></figure>\n",
        text(&title(curve))
    ))
}
