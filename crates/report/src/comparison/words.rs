//! What a comparison says, in words for both forms.

use analysis::{CellChange, Change, Comparison, GateCell, GateOutcome, GateResult, Metric, Obstacle, Verdict, grouped};

use crate::answer::chance;
use crate::cache_curve::instead;
use crate::figures::{listed, ms, number, several, several_of, when};
use crate::labels;

/// Metrics with a table.
pub const SHOWN: [Metric; 3] = [Metric::Throughput, Metric::Mean, Metric::P99];
/// Longest list of differing settings that is shown; the JSON document has all.
pub const DIFFERENCES_SHOWN: usize = 12;
/// Cells that are named for one reason; the JSON document has all.
const CELLS_SHOWN: usize = 3;
/// Differing facts that a gate or a note names; the list of differences has all.
const FACTS_SHOWN: usize = 3;

/// How to read the tables.
pub const KEY: &str = "A is the first run, B the second. Change: ratio of geometric means over repetitions, the spread \
 within cells pooled over both runs. Intervals are adjusted for all cells of a metric (Holm), at the level of what is \
 shown. Latencies are those of the worst operation kind.";

/// What a comparison of a run with itself is worth.
pub const SAME_RUN: &str = "both are the same run, or copies of one: nothing can have changed";

/// Said of two simulations that draw the same noise.
pub const SAME_SEED: &str = "both are simulations of one truth with one seed: equal cells have equal figures, which \
                             says nothing about repetitions; another [provider.simulated] seed draws other noise";

/// What stands before the figures of two models of different scales.
pub fn scales(a: f64, b: f64) -> String {
    format!(
        "the scales differ ({} and {}): throughputs and latencies are those of different models, and no change of what \
         they are models of",
        labels::scale(a),
        labels::scale(b)
    )
}

/// What makes other work of the same cells, where the runs differ in it; `None` where they do not.
pub fn other_work(comparison: &Comparison) -> Option<String> {
    let found = comparison.unlike();
    (!found.is_empty())
        .then(|| format!("the runs did different work, which is part of every change: {}", facts(&found)))
}

/// The first of these facts, and how many more there are.
fn facts(all: &[String]) -> String {
    let mut shown: Vec<String> = all.iter().take(FACTS_SHOWN).cloned().collect();
    if all.len() > FACTS_SHOWN {
        shown.push(format!("{} more", all.len() - FACTS_SHOWN));
    }
    shown.join("; ")
}

/// Of which cells something else was measured than their storage, in which run, and what; `None` where of none.
pub fn withheld(comparison: &Comparison) -> Option<String> {
    let of_cell = |cell: &CellChange| {
        let both = [(&comparison.a, cell.withheld_a), (&comparison.b, cell.withheld_b)];
        both.map(|(run, why)| Some(((instead(&why?), run.as_str()), cell.cell.clone())))
    };
    let groups = grouped(comparison.cells.iter().flat_map(of_cell).flatten());
    let clauses: Vec<String> = groups
        .iter()
        .map(|((why, run), cells)| {
            let shown: Vec<&String> = cells.iter().take(CELLS_SHOWN).collect();
            let more = cells.len() - shown.len();
            let more = when(more > 0, || format!(" and {} more", several(more as u64, "cell")));
            format!("{why} in {run} ({}{more})", listed(shown))
        })
        .collect();
    (!clauses.is_empty()).then(|| {
        format!(
            "not all figures are those of the storage in its sustained state, and changes of these are none of it: {}",
            clauses.join("; ")
        )
    })
}

/// How a gate ended.
pub fn outcome(gate: &GateResult) -> &'static str {
    match gate.outcome {
        GateOutcome::Passed => "passed",
        GateOutcome::Failed => "FAILED",
        GateOutcome::Inconclusive => "INCONCLUSIVE",
    }
}

/// Each cell that did not pass a gate, what keeps it from deciding, and what would decide.
pub fn reasons(gate: &GateResult) -> Vec<String> {
    let mut reasons: Vec<String> = gate.cells.iter().map(cell).collect();
    reasons.extend(gate.obstacles.iter().map(obstacle));
    // How cells without a test spread nobody knows, nor what would decide them.
    let is_untested = gate.cells.iter().any(|cell| cell.change.verdict == Verdict::TooFew);
    match gate.would_decide_repetitions {
        Some(least) if is_untested => reasons.push(format!(
            "at least {least} repetitions of each cell in both runs are needed: how many would decide shows then"
        )),
        Some(repetitions) => reasons.push(format!(
            "about {repetitions} repetitions of each cell in both runs would decide {}, if what was seen is the truth",
            chance("such pairs of runs")
        )),
        None if gate.outcome == GateOutcome::Inconclusive && gate.obstacles.is_empty() => reasons.push(
            "no affordable number of repetitions would decide: for how they spread, the change lies too near the \
             threshold"
                .to_owned(),
        ),
        None => {}
    }
    reasons
}

fn cell(cell: &GateCell) -> String {
    let change = &cell.change;
    let seen = format!("{}: {} {:+.1} %", cell.cell, labels::metric(cell.metric), change.change_percent);
    match (change.verdict, cell.outcome) {
        (Verdict::TooFew, _) => format!("{seen}: fewer than three valid repetitions, so that nothing can be tested"),
        (_, outcome) => {
            let words = match outcome {
                GateOutcome::Failed => "wholly beyond the threshold",
                _ => "the interval holds the threshold",
            };
            format!("{seen} ({}): {words}", range(change))
        }
    }
}

fn obstacle(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::NothingCompared => "the two runs have no valid cell in common that has this metric".to_owned(),
        Obstacle::SameRun => SAME_RUN.to_owned(),
        Obstacle::DifferentScales => "the runs measured models of different scales".to_owned(),
        Obstacle::CellsMissing { cells } => {
            let cells = several_of(*cells, "cell stands", "cells stand");
            format!("{cells} in one of the runs only, or without valid trials: see \"Not compared\"")
        }
        Obstacle::FiguresMissing { cells } => {
            let cells = several_of(*cells, "cell has", "cells have");
            format!("{cells} no such figure in at least one of the runs: that nothing is lost there is not shown")
        }
        Obstacle::Withheld { cells } => {
            let cells = several_of(*cells, "cell", "cells");
            format!(
                "of {cells} something else was measured than the storage in its sustained state: that nothing is lost \
                 there is not shown"
            )
        }
        Obstacle::DifferentWork { facts: differing } => {
            format!("the runs did different work, whose difference is part of every change: {}", facts(differing))
        }
        Obstacle::DifferentHosts { facts: differing } => format!(
            "the runs were made on different hosts, whose difference is part of every change: {}",
            facts(differing)
        ),
    }
}

/// The interval of a change.
pub fn range(change: &Change) -> String {
    format!("{:+.1} to {:+.1} %", change.low_percent, change.high_percent)
}

/// What a change shows.
pub fn shown(change: &Change) -> String {
    match (change.verdict, change.smallest_detectable_percent) {
        (Verdict::NoDifferenceShown, Some(least)) => format!("no difference ({least:.0} % would have been)"),
        (Verdict::TooFew | Verdict::NotComparable, _) => "not tested (too few repetitions)".to_owned(),
        (verdict, _) => verdict.words().to_owned(),
    }
}

/// A value of a metric without its unit.
pub fn value(metric: Metric, value: f64) -> String {
    if metric == Metric::Throughput { number(value) } else { ms(value) }
}

pub fn unit(metric: Metric) -> &'static str {
    if metric == Metric::Throughput { "op/s" } else { "ms" }
}
