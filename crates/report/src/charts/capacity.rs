//! What each configuration carries: bars from nothing to the rate, what is shown of it as whiskers.

use analysis::{Analysis, Capacity};

use super::element::{colour, figure, index, line, name, words};
use super::placing::width_of;
use crate::capacity::{bounds, rate};
use crate::document::html::escaped;

/// The longest bar.
const BARS: f64 = 320.0;
/// The least and the most room for names, and the least for figures.
const NAMES: [f64; 2] = [160.0, 300.0];
const FIGURES: f64 = 140.0;
/// Between a bar and what is said of it, and the size of that.
const GAP: f64 = 8.0;
const TYPE: f64 = 11.0;
const ROW: f64 = 34.0;
const THICK: f64 = 14.0;

/// Empty where nothing is carried.
pub fn chart(analysis: &Analysis) -> String {
    let all = &analysis.capacities;
    let ends = |c: &Capacity| c.high_ops_per_s.or(c.ops_per_s).unwrap_or(0.0);
    let most = all.iter().map(ends).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let whose = |capacity: &Capacity| match analysis.workloads.len() {
        1 => capacity.configuration.clone(),
        _ => format!("{}, {}", capacity.configuration, capacity.workload),
    };
    let widest = |said: &dyn Fn(&Capacity) -> String| all.iter().map(|c| width_of(&said(c), TYPE)).fold(0.0, f64::max);
    let names = widest(&whose).clamp(NAMES[0], NAMES[1]);
    let left = names + GAP;
    let width = (left + BARS + GAP + widest(&rate).max(FIGURES)).ceil();
    let x = |value: f64| left + value / most * BARS;
    let mut svg = String::new();
    for (i, capacity) in all.iter().enumerate() {
        let middle = ROW * (i as f64 + 0.5);
        let index = colour(index(analysis, &capacity.configuration));
        let whose = whose(capacity);
        svg += &name("e t11", (names, middle + 4.0), &whose, (names, TYPE));
        let carries = rate(capacity);
        let end = capacity.ops_per_s.map_or(left, x);
        svg.push_str(&format!(
            "<rect class=\"f{index}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{THICK:.1}\"><title>{}: \
             {}</title></rect>",
            middle - THICK / 2.0,
            (end - left).max(0.0),
            escaped(&whose),
            escaped(&carries)
        ));
        if let (Some(low), Some(high)) = (capacity.low_ops_per_s, capacity.high_ops_per_s) {
            svg += &line("whisker", format_args!("M{:.1} {middle:.1}H{:.1}", x(low), x(high)));
        }
        let behind = capacity.high_ops_per_s.map_or(end, x).max(end) + GAP;
        svg += &words("t11", (behind, middle + 4.0), escaped(&carries));
    }
    figure(
        &format!("<b>Operations/s at {}</b>: the estimate, and what is shown of it", escaped(&bounds(analysis))),
        "operations per second that each configuration carries",
        (width, ROW * all.len() as f64),
        &svg,
    )
}
