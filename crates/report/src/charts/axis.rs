//! Scales: from values to places, with round numbers at the ticks; and the axes of a chart drawn by them.

use super::element::{line, words};
use crate::figures::given;

/// Room below the floor of a chart with [`axes`], pixels: ticks, their labels, the name of the axis.
pub const BELOW: f64 = 36.0;

/// A linear or logarithmic scale from values to pixels.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    pub is_log: bool,
}

impl Scale {
    /// Values `low..high` to pixels `from..to`.
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, from, to, is_log: false }
    }

    /// The same on a logarithmic axis; values must be positive.
    pub fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = low.max(1e-9);
        let high = if high > low * 1.01 { high } else { low * 2.0 };
        Self { low: low.ln(), high: high.ln(), from, to, is_log: true }
    }

    /// Where a value lies.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.is_log { value.max(1e-9).ln() } else { value };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The value at a place.
    pub fn value(&self, at: f64) -> f64 {
        let value = self.low + (at - self.from) / (self.to - self.from) * (self.high - self.low);
        if self.is_log { value.exp() } else { value }
    }

    /// Round values inside the scale, about `n` of them.
    pub fn ticks(&self, n: usize) -> Vec<f64> {
        if self.is_log {
            return self.log_ticks(n);
        }
        let raw = (self.high - self.low) / n.max(1) as f64;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= raw * 0.999).unwrap_or(raw);
        let mut ticks = Vec::new();
        let mut tick = (self.low / step).ceil() * step;
        while tick <= self.high + step * 1e-6 {
            ticks.push(if tick.abs() < step * 1e-9 { 0.0 } else { tick });
            tick += step;
        }
        ticks
    }

    fn log_ticks(&self, n: usize) -> Vec<f64> {
        let (low, high) = (self.low.exp(), self.high.exp());
        let decades = (high / low).log10();
        let steps: &[f64] = if decades < n as f64 / 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        let mut decade = 10_f64.powf(low.log10().floor());
        while decade <= high {
            ticks.extend(steps.iter().map(|s| s * decade).filter(|t| *t >= low * 0.999 && *t <= high * 1.001));
            decade *= 10.0;
        }
        ticks
    }
}

/// An axis of a chart.
pub struct Axis<'a> {
    /// From its values to pixels.
    pub scale: &'a Scale,
    /// Values that it marks, with their labels.
    pub marks: Vec<(f64, String)>,
    /// What it counts.
    pub name: &'a str,
}

impl<'a> Axis<'a> {
    /// With about `n` round values marked.
    pub fn round(scale: &'a Scale, n: usize, name: &'a str) -> Self {
        let marks = scale.ticks(n).into_iter().map(|tick| (tick, label(tick)));
        Self { scale, marks: marks.collect(), name }
    }
}

/// Both axes of a chart: a line of the grid at each mark of `y`, a tick at each mark of `x`. The chart goes from 0 to
/// [`BELOW`] under its floor.
pub fn axes(x: &Axis<'_>, y: &Axis<'_>) -> String {
    let (left, right, floor) = (x.scale.from, x.scale.to, y.scale.from);
    let mut svg = String::new();
    for (value, label) in &y.marks {
        let at = y.scale.at(*value);
        svg += &line("grid", format_args!("M{left} {at:.0}H{right}"));
        svg += &words("e t11", (left - 5.0, at + 4.0), label);
    }
    for (value, label) in &x.marks {
        let at = x.scale.at(*value);
        svg += &line("axis", format_args!("M{at:.0} {floor}v4"));
        // A label at the border ends there instead of being cut by it.
        let (place, anchor) = if at > right - 12.0 { (right, "e") } else { (at, "m") };
        svg += &words(&format!("{anchor} t11"), (place, floor + 15.0), label);
    }
    svg += &line("axis", format_args!("M{left} {floor}H{right}"));
    svg + &words("e t11", (right, floor + BELOW - 5.0), x.name) + &words("t11", (0.0, 11.0), y.name)
}

/// An interval on an axis that goes up, as far as it lies inside it.
pub fn whisker(class: &str, x: f64, (low, high): (f64, f64), y: &Scale) -> String {
    let inside = |value: f64| y.at(value).clamp(y.to, y.from);
    line(&format!("whisker {class}"), format_args!("M{x:.1} {:.1}V{:.1}", inside(low), inside(high)))
}

/// A tick's number: `0`, `0.05`, `2,500`, `12.5k`.
pub fn label(value: f64) -> String {
    let trimmed = |v: f64| format!("{v:.2}").trim_end_matches('0').trim_end_matches('.').to_owned();
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 1e9 => format!("{}G", trimmed(value / 1e9)),
        v if v >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        v if v >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        v if v >= 1e3 => given(value),
        v if v >= 0.01 => trimmed(value),
        _ => format!("{value:.0e}"),
    }
}

/// A path through points as short as it can be: whole pixels, relative steps, points on a straight line left out.
/// `None` breaks it.
pub fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut out = String::new();
    let mut last: Option<(i64, i64)> = None;
    let mut run: Option<(i64, i64)> = None;
    let flush = |out: &mut String, run: &mut Option<(i64, i64)>| {
        if let Some((dx, dy)) = run.take() {
            out.push_str(&match (dx, dy) {
                (dx, 0) => format!("h{dx}"),
                (0, dy) => format!("v{dy}"),
                (dx, dy) if dy < 0 => format!("l{dx}{dy}"),
                (dx, dy) => format!("l{dx} {dy}"),
            });
        }
    };
    for point in points {
        let Some((x, y)) = point.filter(|(x, y)| x.is_finite() && y.is_finite()) else {
            flush(&mut out, &mut run);
            last = None;
            continue;
        };
        let (x, y) = (x.round() as i64, y.round() as i64);
        match last {
            None => out.push_str(&format!("M{x} {y}")),
            Some((px, py)) => {
                let (dx, dy) = (x - px, y - py);
                run = match run {
                    // The same direction goes on: only for level lines, which are common.
                    Some((rx, 0)) if dy == 0 => Some((rx + dx, 0)),
                    _ if dx == 0 && dy == 0 => run,
                    _ => {
                        flush(&mut out, &mut run);
                        Some((dx, dy))
                    }
                };
            }
        }
        last = Some((x, y));
    }
    flush(&mut out, &mut run);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(0.0, 1234.0, 0.0, 100.0).ticks(4), [0.0, 500.0, 1000.0]);
        assert_eq!(Scale::linear(-20.0, 60.0, 0.0, 100.0).ticks(4), [-20.0, 0.0, 20.0, 40.0, 60.0]);
        assert_eq!(Scale::log(90.0, 11_000.0, 0.0, 100.0).ticks(4), [100.0, 1000.0, 10_000.0]);
        assert_eq!([2500.0, 12_500.0, 0.05].map(label), ["2,500", "12.5k", "0.05"]);
    }

    #[test]
    fn a_path_is_short_and_breaks_at_gaps() {
        let points = [
            Some((0.0, 5.0)),
            Some((1.0, 5.0)),
            Some((2.0, 5.2)),
            Some((3.0, 1.0)),
            None,
            Some((5.0, 2.0)),
            Some((5.0, 4.0)),
        ];
        assert_eq!(path(points.into_iter()), "M0 5h2l1-4M5 2v2");
    }
}
