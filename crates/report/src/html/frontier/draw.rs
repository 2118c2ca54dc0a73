//! One chart of cost against performance, as SVG of a given size.

use super::read::{Chart, Measure, Point, State};
use crate::figures::given;
use crate::html::axis::{Scale, label};
use crate::html::element::{colour, short, text};
use crate::html::placing::{Label, Rect, along, place, width_of};
use crate::labels;

/// Size of a chart and of what is in it, in the unit of its `viewBox`.
pub struct Size {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Text, and the class that the style has for it.
    font: f64,
    class: &'static str,
    /// Radius of a point.
    point: f64,
    /// Ticks on an axis, about.
    ticks: usize,
    /// Characters of a name.
    name: usize,
    /// Whether labels hold value and cost below the name.
    has_values: bool,
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
/// Costs that differ by less than this factor are drawn on an axis that begins above 0.
const NEAR: f64 = 2.0;

/// A drawn chart.
pub struct Drawn {
    body: String,
    width: f64,
    height: f64,
    about: String,
    /// Configurations whose label found no place.
    pub unnamed: Vec<String>,
}

impl Drawn {
    /// The picture, with a class of the style.
    pub fn svg(&self, class: &str) -> String {
        let class = match class.is_empty() {
            true => String::new(),
            false => format!(" class=\"{class}\""),
        };
        format!(
            "<svg{class} viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            self.width,
            self.height,
            text(&self.about),
            self.body
        )
    }
}

/// Draws a chart.
pub fn draw(chart: &Chart, size: &Size) -> Drawn {
    let (x, y) = (of_cost(chart, size), of_value(chart, size));
    let mut body = axes(chart, size, &x, &y);
    let mut lines: Vec<Rect> = Vec::new();
    let mut solid: Vec<Rect> = Vec::new();
    let (ray, boxes) = ray(chart, size, &x, &y);
    body.push_str(&ray);
    lines.extend(boxes);
    let (frontier, boxes) = frontier(chart, size, &x, &y);
    body.push_str(&frontier);
    lines.extend(boxes);
    let (bound, boxes) = bound(chart, size, &y);
    body.push_str(&bound);
    solid.extend(boxes);
    for point in &chart.points {
        let (px, py) = (x.at(point.usd), y.at(point.value.median));
        body.push_str(&whisker(point, size, px, &y));
        solid.push(Rect::around(px, py, half(point, size)));
        let (high, low) = (
            within(y.at(point.value.high), size),
            within(y.at(point.value.low), size),
        );
        solid.push(Rect {
            x: px - 4.0,
            y: high,
            width: 8.0,
            height: (low - high).max(0.0),
        });
    }
    for point in &chart.points {
        body.push_str(&dot(chart, point, size, x.at(point.usd), y.at(point.value.median)));
    }
    let (named, unnamed) = names(chart, size, (&x, &y), &solid, &lines);
    body.push_str(&named);
    Drawn {
        body,
        width: size.width,
        height: size.height,
        about: about(chart),
        unnamed,
    }
}

/// What the picture shows, for those who do not see it.
fn about(chart: &Chart) -> String {
    let points: Vec<String> = chart
        .points
        .iter()
        .map(|p| {
            format!(
                "{} {} at {}",
                p.name,
                chart.measure.value(p.value.median),
                labels::usd(p.usd)
            )
        })
        .collect();
    format!("{} against cost: {}", chart.measure.title(), points.join("; "))
}

fn of_cost(chart: &Chart, size: &Size) -> Scale {
    let all = || chart.points.iter().map(|p| p.usd);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let (from, to) = (size.left, size.width - size.right);
    if least > 0.0 && most / least < NEAR {
        let room = ((most - least) * 0.22).max(most * 0.02);
        return Scale::linear((least - room).max(0.0), most + room, from, to);
    }
    Scale::linear(0.0, most * 1.12, from, to)
}

fn of_value(chart: &Chart, size: &Size) -> Scale {
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
fn within(y: f64, size: &Size) -> f64 {
    y.clamp(size.top, size.height - size.bottom)
}

fn axes(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> String {
    let (right, floor) = (size.width - size.right, size.height - size.bottom);
    let class = size.class;
    let mut svg = String::new();
    for tick in y.ticks(size.ticks) {
        let at = y.at(tick);
        svg.push_str(&format!(
            "<path class=\"grid\" d=\"M{} {at:.1}H{right}\"/><text class=\"e {class}\" x=\"{}\" y=\"{:.1}\">{}</text>",
            size.left,
            size.left - 6.0,
            at + size.font * 0.35,
            label(tick)
        ));
    }
    let ticks = x.ticks(size.ticks);
    let is_far = |at: f64| at > size.width - 22.0;
    for tick in ticks {
        let at = x.at(tick);
        // A label at the border ends there instead of being cut by it.
        let (place, anchor) = if is_far(at) { (size.width, "e") } else { (at, "m") };
        svg.push_str(&format!(
            "<path class=\"axis\" d=\"M{at:.1} {floor}v4\"/><text class=\"{anchor} {class}\" x=\"{place:.1}\" y=\"{:.1}\">${}</text>",
            floor + size.font + 5.0,
            given(tick)
        ));
    }
    svg.push_str(&format!(
        "<path class=\"axis\" d=\"M{} {floor}H{right}\"/><text class=\"e {class}\" x=\"{right}\" y=\"{:.1}\">$ a month</text>",
        size.left,
        size.height - 4.0
    ));
    let unit = match chart.measure {
        Measure::Latency { .. } => "ms",
        _ => "operations/s",
    };
    svg.push_str(&format!(
        "<text class=\"{class}\" x=\"0\" y=\"{:.1}\">{unit}{}</text>",
        size.font,
        if y.is_logarithmic() { " (logarithmic)" } else { "" }
    ));
    svg
}

/// The line of equal throughput per dollar.
fn ray(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> (String, Vec<Rect>) {
    let Some(per_dollar) = chart.value_of else {
        return (String::new(), Vec::new());
    };
    // On a logarithmic axis it is a curve: enough points to see that.
    let (from, to) = (size.left, size.width - size.right);
    let steps = 40;
    let points: Vec<(f64, f64)> = (0..=steps)
        .map(|i| from + (to - from) * f64::from(i) / f64::from(steps))
        .map(|px| (px, y.at(x.value(px) * per_dollar)))
        .filter(|(_, py)| (size.top..=size.height - size.bottom).contains(py))
        .collect();
    let boxes = points.windows(2).flat_map(|pair| along(pair[0], pair[1])).collect();
    (line("ray", &points), boxes)
}

/// The best that so much money buys: level until the next better configuration can be paid.
fn frontier(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> (String, Vec<Rect>) {
    let on = chart.points.iter().filter(|p| p.state == State::Frontier);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for point in on {
        let (px, py) = (x.at(point.usd), y.at(point.value.median));
        if let Some((_, before)) = points.last() {
            points.push((px, *before));
        }
        points.push((px, py));
    }
    if let Some((_, last)) = points.last() {
        points.push((size.width - size.right, *last));
    }
    let boxes = points.windows(2).flat_map(|pair| along(pair[0], pair[1])).collect();
    (line("front", &points), boxes)
}

fn line(class: &str, points: &[(f64, f64)]) -> String {
    let steps: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    match steps.is_empty() {
        true => String::new(),
        false => format!("<path class=\"{class}\" d=\"M{}\"/>", steps.join("L")),
    }
}

/// The objective, with its words at the right end.
fn bound(chart: &Chart, size: &Size, y: &Scale) -> (String, Vec<Rect>) {
    let Some((bound, words)) = chart.measure.bound() else {
        return (String::new(), Vec::new());
    };
    let (right, at) = (size.width - size.right, y.at(bound));
    let width = width_of(&words, size.font);
    // Above the line, or below it where the line is the top.
    let baseline = if at - size.font > size.top {
        at - 5.0
    } else {
        at + size.font + 2.0
    };
    let mut boxes = along((size.left, at), (right, at));
    boxes.push(Rect {
        x: right - width,
        y: baseline - size.font,
        width,
        height: size.font * 1.3,
    });
    let svg = format!(
        "<path class=\"bound\" d=\"M{} {at:.1}H{right}\"/><text class=\"e b {}\" x=\"{right}\" y=\"{baseline:.1}\">{}</text>",
        size.left,
        size.class,
        text(&words)
    );
    (svg, boxes)
}

/// The interval; an end beyond the frame has no cap.
fn whisker(point: &Point, size: &Size, px: f64, y: &Scale) -> String {
    if point.value.low >= point.value.high {
        return String::new();
    }
    let (high, low) = (y.at(point.value.high), y.at(point.value.low));
    let mut path = format!("M{px:.1} {:.1}V{:.1}", within(high, size), within(low, size));
    for end in [high, low]
        .into_iter()
        .filter(|end| (within(*end, size) - end).abs() < 0.01)
    {
        path.push_str(&format!("M{:.1} {end:.1}h8", px - 4.0));
    }
    let observed = if point.is_observed { " seen" } else { "" };
    format!("<path class=\"whisker{observed} {}\" d=\"{path}\"/>", stroke(point))
}

fn stroke(point: &Point) -> String {
    match point.state {
        State::Frontier => format!("s{}", colour(point.index)),
        State::Off | State::Held => "off".to_owned(),
    }
}

fn dot(chart: &Chart, point: &Point, size: &Size, px: f64, py: f64) -> String {
    let class = match point.state {
        State::Frontier => format!("dot f{}", colour(point.index)),
        State::Off => "dot off".to_owned(),
        State::Held => "dot held".to_owned(),
    };
    let ring = match point.is_run {
        true => format!(
            "<circle class=\"ring\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{}\"/>",
            size.point + 4.0
        ),
        false => String::new(),
    };
    format!(
        "{ring}<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{}\"><title>{}: {} a month, {}. {}</title></circle>",
        size.point,
        text(&point.name),
        labels::usd(point.usd),
        chart.measure.value(point.value.median),
        text(&point.words)
    )
}

/// Half of the box that a point takes, its ring with it.
fn half(point: &Point, size: &Size) -> f64 {
    size.point + if point.is_run { 6.0 } else { 2.0 }
}

/// The labels, those of the frontier first; and the names that found no place.
fn names(
    chart: &Chart,
    size: &Size,
    (x, y): (&Scale, &Scale),
    solid: &[Rect],
    lines: &[Rect],
) -> (String, Vec<String>) {
    let mut points: Vec<&Point> = chart.points.iter().collect();
    points.sort_by_key(|p| (!p.is_run, p.state != State::Frontier));
    let height = size.font * 1.25;
    let below = |point: &Point| {
        format!(
            "{}, {}",
            chart.measure.value(point.value.median),
            labels::usd(point.usd)
        )
    };
    let labels: Vec<Label> = points
        .iter()
        .map(|point| {
            // Bold is wider.
            let name = width_of(&cut(&point.name, size.name), size.font) * if point.is_run { 1.1 } else { 1.0 };
            let value = if size.has_values {
                width_of(&below(point), size.font)
            } else {
                0.0
            };
            Label {
                at: (x.at(point.usd), y.at(point.value.median)),
                width: name.max(value),
                height: if size.has_values { 2.0 * height } else { height },
                point: half(point, size),
            }
        })
        .collect();
    let area = Rect {
        x: size.left + 2.0,
        y: size.top - 8.0,
        width: size.width - size.left - 2.0,
        height: size.height - size.bottom - size.top + 6.0,
    };
    let (mut svg, mut unnamed) = (String::new(), Vec::new());
    for ((point, label), found) in points.iter().zip(&labels).zip(place(&labels, solid, lines, area)) {
        let Some(rect) = found else {
            unnamed.push(point.name.clone());
            continue;
        };
        let near = rect.nearest(label.at);
        if label.is_far(&rect) {
            svg.push_str(&format!(
                "<path class=\"axis\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                label.at.0, label.at.1, near.0, near.1
            ));
        }
        // Beside its point on the left a label ends there.
        let is_left = rect.x + rect.width < label.at.0;
        let (at, anchor) = if is_left {
            (rect.x + rect.width, " e")
        } else {
            (rect.x, "")
        };
        let bold = if point.is_run { " run" } else { "" };
        let name = short(&point.name, size.name);
        svg.push_str(&format!(
            "<text class=\"ink{anchor}{bold} {}\" x=\"{at:.1}\" y=\"{:.1}\">{name}</text>",
            size.class,
            rect.y + size.font
        ));
        if size.has_values {
            svg.push_str(&format!(
                "<text class=\"halo-text{anchor} {}\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                size.class,
                rect.y + size.font + height,
                text(&below(point))
            ));
        }
    }
    (svg, unnamed)
}

/// As many characters as [`short`] shows.
fn cut(name: &str, most: usize) -> String {
    name.chars().take(most).collect()
}
