//! The least-squares fit of a two-way layout: cell + block.

use std::collections::BTreeMap;

use crate::squares::Squares;

/// The repetitions of one cell on the logarithmic scale, by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Cells of one group share workload and load level.
    pub group: usize,
    /// Cells of one column are the same configuration in different groups.
    pub column: usize,
    /// Cells of one kind have the same kind of limit, and so reason to spread alike.
    pub kind: usize,
    /// Cells of one process were served, in each block, by the same run of the database. Where every trial has a
    /// process of its own, all cells have the same number: then nothing is shared.
    pub process: usize,
    /// ln(figure) by block.
    pub by_block: BTreeMap<u32, f64>,
}

/// A least-squares fit of cell + block.
pub struct Fit {
    /// By cell, block by block.
    pub residuals: Vec<BTreeMap<u32, f64>>,
    /// By cell; `None` without a trial.
    pub effects: Vec<Option<f64>>,
    /// Of the residuals.
    pub squares: f64,
    /// Of the residuals.
    pub degrees: f64,
}

impl Fit {
    pub fn of_residuals(&self) -> Squares {
        Squares { sum: self.squares, degrees: self.degrees }
    }
}

/// Rounds of fitting cells and blocks in turn: exact after one where no trial is missing, and close to rounding after
/// thirty where some are.
const ROUNDS: usize = 30;

/// Fits cells, and blocks of each group, in turn.
pub fn fit(series: &[&Series], group_of: impl Fn(&Series) -> usize) -> Fit {
    let mut effects: Vec<Option<f64>> = series.iter().map(|s| mean(s.by_block.values().copied())).collect();
    let mut blocks: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let mut sums: BTreeMap<(usize, u32), (f64, f64)> = BTreeMap::new();
        for (s, effect) in series.iter().zip(&effects) {
            for (block, value) in &s.by_block {
                let sum = sums.entry((group_of(s), *block)).or_default();
                sum.0 += value - effect.unwrap_or(0.0);
                sum.1 += 1.0;
            }
        }
        blocks = sums.into_iter().map(|(key, (sum, n))| (key, sum / n)).collect();
        // Blocks sum to nothing within a group, so that effects stay on the scale of the figures.
        let mut centre: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for ((group, _), value) in &blocks {
            let sum = centre.entry(*group).or_default();
            sum.0 += value;
            sum.1 += 1.0;
        }
        for ((group, _), value) in &mut blocks {
            let (sum, n) = centre[group];
            *value -= sum / n;
        }
        for (s, effect) in series.iter().zip(&mut effects) {
            *effect = mean(s.by_block.iter().map(|(b, v)| v - blocks[&(group_of(s), *b)]));
        }
    }
    let residuals: Vec<BTreeMap<u32, f64>> = series
        .iter()
        .zip(&effects)
        .map(|(s, effect)| {
            let rest = |(b, v): (&u32, &f64)| (*b, v - effect.unwrap_or(0.0) - blocks[&(group_of(s), *b)]);
            s.by_block.iter().map(rest).collect()
        })
        .collect();
    let squares: f64 = residuals.iter().flat_map(|r| r.values()).map(|r| r * r).sum();
    // Observations less cells less blocks, plus one for each group.
    let mut groups: BTreeMap<usize, f64> = BTreeMap::new();
    for s in series.iter().filter(|s| !s.by_block.is_empty()) {
        *groups.entry(group_of(s)).or_default() += s.by_block.len() as f64 - 1.0;
    }
    for (group, _) in blocks.keys() {
        *groups.entry(*group).or_default() -= 1.0;
    }
    let degrees: f64 = groups.values().map(|d| (d + 1.0).max(0.0)).sum();
    Fit { residuals, effects, squares: if squares < 1e-20 { 0.0 } else { squares }, degrees }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    crate::ratio(sum, n)
}
