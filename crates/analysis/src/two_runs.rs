//! Two runs of the same matrix against each other: before and after, this week and last week.
//!
//! The runs were made at different times, so that blocks cannot be paired: each cell is compared by the means of its
//! logarithms, with the spread within cells of one kind of limit pooled over both runs ([`stats::Samples`]). Whatever
//! differed between the two runs besides the thing of interest (machine, kernel, neighbours) is part of the difference;
//! what is known to differ is listed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use stats::Contrast;

use crate::RunEvidence;
use crate::cells::CONFIDENCE;
use crate::comparisons::{is_open, pool_of, verdict};
use crate::document::{CellAnalysis, CellChange, Change, Comparison, Metric, Verdict, Withheld};
use crate::figures::Figures;
use crate::limit::{self, SpreadKind};
use crate::measurement::TrialMeasurement;
use crate::rules::imported::windows::Length;

/// Compares run `b` with run `a`, cell by cell; each with its cells as they were analysed.
pub fn compare(
    (a, cells_a): (&RunEvidence<'_>, &[CellAnalysis]),
    (b, cells_b): (&RunEvidence<'_>, &[CellAnalysis]),
) -> Comparison {
    let (of_a, of_b) = (Figures::new(a.plan, a.trials), Figures::new(b.plan, b.trials));
    let mut cells = Vec::new();
    let mut not_compared = Vec::new();
    for cell in &a.plan.cells {
        if !b.plan.cells.iter().any(|c| c.id == cell.id) {
            not_compared.push(format!("{} is not in {}", cell.id, b.run));
            continue;
        }
        let (none_a, none_b) = (of_a.trials(&cell.id).is_empty(), of_b.trials(&cell.id).is_empty());
        if none_a || none_b {
            let run = if none_a { &a.run } else { &b.run };
            not_compared.push(format!("{} has no valid trial in {run}", cell.id));
            continue;
        }
        let [tool_a, tool_b] = [&of_a, &of_b].map(|figures| tools(figures.trials(&cell.id).iter().copied()));
        if tool_a != tool_b {
            let who = |tool: Option<String>| tool.unwrap_or_else(|| "iopslab".to_owned());
            let (tool_a, tool_b) = (who(tool_a), who(tool_b));
            not_compared.push(format!("{} was loaded by {tool_a} in {}, and by {tool_b} in {}", cell.id, a.run, b.run));
            continue;
        }
        let [length_a, length_b] = [&of_a, &of_b].map(|figures| Length::of(figures.trials(&cell.id)));
        if !Length::are_like(length_a, length_b) {
            not_compared.push(format!("{} was measured for another time in {} than in {}", cell.id, b.run, a.run));
            continue;
        }
        cells.push(CellChange {
            cell: cell.id.clone(),
            configuration: cell.configuration.clone(),
            workload: cell.workload.clone(),
            load: cell.load,
            metrics: BTreeMap::new(),
            withheld_a: withheld(&cell.id, cells_a),
            withheld_b: withheld(&cell.id, cells_b),
        });
    }
    for cell in b.plan.cells.iter().filter(|c| !a.plan.cells.iter().any(|d| d.id == c.id)) {
        not_compared.push(format!("{} is not in {}", cell.id, a.run));
    }
    let kinds = kinds(&cells, [cells_a, cells_b]);
    for metric in Metric::CHANGES {
        changes(&mut cells, &kinds, metric, (&of_a, &of_b), a.plan.decision.margin);
    }
    Comparison {
        format_version: evidence::FORMAT_VERSION,
        a: a.run.clone(),
        b: b.run.clone(),
        same_run: false,
        same_seed: a.plan.place.is_simulated() && a.plan.place == b.plan.place && a.plan.seed == b.plan.seed,
        scales_differ: Some((a.plan.scale(), b.plan.scale())).filter(|(a, b)| a != b),
        hosts_differ: hosts_differ(&a.environment, &b.environment),
        differences: differences(a, b),
        not_compared,
        cells,
        gates: Vec::new(),
    }
}

/// What was measured of a cell instead of its storage.
fn withheld(id: &str, cells: &[CellAnalysis]) -> Option<Withheld> {
    cells.iter().find(|cell| cell.id == id)?.withheld
}

/// The tools whose results trials are; `None`: all are our own.
fn tools<'a>(trials: impl Iterator<Item = &'a TrialMeasurement>) -> Option<String> {
    let names: BTreeSet<&str> = trials.filter_map(|trial| Some(trial.imported()?.tool.name())).collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<&str>>().join(", "))
}

/// The kind of limit that each cell had in run `a` and in run `b`, one after the other.
fn kinds(cells: &[CellChange], runs: [&[CellAnalysis]; 2]) -> Vec<SpreadKind> {
    let of = |id: &str, run: &[CellAnalysis]| {
        let cell = run.iter().find(|cell| cell.id == id);
        cell.map_or(SpreadKind::Other, |cell| limit::by_use(&cell.limit).spreads_as())
    };
    cells.iter().flat_map(|cell| [0, 1].map(|run| of(&cell.cell, runs[run]))).collect()
}

/// One metric of all cells: pooled, tested, judged. At a given rate throughput says nothing.
fn changes(
    cells: &mut [CellChange],
    kinds: &[SpreadKind],
    metric: Metric,
    (a, b): (&Figures<'_>, &Figures<'_>),
    margin: f64,
) {
    let values = |figures: &Figures<'_>, cell: &CellChange| -> Vec<f64> {
        match metric == Metric::Throughput && is_open(cell.load) {
            true => Vec::new(),
            false => figures.by_block(&cell.cell, metric).into_values().collect(),
        }
    };
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v.ln()).collect() };
    let samples: Vec<[Vec<f64>; 2]> = cells.iter().map(|c| [values(a, c), values(b, c)]).collect();
    let in_logs: Vec<Vec<f64>> = samples.iter().flatten().map(|values| logs(values)).collect();
    let mut all: Vec<(usize, Change)> = samples
        .iter()
        .enumerate()
        .filter_map(|(i, [a, b])| {
            let of_run = (2 * i, 2 * i + 1);
            let (log_a, log_b) = (&in_logs[of_run.0], &in_logs[of_run.1]);
            let pool = pool_of(&in_logs, kinds, of_run);
            // A run against itself: nothing differs, whatever the repetitions spread.
            let itself = a == b && !a.is_empty();
            let contrast =
                pool.contrast(log_b, log_a).map(|c| Contrast { error: if itself { 0.0 } else { c.error }, ..c });
            Some((i, untested(a, b, contrast)?))
        })
        .collect();
    let mut tested: Vec<&mut Change> = all.iter_mut().map(|(_, c)| c).filter(|c| c.contrast.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|c| Some(c.contrast?.p_of(1.0))).collect();
    for ((change, p), level) in tested.iter_mut().zip(&p_values).zip(stats::holm_levels(&p_values, stats::LEVEL)) {
        let Some(contrast) = change.contrast else { continue };
        let (low, high) = contrast.interval(level);
        change.level = level;
        (change.low_percent, change.high_percent) = (percent(low), percent(high));
        change.p_value = Some(*p);
        change.p_adjusted = Some((p * stats::LEVEL / level).min(1.0));
        change.smallest_detectable_percent = contrast.detectable(level).map(percent);
        change.verdict = verdict(low, high, margin, metric.higher_is_better());
    }
    for (i, change) in all {
        cells[i].metrics.insert(metric, change);
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn untested(a: &[f64], b: &[f64], contrast: Option<Contrast>) -> Option<Change> {
    let plain = stats::ratio(stats::geometric_mean(b)?, stats::geometric_mean(a)?)?;
    let change = percent(contrast.map_or(plain, |c| c.estimate.exp()));
    Some(Change {
        a: stats::estimate(a, CONFIDENCE)?,
        b: stats::estimate(b, CONFIDENCE)?,
        change_percent: change,
        low_percent: change,
        high_percent: change,
        level: 0.0,
        p_value: None,
        p_adjusted: None,
        smallest_detectable_percent: None,
        verdict: Verdict::TooFew,
        contrast,
    })
}

/// Facts that make two machines different ones.
const HOST_FACTS: [&str; 7] = ["hostname", "cpu_model", "microcode", "cpus", "memory_bytes", "kernel", "clock_source"];

/// Facts of the same role's host that differ, as `database.cpu_model: A -> B`.
fn hosts_differ(a: &Value, b: &Value) -> Vec<String> {
    let mut found = Vec::new();
    differ("", a, b, &["the first run", "the second run"], &mut found);
    let is_host = |line: &String| {
        let path = line.split(':').next().unwrap_or_default();
        HOST_FACTS.contains(&path.rsplit('.').next().unwrap_or_default())
    };
    found.retain(is_host);
    found
}

/// Settings and host facts that differ, by their path in `plan.json`, `setups.json` and `environment.json`.
fn differences(a: &RunEvidence<'_>, b: &RunEvidence<'_>) -> Vec<String> {
    let settings = |run: &RunEvidence<'_>| {
        json!({
            "provider": run.plan.place.provider(),
            "tool": tools(run.trials.iter()),
            "scale": run.plan.scale(),
            "target": run.plan.target,
            "existing": run.plan.place.existing(),
            "dataset": run.plan.dataset,
            "shape": run.plan.shape,
            "simulated": run.plan.place.truth(),
            "configurations": named(run.setups.iter().map(|s| (s.configuration.clone(), json!(s)))),
            "workloads": named(run.plan.workloads.iter().map(|w| (w.name.clone(), json!(w)))),
            "environment": run.environment,
        })
    };
    let mut found = Vec::new();
    differ("", &settings(a), &settings(b), &[&a.run, &b.run], &mut found);
    // Many others follow from it.
    found.sort_by_key(|line| !line.starts_with("scale:"));
    found
}

fn named(entries: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(entries.collect())
}

/// Walks two documents of the same shape. What only one of the two runs has is named, and not spelled out.
fn differ(path: &str, a: &Value, b: &Value, runs: &[&str; 2], found: &mut Vec<String>) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let is_branch = |value: &Value| value.is_object() || value.is_array();
    match (a, b) {
        _ if a == b => {}
        (Value::Object(fields_a), Value::Object(fields_b)) => {
            let mut keys: Vec<&String> = fields_a.keys().chain(fields_b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let of = |fields: &serde_json::Map<String, Value>| fields.get(key).cloned().unwrap_or(Value::Null);
                differ(&inner(key), &of(fields_a), &of(fields_b), runs, found);
            }
        }
        (Value::Array(items_a), Value::Array(items_b)) => {
            for i in 0..items_a.len().max(items_b.len()) {
                let of = |items: &[Value]| items.get(i).cloned().unwrap_or(Value::Null);
                differ(&inner(&i.to_string()), &of(items_a), &of(items_b), runs, found);
            }
        }
        (Value::Null, other) if is_branch(other) => found.push(format!("{path}: only in {}", runs[1])),
        (other, Value::Null) if is_branch(other) => found.push(format!("{path}: only in {}", runs[0])),
        _ if is_branch(a) || is_branch(b) => found.push(format!("{path}: of another kind")),
        _ => found.push(format!("{path}: {} -> {}", plain(a), plain(b))),
    }
}

/// A value as people write it.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
