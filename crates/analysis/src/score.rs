//! How far a load is from its objective: one number that searches and capacities are made from.

use std::collections::BTreeMap;

use evidence::{LatencyFigures, OperationKind, RateProbe};
use experiment::{LatencyObjective, Objective};

use crate::document::{Criterion, Withheld};
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

/// Of a trial. `None` where nothing completed of a kind that is bounded, or its figure is not known.
pub fn of_trial(objective: &Objective, trial: &TrialMeasurement) -> Option<Score> {
    let response = trial.response.iter().map(|(kind, of)| (*kind, of.figures)).collect();
    let rate = (!held(trial)).then_some(far(Criterion::RateHeld));
    score(objective, &response, error_share(trial), rate)
}

/// Of a probe. Whether it held its rate is left to trials: a queue that grows shows in the latency.
pub fn of_probe(objective: &Objective, probe: &RateProbe) -> Option<Score> {
    // Nothing came back of what was sent: as far away as can be.
    let silent = (probe.sent > 0 && probe.completed == 0).then_some(far(Criterion::RateHeld));
    score(objective, &probe.response, Some(probe.error_share()), silent)
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
    response: &BTreeMap<OperationKind, LatencyFigures>,
    error_share: Option<f64>,
    other: Option<Score>,
) -> Option<Score> {
    if other.is_some() {
        return other;
    }
    let of_bound = |bound: &LatencyObjective| {
        let kinds = response.iter().filter(|(kind, _)| bound.operation.is_none_or(|only| only == **kind));
        let figures = kinds.map(|(kind, figures)| Some((*kind, figures.figure(bound.figure)?)));
        let figures: Vec<(OperationKind, f64)> = figures.collect::<Option<_>>()?;
        let (kind, us) = figures.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
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
