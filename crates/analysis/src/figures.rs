//! The figures of valid trials by cell and block: what comparisons are made from.

use std::collections::BTreeMap;

use evidence::OperationKind;
use experiment::{Adaptive, LatencyFigure, Plan};
use stats::Looks;

use crate::document::Metric;
use crate::measurement::TrialMeasurement;

/// After which blocks a run looks at its evidence, to rest cells or to stop. `"auto"`, which stops by how narrow and
/// how clear intervals are, spends nothing: [`stats::LEVEL`] leaves room for it.
pub fn looks(plan: &Plan) -> Looks {
    match plan.adaptive.as_ref().filter(|adaptive| adaptive.rests_cells()) {
        Some(Adaptive { blocks_max, .. }) => Looks::up_to(*blocks_max),
        None => Looks::once(),
    }
}

/// A figure of one cell by block, valid trials only.
pub type ByBlock = BTreeMap<u32, f64>;

/// The valid trials of a run by cell.
#[derive(Debug)]
pub struct Figures<'a> {
    plan: &'a Plan,
    by_cell: BTreeMap<&'a str, Vec<&'a TrialMeasurement>>,
}

impl<'a> Figures<'a> {
    /// Sorts the valid trials by cell.
    pub fn new(plan: &'a Plan, trials: impl IntoIterator<Item = &'a TrialMeasurement>) -> Self {
        let mut by_cell: BTreeMap<&str, Vec<&TrialMeasurement>> = BTreeMap::new();
        for trial in trials.into_iter().filter(|t| t.is_valid()) {
            by_cell.entry(&trial.record.cell).or_default().push(trial);
        }
        Self { plan, by_cell }
    }

    /// The valid trials of a cell.
    pub fn trials(&self, cell: &str) -> &[&'a TrialMeasurement] {
        self.by_cell.get(cell).map_or(&[][..], Vec::as_slice)
    }

    /// After which blocks the run looks at its evidence.
    pub fn looks(&self) -> Looks {
        looks(self.plan)
    }

    /// The share of a level at which a cell is judged by itself: that of the look which has seen all its valid trials.
    pub fn share_of(&self, cell: &str) -> f64 {
        let last = self.trials(cell).iter().map(|trial| trial.record.block).max();
        self.looks().share(last.unwrap_or_default())
    }

    /// Number of the process that serves a configuration's trials in each block; the same one for all where no process
    /// serves several cells.
    pub fn process_of(&self, configuration: &str) -> usize {
        let processes = &self.plan.processes;
        let cells_of = |names: &Vec<String>| {
            let is_of = |cell: &&experiment::Cell| names.contains(&cell.configuration);
            self.plan.cells.iter().filter(is_of).count()
        };
        if !self.plan.faults.is_empty() || !processes.iter().any(|names| cells_of(names) > 1) {
            return 0;
        }
        processes.iter().position(|names| names.iter().any(|name| name == configuration)).unwrap_or(0)
    }

    /// A metric of a cell by block; blocks without a figure are left out. Money is not known here: no operations per
    /// dollar.
    pub fn by_block(&self, cell: &str, metric: Metric) -> ByBlock {
        let figure = |trial: &TrialMeasurement| match metric {
            Metric::Throughput => trial.throughput(),
            Metric::Runtime => self.plan.shape.operations.and_then(|_| trial.runtime_s(self.plan)),
            Metric::Mean | Metric::P50 | Metric::P95 | Metric::P99 | Metric::P999 => {
                Some(worst(trial, metric.latency()?)?.1)
            }
            Metric::OperationsPerDollar => None,
        };
        let trials = self.trials(cell).iter();
        trials
            .filter_map(|t| Some((t.record.block, figure(t)?)))
            .filter(|(_, value)| value.is_finite() && *value > 0.0)
            .collect()
    }
}

/// The operation kind whose response time is worst by this figure, with it, microseconds. `None` where nothing
/// completed.
///
/// The worst kind, not the one with the largest share: a workload of 20 % reads whose reads take 90 ms is no fast one
/// because its updates take 1 ms.
pub fn worst(trial: &TrialMeasurement, figure: LatencyFigure) -> Option<(OperationKind, f64)> {
    let of_kinds = trial.response.iter().map(|(kind, of)| Some((*kind, of.figures.figure(figure)?)));
    // Where one kind does not state it, nobody knows which is worst.
    let of_kinds: Vec<(OperationKind, f64)> = of_kinds.collect::<Option<_>>()?;
    of_kinds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
}
