//! The decision matrix: for each workload, load level and metric the best configuration, those that are statistically
//! indistinguishable from it, and the cheapest of these.
//!
//! A best *set* rather than a winner: the first by its estimate leads, and everything whose difference from it is not
//! shown belongs to it.

use evidence::OperationKind;
use experiment::{LatencyFigure, LoadLevel, Plan};

use crate::comparisons::{Comparisons, is_open, places};
use crate::document::{Caution, CellAnalysis, Decision, Metric, Ranked, Ratio, Verdict};
use crate::figures::{Figures, worst};
use crate::money::operations_per_usd;

/// Without a test (fewer than three pairs), configurations closer to the best than this share count as
/// indistinguishable: repetitions of one unchanged cell on EC2 lay 6 to 12 % apart (Hulen, "Cassandra Performance
/// Testing on EC2", 2010).
pub const UNTESTED_SHARE: f64 = 0.12;

/// A configuration in a comparison.
struct Candidate {
    cell: usize,
    value: f64,
}

/// All decisions, by workload, load level and metric in the order of the experiment.
pub fn decisions(
    plan: &Plan,
    cells: &[CellAnalysis],
    figures: &Figures<'_>,
    throughput: &Comparisons,
    p99: &Comparisons,
) -> Vec<Decision> {
    let margin = plan.decision.margin;
    let [mut runtime, mean] = [Metric::Runtime, Metric::Mean].map(|m| Comparisons::new(m, cells, figures, margin));
    runtime.carry_over(throughput.carried().clone());
    let mut decisions = Vec::new();
    for (workload, load, members) in places(cells) {
        for metric in Metric::DECISIONS {
            if is_open(load) && !metric.is_latency() {
                continue;
            }
            let comparisons = match metric {
                Metric::Throughput | Metric::OperationsPerDollar => throughput,
                Metric::Runtime => &runtime,
                Metric::Mean => &mean,
                Metric::P99 => p99,
                // No rows of the decision matrix.
                Metric::P50 | Metric::P95 | Metric::P999 => continue,
            };
            decisions.extend(of_place(plan, cells, figures, comparisons, metric, (&workload, load, &members)));
        }
    }
    decisions
}

fn of_place(
    plan: &Plan,
    cells: &[CellAnalysis],
    figures: &Figures<'_>,
    comparisons: &Comparisons,
    metric: Metric,
    (workload, load, members): (&str, LoadLevel, &[usize]),
) -> Option<Decision> {
    let value = |cell: usize| match metric {
        Metric::OperationsPerDollar => {
            operations_per_usd(plan, comparisons.figure(cell)?, cells[cell].usd_per_month.filter(|p| *p > 0.0)?)
        }
        _ => comparisons.figure(cell),
    };
    let mut candidates: Vec<Candidate> =
        members.iter().filter_map(|cell| Some(Candidate { cell: *cell, value: value(*cell)? })).collect();
    candidates.sort_by(|a, b| match metric.higher_is_better() {
        true => b.value.total_cmp(&a.value),
        false => a.value.total_cmp(&b.value),
    });
    let best = candidates.first()?;
    let to_best = |c: &Candidate| -> Option<Ratio> {
        let factor = match metric {
            Metric::OperationsPerDollar => cells[best.cell].usd_per_month? / cells[c.cell].usd_per_month?,
            _ => 1.0,
        };
        comparisons.scaled(c.cell, best.cell, factor)
    };
    let ranking: Vec<Ranked> = candidates
        .iter()
        .map(|c| Ranked {
            configuration: cells[c.cell].configuration.clone(),
            value: c.value,
            to_best: stats::ratio(c.value, best.value).unwrap_or(1.0),
            verdict: match c.cell == best.cell {
                true => Verdict::Reference,
                false => to_best(c).map_or(Verdict::NotComparable, |r| r.verdict),
            },
            operation: metric.is_latency().then(|| worst_kind(figures, &cells[c.cell].id, metric)).flatten(),
        })
        .collect();
    let indistinguishable: Vec<String> = ranking
        .iter()
        .filter(|ranked| match ranked.verdict {
            Verdict::NoDifferenceShown | Verdict::NotCarriedOver | Verdict::Same => true,
            Verdict::TooFew => (ranked.to_best - 1.0).abs() <= UNTESTED_SHARE,
            Verdict::Reference | Verdict::Faster | Verdict::Slower | Verdict::NotComparable => false,
        })
        .map(|r| r.configuration.clone())
        .collect();
    let tested = ranking.len() < 2 || ranking.iter().any(|r| r.verdict.is_tested());
    let mut cautions = Vec::new();
    if ranking.len() < 2 {
        cautions.push(Caution::OneConfiguration);
    } else if !tested {
        cautions.push(Caution::TooFewRepetitions);
    }
    if metric.is_latency() && !is_open(load) {
        cautions.push(Caution::ClosedLoopLatency);
    }
    if candidates.iter().any(|c| cells[c.cell].has_lost_writes()) {
        cautions.push(Caution::LostWrites);
    }
    Some(Decision {
        workload: workload.to_owned(),
        load,
        metric,
        best: cells[best.cell].configuration.clone(),
        cheapest_of_best: cheapest(cells, &candidates, &indistinguishable),
        indistinguishable,
        ranking,
        tested,
        cautions,
    })
}

/// The operation kind that is worst in most trials of a cell.
fn worst_kind(figures: &Figures<'_>, cell: &str, metric: Metric) -> Option<OperationKind> {
    let figure = match metric {
        Metric::Mean => LatencyFigure::Mean,
        _ => LatencyFigure::P99,
    };
    let kinds: Vec<OperationKind> = figures.trials(cell).iter().filter_map(|t| Some(worst(t, figure)?.0)).collect();
    let times = |kind: OperationKind| kinds.iter().filter(|k| **k == kind).count();
    kinds.iter().copied().max_by_key(|kind| times(*kind))
}

/// The cheapest of the best set; the best itself where any of the set has no price.
fn cheapest(cells: &[CellAnalysis], candidates: &[Candidate], indistinguishable: &[String]) -> String {
    let all = candidates.iter().map(|c| &cells[c.cell]);
    let set = all.enumerate().filter(|(rank, cell)| *rank == 0 || indistinguishable.contains(&cell.configuration));
    let prices: Option<Vec<(f64, &CellAnalysis)>> = set.map(|(_, cell)| Some((cell.usd_per_month?, cell))).collect();
    let cheapest = prices.and_then(|prices| prices.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    cheapest.map_or(&cells[candidates[0].cell], |(_, cell)| cell).configuration.clone()
}
