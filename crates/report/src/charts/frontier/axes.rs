//! Sizes and axes of a chart of cost against performance.

use super::read::{Chart, Measure};
use crate::charts::axis::{Scale, label};
use crate::charts::element::{line, words};
use crate::figures::given;

/// Size of a chart and of what is in it, in the unit of its `viewBox`.
pub struct Size {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Text, and the class that the style has for it.
    pub font: f64,
    pub class: &'static str,
    /// Radius of a point.
    pub point: f64,
    /// Ticks on an axis, about.
    pub ticks: usize,
    /// Characters of a name.
    pub name: usize,
    /// Whether labels hold value and cost below the name.
    pub has_values: bool,
}

/// Across the whole page.
pub const WIDE: Size = Size {
    width: 1060.0,
    height: 470.0,
    left: 64.0,
    right: 16.0,
    top: 30.0,
    bottom: 46.0,
    font: 13.0,
    class: "t13",
    point: 6.5,
    ticks: 7,
    name: 40,
    has_values: true,
};
/// For a narrow page, or half of a wide one.
pub const NARROW: Size = Size {
    width: 400.0,
    height: 340.0,
    left: 46.0,
    right: 8.0,
    top: 26.0,
    bottom: 40.0,
    font: 12.0,
    class: "t12",
    point: 5.5,
    ticks: 4,
    name: 24,
    has_values: false,
};

/// Values further apart than this factor are drawn on a logarithmic axis.
const LOGARITHMIC: f64 = 25.0;
/// Latencies above this many times the objective are drawn at the top of the frame: how far above says nothing.
const BEYOND: f64 = 4.0;

/// The axis of money. It begins at 0: what costs 15 % more lies 15 % further.
pub fn of_cost(chart: &Chart, size: &Size) -> Scale {
    let most = chart.points.iter().map(|p| p.usd).fold(0.0, f64::max);
    Scale::linear(0.0, most * 1.12, size.left, size.width - size.right)
}

/// The axis of performance.
pub fn of_value(chart: &Chart, size: &Size) -> Scale {
    if let Measure::Latency { limit_ms, .. } = chart.measure {
        let near = chart.points.iter().map(|p| p.value.median);
        let highest = near.filter(|ms| *ms <= limit_ms * BEYOND).fold(limit_ms, f64::max);
        return Scale::linear(0.0, highest * 1.25, size.height - size.bottom, size.top);
    }
    let bound = chart.measure.bound().map(|(bound, _)| bound);
    let all = || chart.points.iter().map(|p| p.value.median).chain(bound);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    // An interval may reach far beyond all estimates: the axis shows a part of it.
    let highest = chart.points.iter().map(|p| p.value.high).fold(most, f64::max);
    let (from, to) = (size.height - size.bottom, size.top);
    if least > 0.0 && most / least > LOGARITHMIC {
        let lowest = chart.points.iter().map(|p| p.value.low).fold(least, f64::min);
        return Scale::log(lowest.max(least / 3.0) * 0.8, highest.min(most * 3.0) * 1.25, from, to);
    }
    Scale::linear(0.0, highest.min(most * 1.6) * 1.08, from, to)
}

/// A height inside the frame.
pub fn within(y: f64, size: &Size) -> f64 {
    y.clamp(size.top, size.height - size.bottom)
}

/// Lines, ticks and units.
pub fn axes(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> String {
    let (right, floor) = (size.width - size.right, size.height - size.bottom);
    let class = size.class;
    let mut svg = String::new();
    for tick in y.ticks(size.ticks) {
        let at = y.at(tick);
        svg += &line("grid", format_args!("M{} {at:.1}H{right}", size.left));
        svg += &words(&format!("e {class}"), (size.left - 6.0, at + size.font * 0.35), label(tick));
    }
    for tick in x.ticks(size.ticks) {
        let at = x.at(tick);
        // A label at the border ends there instead of being cut by it.
        let (place, anchor) = if at > size.width - 22.0 { (size.width, "e") } else { (at, "m") };
        svg += &line("axis", format_args!("M{at:.1} {floor}v4"));
        let dollars = format!("${}", given(tick));
        svg += &words(&format!("{anchor} {class}"), (place, floor + size.font + 5.0), dollars);
    }
    svg += &line("axis", format_args!("M{} {floor}H{right}", size.left));
    svg += &words(&format!("e {class}"), (right, size.height - 4.0), "$ a month");
    let unit = match chart.measure {
        Measure::Latency { .. } => "ms",
        _ => "operations/s",
    };
    let logarithmic = if y.is_log { " (logarithmic)" } else { "" };
    svg + &words(class, (0.0, size.font), format_args!("{unit}{logarithmic}"))
}
