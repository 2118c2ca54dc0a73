//! Many cells, few repetitions: what all cells together say about the spread of one.
//!
//! With three repetitions a pair of cells alone knows its spread by two degrees of freedom, and a 97.5 % interval is
//! 6.2 standard errors to either side. A matrix of six cells has ten. So the trials of a run are seen as a two-way
//! layout (cell + block + residual, on logarithms; Scheffe, The Analysis of Variance, 1959, chapter 4), and the
//! variance of the residuals is pooled over cells, after checks that it may be:
//!
//! 1. Blocks are fitted for each *group* (one workload at one load level). Where the F test sees no difference between
//!    groups in how blocks act, one block effect serves all groups, which leaves more degrees of freedom.
//! 2. A pair of cells whose own differences spread unlike the rest (F test) is judged by the differences of the same
//!    two columns (configurations) in all groups: one configuration may be noisier than the others wherever it is
//!    measured.
//! 3. Where a pair spreads unlike these as well, it stands on its own.

use std::collections::BTreeMap;

use crate::contrast::{Contrast, REPETITIONS_MIN};
use crate::fit::{Series, fit};
use crate::squares::{SPREADS_MORE, Squares};
use crate::student;

/// Block effects are the same in all groups unless the F test says otherwise at this level.
const BLOCKS_UNLIKE: f64 = 0.10;

/// A pair spreads more than the other pairs of its two columns, which have more reason to be alike: upper tail, as
/// [`SPREADS_MORE`].
const SPREADS_MORE_IN_COLUMNS: f64 = 0.02;

/// A two-way layout with its residual variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    series: Vec<Series>,
    /// Residuals by cell, block by block, and cell effects.
    residuals: Vec<BTreeMap<u32, f64>>,
    effects: Vec<Option<f64>>,
    squares: f64,
    degrees: f64,
    /// Squares and degrees of freedom of the residuals above: with blocks fitted for each group.
    of_residuals: (f64, f64),
}

/// A trial far from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Its cell.
    pub cell: usize,
    /// Its block.
    pub block: u32,
    /// ln(figure) less what its cell and block let expect.
    pub residual: f64,
    /// Spread of the other trials.
    pub rest: f64,
}

/// Residual spread of a layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation of a single trial, on the logarithmic scale, besides cell and block.
    pub deviation: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

impl Spread {
    /// Several together, as if they were one layout that shares no block between them.
    pub fn pooled(all: impl Iterator<Item = Self>) -> Option<Self> {
        let sum = |(squares, degrees): (f64, f64), one: Self| {
            (squares + one.deviation.powi(2) * one.degrees, degrees + one.degrees)
        };
        let (squares, degrees) = all.fold((0.0, 0.0), sum);
        (degrees > 0.0).then(|| Self {
            deviation: (squares / degrees).sqrt(),
            degrees,
        })
    }
}

impl Layout {
    /// Fits cells and blocks.
    pub fn new(series: Vec<Series>) -> Self {
        let by_group = fit(&series, |s| s.group);
        let together = fit(&series, |_| 0);
        let (extra, extra_degrees) = (together.squares - by_group.squares, together.degrees - by_group.degrees);
        let alike = by_group.degrees > 0.0
            && extra_degrees > 0.0
            && student::f_upper(
                (extra / extra_degrees) / (by_group.squares / by_group.degrees),
                extra_degrees,
                by_group.degrees,
            )
            .is_some_and(|p| p > BLOCKS_UNLIKE);
        let (squares, degrees) = match alike {
            true => (together.squares, together.degrees),
            false => (by_group.squares, by_group.degrees),
        };
        Self {
            residuals: by_group.residuals,
            effects: by_group.effects,
            squares,
            degrees,
            of_residuals: (by_group.squares, by_group.degrees),
            series,
        }
    }

    /// Spread of all cells together; `None` where nothing was repeated.
    pub fn spread(&self) -> Option<Spread> {
        (self.degrees > 0.0).then(|| Spread {
            deviation: (self.squares / self.degrees).sqrt(),
            degrees: self.degrees,
        })
    }

    /// Trials that lie further from what their cell and block let expect than noise like that of the others explains,
    /// at `level` over all trials together (externally studentised residuals with Bonferroni's bound: Cook & Weisberg,
    /// Residuals and Influence in Regression, 1982). A block effect is no reason, and neither is a large number of
    /// repetitions.
    pub fn outliers(&self, level: f64) -> Vec<Outlier> {
        let all = self.residuals.iter().map(BTreeMap::len).sum::<usize>() as f64;
        let (squares, degrees) = self.of_residuals;
        // All trials of a balanced layout have the same share of a degree of freedom.
        let share = degrees / all;
        if degrees < 2.0 {
            return Vec::new();
        }
        let of = |cell: usize, block: u32, residual: f64| {
            let own = residual.powi(2) / share;
            let rest = ((squares - own) / (degrees - 1.0)).max(0.0);
            let t = residual / (rest * share).sqrt();
            let p = student::two_sided_p(t, degrees - 1.0)?;
            (p * all <= level && residual.abs() > 1e-9).then_some(Outlier {
                cell,
                block,
                residual,
                rest: rest.sqrt(),
            })
        };
        let cells = self.residuals.iter().enumerate();
        cells
            .flat_map(|(cell, blocks)| blocks.iter().filter_map(move |(block, r)| of(cell, *block, *r)))
            .collect()
    }

    /// The cell's effect: comparable within its group even where cells miss different blocks. `None` without a trial.
    pub fn effect(&self, cell: usize) -> Option<f64> {
        self.effects[cell]
    }

    /// Pairs of the same block of two cells, as (a, b) on the logarithmic scale.
    pub fn pairs(&self, a: usize, b: usize) -> Vec<(f64, f64)> {
        let theirs = &self.series[b].by_block;
        let ours = self.series[a].by_block.iter();
        ours.filter_map(|(block, x)| Some((*x, *theirs.get(block)?))).collect()
    }

    /// Cell `a` against cell `b` by pairs of the same block. `None` with fewer than three pairs.
    pub fn contrast(&self, a: usize, b: usize) -> Option<Contrast> {
        let differences = self.differences(a, b);
        let n = differences.len() as f64;
        if (differences.len() as u64) < REPETITIONS_MIN {
            return None;
        }
        let (estimate, _) = student::mean_and_deviation(&differences)?;
        let own = Squares::of(&differences);
        let (variance, pooled) = self.variance_of_difference(own, self.of_columns(a, b));
        Some(Contrast {
            estimate,
            error: (variance.mean() / n).sqrt(),
            degrees: variance.degrees,
            n: differences.len() as u64,
            pooled,
        })
    }

    fn differences(&self, a: usize, b: usize) -> Vec<f64> {
        self.pairs(a, b).iter().map(|(a, b)| a - b).collect()
    }

    /// Squares of the differences of the two columns in all groups.
    fn of_columns(&self, a: usize, b: usize) -> Squares {
        let of = |cell: usize| (self.series[cell].column, self.series[cell].group);
        let cells = 0..self.series.len();
        cells
            .clone()
            .filter(|x| of(*x).0 == of(a).0)
            .filter_map(|x| Some((x, cells.clone().find(|y| of(*y) == (of(b).0, of(x).1))?)))
            .map(|(x, y)| Squares::of(&self.differences(x, y)))
            .fold(Squares::default(), Squares::plus)
    }

    /// Of a difference of two trials: by all cells, by the two columns, or by the pair alone; see the top of this file.
    /// `true` where it is by more than the pair.
    fn variance_of_difference(&self, own: Squares, columns: Squares) -> (Squares, bool) {
        // A difference has twice the variance of a trial.
        let all = Squares {
            sum: 2.0 * self.squares,
            degrees: self.degrees,
        };
        // The pair's and the columns' own differences are a part of the pool.
        let by_all = own.is_like(all.less(own), SPREADS_MORE)
            && (all.less(columns).degrees < 1.0 || columns.is_like(all.less(columns), SPREADS_MORE));
        if by_all {
            (all, true)
        } else if own.is_like(columns.less(own), SPREADS_MORE_IN_COLUMNS) {
            (columns, true)
        } else {
            (own, false)
        }
    }
}

#[cfg(test)]
mod tests;
