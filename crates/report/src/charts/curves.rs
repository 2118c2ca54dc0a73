//! Latency by percentile: the axis of percentiles is logarithmic in what lies beyond, so that tails have room.

use analysis::{Analysis, Charts, LatencyCurve, LoadLevel, OperationKind, each_once};

use super::axis::{Axis, BELOW, Scale, axes, label, path};
use super::element::{colour, figure, legend};
use crate::document::html::escaped;
use crate::labels;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 22.0;

/// One chart for each workload, load level and operation kind; lines are configurations.
pub fn curves(analysis: &Analysis, charts: &Charts) -> String {
    let mut out = String::new();
    let groups = each_once(analysis.cells.iter().flat_map(|cell| {
        let of_cell = charts.curves.iter().filter(|c| c.cell == cell.id);
        of_cell.map(|curve| (cell.workload.as_str(), cell.load, curve.operation))
    }));
    for (workload, load, operation) in groups {
        let lines: Vec<(usize, &LatencyCurve)> = analysis
            .cells_at(workload, Some(load))
            .filter_map(|cell| {
                let index = analysis.configurations.iter().position(|c| c.name == cell.configuration)?;
                let curve = charts.curves.iter().find(|c| c.cell == cell.id && c.operation == operation)?;
                Some((index, curve))
            })
            .collect();
        out.push_str(&chart(workload, load, operation, &lines));
    }
    if out.is_empty() {
        return "<p>No cell has a valid trial.</p>\n".to_owned();
    }
    let names = analysis.configurations.iter().enumerate().map(|(i, c)| (i, c.name.as_str()));
    format!(
        "<p class=\"soft\">Median over repetitions of each percentile. A curve ends where a trial has fewer than ten \
         slower samples. In a closed loop latency follows from throughput: compare curves at equal rates.</p>\n{}<div \
         class=\"charts\">\n{out}</div>\n",
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
    let y = Scale::log(low, high * 1.1, HEIGHT - BELOW, TOP);
    let tails = [("50 %", 0.5), ("90 %", 0.1), ("99 %", 0.01), ("99.9 %", 0.001), ("99.99 %", 1e-4)];
    let tails = tails.into_iter().filter(|(_, tail)| *tail >= least * 0.99);
    let percentiles = Axis {
        scale: &x,
        marks: tails.map(|(name, tail)| (1.0 / tail, name.to_owned())).collect(),
        name: "of the operations",
    };
    let times = Axis {
        scale: &y,
        marks: y.ticks(6).into_iter().map(|us| (us, microseconds(us))).collect(),
        name: "latency (logarithmic)",
    };
    let mut svg = axes(&percentiles, &times);
    for (index, curve) in lines {
        let points = curve.points.iter().map(|(q, us)| Some((x.at(1.0 / (1.0 - q).max(1e-9)), y.at(us.max(1.0)))));
        svg.push_str(&format!(
            "<path class=\"l s{}\" d=\"{}\"><title>{}</title></path>",
            colour(*index),
            path(points),
            escaped(&curve.cell)
        ));
    }
    let operation = labels::operation(operation);
    figure(
        &format!("<b>{}</b>, {}, {operation}", escaped(workload), escaped(&labels::load(load))),
        &format!("Latency of {operation} by percentile"),
        (WIDTH, HEIGHT),
        &svg,
    )
}

fn microseconds(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{} s", label(us / 1e6)),
        us if us >= 1e3 => format!("{} ms", label(us / 1e3)),
        us => format!("{} us", label(us)),
    }
}
