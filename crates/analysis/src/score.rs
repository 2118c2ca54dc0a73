//! How far a load is from its objective: one number that searches and capacities are made from.

use evidence::{OperationKind, RateProbe};
use experiment::{LatencyFigure, LatencyObjective, Objective};

use crate::document::{Criterion, Withheld};
use crate::figures::worst;
use crate::measurement::TrialMeasurement;
use crate::objective::held;

/// Of a latency that is half of its bound, or less.
const LEAST: f64 = -1.0;
/// Of a rate that is not held, and of errors beyond their bound.
const MOST: f64 = 1.0;

/// 1 - bound / figure of the part of the objective that is worst; above 0 it is missed.
///
/// In a queue the mean and every percentile grow as 1 / (1 - use) (M/M/1: Kleinrock, "Queueing Systems", 1975), so that
/// bound / figure falls on a straight line with the rate, and so does this. Without end a queue has any latency, by how
/// long one waits: there it comes to 1. Far below the bound it says no more than -1: half of the bound or less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The number.
    pub value: f64,
    /// The part that it is of.
    pub of: Criterion,
    /// What was measured of that part; microseconds or a share, `None` for a rate.
    pub measured: Option<f64>,
}

impl Score {
    /// Whether the objective is missed.
    pub fn misses(&self) -> bool {
        self.value > 0.0
    }
}

/// Of a trial. `None` where nothing completed of a kind that is bounded.
pub fn of_trial(objective: &Objective, trial: &TrialMeasurement) -> Option<Score> {
    let latency = |operation: Option<OperationKind>, figure| match operation {
        Some(kind) => Some((kind, trial.response.get(&kind)?.figure(figure))),
        None => worst(trial, figure),
    };
    let rate = (!held(trial)).then_some(far(Criterion::RateHeld));
    score(objective, &latency, error_share(trial), rate)
}

/// Of a probe. Whether it held its rate is left to trials: a queue that grows shows in the latency.
pub fn of_probe(objective: &Objective, probe: &RateProbe) -> Option<Score> {
    let figure = |kind: OperationKind, figure: LatencyFigure| Some(probe.response.get(&kind)?.figure(figure));
    let latency = |operation: Option<OperationKind>, of| match operation {
        Some(kind) => Some((kind, figure(kind, of)?)),
        None => {
            let all = probe.response.keys().filter_map(|kind| Some((*kind, figure(*kind, of)?)));
            all.max_by(|a, b| a.1.total_cmp(&b.1))
        }
    };
    // Nothing came back of what was sent: as far away as can be.
    let silent = (probe.sent > 0 && probe.completed == 0).then_some(far(Criterion::RateHeld));
    score(objective, &latency, Some(probe.error_share()), silent)
}

/// Failed operations / all operations.
fn error_share(trial: &TrialMeasurement) -> Option<f64> {
    let client = trial.record.client.as_ref()?;
    let (failed, completed): (u64, u64) = (client.errors.values().sum(), client.completed.values().sum());
    stats::ratio(failed as f64, (failed + completed) as f64)
}

/// What is measured instead of the storage is no proof of a rate that can be sustained.
pub fn is_proof(withheld: Option<Withheld>) -> bool {
    matches!(withheld, None | Some(Withheld::Rate))
}

fn far(of: Criterion) -> Score {
    Score { value: MOST, of, measured: None }
}

fn score(
    objective: &Objective,
    latency: &dyn Fn(Option<OperationKind>, LatencyFigure) -> Option<(OperationKind, f64)>,
    error_share: Option<f64>,
    other: Option<Score>,
) -> Option<Score> {
    if other.is_some() {
        return other;
    }
    let of_bound = |bound: &LatencyObjective| {
        let (kind, us) = latency(bound.operation, bound.figure)?;
        Some(Score {
            value: (1.0 - bound.limit_us / us).max(LEAST),
            of: Criterion::Latency { operation: Some(kind), figure: bound.figure, limit_us: bound.limit_us },
            measured: Some(us),
        })
    };
    let errors = objective.error_share.zip(error_share);
    let errors = errors
        .filter(|(limit, share)| share > limit)
        .map(|(limit, share)| Score { measured: Some(share), ..far(Criterion::ErrorShare { limit }) });
    let bounds: Option<Vec<Score>> = objective.latency.iter().map(of_bound).collect();
    bounds?.into_iter().chain(errors).max_by(|a, b| a.value.total_cmp(&b.value))
}
