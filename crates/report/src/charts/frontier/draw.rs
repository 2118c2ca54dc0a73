//! One chart of cost against performance, as SVG of a given size.

use super::axes::{Size, axes, of_cost, of_value, within};
use super::read::{Chart, Point, State};
use crate::charts::axis::Scale;
use crate::charts::element::{colour, line, short, words};
use crate::charts::placing::{Label, Obstacles, Rect, along, place, width_of};
use crate::document::html::escaped;
use crate::figures::when;
use crate::labels;

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
        let class = when(!class.is_empty(), || format!(" class=\"{class}\""));
        format!(
            "<svg{class} viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            self.width,
            self.height,
            escaped(&self.about),
            self.body
        )
    }
}

pub fn draw(chart: &Chart, size: &Size) -> Drawn {
    let (x, y) = (of_cost(chart, size), of_value(chart, size));
    let mut body = axes(chart, size, &x, &y);
    let mut obstacles = Obstacles::default();
    let (ray, boxes) = ray(chart, size, &x, &y);
    body.push_str(&ray);
    obstacles.lines.extend(boxes);
    let (frontier, boxes) = frontier(chart, size, &x, &y);
    body.push_str(&frontier);
    obstacles.lines.extend(boxes);
    body.push_str(&bound(chart, size, &y, &mut obstacles));
    for point in &chart.points {
        let (px, py) = (x.at(point.usd), within(y.at(point.value.median), size));
        body.push_str(&whisker(point, size, px, &y));
        obstacles.solid.push(Rect::around(px, py, half(point, size)));
        let (high, low) = (within(y.at(point.value.high), size), within(y.at(point.value.low), size));
        obstacles.solid.push(Rect { x: px - 4.0, y: high, width: 8.0, height: (low - high).max(0.0) });
    }
    for point in &chart.points {
        body.push_str(&dot(chart, point, size, x.at(point.usd), y.at(point.value.median)));
    }
    let (named, unnamed) = names(chart, size, (&x, &y), &obstacles);
    body.push_str(&named);
    Drawn { body, width: size.width, height: size.height, about: about(chart), unnamed }
}

/// What the picture shows, for those who do not see it.
fn about(chart: &Chart) -> String {
    let points: Vec<String> = chart
        .points
        .iter()
        .map(|p| format!("{} {} at {}", p.name, chart.measure.value(p.value.median), labels::usd(p.usd)))
        .collect();
    format!("{} against cost: {}", chart.measure.title(), points.join("; "))
}

/// The line of equal throughput per dollar.
fn ray(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> (String, Vec<Rect>) {
    let Some(per_dollar) = chart.value_of else { return (String::new(), Vec::new()) };
    // On a logarithmic axis it is a curve: enough points to see that.
    let (from, to) = (size.left, size.width - size.right);
    let steps = 40;
    let points: Vec<(f64, f64)> = (0..=steps)
        .map(|i| from + (to - from) * f64::from(i) / f64::from(steps))
        .map(|px| (px, y.at(x.value(px) * per_dollar)))
        .filter(|(_, py)| (size.top..=size.height - size.bottom).contains(py))
        .collect();
    let boxes = points.windows(2).flat_map(|pair| along(pair[0], pair[1])).collect();
    (along_points("ray", &points), boxes)
}

/// The best that so much money buys: level until the next better configuration can be paid.
fn frontier(chart: &Chart, size: &Size, x: &Scale, y: &Scale) -> (String, Vec<Rect>) {
    let on = chart.points.iter().filter(|p| p.state == State::Frontier);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for point in on {
        let (px, py) = (x.at(point.usd), within(y.at(point.value.median), size));
        if let Some((_, before)) = points.last() {
            points.push((px, *before));
        }
        points.push((px, py));
    }
    if let Some((_, last)) = points.last() {
        points.push((size.width - size.right, *last));
    }
    let boxes = points.windows(2).flat_map(|pair| along(pair[0], pair[1])).collect();
    (along_points("front", &points), boxes)
}

fn along_points(class: &str, points: &[(f64, f64)]) -> String {
    let steps: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    when(!steps.is_empty(), || line(class, format_args!("M{}", steps.join("L"))))
}

/// The objective, with its words at the right end.
fn bound(chart: &Chart, size: &Size, y: &Scale, obstacles: &mut Obstacles) -> String {
    let Some((bound, said)) = chart.measure.bound() else { return String::new() };
    let (right, at) = (size.width - size.right, y.at(bound));
    let width = width_of(&said, size.font);
    // Above the line, or below it where the line is the top.
    let baseline = if at - size.font > size.top { at - 5.0 } else { at + size.font + 2.0 };
    obstacles.lines.extend(along((size.left, at), (right, at)));
    obstacles.texts.push(Rect { x: right - width, y: baseline - size.font, width, height: size.font * 1.3 });
    let drawn = line("bound", format_args!("M{} {at:.1}H{right}", size.left));
    drawn + &words(&format!("e b {}", size.class), (right, baseline), escaped(&said))
}

/// The interval; an end beyond the frame has no cap.
fn whisker(point: &Point, size: &Size, px: f64, y: &Scale) -> String {
    if point.value.low >= point.value.high {
        return String::new();
    }
    let (high, low) = (y.at(point.value.high), y.at(point.value.low));
    let mut path = format!("M{px:.1} {:.1}V{:.1}", within(high, size), within(low, size));
    for end in [high, low].into_iter().filter(|end| (within(*end, size) - end).abs() < 0.01) {
        path.push_str(&format!("M{:.1} {end:.1}h8", px - 4.0));
    }
    let observed = if point.is_observed { " seen" } else { "" };
    line(&format!("whisker{observed} {}", stroke(point)), path)
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
    let ring = when(point.is_run, || {
        format!("<circle class=\"ring\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{}\"/>", size.point + 4.0)
    });
    // Beyond the frame: an arrow at its border.
    let (r, is_beyond) = (size.point, py < size.top);
    let shape = match is_beyond {
        true => format!("<path class=\"{class}\" d=\"M{px:.1} {:.1}l{r} {1:.1}h-{1:.1}z\"", size.top - r, r * 2.0),
        false => format!("<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{r}\""),
    };
    let end = if is_beyond { "path" } else { "circle" };
    format!(
        "{ring}{shape}><title>{}: {} a month, {}. {}</title></{end}>",
        escaped(&point.name),
        labels::usd(point.usd),
        chart.measure.value(point.value.median),
        escaped(&point.words)
    )
}

/// Half of the box that a point takes, its ring with it.
fn half(point: &Point, size: &Size) -> f64 {
    size.point + if point.is_run { 6.0 } else { 2.0 }
}

/// The labels, those of the frontier first; and the names that found no place.
fn names(chart: &Chart, size: &Size, (x, y): (&Scale, &Scale), obstacles: &Obstacles) -> (String, Vec<String>) {
    let mut points: Vec<&Point> = chart.points.iter().collect();
    points.sort_by_key(|p| (!p.is_run, p.state != State::Frontier));
    let height = size.font * 1.25;
    // Where the axis does not say it, the name does.
    let name = |point: &Point| match within(y.at(point.value.median), size) > y.at(point.value.median) {
        true if !size.has_values => format!("{} ({})", point.name, chart.measure.value(point.value.median)),
        _ => point.name.clone(),
    };
    let below = |point: &Point| format!("{}, {}", chart.measure.value(point.value.median), labels::usd(point.usd));
    let labels: Vec<Label> = points
        .iter()
        .map(|point| {
            // Bold is wider.
            let name = width_of(&cut(&name(point), size.name), size.font) * if point.is_run { 1.1 } else { 1.0 };
            let value = if size.has_values { width_of(&below(point), size.font) } else { 0.0 };
            Label {
                at: (x.at(point.usd), within(y.at(point.value.median), size)),
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
    for ((point, label), found) in points.iter().zip(&labels).zip(place(&labels, obstacles, area)) {
        let Some(rect) = found else {
            unnamed.push(point.name.clone());
            continue;
        };
        let near = rect.nearest(label.at);
        if label.is_far(&rect) {
            let ((x, y), (to_x, to_y)) = (label.at, near);
            svg += &line("axis", format_args!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"));
        }
        // Beside its point on the left a label ends there.
        let is_left = rect.x + rect.width < label.at.0;
        let (at, anchor) = if is_left { (rect.x + rect.width, " e") } else { (rect.x, "") };
        let bold = if point.is_run { " run" } else { "" };
        let name = short(&name(point), size.name);
        let class = format!("ink{anchor}{bold} {}", size.class);
        svg += &words(&class, (at, rect.y + size.font), name);
        if size.has_values {
            let class = format!("halo-text{anchor} {}", size.class);
            svg += &words(&class, (at, rect.y + size.font + height), escaped(&below(point)));
        }
    }
    (svg, unnamed)
}

/// As many characters as [`short`] shows.
fn cut(name: &str, most: usize) -> String {
    name.chars().take(most).collect()
}
