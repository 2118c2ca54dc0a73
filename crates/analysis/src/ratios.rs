//! Ratios between cells by pairs of the same block, and what they show.
//!
//! Trials of one block ran within one shuffled pass, close in time, so that slow drift of the machine cancels in their ratio
//! (Abedi & Brecht, "Conducting Repeatable Experiments in Highly Variable Cloud Computing Environments", ICPE 2017). All comparisons of
//! one workload are one family: their p-values are adjusted together by Holm, and tested at [`stats::LEVEL`].

use std::collections::BTreeMap;

use evidence::OperationKind;
use spec::Plan;

use crate::cells::CONFIDENCE;
use crate::document::{CellAnalysis, Ratio, Verdict};
use crate::measurement::TrialMeasurement;

/// A figure of one cell by block, valid trials only.
pub type ByBlock = BTreeMap<u32, f64>;

/// What configurations are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Operations/s.
    Throughput,
    /// Seconds for the planned number of operations.
    Runtime,
    /// Mean response time of the operation kind with the largest share, microseconds.
    Mean,
    /// 99th percentile of the same.
    P99,
    /// Operations per dollar.
    OperationsPerDollar,
}

impl Metric {
    /// All, in the order of the decision matrix.
    pub const ALL: [Self; 5] = [
        Self::Throughput,
        Self::Runtime,
        Self::Mean,
        Self::P99,
        Self::OperationsPerDollar,
    ];

    /// The name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Runtime => "runtime",
            Self::Mean => "mean",
            Self::P99 => "p99",
            Self::OperationsPerDollar => "operations_per_dollar",
        }
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::OperationsPerDollar)
    }
}

/// The valid trials of a run by cell, and what a configuration costs.
#[derive(Debug)]
pub struct Measured<'a> {
    plan: &'a Plan,
    by_cell: BTreeMap<&'a str, Vec<&'a TrialMeasurement>>,
}

impl<'a> Measured<'a> {
    /// Sorts the valid trials by cell.
    pub fn new(plan: &'a Plan, trials: &[&'a TrialMeasurement]) -> Self {
        let mut by_cell: BTreeMap<&str, Vec<&TrialMeasurement>> = BTreeMap::new();
        for trial in trials.iter().filter(|t| t.is_valid()) {
            by_cell.entry(&trial.record.cell).or_default().push(trial);
        }
        Self { plan, by_cell }
    }

    /// A metric of a cell by block; blocks without a figure are left out.
    pub fn by_block(&self, cell: &CellAnalysis, metric: Metric) -> ByBlock {
        let kind = self.main_kind(&cell.workload);
        let figure = |trial: &TrialMeasurement| match metric {
            Metric::Throughput => trial.throughput(),
            Metric::Runtime => self.plan.shape.operations.and_then(|_| trial.runtime_s(self.plan)),
            Metric::Mean => Some(trial.response.get(&kind?)?.mean),
            Metric::P99 => Some(trial.response.get(&kind?)?.p99),
            Metric::OperationsPerDollar => operations_per_usd(self.plan, trial.throughput()?, cell.usd_per_month?),
        };
        let trials = self.by_cell.get(cell.id.as_str()).map_or(&[][..], Vec::as_slice);
        trials
            .iter()
            .filter_map(|t| Some((t.record.block, figure(t)?)))
            .collect()
    }

    /// The operation kind with the largest share of a workload.
    pub fn main_kind(&self, workload: &str) -> Option<OperationKind> {
        main_kind(self.plan, workload)
    }
}

/// The operation kind with the largest share of a workload; of equal ones the first of read, update, insert, ...
pub fn main_kind(plan: &Plan, workload: &str) -> Option<OperationKind> {
    let mix = &plan.workloads.iter().find(|w| w.name == workload)?.mix;
    let mut kinds = OperationKind::ALL;
    // A stable sort keeps the order of equal shares.
    kinds.sort_by(|a, b| mix.share(*b).total_cmp(&mix.share(*a)));
    kinds.first().copied()
}

/// Operations per dollar: throughput of the full-size system (1:N models are scaled back) over what a second of it costs.
pub fn operations_per_usd(plan: &Plan, throughput: f64, usd_per_month: f64) -> Option<f64> {
    let hours = plan.money.as_ref()?.basis.hours_per_month;
    stats::ratio(throughput * plan.scale * hours * 3600.0, usd_per_month)
}

/// The ratio ours / theirs, not yet judged; `None` without a common block.
pub fn ratio(to: &str, ours: &ByBlock, theirs: &ByBlock) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> = ours
        .iter()
        .filter_map(|(block, x)| Some((*x, *theirs.get(block)?)))
        .collect();
    let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
    let middle = stats::geometric_mean(&ratios)?;
    let tested = stats::paired_ratio(&pairs, CONFIDENCE);
    Some(Ratio {
        to: to.to_owned(),
        median: middle,
        low: tested.map_or(middle, |t| t.low),
        high: tested.map_or(middle, |t| t.high),
        pairs: pairs.len() as u64,
        p_value: tested.map(|t| t.p_value),
        p_adjusted: None,
        p_sign_flip: stats::sign_flip_p(&pairs).filter(|_| tested.is_some()),
        smallest_detectable: tested.map(|t| t.smallest_detectable),
        verdict: Verdict::NotComparable,
    })
}

/// Judges a family of comparisons: Holm, then the level. Ratios without a test stay `not comparable`.
pub fn judge(family: &mut [&mut Ratio], higher_is_better: bool) {
    let mut tested: Vec<&mut &mut Ratio> = family.iter_mut().filter(|r| r.p_value.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|r| r.p_value).collect();
    for (ratio, p) in tested.iter_mut().zip(stats::holm(&p_values)) {
        ratio.p_adjusted = Some(p);
        ratio.verdict = match p <= stats::LEVEL {
            false => Verdict::NoDifferenceShown,
            true if (ratio.median > 1.0) == higher_is_better => Verdict::Faster,
            true => Verdict::Slower,
        };
    }
}

/// Adds the ratios of throughput to the baseline and to the slowest configuration among the cells with the same workload and load.
///
/// The slowest is chosen by the data; choosing makes differences look more certain than they are, so that its comparisons are adjusted
/// for all pairs of the workload that might have been chosen.
pub fn add(cells: &mut [CellAnalysis], baseline: &str, measured: &Measured<'_>) {
    let throughput: Vec<ByBlock> = cells.iter().map(|c| measured.by_block(c, Metric::Throughput)).collect();
    let mut workloads: Vec<String> = cells.iter().map(|c| c.workload.clone()).collect();
    workloads.dedup();
    for workload in workloads {
        let of_workload: Vec<usize> = (0..cells.len()).filter(|i| cells[*i].workload == workload).collect();
        let peers = |i: usize| of_workload.iter().copied().filter(move |j| *j != i);
        let mut to_baseline: Vec<(usize, Ratio)> = Vec::new();
        let mut all_pairs: BTreeMap<(usize, usize), Ratio> = BTreeMap::new();
        for &i in &of_workload {
            for j in peers(i).filter(|j| cells[*j].load == cells[i].load) {
                let Some(ratio) = ratio(&cells[j].configuration, &throughput[i], &throughput[j]) else {
                    continue;
                };
                if cells[j].configuration == baseline {
                    to_baseline.push((i, ratio.clone()));
                }
                // Each pair is one comparison: the faster against the slower.
                if median_of(&cells[i]) > median_of(&cells[j])
                    || (median_of(&cells[i]) == median_of(&cells[j]) && i > j)
                {
                    all_pairs.insert((i, j), ratio);
                }
            }
        }
        judge(&mut to_baseline.iter_mut().map(|(_, r)| r).collect::<Vec<_>>(), true);
        judge(&mut all_pairs.values_mut().collect::<Vec<_>>(), true);
        for (i, ratio) in to_baseline {
            cells[i].ratio_to_baseline = Some(ratio);
        }
        for &i in &of_workload {
            let slowest = of_workload
                .iter()
                .copied()
                .filter(|j| cells[*j].load == cells[i].load && cells[*j].throughput_ops_per_s.is_some())
                .min_by(|a, b| median_of(&cells[*a]).total_cmp(&median_of(&cells[*b])));
            let reference = || ratio(&cells[i].configuration, &throughput[i], &throughput[i]).map(as_reference);
            let to_slowest = match slowest {
                Some(j) if j == i => reference(),
                Some(j) => all_pairs.get(&(i, j)).cloned(),
                None => None,
            };
            let itself = (cells[i].configuration == baseline).then(reference).flatten();
            cells[i].ratio_to_slowest = to_slowest;
            cells[i].ratio_to_baseline = itself.or(cells[i].ratio_to_baseline.take());
        }
    }
}

/// A cell against itself is no comparison.
fn as_reference(ratio: Ratio) -> Ratio {
    Ratio {
        p_value: None,
        p_adjusted: None,
        p_sign_flip: None,
        smallest_detectable: None,
        verdict: Verdict::Reference,
        ..ratio
    }
}

fn median_of(cell: &CellAnalysis) -> f64 {
    cell.throughput_ops_per_s.map_or(f64::NEG_INFINITY, |t| t.median)
}
