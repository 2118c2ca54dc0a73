//! Places labels beside their points so that none covers another, a point, an interval or the border.
//!
//! Greedy: one label after the other, each at the nearest place that is free; first with lines kept free as well, then,
//! where there is no such place, across them. What finds no place is left to the list below the chart.

/// A box, by its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    /// A square around a point.
    pub fn around(x: f64, y: f64, half: f64) -> Self {
        Self { x: x - half, y: y - half, width: 2.0 * half, height: 2.0 * half }
    }

    /// Whether two boxes share more than a border.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    fn is_inside(&self, area: &Self) -> bool {
        self.x >= area.x
            && self.y >= area.y
            && self.x + self.width <= area.x + area.width
            && self.y + self.height <= area.y + area.height
    }

    /// The point of the box that is nearest to another point.
    pub fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x, self.x + self.width), y.clamp(self.y, self.y + self.height))
    }

    fn distance(&self, point: (f64, f64)) -> f64 {
        let (x, y) = self.nearest(point);
        (x - point.0).hypot(y - point.1)
    }
}

/// What is to be placed.
#[derive(Debug, Clone, Copy)]
pub struct Label {
    /// The point that it names.
    pub at: (f64, f64),
    /// Width of its text.
    pub width: f64,
    /// Height of its text.
    pub height: f64,
    /// Half of the box that its point takes.
    pub point: f64,
}

impl Label {
    /// Between the point and a label that stands beside it.
    fn gap(&self) -> f64 {
        self.point + MARGIN + 0.5
    }

    /// Whether a place is so far away that a line must join it to the point.
    pub fn is_far(&self, rect: &Rect) -> bool {
        // Across a corner of the box, and a little.
        rect.distance(self.at) > self.gap() * 1.5 + 1.0
    }
}

/// Between two labels.
const MARGIN: f64 = 3.0;
/// Steps in which a free place is looked for.
const STEP: f64 = 7.0;

/// What labels must keep off.
#[derive(Debug, Clone, Default)]
pub struct Obstacles {
    /// Points and intervals: never covered; a leader crosses them only where it must.
    pub solid: Vec<Rect>,
    /// Other texts: neither covered nor crossed.
    pub texts: Vec<Rect>,
    /// Lines: covered only where it must be.
    pub lines: Vec<Rect>,
}

/// A label further away than this, on the average, is worth another try in another order.
const NEAR: f64 = 30.0;
/// What a label without a place costs, and one whose leader crosses a point; in units of distance.
const UNPLACED: f64 = 10_000.0;
const CROSSING: f64 = 200.0;

/// Orders in which labels are placed: from the left, from the right, from above.
const SORTED: [fn(&Label) -> f64; 3] = [|l| l.at.0, |l| -l.at.0, |l| l.at.1];
/// Orders that are tried where a label finds no place in any of these.
const ATTEMPTS: usize = 14;
/// Two primes that make orders.
const SHUFFLE: usize = 7919;
const SHUFFLED: usize = 104_729;

/// Where each label stands inside `area`; `None`: nowhere. In the order given; where that ends in long leaders, in
/// others, and the best of these.
pub fn place(labels: &[Label], obstacles: &Obstacles, area: Rect) -> Vec<Option<Rect>> {
    let given: Vec<usize> = (0..labels.len()).collect();
    let (mut best, mut least) = attempt(labels, &given, obstacles, area);
    if least <= NEAR * labels.len() as f64 {
        return best;
    }
    let mut attempts = 0;
    while attempts < SORTED.len() || (least >= UNPLACED && attempts < ATTEMPTS) {
        let mut order = given.clone();
        match SORTED.get(attempts) {
            Some(key) => order.sort_by(|a, b| key(&labels[*a]).total_cmp(&key(&labels[*b]))),
            // Any other order, the same for the same chart.
            None => order.sort_by_key(|i| (i + 1).wrapping_mul(SHUFFLE.wrapping_mul(attempts)) % SHUFFLED),
        }
        let (placed, cost) = attempt(labels, &order, obstacles, area);
        if cost < least {
            (best, least) = (placed, cost);
        }
        attempts += 1;
    }
    best
}

/// One label after the other; with what it costs together.
fn attempt(labels: &[Label], order: &[usize], obstacles: &Obstacles, area: Rect) -> (Vec<Option<Rect>>, f64) {
    let mut taken: Vec<Rect> = obstacles.solid.iter().chain(&obstacles.texts).copied().collect();
    let mut texts = obstacles.texts.clone();
    let lines = obstacles.lines.as_slice();
    let (mut placed, mut cost) = (vec![None; labels.len()], 0.0);
    for index in order {
        let label = &labels[*index];
        let candidates = candidates(label, area);
        // First the label covers nothing and its leader crosses nothing, then it may lie on a line, then its leader may
        // cross what is no text.
        let clear = |over: &[Rect], in_the_way: &[Rect]| {
            let mut found = candidates.iter();
            found.find(|rect| is_clear(rect, &taken, over) && is_led(rect, label, in_the_way))
        };
        let free = clear(lines, &taken).or_else(|| clear(&[], &taken)).map(|rect| (*rect, 0.0));
        let chosen = free.or_else(|| clear(&[], &texts).map(|rect| (*rect, CROSSING)));
        let Some((rect, extra)) = chosen else {
            cost += UNPLACED;
            continue;
        };
        cost += rect.distance(label.at) + extra;
        taken.push(rect);
        texts.push(rect);
        taken.extend(leader(label, &rect));
        placed[*index] = Some(rect);
    }
    (placed, cost)
}

/// Whether a label with its margin covers nothing.
fn is_clear(rect: &Rect, taken: &[Rect], over: &[Rect]) -> bool {
    let roomy = Rect {
        x: rect.x - MARGIN,
        y: rect.y - MARGIN,
        width: rect.width + 2.0 * MARGIN,
        height: rect.height + 2.0 * MARGIN,
    };
    taken.iter().chain(over).all(|t| !roomy.overlaps(t))
}

/// Whether the line from a point to its label meets nothing of these but the point itself.
fn is_led(rect: &Rect, label: &Label, in_the_way: &[Rect]) -> bool {
    let own = Rect::around(label.at.0, label.at.1, 0.5);
    let others = || in_the_way.iter().filter(|t| !t.overlaps(&own));
    leader(label, rect).iter().all(|step| !others().any(|t| t.overlaps(step)))
}

/// Beside the point, above and below it, then everywhere; the nearest first.
fn candidates(label: &Label, area: Rect) -> Vec<Rect> {
    let (x, y) = label.at;
    let (w, h, gap) = (label.width, label.height, label.gap());
    let at = |x: f64, y: f64| Rect { x, y, width: w, height: h };
    let mut all = vec![
        at(x + gap, y - h / 2.0),
        at(x - gap - w, y - h / 2.0),
        at(x - w / 2.0, y - gap - h),
        at(x - w / 2.0, y + gap),
        at(x + gap, y - gap - h),
        at(x - gap - w, y - gap - h),
        at(x + gap, y + gap),
        at(x - gap - w, y + gap),
    ];
    let mut top = area.y;
    while top + h <= area.y + area.height {
        let mut left = area.x;
        while left + w <= area.x + area.width {
            all.push(at(left, top));
            left += STEP;
        }
        top += STEP;
    }
    let mut all: Vec<(f64, Rect)> =
        all.into_iter().filter(|rect| rect.is_inside(&area)).map(|rect| (rect.distance(label.at), rect)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, rect)| rect).collect()
}

/// The line from a point to a label that stands far from it, as small boxes.
fn leader(label: &Label, rect: &Rect) -> Vec<Rect> {
    if label.is_far(rect) { along(label.at, rect.nearest(label.at)) } else { Vec::new() }
}

/// A straight line as small boxes.
pub fn along(from: (f64, f64), to: (f64, f64)) -> Vec<Rect> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let steps = (length / 4.0).ceil().max(1.0);
    (0..=steps as u32)
        .map(|i| {
            let share = f64::from(i) / steps;
            let (x, y) = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            Rect::around(x, y, 1.0)
        })
        .collect()
}

/// How wide a text is at most, in the unit of `size`: by the widths of DejaVu Sans, which is wider than what most
/// systems take for `system-ui`.
pub fn width_of(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '/' => 0.34,
        'f' | 't' | 'r' | '-' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.99,
        c if c.is_ascii_uppercase() => 0.78,
        c if c.is_ascii() => 0.645,
        // Letters of other scripts may be as wide as they are high.
        _ => 1.0,
    };
    text.chars().map(em).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 40.0, y: 10.0, width: 340.0, height: 280.0 };

    /// Knuth's MMIX generator: the same in every run of the test.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: f64) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as f64 / f64::from(1_u32 << 31) * most
        }
    }

    /// Crowded points, wide labels: whatever is placed collides with nothing.
    #[test]
    fn no_label_covers_another_or_a_point_or_the_border() {
        let (mut placed_of_eight, mut labels_of_eight) = (0, 0);
        for seed in 0..24 {
            let mut random = Random(seed);
            let n = 2 + (seed % 11) as usize;
            // Half of the charts have all their points in one corner.
            let part = if seed % 2 == 0 { 1.0 } else { 0.25 };
            let labels: Vec<Label> = (0..n)
                .map(|_| Label {
                    at: (AREA.x + random.below(AREA.width * part), AREA.y + random.below(AREA.height * part)),
                    width: 40.0 + random.below(90.0),
                    height: 13.0,
                    point: 5.0,
                })
                .collect();
            let points: Vec<Rect> = labels.iter().map(|l| Rect::around(l.at.0, l.at.1, 5.0)).collect();
            let obstacles = Obstacles { solid: points.clone(), ..Obstacles::default() };
            let placed = place(&labels, &obstacles, AREA);
            let found: Vec<Rect> = placed.iter().copied().flatten().collect();
            for (i, rect) in found.iter().enumerate() {
                assert!(rect.is_inside(&AREA), "{seed}: {rect:?}");
                assert!(!points.iter().any(|p| p.overlaps(rect)), "{seed}: on a point");
                assert!(!found[..i].iter().any(|other| other.overlaps(rect)), "{seed}: on a label");
            }
            if n <= 8 {
                placed_of_eight += found.len();
                labels_of_eight += n;
            }
        }
        assert!(
            placed_of_eight as f64 > 0.95 * f64::from(labels_of_eight as u32),
            "{placed_of_eight} of {labels_of_eight}"
        );
    }

    #[test]
    fn a_lonely_label_stands_beside_its_point_and_off_lines() {
        let label = Label { at: (100.0, 100.0), width: 60.0, height: 12.0, point: 5.0 };
        let point = Rect::around(100.0, 100.0, 5.0);
        let mut obstacles = Obstacles { solid: vec![point], ..Obstacles::default() };
        let free = place(&[label], &obstacles, AREA)[0].unwrap();
        assert!(!label.is_far(&free), "{free:?}");
        let line = along((40.0, 100.0), (380.0, 100.0));
        obstacles.lines = line.clone();
        let off = place(&[label], &obstacles, AREA)[0].unwrap();
        assert!(!line.iter().any(|l| l.overlaps(&off)), "{off:?}");
        // No room at all.
        let small = Rect { width: 30.0, ..AREA };
        assert_eq!(place(&[label], &obstacles, small), [None]);
    }
}
