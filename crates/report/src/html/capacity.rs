//! What each configuration carries: bars from nothing to the rate, what is shown of it as whiskers, then the table.

use analysis::Analysis;

use super::element::{Table, colour, text};
use crate::capacity::{any, bounds, method, rate, rows};

const WIDTH: f64 = 640.0;
const NAMES: f64 = 170.0;
const FIGURES: f64 = 150.0;
const ROW: f64 = 34.0;
const THICK: f64 = 14.0;

/// Empty where nothing was searched for.
pub fn capacity(analysis: &Analysis) -> String {
    if !any(analysis) {
        return String::new();
    }
    let (head, rows) = rows(analysis);
    let mut table = Table::new("what each carries", &head, 2);
    for row in &rows {
        table.row(row);
    }
    format!(
        "{}{}<p class=\"soft\">{}</p>\n",
        chart(analysis),
        table.html(),
        text(&method(analysis))
    )
}

fn chart(analysis: &Analysis) -> String {
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
        let is_it = |c: &analysis::ConfigurationFacts| c.name == capacity.configuration;
        let index = colour(analysis.configurations.iter().position(is_it).unwrap_or(0));
        let name = match analysis.workloads.len() {
            1 => capacity.configuration.clone(),
            _ => format!("{}, {}", capacity.configuration, capacity.workload),
        };
        svg.push_str(&format!(
            "<text class=\"e t11\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            middle + 4.0,
            text(&name)
        ));
        let carries = rate(capacity);
        let end = capacity.ops_per_s.map_or(NAMES, x);
        svg.push_str(&format!(
            "<rect class=\"f{index}\" x=\"{NAMES:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{THICK:.1}\"><title>{}: {}</title></rect>",
            middle - THICK / 2.0,
            (end - NAMES).max(0.0),
            text(&name),
            text(&carries)
        ));
        if let (Some(low), Some(high)) = (capacity.low_ops_per_s, capacity.high_ops_per_s) {
            svg.push_str(&format!(
                "<path class=\"whisker\" d=\"M{:.1} {middle:.1}H{:.1}\"/>",
                x(low),
                x(high)
            ));
        }
        svg.push_str(&format!(
            "<text class=\"t11\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            capacity.high_ops_per_s.map_or(end, x).max(end) + 8.0,
            middle + 4.0,
            text(&carries)
        ));
    }
    format!(
        "<figure><figcaption><b>Operations/s at {}</b>: the estimate, and what is shown of it</figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"operations per second that each configuration \
         carries\">{svg}</svg></figure>\n",
        text(&bounds(analysis)),
        ROW * all.len() as f64
    )
}
