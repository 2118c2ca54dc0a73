//! The decision matrix: for each workload, load level and metric the best configuration, those that cannot be told from it, and the
//! cheapest of these.
//!
//! A best *set* rather than a winner: the first by its estimate leads, and everything whose difference from it is not shown belongs to
//! it. The leader is chosen by the data, so that p-values are adjusted for all pairs that might have been compared, not only for
//! those with the leader.

use spec::{LoadLevel, Plan};

use crate::document::{CellAnalysis, Decision, Ranked, Verdict};
use crate::ratios::{ByBlock, Measured, Metric, judge, ratio};

/// Without a test (single repetitions), configurations closer to the best than this share are not told apart: repetitions of one
/// unchanged cell on EC2 lay 6 to 12 % apart (Hulen, "Cassandra Performance Testing on EC2", 2010).
pub const UNTESTED_SHARE: f64 = 0.12;

/// A configuration in a comparison.
struct Candidate<'a> {
    cell: &'a CellAnalysis,
    by_block: ByBlock,
    value: f64,
}

/// All decisions, by workload, load level and metric in the order of the experiment.
pub fn decisions(plan: &Plan, cells: &[CellAnalysis], measured: &Measured<'_>) -> Vec<Decision> {
    let mut decisions = Vec::new();
    for workload in &plan.workloads {
        let levels = load_levels(cells, &workload.name);
        let per_metric: Vec<Vec<Decision>> = Metric::ALL
            .into_iter()
            .map(|metric| of_metric(cells, &workload.name, &levels, metric, measured))
            .collect();
        for level in levels {
            let of_level = per_metric.iter().flatten().filter(|d| d.load == level);
            decisions.extend(of_level.cloned());
        }
    }
    decisions
}

/// The load levels of a workload, in the order of its cells.
pub(crate) fn load_levels(cells: &[CellAnalysis], workload: &str) -> Vec<LoadLevel> {
    let mut levels = Vec::new();
    for cell in cells.iter().filter(|c| c.workload == workload) {
        if !levels.contains(&cell.load) {
            levels.push(cell.load);
        }
    }
    levels
}

/// One metric of one workload at all its load levels: one family of comparisons.
fn of_metric(
    cells: &[CellAnalysis],
    workload: &str,
    levels: &[LoadLevel],
    metric: Metric,
    measured: &Measured<'_>,
) -> Vec<Decision> {
    let groups: Vec<(LoadLevel, Vec<Candidate<'_>>)> = levels
        .iter()
        .map(|level| (*level, candidates(cells, workload, *level, metric, measured)))
        .filter(|(_, candidates)| !candidates.is_empty())
        .collect();
    // All pairs of each group, better against worse; the family is all groups together.
    let mut pairs = Vec::new();
    for (g, (_, candidates)) in groups.iter().enumerate() {
        for better in 0..candidates.len() {
            for worse in better + 1..candidates.len() {
                let (a, b) = (&candidates[worse], &candidates[better]);
                if let Some(ratio) = ratio(&b.cell.configuration, &a.by_block, &b.by_block) {
                    pairs.push(((g, better, worse), ratio));
                }
            }
        }
    }
    judge(
        &mut pairs.iter_mut().map(|(_, r)| r).collect::<Vec<_>>(),
        metric.higher_is_better(),
    );
    groups
        .iter()
        .enumerate()
        .map(|(g, (level, candidates))| {
            let to_best = |rank: usize| pairs.iter().find(|(key, _)| *key == (g, 0, rank)).map(|(_, r)| r);
            let best = &candidates[0];
            let tested = candidates.len() < 2
                || (1..candidates.len()).any(|rank| to_best(rank).is_some_and(|r| r.p_value.is_some()));
            let ranking: Vec<Ranked> = candidates
                .iter()
                .enumerate()
                .map(|(rank, candidate)| Ranked {
                    configuration: candidate.cell.configuration.clone(),
                    value: candidate.value,
                    to_best: stats::ratio(candidate.value, best.value).unwrap_or(1.0),
                    verdict: match rank {
                        0 => Verdict::Reference,
                        _ => to_best(rank).map_or(Verdict::NotComparable, |r| r.verdict),
                    },
                })
                .collect();
            let in_best_set = |ranked: &&Ranked| match ranked.verdict {
                Verdict::Reference => false,
                Verdict::NoDifferenceShown => true,
                Verdict::NotComparable => (ranked.to_best - 1.0).abs() <= UNTESTED_SHARE,
                Verdict::Faster | Verdict::Slower => false,
            };
            let indistinguishable: Vec<String> = ranking
                .iter()
                .filter(in_best_set)
                .map(|r| r.configuration.clone())
                .collect();
            Decision {
                workload: workload.to_owned(),
                load: *level,
                metric: metric.name().to_owned(),
                best: best.cell.configuration.clone(),
                cheapest_of_best: cheapest(best, candidates, &indistinguishable),
                indistinguishable,
                caution: caution(metric, *level, tested, candidates.len()),
                tested,
                ranking,
            }
        })
        .collect()
}

/// The configurations that have a figure, best first; equal ones in the order of the experiment.
fn candidates<'a>(
    cells: &'a [CellAnalysis],
    workload: &str,
    level: LoadLevel,
    metric: Metric,
    measured: &Measured<'_>,
) -> Vec<Candidate<'a>> {
    let mut candidates: Vec<Candidate<'_>> = cells
        .iter()
        .filter(|c| c.workload == workload && c.load == level)
        .filter_map(|cell| {
            let by_block = measured.by_block(cell, metric);
            let value = stats::median(&by_block.values().copied().collect::<Vec<_>>())?;
            Some(Candidate { cell, by_block, value })
        })
        .collect();
    candidates.sort_by(|a, b| match metric.higher_is_better() {
        true => b.value.total_cmp(&a.value),
        false => a.value.total_cmp(&b.value),
    });
    candidates
}

/// The cheapest of the best set; the best itself where any of the set has no price.
fn cheapest(best: &Candidate<'_>, candidates: &[Candidate<'_>], indistinguishable: &[String]) -> String {
    let set: Vec<&Candidate<'_>> = candidates
        .iter()
        .filter(|c| {
            c.cell.configuration == best.cell.configuration || indistinguishable.contains(&c.cell.configuration)
        })
        .collect();
    let all_priced = set.iter().all(|c| c.cell.usd_per_month.is_some());
    let price = |c: &&&Candidate<'_>| c.cell.usd_per_month.unwrap_or(f64::INFINITY);
    set.iter()
        .filter(|_| all_priced)
        .min_by(|a, b| price(a).total_cmp(&price(b)))
        .map_or_else(|| best.cell.configuration.clone(), |c| c.cell.configuration.clone())
}

/// What forbids reading much into a decision.
fn caution(metric: Metric, level: LoadLevel, tested: bool, candidates: usize) -> Option<String> {
    let mut cautions = Vec::new();
    if candidates < 2 {
        cautions.push("only one configuration has a figure".to_owned());
    } else if !tested {
        cautions.push(format!(
            "single repetitions: nothing was tested; within {:.0} % of the best counts as indistinguishable",
            UNTESTED_SHARE * 100.0
        ));
    }
    if matches!(metric, Metric::Mean | Metric::P99) && matches!(level, LoadLevel::Concurrency(_)) {
        cautions.push(
            "closed loop: latency follows from requests in flight and throughput, each configuration at its own rate; compare latencies \
             at equal rates ([load] rate)"
                .to_owned(),
        );
    }
    (!cautions.is_empty()).then(|| cautions.join("; "))
}
