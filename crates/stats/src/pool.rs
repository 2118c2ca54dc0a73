//! The spread of one trial in one pool of cells. Which cells make a pool, and how two cells compare: `layout`.

use std::collections::{BTreeMap, BTreeSet};

use crate::fit::{Series, fit};
use crate::squares::Squares;
use crate::variance::Variance;

/// Blocks, and the processes of a block, have an effect where the F test says so at this level.
const SHOWS: f64 = 0.10;
/// With residuals of few degrees of freedom it takes more. An effect that is not taken out only widens intervals; one
/// that is taken out where there is none was chosen because the residuals happened to be small, and so is the interval.
/// Of two equal cells among three with three repetitions 4.1 % were called different at 10 % here, 3.1 % at 2 % (level
/// 2.5 %).
const SHOWS_BY_FEW: f64 = 0.02;
/// Fewer degrees of freedom than this are few.
const FEW: f64 = 6.0;

/// Cells whose trials spread alike, with the spread of one trial, as a comparison meets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// The cells, by their place in the layout.
    pub cells: BTreeSet<usize>,
    /// Of a trial against one of another cell of the pool that the same process served in the same block.
    pub beside: Option<Variance>,
    /// The same where each had a process of its own.
    pub apart: Option<Variance>,
    /// Of a trial against one of another pool: whatever its block has in common counts in full.
    pub alone: Option<Variance>,
    /// Residuals by cell and block; what blocks have in common is taken out.
    pub residuals: BTreeMap<usize, BTreeMap<u32, f64>>,
    pub of_residuals: Squares,
    /// Squares of each cell: of its residuals where blocks show, else around its mean.
    pub own: BTreeMap<usize, Squares>,
}

impl Pool {
    /// Pools these cells of a layout.
    pub fn new(series: &[Series], cells: BTreeSet<usize>) -> Self {
        let mine: Vec<&Series> = cells.iter().map(|cell| &series[*cell]).collect();
        let around_means = cells.iter().map(|cell| around_mean(&series[*cell]));
        let means = around_means.clone().fold(Squares::default(), Squares::plus);
        let in_common = fit(&mine, |_| 0);
        let by_process = fit(&mine, |s| s.process);
        let (common, within) = (in_common.of_residuals(), by_process.of_residuals());
        let processes = common.less(within);
        let processes_show = shows(processes, within);
        let blocks = means.less(common);
        let blocks_show = shows(blocks, common);

        // A mean square of blocks holds the effect as often as there are cells in a block; of processes, as there
        // are cells of a process.
        let share = |squares: Squares, cells: f64| squares.variance().map(|v| v.times(1.0 / cells));
        let rest = |squares: Squares, cells: f64| squares.variance().map(|v| v.times(1.0 - 1.0 / cells));
        let sum = |a: Option<Variance>, b: Option<Variance>| match (a, b) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
        let all = cells.len() as f64;
        let (beside, apart, alone) = if processes_show {
            let each = cells_of_a_process(&mine);
            let apart = sum(rest(within, each), share(processes, each));
            let more = processes.variance().map(|v| v.times(1.0 / each - 1.0 / all));
            let alone = sum(sum(rest(within, each), more), share(blocks, all));
            (within.variance(), apart, if blocks_show { alone } else { apart })
        } else if blocks_show {
            let residual = common.variance();
            (residual, residual, sum(rest(common, all), share(blocks, all)))
        } else {
            (means.variance(), means.variance(), means.variance())
        };
        let (residuals, of_residuals) = match common.degrees > 0.0 {
            true => (in_common.residuals, common),
            false => (vec![BTreeMap::new(); mine.len()], Squares::default()),
        };
        let observed = mine.iter().map(|s| s.by_block.len()).sum::<usize>() as f64;
        let own = match blocks_show {
            // All trials of a balanced layout have the same share of a degree of freedom.
            true => residuals
                .iter()
                .map(|r| r.values().map(|v| v * v).sum())
                .zip(&mine)
                .map(|(sum, s)| Squares { sum, degrees: common.degrees * s.by_block.len() as f64 / observed })
                .collect::<Vec<_>>(),
            false => around_means.collect(),
        };
        Self {
            residuals: cells.iter().copied().zip(residuals).collect(),
            own: cells.iter().copied().zip(own).collect(),
            cells,
            beside,
            apart,
            alone,
            of_residuals,
        }
    }

    /// Squares of some of its cells, and of all others.
    pub fn part(&self, cells: &BTreeSet<usize>) -> (Squares, Squares) {
        let (part, rest): (Vec<_>, Vec<_>) = self.own.iter().partition(|(cell, _)| cells.contains(cell));
        let sum = |of: Vec<(&usize, &Squares)>| of.into_iter().map(|(_, s)| *s).fold(Squares::default(), Squares::plus);
        (sum(part), sum(rest))
    }
}

/// Whether an effect is more than residuals explain.
fn shows(effect: Squares, residuals: Squares) -> bool {
    let level = if residuals.degrees < FEW { SHOWS_BY_FEW } else { SHOWS };
    effect.is_more_by_chance(residuals) <= level
}

/// Squares of a cell around its mean.
pub fn around_mean(series: &Series) -> Squares {
    Squares::of(&series.by_block.values().copied().collect::<Vec<_>>())
}

/// How many cells of a process a mean square of processes holds the effect of: the usual coefficient of a nested layout
/// whose groups differ in size (Scheffe, chapter 7).
fn cells_of_a_process(series: &[&Series]) -> f64 {
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    for s in series {
        *sizes.entry(s.process).or_default() += 1.0;
    }
    let all: f64 = sizes.values().sum();
    let squares: f64 = sizes.values().map(|n| n * n).sum();
    (all - squares / all) / (sizes.len() as f64 - 1.0)
}
