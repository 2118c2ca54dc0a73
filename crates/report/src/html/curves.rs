//! Latency by percentile: the axis of percentiles is logarithmic in what lies beyond, so that tails have room.

use analysis::{Analysis, Charts, LatencyCurve, LoadLevel, OperationKind};

use super::axis::{Scale, label, path};
use super::element::{colour, id, legend, text};
use crate::labels;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 20.0;

/// One chart for each workload, load level and operation kind; lines are configurations.
pub fn curves(analysis: &Analysis, charts: &Charts) -> String {
    let mut out = String::new();
    let mut groups: Vec<(&str, LoadLevel, OperationKind)> = Vec::new();
    for cell in &analysis.cells {
        for curve in charts.curves.iter().filter(|c| c.cell == cell.id) {
            let group = (cell.workload.as_str(), cell.load, curve.operation);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    for (workload, load, operation) in groups {
        let lines: Vec<(usize, &LatencyCurve)> = analysis
            .cells
            .iter()
            .filter(|c| c.workload == workload && c.load == load)
            .filter_map(|cell| {
                let index = analysis
                    .configurations
                    .iter()
                    .position(|c| c.name == cell.configuration)?;
                let curve = charts
                    .curves
                    .iter()
                    .find(|c| c.cell == cell.id && c.operation == operation)?;
                Some((index, curve))
            })
            .collect();
        out.push_str(&chart(workload, load, operation, &lines));
    }
    if out.is_empty() {
        return "<p>No cell has a valid trial.</p>\n".to_owned();
    }
    let names = analysis
        .configurations
        .iter()
        .enumerate()
        .map(|(i, c)| (i, c.name.as_str()));
    format!(
        "<p class=\"soft\">Median over repetitions of each percentile. A curve ends where a trial has fewer than ten slower samples. In a closed loop latency follows \
         from throughput: compare curves at equal rates.</p>\n{}<div class=\"charts\">\n{out}</div>\n",
        legend(names)
    )
}

fn chart(workload: &str, load: LoadLevel, operation: OperationKind, lines: &[(usize, &LatencyCurve)]) -> String {
    let all = || lines.iter().flat_map(|(_, c)| c.points.iter());
    let low = all().map(|(_, us)| *us).fold(f64::MAX, f64::min).max(1.0);
    let high = all().map(|(_, us)| *us).fold(1.0, f64::max);
    let least = all().map(|(q, _)| 1.0 - q).fold(0.1, f64::min).max(1e-6);
    // x grows with -log(1 - q).
    let x = Scale::log(1.25, 1.0 / least, LEFT, WIDTH - 6.0);
    let y = Scale::log(low, high * 1.1, HEIGHT - BOTTOM, 6.0);
    let mut svg = String::new();
    for tick in y.ticks(6) {
        let at = y.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.0}H{:.0}\"/><text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            WIDTH - 6.0,
            LEFT - 4.0,
            at + 3.0,
            microseconds(tick)
        ));
    }
    for (name, tail) in [
        ("50 %", 0.5),
        ("90 %", 0.1),
        ("99 %", 0.01),
        ("99.9 %", 0.001),
        ("99.99 %", 1e-4),
    ] {
        if tail >= least * 0.99 {
            let at = x.at(1.0 / tail);
            // The last label ends at the border instead of being cut by it.
            let (place, class) = if at > WIDTH - 20.0 { (WIDTH, "e") } else { (at, "m") };
            svg.push_str(&format!(
                "<path class=\"grid\" d=\"M{at:.0} 6V{:.0}\"/><text x=\"{place:.0}\" y=\"{:.0}\" class=\"{class}\">{name}</text>",
                HEIGHT - BOTTOM,
                HEIGHT - 6.0
            ));
        }
    }
    for (index, curve) in lines {
        let points = curve
            .points
            .iter()
            .map(|(q, us)| Some((x.at(1.0 / (1.0 - q).max(1e-9)), y.at(us.max(1.0)))));
        svg.push_str(&format!(
            "<path class=\"l s{}\" d=\"{}\"><title>{}</title></path>",
            colour(*index),
            path(points),
            text(&curve.cell)
        ));
    }
    let operation = labels::operation(operation);
    format!(
        "<figure id=\"{}\"><figcaption><b>{}</b>, {}, {operation}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Latency of {operation} by percentile\">{svg}</svg></figure>\n",
        id(&["curve", workload, &labels::load(load), &operation]),
        text(workload),
        text(&labels::load(load)),
    )
}

fn microseconds(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{} s", label(us / 1e6)),
        us if us >= 1e3 => format!("{} ms", label(us / 1e3)),
        us => format!("{} us", label(us)),
    }
}
