//! What each configuration carries: bars from nothing to the rate, what is shown of it as whiskers.

use analysis::Analysis;

use super::element::{colour, figure, index, line, words};
use crate::capacity::{bounds, rate};
use crate::document::html::escaped;

const WIDTH: f64 = 640.0;
const NAMES: f64 = 170.0;
const FIGURES: f64 = 150.0;
const ROW: f64 = 34.0;
const THICK: f64 = 14.0;

/// Empty where nothing is carried.
pub fn chart(analysis: &Analysis) -> String {
    let all = &analysis.capacities;
    let ends = |c: &analysis::Capacity| c.high_ops_per_s.or(c.ops_per_s).unwrap_or(0.0);
    let most = all.iter().map(ends).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let x = |value: f64| NAMES + value / most * (WIDTH - NAMES - FIGURES);
    let mut svg = String::new();
    for (i, capacity) in all.iter().enumerate() {
        let middle = ROW * (i as f64 + 0.5);
        let index = colour(index(analysis, &capacity.configuration));
        let name = match analysis.workloads.len() {
            1 => capacity.configuration.clone(),
            _ => format!("{}, {}", capacity.configuration, capacity.workload),
        };
        svg += &words("e t11", (NAMES - 8.0, middle + 4.0), escaped(&name));
        let carries = rate(capacity);
        let end = capacity.ops_per_s.map_or(NAMES, x);
        svg.push_str(&format!(
            "<rect class=\"f{index}\" x=\"{NAMES:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{THICK:.1}\"><title>{}: \
             {}</title></rect>",
            middle - THICK / 2.0,
            (end - NAMES).max(0.0),
            escaped(&name),
            escaped(&carries)
        ));
        if let (Some(low), Some(high)) = (capacity.low_ops_per_s, capacity.high_ops_per_s) {
            svg += &line("whisker", format_args!("M{:.1} {middle:.1}H{:.1}", x(low), x(high)));
        }
        let behind = capacity.high_ops_per_s.map_or(end, x).max(end) + 8.0;
        svg += &words("t11", (behind, middle + 4.0), escaped(&carries));
    }
    figure(
        &format!("<b>Operations/s at {}</b>: the estimate, and what is shown of it", escaped(&bounds(analysis))),
        "operations per second that each configuration carries",
        (WIDTH, ROW * all.len() as f64),
        &svg,
    )
}
