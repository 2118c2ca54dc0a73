//! What machines were found to carry under an objective: the best evidence for a p99 that is asked for.

use analysis::{Capacity, CapacityOutcome, Criterion, LatencyFigure, RunEvidence, judge};

use crate::observation::Observation;

/// The rate that a machine was found to carry under an objective with a bound on p99.
#[derive(Clone)]
pub(super) struct SustainedRate<'a> {
    /// The cell with the rate next to it: the same machine, mix and ratio of memory to data.
    pub beside: &'a Observation<'a>,
    /// Bound on the p99 of the worst kind of operation, milliseconds. The objective may have other parts: what meets it
    /// meets this part.
    pub bound_ms: f64,
    /// Operations per second on the machine that was measured (scaled): the estimate and its 95 % interval.
    pub throughput: f64,
    pub low: f64,
    pub high: f64,
    /// Whether it is this bound that is missed above it, and no other part of the objective.
    pub is_of_p99: bool,
}

/// All that runs have found, where the objective bounds the p99 of the worst kind.
pub(super) fn sustained<'a>(runs: &[RunEvidence<'_>], observations: &'a [Observation<'a>]) -> Vec<SustainedRate<'a>> {
    let of_run = |(index, run): (usize, &RunEvidence<'_>)| -> Vec<SustainedRate<'a>> {
        let Some(bound_ms) = bound_ms(run) else { return Vec::new() };
        let own: Vec<&'a Observation<'a>> = observations.iter().filter(|o| o.run == index).collect();
        let capacities = judge(run).capacities;
        capacities.iter().filter_map(|found| of_capacity(found, bound_ms, &own)).collect()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// The bound of a run that has searched for rates.
fn bound_ms(run: &RunEvidence<'_>) -> Option<f64> {
    run.plan.search.as_ref()?;
    let bounds = &run.plan.objective.as_ref()?.latency;
    let of_worst = bounds.iter().filter(|bound| bound.figure == LatencyFigure::P99 && bound.operation.is_none());
    of_worst.map(|bound| bound.limit_us / 1e3).reduce(f64::min)
}

fn of_capacity<'a>(found: &Capacity, bound_ms: f64, own: &[&'a Observation<'a>]) -> Option<SustainedRate<'a>> {
    if found.outcome != CapacityOutcome::Found {
        return None;
    }
    let (rate, low, high) = (found.ops_per_s?, found.low_ops_per_s?, found.high_ops_per_s?);
    let distance = |o: &&&Observation<'_>| (o.throughput * o.scale - rate).abs();
    let levels = own.iter().filter(|o| found.levels.iter().any(|level| level.cell == o.cell));
    let beside = *levels.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let bound_us = bound_ms * 1e3;
    let is_p99 = |figure: LatencyFigure, limit_us: f64| figure == LatencyFigure::P99 && limit_us == bound_us;
    let p99 = |of: Criterion| matches!(of, Criterion::Latency { figure, limit_us, .. } if is_p99(figure, limit_us));
    Some(SustainedRate {
        beside,
        bound_ms,
        throughput: rate / beside.scale,
        low: low / beside.scale,
        high: high / beside.scale,
        is_of_p99: found.missed.is_some_and(|missed| p99(missed.of)),
    })
}
