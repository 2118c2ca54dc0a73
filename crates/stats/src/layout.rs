//! Many cells, few repetitions: sorts the cells of a run into pools, and compares two of them. The spread of one pool:
//! `pool`.
//!
//! With three repetitions a pair of cells alone knows its spread by two degrees of freedom, and a 97.5 % interval is
//! 6.2 standard errors to either side. So trials (on logarithms) are pooled over cells that have reason to spread
//! alike: those of one *kind* of limit. A volume at its limit repeats within 1 to 10 %, a CPU within 5 to 35 %.
//!
//! 1. Within a kind the spread is that around cell means, unless blocks show (F test): then it is the residual of
//!    cell and block (Scheffe, The Analysis of Variance, 1959, chapter 4). Where cells of a block share processes and
//!    that shows, cells of one process are compared within it, and others with what a process adds (a split plot).
//! 2. Two kinds are compared by the sum of their variances, with the degrees of freedom of Satterthwaite.
//! 3. A configuration, or a cell, that spreads more than the rest of its kind (upper F test) stands alone, and leaves
//!    the others without its noise. One that spreads less stays: a small spread of three is often luck.

use std::collections::{BTreeMap, BTreeSet};

use crate::contrast::{Contrast, REPETITIONS_MIN};
use crate::fit::{Series, fit};
use crate::pool::{Pool, around_mean};
use crate::squares::Squares;
use crate::student;
use crate::variance::Variance;

/// A part of a pool spreads more than its rest: upper tail of the F distribution.
const SPREADS_MORE: f64 = 0.02;

/// Cells in pools, with the spread of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    series: Vec<Series>,
    effects: Vec<Option<f64>>,
    /// All cells of a kind, and what is left of that when what spreads more stands alone.
    kinds: Vec<Pool>,
    pools: Vec<Pool>,
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

/// Spread of single trials.
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
        (degrees > 0.0).then(|| Self { deviation: (squares / degrees).sqrt(), degrees })
    }
}

impl Layout {
    /// Sorts cells into pools.
    pub fn new(series: Vec<Series>) -> Self {
        let all: Vec<&Series> = series.iter().collect();
        let effects = fit(&all, |s| s.group).effects;
        let mut kinds: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (cell, s) in series.iter().enumerate().filter(|(_, s)| !s.by_block.is_empty()) {
            kinds.entry(s.kind).or_default().insert(cell);
        }
        let kinds: Vec<Pool> = kinds.into_values().map(|cells| Pool::new(&series, cells)).collect();
        let pools = kinds.iter().flat_map(|kind| split(&series, kind.clone())).collect();
        Self { series, effects, kinds, pools }
    }

    /// Spread of all cells of a kind together; `None` where nothing was repeated.
    pub fn spread(&self, kind: usize) -> Option<Spread> {
        let is_kind = |pool: &&Pool| pool.cells.iter().any(|cell| self.series[*cell].kind == kind);
        Spread::pooled(
            self.pools
                .iter()
                .filter(is_kind)
                .filter_map(|pool| pool.beside.map(|v| Spread { deviation: v.value.sqrt(), degrees: v.degrees })),
        )
    }

    /// Trials that lie further from what their cell and block let expect than noise like that of the others of their
    /// kind explains, at `level` over all trials together (externally studentised residuals with Bonferroni's bound:
    /// Cook & Weisberg, Residuals and Influence in Regression, 1982). A block effect is no reason, and neither is a
    /// large number of repetitions.
    pub fn outliers(&self, level: f64) -> Vec<Outlier> {
        let all = self.series.iter().map(|s| s.by_block.len()).sum::<usize>() as f64;
        let of = |pool: &Pool, cell: usize, block: u32, residual: f64| {
            let Squares { sum, degrees } = pool.of_residuals;
            // All trials of a balanced layout have the same share of a degree of freedom.
            let share = degrees / pool.residuals.values().map(BTreeMap::len).sum::<usize>() as f64;
            let rest = ((sum - residual.powi(2) / share) / (degrees - 1.0)).max(0.0);
            let t = residual / (rest * share).sqrt();
            let p = student::two_sided_p(t, degrees - 1.0)?;
            (p * all <= level && residual.abs() > 1e-9).then_some(Outlier { cell, block, residual, rest: rest.sqrt() })
        };
        let judged = self.kinds.iter().filter(|pool| pool.of_residuals.degrees >= 2.0);
        judged
            .flat_map(|pool| pool.residuals.iter().map(move |(cell, blocks)| (pool, *cell, blocks)))
            .flat_map(|(pool, cell, blocks)| blocks.iter().filter_map(move |(block, r)| of(pool, cell, *block, *r)))
            .collect()
    }

    /// The cell's effect: comparable within its group even where cells miss different blocks. `None` without a trial.
    pub fn effect(&self, cell: usize) -> Option<f64> {
        self.effects[cell]
    }

    /// Pairs of the same block of two cells, as (a, b) on the logarithmic scale.
    pub fn pairs(&self, a: usize, b: usize) -> Vec<(f64, f64)> {
        let theirs = &self.series[b].by_block;
        self.series[a].by_block.iter().filter_map(|(block, x)| Some((*x, *theirs.get(block)?))).collect()
    }

    /// The last block that two cells have both; `None` where they have none in common.
    pub fn last_block(&self, a: usize, b: usize) -> Option<u32> {
        let theirs = &self.series[b].by_block;
        self.series[a].by_block.keys().rev().copied().find(|block| theirs.contains_key(block))
    }

    /// Cell `a` against cell `b` by pairs of the same block. `None` with fewer than three pairs.
    pub fn contrast(&self, a: usize, b: usize) -> Option<Contrast> {
        self.contrast_of(REPETITIONS_MIN, a, b)
    }

    /// The same; `None` with fewer than so many pairs. Of two the spread is known by what other cells showed.
    pub fn contrast_of(&self, pairs_min: u64, a: usize, b: usize) -> Option<Contrast> {
        let differences: Vec<f64> = self.pairs(a, b).iter().map(|(a, b)| a - b).collect();
        let n = differences.len() as f64;
        if (differences.len() as u64) < pairs_min {
            return None;
        }
        let (estimate, _) = student::mean_and_deviation(&differences)?;
        let (variance, pooled) = self.variance_of_difference(a, b)?;
        Some(Contrast {
            estimate,
            error: (variance.value / n).sqrt(),
            degrees: variance.degrees,
            n: differences.len() as u64,
            pooled,
        })
    }

    /// Of a difference of two trials, and whether other cells than the two had a say in it.
    fn variance_of_difference(&self, a: usize, b: usize) -> Option<(Variance, bool)> {
        let pool_of = |cell: usize| self.pools.iter().find(|pool| pool.cells.contains(&cell));
        let (ours, theirs) = (pool_of(a)?, pool_of(b)?);
        if ours.cells != theirs.cells {
            let pooled = ours.cells.len() + theirs.cells.len() > 2;
            return Some((ours.alone?.plus(theirs.alone?), pooled));
        }
        let pair = BTreeSet::from([a, b]);
        let (own, rest) = ours.part(&pair);
        if own.is_more_by_chance(rest) <= SPREADS_MORE {
            let of = |cell: usize| around_mean(&self.series[cell]).variance();
            return Some((of(a)?.plus(of(b)?), false));
        }
        let same_process = self.series[a].process == self.series[b].process;
        let of_one = if same_process { ours.beside? } else { ours.apart? };
        // A difference has twice the variance of a trial.
        Some((of_one.times(2.0), ours.cells.len() > 2))
    }
}

/// Takes what spreads more than the rest of a pool out of it: the configuration or cell that does so most, then the
/// next, as long as there is one.
fn split(series: &[Series], pool: Pool) -> Vec<Pool> {
    let mut parts: BTreeSet<BTreeSet<usize>> = pool.cells.iter().map(|cell| BTreeSet::from([*cell])).collect();
    for column in pool.cells.iter().map(|cell| series[*cell].column) {
        parts.insert(pool.cells.iter().copied().filter(|cell| series[*cell].column == column).collect());
    }
    let noisiest = parts
        .into_iter()
        .map(|part| {
            let (own, rest) = pool.part(&part);
            (own.is_more_by_chance(rest), part)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match noisiest {
        Some((chance, part)) if chance <= SPREADS_MORE => {
            let rest = pool.cells.difference(&part).copied().collect();
            [part, rest].into_iter().flat_map(|cells| split(series, Pool::new(series, cells))).collect()
        }
        _ => vec![pool],
    }
}

#[cfg(test)]
mod tests;
