//! What charts are drawn from: series over time and latency curves, too long for `analysis.json`, made from the same
//! evidence.
//!
//! Everything is reduced here, so that a report only draws. Series are averaged into at most [`crate::panels::POINTS`]
//! points a trial.

use std::collections::BTreeMap;
use std::sync::Arc;

use evidence::OperationKind;

use crate::document::PhaseKind;
use crate::latency;
use crate::measurement::{Background, TrialMeasurement};
use crate::panels::Panel;

/// All charts of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Charts {
    /// One entry a trial, by cell and block.
    pub trials: Vec<TrialCharts>,
    /// Latency by percentile, by cell and operation kind.
    pub curves: Vec<LatencyCurve>,
}

/// A trial over time.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct TrialCharts {
    pub cell: String,
    pub block: u32,
    /// Whether the trial may enter comparisons.
    pub valid: bool,
    /// Seconds of warm-up before 0.
    pub warmup_s: f64,
    pub measured_s: f64,
    /// Where the steady window begins, seconds from the start of measurement.
    pub steady_from_s: f64,
    /// When nodes were away or disks failed by plan: from when, until when, seconds from the start of measurement.
    pub fault_spans: Vec<(f64, f64)>,
    /// What the database did in the background in the measured seconds; empty where it does not say.
    pub background: Vec<Background>,
    /// What there is to draw; a panel without data is left out.
    pub panels: Arc<[Panel]>,
}

/// Latency by percentile of one operation kind in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyCurve {
    /// Cell identity.
    pub cell: String,
    /// Operation kind.
    pub operation: OperationKind,
    /// (quantile in 0..1, microseconds): median over the cell's valid trials of each trial's quantile, ascending. Ends
    /// where a trial has fewer than 10 samples beyond the quantile.
    pub points: Vec<(f64, f64)>,
}

/// (quantile, microseconds) of one trial.
type Curve = Vec<(f64, f64)>;

/// The charts of a run, from the same measurements as its analysis.
pub fn charts(trials: &[TrialMeasurement]) -> Charts {
    let mut ordered: Vec<&TrialMeasurement> = trials.iter().collect();
    ordered.sort_by(|a, b| (&a.record.cell, a.record.block).cmp(&(&b.record.cell, b.record.block)));
    let mut by_cell: BTreeMap<(&str, OperationKind), Vec<&Curve>> = BTreeMap::new();
    for trial in ordered.iter().filter(|t| t.is_valid()) {
        for (kind, curve) in &trial.curves {
            by_cell.entry((&trial.record.cell, *kind)).or_default().push(curve);
        }
    }
    Charts {
        trials: ordered.iter().map(|t| of_trial(t)).collect(),
        curves: by_cell
            .into_iter()
            .map(|((cell, operation), curves)| LatencyCurve {
                cell: cell.to_owned(),
                operation,
                points: latency::median_curve(&curves),
            })
            .filter(|curve| !curve.points.is_empty())
            .collect(),
    }
}

fn of_trial(trial: &TrialMeasurement) -> TrialCharts {
    let client = trial.record.client.as_ref();
    TrialCharts {
        cell: trial.record.cell.clone(),
        block: trial.record.block,
        valid: trial.is_valid(),
        warmup_s: client.map_or(0.0, |c| c.warmup_s),
        measured_s: client.map_or(0.0, |c| c.measured_s),
        steady_from_s: trial.window.from_s,
        fault_spans: trial
            .phases
            .iter()
            .filter(|p| p.phase.kind == PhaseKind::During)
            .map(|p| (p.phase.from_s, p.phase.to_s))
            .collect(),
        background: trial.background.clone(),
        panels: Arc::clone(&trial.panels),
    }
}
