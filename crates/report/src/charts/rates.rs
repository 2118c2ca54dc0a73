//! Latency over the rate that was achieved: what a configuration answers in at the load that it carries. The same axes
//! for p50, p95 and p99 of a kind of operation; the objective, where one was stated, as a line.

use std::collections::BTreeSet;
use std::mem::discriminant;

use analysis::{Analysis, CellAnalysis, Criterion, LatencyAnalysis, LatencyFigure, LoadLevel, OperationKind};

use super::axis::{Axis, BELOW, Scale, axes, whisker};
use super::element::{colour, dot as point, figure as figure_of, index, legend, line, words};
use crate::document::html::escaped;
use crate::figures::{given, ms, number, when};
use crate::labels;

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 22.0;

/// What is drawn, each in a chart.
const PERCENTILES: [LatencyFigure; 3] = [LatencyFigure::P50, LatencyFigure::P95, LatencyFigure::P99];

/// A cell in a chart.
struct Dot<'a> {
    cell: &'a CellAnalysis,
    latency: &'a LatencyAnalysis,
    index: usize,
    rate: f64,
}

/// For each workload and kind of operation one chart a percentile.
pub fn rates(analysis: &Analysis) -> String {
    let mut out = String::new();
    for workload in &analysis.workloads {
        for kind in labels::kinds(analysis) {
            let dots = dots(analysis, &workload.name, kind);
            if !dots.is_empty() {
                out.push_str(&group(analysis, &workload.name, kind, &dots));
            }
        }
    }
    if out.is_empty() {
        return match analysis.cells.iter().any(|cell| cell.valid_trials > 0) {
            true => "<p>No cell has percentiles of response times.</p>\n".to_owned(),
            false => "<p>No cell has a valid trial.</p>\n".to_owned(),
        };
    }
    let names = analysis.configurations.iter().enumerate();
    format!(
        "<p class=\"soft\">Each point is a cell: operations/s over all kinds (geometric mean of its trials), and the \
         median over its trials of each trial's percentile; bars: smallest and largest trial. Lines join the loads of \
         a configuration, lowest first. In a closed loop the rate follows from the latency; at a given rate compare \
         points above each other.</p>\n{}{out}",
        legend(names.map(|(i, c)| (i, c.name.as_str())))
    )
}

/// What is drawn of a cell's response times, microseconds: the percentiles that it has.
fn stated(latency: &LatencyAnalysis) -> impl Iterator<Item = f64> {
    PERCENTILES.into_iter().filter_map(move |percentile| latency.figure(percentile))
}

fn dots<'a>(analysis: &'a Analysis, workload: &str, kind: OperationKind) -> Vec<Dot<'a>> {
    let cells = analysis.cells.iter().filter(|c| c.workload == workload);
    let mut dots: Vec<Dot<'_>> = cells
        .filter_map(|cell| {
            Some(Dot {
                cell,
                latency: cell.latency_us.get(&kind).filter(|latency| stated(latency).next().is_some())?,
                index: index(analysis, &cell.configuration),
                rate: cell.throughput_ops_per_s?.median,
            })
        })
        .collect();
    dots.sort_by(|a, b| {
        let by = |d: &Dot<'_>| match d.cell.load {
            LoadLevel::Concurrency(n) => (0, f64::from(n)),
            LoadLevel::Rate { operations_per_s, .. } => (1, operations_per_s),
        };
        let ((kind_a, load_a), (kind_b, load_b)) = (by(a), by(b));
        (a.index, kind_a).cmp(&(b.index, kind_b)).then(load_a.total_cmp(&load_b))
    });
    dots
}

/// Bounds of the objective on this workload: figure and milliseconds.
fn bounds(analysis: &Analysis, workload: &str) -> Vec<(LatencyFigure, f64)> {
    let places = analysis.recommendation.places.iter().filter(|p| p.workload == workload);
    let checks = places.flat_map(|p| &p.candidates).flat_map(|c| &c.checks);
    let stated = analysis.objective.iter().filter(|_| crate::capacity::any(analysis));
    let stated = stated.flat_map(|objective| &objective.latency);
    let mut found: Vec<(LatencyFigure, f64)> = stated.map(|bound| (bound.figure, bound.limit_us / 1e3)).collect();
    for check in checks {
        if let Criterion::Latency { figure, limit_us, .. } = check.what
            && !found.contains(&(figure, limit_us / 1e3))
        {
            found.push((figure, limit_us / 1e3));
        }
    }
    found
}

fn group(analysis: &Analysis, workload: &str, kind: OperationKind, dots: &[Dot<'_>]) -> String {
    let bounds = bounds(analysis, workload);
    let drawn = || dots.iter().flat_map(|d| stated(d.latency));
    let (low, high) = (drawn().fold(f64::INFINITY, f64::min) / 1e3, drawn().fold(0.0, f64::max) / 1e3);
    let (low, high) = bounds.iter().fold((low, high), |(low, high), (_, ms)| (low.min(*ms), high.max(*ms)));
    let fastest = dots.iter().map(|d| d.rate).fold(0.0, f64::max);
    let x = Scale::linear(0.0, fastest * 1.08, LEFT, WIDTH - RIGHT);
    let y = Scale::log(low * 0.7, high * 1.5, HEIGHT - BELOW, TOP);
    let charts: String = PERCENTILES
        .into_iter()
        .map(|percentile| {
            let bounds = bounds.iter().filter(|(figure, _)| *figure == percentile);
            let bounds: Vec<f64> = bounds.map(|(_, ms)| *ms).collect();
            chart(workload, kind, dots, percentile, &bounds, (&x, &y))
        })
        .collect();
    let loads: BTreeSet<String> = dots.iter().map(|d| labels::load(d.cell.load)).collect();
    let loads = when(loads.len() == 1, || format!(", {}", loads.first().map_or("", String::as_str)));
    format!(
        "<h3>{}, {}{}</h3>\n<div class=\"charts three\">\n{charts}</div>\n",
        escaped(workload),
        labels::operation(kind),
        escaped(&loads)
    )
}

fn chart(
    workload: &str,
    kind: OperationKind,
    dots: &[Dot<'_>],
    percentile: LatencyFigure,
    bounds: &[f64],
    (x, y): (&Scale, &Scale),
) -> String {
    let (name, right) = (percentile.label(), WIDTH - RIGHT);
    let mut svg = axes(&Axis::round(x, 4, "operations/s"), &Axis::round(y, 6, "ms (logarithmic)"));
    for bound in bounds {
        let at = y.at(*bound);
        svg += &line("bound", format_args!("M{LEFT} {at:.1}H{right}"));
        svg += &words("e b t11", (right, at - 4.0), format_args!("at most {} ms", given(*bound)));
    }
    // Where a tool did not state the percentile there is no dot.
    let dots: Vec<(&Dot<'_>, f64)> =
        dots.iter().filter_map(|dot| Some((dot, dot.latency.figure(percentile)?))).collect();
    let at = |(d, us): &(&Dot<'_>, f64)| (x.at(d.rate), y.at(us / 1e3));
    for pair in dots.windows(2) {
        let (from, to) = (pair[0].0, pair[1].0);
        let is_same_loop = discriminant(&from.cell.load) == discriminant(&to.cell.load);
        if from.index == to.index && is_same_loop {
            let ((x0, y0), (x1, y1)) = (at(&pair[0]), at(&pair[1]));
            let class = format!("l s{}", colour(from.index));
            svg += &line(&class, format_args!("M{x0:.1} {y0:.1}L{x1:.1} {y1:.1}"));
        }
    }
    for placed in &dots {
        let (dot, us) = *placed;
        let ((px, py), colour) = (at(placed), colour(dot.index));
        if let Some(range) = dot.latency.spread.get(percentile.name()).filter(|s| s.low < s.high) {
            svg += &whisker(&format!("s{colour}"), px, (range.low / 1e3, range.high / 1e3), y);
        }
        let said = format!(
            "{}, {}: {name} {} ms at {} operations/s",
            escaped(&dot.cell.configuration),
            escaped(&labels::load(dot.cell.load)),
            ms(us),
            number(dot.rate)
        );
        svg += &point(&format!("f{colour}"), (px, py), said);
    }
    figure_of(
        &format!("<b>{name}</b>"),
        &format!("{name} of {} over the achieved rate, {workload}", labels::operation(kind)),
        (WIDTH, HEIGHT),
        &svg,
    )
}
