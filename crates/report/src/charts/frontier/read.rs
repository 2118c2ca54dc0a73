//! What a chart of cost against performance shows, read from the analysis.

use analysis::{
    Analysis, AnswerOutcome, Candidate, CellAnalysis, Check, Criterion, DecidedBy, IntervalMethod, LatencyFigure,
    LoadLevel, Meets, Range, WorkloadAnswer,
};

use crate::answer::place_name;
use crate::figures::{given, ms, number};
use crate::labels;

/// What the vertical axis shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// Operations per second.
    Throughput,
    /// Operations per second less headroom, at full scale, against a demand.
    Capacity { demand: f64 },
    /// Milliseconds.
    Latency {
        figure: LatencyFigure,
        /// At most.
        limit_ms: f64,
    },
}

impl Measure {
    /// With its unit.
    pub fn title(&self) -> String {
        match self {
            Self::Throughput => "operations/s".to_owned(),
            Self::Capacity { .. } => "operations/s less headroom, at full scale,".to_owned(),
            Self::Latency { figure, .. } => format!("{} in ms", labels::latency(None, *figure)),
        }
    }

    fn is_more_better(&self) -> bool {
        !matches!(self, Self::Latency { .. })
    }

    /// The objective's line, with its words.
    pub fn bound(&self) -> Option<(f64, String)> {
        match self {
            Self::Throughput => None,
            Self::Capacity { demand } => Some((*demand, format!("at least {}/s", given(*demand)))),
            Self::Latency { limit_ms, .. } => Some((*limit_ms, format!("at most {} ms", given(*limit_ms)))),
        }
    }

    /// A value with its unit, short.
    pub fn value(&self, value: f64) -> String {
        match self {
            Self::Throughput | Self::Capacity { .. } => format!("{}/s", number(value)),
            Self::Latency { .. } => format!("{} ms", number(value)),
        }
    }
}

/// How a point is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// On the frontier by its estimate.
    Frontier,
    /// Something that costs no more is as good, or it misses the objective.
    Off,
    /// What was measured is not its storage in its sustained state.
    Held,
}

/// A configuration.
#[derive(Debug, Clone)]
pub struct Point {
    /// Place among the configurations, for its colour.
    pub index: usize,
    pub name: String,
    /// What it costs a month.
    pub usd: f64,
    /// What it does, with its interval.
    pub value: Range,
    /// Whether the interval is an observed range.
    pub is_observed: bool,
    /// How it is drawn.
    pub state: State,
    /// Whether it is the one to run.
    pub is_run: bool,
    /// What stands behind it, for its tooltip.
    pub words: String,
}

#[derive(Debug, Clone)]
pub struct Chart {
    /// Workload and load.
    pub title: String,
    /// The vertical axis.
    pub measure: Measure,
    /// By cost, cheapest first.
    pub points: Vec<Point>,
    /// Configurations that are not drawn, with the reason.
    pub missing: Vec<String>,
    /// Throughput per dollar of the cheapest: the slope above which a dollar buys more.
    pub value_of: Option<f64>,
    /// Whether its throughput is that of a 1:N model times N, beside what full scale costs.
    pub is_estimated: bool,
}

/// A workload at a load level, and what decides there.
struct Spot<'a> {
    workload: &'a str,
    load: Option<LoadLevel>,
    place: Option<&'a WorkloadAnswer>,
}

/// All charts with two or more points.
pub fn charts(analysis: &Analysis) -> Vec<Chart> {
    spots(analysis).iter().map(|spot| chart(analysis, spot)).filter(|chart| chart.points.len() > 1).collect()
}

/// The places of the recommendation, those first that are decided; those of the cells, where it has none.
fn spots(analysis: &Analysis) -> Vec<Spot<'_>> {
    let mut spots: Vec<Spot<'_>> = Vec::new();
    for place in &analysis.recommendation.places {
        spots.push(Spot { workload: &place.workload, load: place.load, place: Some(place) });
    }
    let is_open = |spot: &Spot<'_>| !spot.place.is_some_and(|p| matches!(p.outcome, AnswerOutcome::Run { .. }));
    spots.sort_by_key(is_open);
    for cell in &analysis.cells {
        let is_known = |s: &Spot<'_>| s.workload == cell.workload && s.load.is_none_or(|load| load == cell.load);
        if !spots.iter().any(is_known) {
            spots.push(Spot { workload: &cell.workload, load: Some(cell.load), place: None });
        }
    }
    spots
}

/// What decides at a spot: the measure, and the check of each candidate that it stands for.
fn deciding(spot: &Spot<'_>) -> (Measure, Option<usize>) {
    let Some(place) = spot.place.filter(|p| p.by == DecidedBy::Objective) else { return (Measure::Throughput, None) };
    // In a closed loop throughput for money decides among those that meet the bounds.
    if matches!(place.load, Some(LoadLevel::Concurrency(_))) {
        return (Measure::Throughput, None);
    }
    let of = |check: &Check| match check.what {
        Criterion::Latency { figure, limit_us, .. } => Some(Measure::Latency { figure, limit_ms: limit_us / 1e3 }),
        Criterion::Throughput { demand } => Some(Measure::Capacity { demand }),
        Criterion::ErrorShare { .. } | Criterion::RateHeld => None,
    };
    let parts = place.candidates.first().map_or(0, |c| c.checks.len());
    let measures: Vec<(usize, Measure)> =
        (0..parts).filter_map(|i| Some((i, place.candidates.iter().find_map(|c| of(c.checks.get(i)?))?))).collect();
    // Of several parts the one that somebody fails.
    let is_failed = |i: usize| {
        let checks = place.candidates.iter().filter_map(|c| c.checks.get(i));
        checks.into_iter().any(|c| c.meets == Meets::No)
    };
    let failed = measures.iter().find(|(i, _)| is_failed(*i));
    match failed.or(measures.first()) {
        Some((i, measure)) => (measure.clone(), Some(*i)),
        None => (Measure::Throughput, None),
    }
}

fn chart(analysis: &Analysis, spot: &Spot<'_>) -> Chart {
    let (measure, part) = deciding(spot);
    let mut points = Vec::new();
    let mut missing = Vec::new();
    for (index, configuration) in analysis.configurations.iter().enumerate() {
        let name = &configuration.name;
        let cells = || analysis.cells_at(spot.workload, spot.load).filter(|c| c.configuration == *name);
        let candidate = spot.place.and_then(|p| p.candidates.iter().find(|c| c.configuration == *name));
        let value = match part {
            Some(part) => candidate.and_then(|c| checked(c, part)),
            None => cells().find_map(|cell| at_full_scale(analysis, cell)),
        };
        let usd = configuration.usd_per_month;
        // Nobody buys what forgets, however fast it does.
        let has_lost = |c: &CellAnalysis| c.configuration == *name && c.has_lost_writes();
        let has_lost = analysis.cells.iter().any(has_lost);
        let (Some(usd), Some(value), false) = (usd, value, has_lost) else {
            let why = match (has_lost, usd, cells().any(|c| c.trials > 0)) {
                (true, ..) => "it lost acknowledged writes",
                (_, None, _) => "no price",
                (.., true) => "no valid figure",
                (.., false) => "not measured",
            };
            missing.push(format!("{name} ({why})"));
            continue;
        };
        let is_held = cells().any(|c| c.withheld.is_some());
        let is_missed = candidate.is_some_and(|c| c.meets == Meets::No);
        points.push(Point {
            index,
            name: name.clone(),
            usd,
            value,
            is_observed: cells().any(|c| c.throughput_ops_per_s.is_some_and(|t| t.method == IntervalMethod::Range)),
            state: match (is_held, is_missed) {
                (true, _) => State::Held,
                (false, true) => State::Off,
                // Those that are off it are named below.
                (false, false) => State::Frontier,
            },
            is_run: analysis.recommendation.run.as_ref() == Some(name),
            words: words(cells().next(), candidate),
        });
    }
    points.sort_by(|a, b| a.usd.total_cmp(&b.usd));
    keep_frontier(&mut points, &measure);
    let title = spot.load.map_or_else(
        || spot.workload.to_owned(),
        |load| match place_name(analysis, spot.workload, Some(load)) {
            name if name.is_empty() => format!("{}, {}", spot.workload, labels::load(load)),
            name => name,
        },
    );
    let cheapest = points.iter().find(|p| p.state != State::Held);
    let value_of = cheapest.filter(|p| measure == Measure::Throughput && p.usd > 0.0).map(|p| p.value.median / p.usd);
    let is_estimated = measure == Measure::Throughput && analysis.scale != 1.0;
    Chart { title, measure, points, missing, value_of, is_estimated }
}

/// Marks what costs at least as much as something at least as good.
fn keep_frontier(points: &mut [Point], measure: &Measure) {
    let is_better = |a: f64, b: f64| if measure.is_more_better() { a > b } else { a < b };
    // Of two at one price the better one comes first.
    let mut order: Vec<usize> = (0..points.len()).filter(|i| points[*i].state == State::Frontier).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&points[*a], &points[*b]);
        let by_value = a.value.median.total_cmp(&b.value.median);
        let by_value = if measure.is_more_better() { by_value.reverse() } else { by_value };
        a.usd.total_cmp(&b.usd).then(by_value)
    });
    let mut best: Option<f64> = None;
    for i in order {
        let value = points[i].value.median;
        if best.is_some_and(|best| !is_better(value, best)) {
            points[i].state = State::Off;
        } else {
            best = Some(value);
        }
    }
}

/// What a 1:N model did, times N: money is that of full scale, too.
fn at_full_scale(analysis: &Analysis, cell: &CellAnalysis) -> Option<Range> {
    let t = cell.throughput_ops_per_s?;
    let of = |ops_per_s: f64| ops_per_s * analysis.scale;
    Some(Range { median: of(t.median), low: of(t.low), high: of(t.high) })
}

/// What was measured for a part of the objective, in the unit of the axis.
fn checked(candidate: &Candidate, part: usize) -> Option<Range> {
    let check = candidate.checks.get(part)?;
    let measured = check.measured?;
    let scale = match check.what {
        Criterion::Latency { .. } => 1e-3,
        _ => 1.0,
    };
    Some(Range { median: measured.median * scale, low: measured.low * scale, high: measured.high * scale })
}

/// What else is known of a point.
fn words(cell: Option<&CellAnalysis>, candidate: Option<&Candidate>) -> String {
    let mut parts = Vec::new();
    if let Some(cell) = cell {
        parts.push(format!("measured: {} operations/s", labels::estimate(cell.throughput_ops_per_s)));
        let p99 = cell.latency_us.values().filter_map(|l| l.figures.p99).max_by(f64::total_cmp);
        parts.extend(p99.map(|p99| format!("p99 {} ms", ms(p99))));
        parts.push(format!("limit: {}", labels::limit(&cell.limit)));
    }
    parts.extend(candidate.map(|c| {
        let meets = match c.meets {
            Meets::Yes => "meets the objective",
            Meets::No => "misses the objective",
            Meets::NotDecided => "whether it meets the objective is not decided",
        };
        meets.to_owned()
    }));
    parts.join(", ")
}
