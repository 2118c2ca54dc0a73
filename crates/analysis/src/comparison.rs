//! Two runs of the same matrix against each other: before and after, this week and last week.
//!
//! The runs were made at different times, so that blocks cannot be paired: each cell is compared by Welch's t test on logarithms.
//! Whatever differed between the two runs besides the thing of interest (machine, kernel, neighbours) is part of the difference; what
//! is known to differ is listed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spec::LoadLevel;
use stats::Estimate;

use crate::RunEvidence;
use crate::cells::CONFIDENCE;
use crate::document::Verdict;
use crate::gate::GateResult;
use crate::latency::LatencyFigures;
use crate::measurement::TrialMeasurement;
use crate::ratios::main_kind;

/// `compare`'s document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of this document's shape.
    pub format_version: u32,
    /// Name of the first run: the reference.
    pub a: String,
    /// Name of the second run.
    pub b: String,
    /// What is known to differ between the runs: settings, machine.
    pub differences: Vec<String>,
    /// Cells that only one of the runs has, with the reason.
    pub not_compared: Vec<String>,
    /// Cells that both have.
    pub cells: Vec<CellChange>,
    /// How gates were decided; empty without gates.
    pub gates: Vec<GateResult>,
}

/// A cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellChange {
    /// Cell identity.
    pub cell: String,
    /// Configuration.
    pub configuration: String,
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// By metric: `throughput` (operations/s), `mean`, `p50`, `p95`, `p99`, `p999` (microseconds, of the operation kind with the largest share).
    pub metrics: BTreeMap<String, Change>,
}

/// A metric in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// In the first run.
    pub a: Estimate,
    /// In the second run.
    pub b: Estimate,
    /// (b / a - 1) x 100, per cent, from the ratio of geometric means.
    pub change_percent: f64,
    /// Lower end of its 95 % interval; the change itself where nothing could be tested.
    pub low_percent: f64,
    /// Upper end.
    pub high_percent: f64,
    /// p-value of Welch's test; `None` with fewer than two trials on a side.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all cells of this metric.
    pub p_adjusted: Option<f64>,
    /// Smallest change upwards that these repetitions would have shown (80 % power), per cent.
    pub smallest_detectable_percent: Option<f64>,
    /// For the second run against the first: `faster`, `slower`, ... For latencies lower is faster.
    pub verdict: Verdict,
}

/// Names of the metrics, in the order of display, and whether higher is better.
pub const METRICS: [(&str, bool); 6] = [
    ("throughput", true),
    ("mean", false),
    ("p50", false),
    ("p95", false),
    ("p99", false),
    ("p999", false),
];

/// Compares run `b` with run `a`, cell by cell.
pub fn compare(a: &RunEvidence<'_>, b: &RunEvidence<'_>) -> Comparison {
    let mut cells = Vec::new();
    let mut not_compared = Vec::new();
    for cell in &a.plan.cells {
        if !b.plan.cells.iter().any(|c| c.id == cell.id) {
            not_compared.push(format!("{} is not in {}", cell.id, b.run));
            continue;
        }
        let (of_a, of_b) = (valid(a, &cell.id), valid(b, &cell.id));
        if of_a.is_empty() || of_b.is_empty() {
            let run = if of_a.is_empty() { &a.run } else { &b.run };
            not_compared.push(format!("{} has no valid trial in {run}", cell.id));
            continue;
        }
        let metrics = METRICS
            .into_iter()
            .filter_map(|(metric, _)| {
                let values = |run: &RunEvidence<'_>, trials: &[&TrialMeasurement]| -> Vec<f64> {
                    trials
                        .iter()
                        .filter_map(|t| figure(run, t, &cell.workload, metric))
                        .collect()
                };
                Some((metric.to_owned(), change(&values(a, &of_a), &values(b, &of_b))?))
            })
            .collect();
        cells.push(CellChange {
            cell: cell.id.clone(),
            configuration: cell.configuration.clone(),
            workload: cell.workload.clone(),
            load: cell.load,
            metrics,
        });
    }
    for cell in b
        .plan
        .cells
        .iter()
        .filter(|c| !a.plan.cells.iter().any(|d| d.id == c.id))
    {
        not_compared.push(format!("{} is not in {}", cell.id, a.run));
    }
    for (metric, higher_is_better) in METRICS {
        judge(&mut cells, metric, higher_is_better);
    }
    Comparison {
        format_version: evidence::FORMAT_VERSION,
        a: a.run.clone(),
        b: b.run.clone(),
        differences: differences(a, b),
        not_compared,
        cells,
        gates: Vec::new(),
    }
}

fn valid<'e>(run: &RunEvidence<'e>, cell: &str) -> Vec<&'e TrialMeasurement> {
    run.trials
        .iter()
        .filter(|t| t.record.cell == cell && t.is_valid())
        .collect()
}

fn figure(run: &RunEvidence<'_>, trial: &TrialMeasurement, workload: &str, metric: &str) -> Option<f64> {
    if metric == "throughput" {
        return trial.throughput();
    }
    let figures: &LatencyFigures = trial.response.get(&main_kind(run.plan, workload)?)?;
    match metric {
        "mean" => Some(figures.mean),
        "p50" => Some(figures.p50),
        "p95" => Some(figures.p95),
        "p99" => Some(figures.p99),
        "p999" => Some(figures.p999),
        _ => None,
    }
}

fn change(a: &[f64], b: &[f64]) -> Option<Change> {
    let test = stats::welch_ratio(b, a, CONFIDENCE);
    let plain = || stats::ratio(stats::geometric_mean(b)?, stats::geometric_mean(a)?);
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let ratio = test.map(|t| t.ratio).or_else(plain)?;
    Some(Change {
        a: stats::estimate(a, CONFIDENCE)?,
        b: stats::estimate(b, CONFIDENCE)?,
        change_percent: percent(ratio),
        low_percent: percent(test.map_or(ratio, |t| t.low)),
        high_percent: percent(test.map_or(ratio, |t| t.high)),
        p_value: test.map(|t| t.p_value),
        p_adjusted: None,
        smallest_detectable_percent: test.map(|t| percent(t.smallest_detectable)),
        verdict: Verdict::NotComparable,
    })
}

/// Holm over all cells of one metric, then the level.
fn judge(cells: &mut [CellChange], metric: &str, higher_is_better: bool) {
    let mut tested: Vec<&mut Change> = cells
        .iter_mut()
        .filter_map(|c| c.metrics.get_mut(metric))
        .filter(|c| c.p_value.is_some())
        .collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|c| c.p_value).collect();
    for (change, p) in tested.iter_mut().zip(stats::holm(&p_values)) {
        change.p_adjusted = Some(p);
        change.verdict = match p <= stats::LEVEL {
            false => Verdict::NoDifferenceShown,
            true if (change.change_percent > 0.0) == higher_is_better => Verdict::Faster,
            true => Verdict::Slower,
        };
    }
}

/// Settings and host facts that differ, by their path in `plan.json` and `environment.json`.
fn differences(a: &RunEvidence<'_>, b: &RunEvidence<'_>) -> Vec<String> {
    let settings = |run: &RunEvidence<'_>| {
        json!({
            "provider": run.provider,
            "scale": run.plan.scale,
            "target": run.plan.target,
            "dataset": run.plan.dataset,
            "shape": run.plan.shape,
            "simulated": run.plan.simulated,
            "configurations": named(run.plan.setups.iter().map(|s| (s.configuration.clone(), json!(s)))),
            "workloads": named(run.plan.workloads.iter().map(|w| (w.name.clone(), json!(w)))),
            "environment": run.environment,
        })
    };
    let mut found = Vec::new();
    differ("", &settings(a), &settings(b), &mut found);
    found
}

fn named(entries: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(entries.collect())
}

/// Walks two documents of the same shape; what only one of them has is a difference too.
fn differ(path: &str, a: &Value, b: &Value, found: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(fields_a), Value::Object(fields_b)) => {
            let mut keys: Vec<&String> = fields_a.keys().chain(fields_b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let inner = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let of = |fields: &serde_json::Map<String, Value>| fields.get(key).cloned().unwrap_or(Value::Null);
                differ(&inner, &of(fields_a), &of(fields_b), found);
            }
        }
        _ if a != b => found.push(format!("{path}: {a} -> {b}")),
        _ => {}
    }
}
