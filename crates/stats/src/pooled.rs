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

use crate::contrast::Contrast;
use crate::student;

/// Fewer repetitions than this are shown as what was observed and not tested: with two, an interval says next to
/// nothing (x / 2 for 8 % of noise), and a normal distribution cannot be checked at all.
pub const REPETITIONS_MIN: u64 = 3;
/// Block effects are the same in all groups unless the F test says otherwise at this level.
const BLOCKS_UNLIKE: f64 = 0.10;
/// A pair spreads more than the rest: upper tail of the F distribution. Chosen by simulation (docs/method.md): strict
/// enough that pooling helps, loose enough that a noisy pair among quiet ones is not called different too often.
const SPREADS_MORE: f64 = 0.06;
/// The same among pairs of the same two columns, which have more reason to be alike.
const SPREADS_MORE_IN_COLUMNS: f64 = 0.02;
/// A pair spreads less than the rest: lower tail. Small, because a small spread of three pairs is often luck.
const SPREADS_LESS: f64 = 0.003;

/// The repetitions of one cell on the logarithmic scale, by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Cells of one group share workload and load level.
    pub group: usize,
    /// Cells of one column are the same configuration in different groups.
    pub column: usize,
    /// ln(figure) by block.
    pub by_block: BTreeMap<u32, f64>,
}

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

/// A sum of squares with its degrees of freedom.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Squares {
    sum: f64,
    degrees: f64,
}

impl Squares {
    /// Around the mean; nothing from fewer than two values.
    fn of(values: &[f64]) -> Self {
        student::mean_and_deviation(values).map_or(Self::default(), |(_, deviation)| {
            let degrees = values.len() as f64 - 1.0;
            Self {
                sum: deviation.powi(2) * degrees,
                degrees,
            }
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            degrees: self.degrees + other.degrees,
        }
    }

    fn less(self, part: Self) -> Self {
        Self {
            sum: (self.sum - part.sum).max(0.0),
            degrees: self.degrees - part.degrees,
        }
    }

    fn mean(self) -> f64 {
        self.sum / self.degrees
    }

    /// Whether it may be pooled with the rest.
    fn is_like(self, rest: Self, more: f64) -> bool {
        is_alike(self.mean(), self.degrees, rest.sum, rest.degrees, more)
    }
}

/// Whether a variance may be pooled with the rest (sum of squares and degrees of freedom of the rest).
fn is_alike(own: f64, own_degrees: f64, rest_squares: f64, rest_degrees: f64, more: f64) -> bool {
    if rest_degrees < 1.0 {
        return false;
    }
    let f = own / (rest_squares / rest_degrees);
    if !f.is_finite() {
        return own == 0.0;
    }
    let upper = student::f_upper(f, own_degrees, rest_degrees).unwrap_or(0.0);
    upper >= more && 1.0 - upper >= SPREADS_LESS
}

/// Two samples that share no blocks, such as the same cell in two runs: `ours` and `theirs` are cells, on the
/// logarithmic scale; the variance within cells is pooled over all of them unless the two spread unlike the rest, then
/// it is Welch's (Biometrika 34, 1947).
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    squares: f64,
    degrees: f64,
}

impl Samples {
    /// Pools the variance within cells; each sample is on the logarithmic scale.
    pub fn new<'a>(samples: impl Iterator<Item = &'a [f64]>) -> Self {
        let mut pool = Self {
            squares: 0.0,
            degrees: 0.0,
        };
        for (_, deviation, n) in samples.filter_map(|s| student::mean_and_deviation(s).map(|(m, d)| (m, d, s.len()))) {
            pool.squares += deviation.powi(2) * (n as f64 - 1.0);
            pool.degrees += n as f64 - 1.0;
        }
        pool
    }

    /// The mean of one sample, as a contrast with 0: its interval is one for the geometric mean. `None` with fewer than
    /// three values.
    pub fn level(&self, ours: &[f64]) -> Option<Contrast> {
        if (ours.len() as u64) < REPETITIONS_MIN {
            return None;
        }
        let (mean, deviation) = student::mean_and_deviation(ours)?;
        let (n, own) = (ours.len() as f64, deviation.powi(2));
        let rest = (self.squares - own * (n - 1.0)).max(0.0);
        let (variance, degrees, pooled) = match is_alike(own, n - 1.0, rest, self.degrees - (n - 1.0), SPREADS_MORE) {
            true => (self.squares / self.degrees, self.degrees, true),
            false => (own, n - 1.0, false),
        };
        Some(Contrast {
            estimate: mean,
            error: (variance / n).sqrt(),
            degrees,
            n: ours.len() as u64,
            pooled,
        })
    }

    /// `ours` against `theirs`; both must be among the pooled samples. `None` with fewer than three values on a side.
    pub fn contrast(&self, ours: &[f64], theirs: &[f64]) -> Option<Contrast> {
        let least = ours.len().min(theirs.len()) as u64;
        if least < REPETITIONS_MIN {
            return None;
        }
        let (mean_a, deviation_a) = student::mean_and_deviation(ours)?;
        let (mean_b, deviation_b) = student::mean_and_deviation(theirs)?;
        let (n_a, n_b) = (ours.len() as f64, theirs.len() as f64);
        let own_squares = deviation_a.powi(2) * (n_a - 1.0) + deviation_b.powi(2) * (n_b - 1.0);
        let own_degrees = n_a + n_b - 2.0;
        let rest = (self.squares - own_squares).max(0.0);
        let pooled = is_alike(
            own_squares / own_degrees,
            own_degrees,
            rest,
            self.degrees - own_degrees,
            SPREADS_MORE,
        );
        let (v_a, v_b) = (deviation_a.powi(2) / n_a, deviation_b.powi(2) / n_b);
        let (variance, degrees) = match pooled {
            true => (self.squares / self.degrees * (1.0 / n_a + 1.0 / n_b), self.degrees),
            false if v_a + v_b == 0.0 => (0.0, own_degrees),
            false => (
                v_a + v_b,
                (v_a + v_b).powi(2) / (v_a.powi(2) / (n_a - 1.0) + v_b.powi(2) / (n_b - 1.0)),
            ),
        };
        Some(Contrast {
            estimate: mean_a - mean_b,
            error: variance.sqrt(),
            degrees,
            n: least,
            pooled,
        })
    }
}

/// A least-squares fit of cell + block.
struct Fit {
    residuals: Vec<BTreeMap<u32, f64>>,
    effects: Vec<Option<f64>>,
    squares: f64,
    degrees: f64,
}

/// Rounds of fitting cells and blocks in turn: exact after one where no trial is missing, and close to rounding after
/// thirty where some are.
const ROUNDS: usize = 30;

fn fit(series: &[Series], group_of: impl Fn(&Series) -> usize) -> Fit {
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
    Fit {
        residuals,
        effects,
        squares: if squares < 1e-20 { 0.0 } else { squares },
        degrees,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
    crate::ratio(sum, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn cell(group: usize, column: usize, values: &[f64]) -> Series {
        Series {
            group,
            column,
            by_block: (1..).zip(values.iter().copied()).collect(),
        }
    }

    /// Two cells alone: the two-way layout is the paired t test.
    #[test]
    fn two_cells_alone_are_the_paired_t_test() {
        let pairs = [(110.0_f64, 100.0_f64), (125.0, 105.0), (118.0, 110.0)];
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (a.ln(), b.ln())).unzip();
        let contrast = Layout::new(vec![cell(0, 0, &a), cell(0, 1, &b)])
            .contrast(0, 1)
            .unwrap();
        let d: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
        let mean = d.iter().sum::<f64>() / 3.0;
        let sd = (d.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        // With two degrees of freedom the distribution has a closed form: p = 1 - t / sqrt(t^2 + 2).
        let t = mean / (sd / 3.0_f64.sqrt());
        assert!((contrast.estimate - mean).abs() < 1e-12);
        assert!(
            (contrast.p_of(1.0) - (1.0 - t / (t * t + 2.0).sqrt())).abs() < 1e-9,
            "{contrast:?}"
        );
    }

    #[test]
    fn missing_trials_leave_the_layout_sound() {
        let mut cells = vec![
            cell(0, 0, &[1.0, 2.0, 3.0]),
            cell(0, 1, &[2.0, 3.0, 4.0]),
            cell(0, 2, &[0.0, 1.0, 2.0]),
        ];
        cells[1].by_block.remove(&3);
        let layout = Layout::new(cells);
        assert!(layout.spread().unwrap().deviation < 1e-6, "{:?}", layout.spread());
        assert_eq!(layout.spread().unwrap().degrees, 3.0, "8 values, 3 cells, 3 blocks");
        assert!((layout.effect(1).unwrap() - layout.effect(0).unwrap() - 1.0).abs() < 1e-6);
        assert_eq!(layout.contrast(0, 1), None, "two common blocks are too few");
    }

    /// A matrix of `configurations` x `workloads` cells; `sd(configuration, workload)` besides a block effect of 8 %.
    fn matrix(
        noise: &mut Noise,
        (configurations, workloads, blocks): (usize, usize, usize),
        sd: impl Fn(usize, usize) -> f64,
        plant: f64,
    ) -> Layout {
        let shared: Vec<f64> = (0..blocks).map(|_| 0.08 * noise.normal()).collect();
        let mut cells = Vec::new();
        for workload in 0..workloads {
            for configuration in 0..configurations {
                let level = if configuration == 1 { plant } else { 0.0 };
                let values: Vec<f64> = shared
                    .iter()
                    .map(|b| level + b + sd(configuration, workload) * noise.normal())
                    .collect();
                cells.push(cell(workload, configuration, &values));
            }
        }
        Layout::new(cells)
    }

    /// All pairs of each group, judged together by Holm at the level of verdicts.
    fn shown(layout: &Layout, (configurations, workloads, _): (usize, usize, usize)) -> Vec<((usize, usize), bool)> {
        let pairs: Vec<((usize, usize), Contrast)> = (0..workloads)
            .flat_map(|w| (1..configurations).flat_map(move |a| (0..a).map(move |b| (w, a, b))))
            .filter_map(|(w, a, b)| Some(((a, b), layout.contrast(w * configurations + a, w * configurations + b)?)))
            .collect();
        let p: Vec<f64> = pairs.iter().map(|(_, c)| c.p_of(1.0)).collect();
        let levels = crate::holm_levels(&p, crate::LEVEL);
        pairs
            .iter()
            .zip(p)
            .zip(levels)
            .map(|(((pair, _), p), level)| (*pair, p <= level))
            .collect()
    }

    fn rates(shape: (usize, usize, usize), sd: impl Fn(usize, usize) -> f64 + Copy) -> (f64, f64) {
        let mut noise = Noise::new(11);
        let runs = 1000;
        let (mut wrong, mut found, mut all) = (0, 0, 0);
        for _ in 0..runs {
            wrong += u32::from(
                shown(&matrix(&mut noise, shape, sd, 0.0), shape)
                    .iter()
                    .any(|(_, s)| *s),
            );
            for (pair, is_shown) in shown(&matrix(&mut noise, shape, sd, 1.3_f64.ln()), shape) {
                if pair == (1, 0) {
                    found += u32::from(is_shown);
                    all += 1;
                }
            }
        }
        (f64::from(wrong) / f64::from(runs), f64::from(found) / f64::from(all))
    }

    #[test]
    fn pooling_finds_30_percent_with_three_repetitions_and_invents_nothing() {
        for (name, shape, least) in [
            ("2 x 3, 3 blocks", (2, 3, 3), 0.68),
            ("3 x 2, 3 blocks", (3, 2, 3), 0.55),
            ("2 x 3, 5 blocks", (2, 3, 5), 0.9),
        ] {
            let (wrong, found) = rates(shape, |_, _| 0.08);
            println!(
                "{name}, 8 % noise: any of A/A called different in {:.1} %, +30 % shown in {:.0} %",
                wrong * 100.0,
                found * 100.0
            );
            assert!(wrong <= 0.05, "{name}: {wrong}");
            assert!(found >= least, "{name}: {found}");
        }
    }

    #[test]
    fn a_noisy_workload_among_quiet_ones_is_not_called_different_much_more_often() {
        for (name, quiet) in [("1 %", 0.01), ("3 %", 0.03)] {
            let (wrong, _) = rates((2, 3, 3), |_, workload| if workload == 2 { 0.08 } else { quiet });
            println!(
                "8 % among {name}: any of A/A called different in {:.1} %",
                wrong * 100.0
            );
            assert!(wrong <= 0.12, "{name}: {wrong}");
        }
    }

    /// An instance limited by a shared CPU spreads by 35 %, three limited by their volumes by 2 %: four configurations,
    /// six places, three blocks.
    #[test]
    fn a_noisy_configuration_is_judged_by_its_own_spread_in_all_places() {
        let mut noise = Noise::new(21);
        let spread = |configuration: usize, _: usize| if configuration == 3 { 0.35 } else { 0.02 };
        let (mut wrong, mut runs, mut widest) = (0, 0, Vec::new());
        for _ in 0..300 {
            let shape = (4, 6, 3);
            let layout = matrix(&mut noise, shape, spread, 0.0);
            wrong += u32::from(shown(&layout, shape).iter().any(|(_, s)| *s));
            runs += 1;
            let (low, high) = layout.contrast(3, 0).unwrap().interval(crate::LEVEL / 36.0);
            widest.push(high / low);
        }
        widest.sort_by(f64::total_cmp);
        let (median, worst) = (widest[widest.len() / 2], widest[widest.len() * 99 / 100]);
        println!(
            "35 % among 2 %: any of A/A called different in {wrong} of {runs}; interval high/low {median:.1}, worst of 100 {worst:.0}"
        );
        assert!(wrong <= 30, "{wrong}");
        assert!(
            median < 12.0,
            "{median}: three pairs alone would give a factor of thousands"
        );
    }

    #[test]
    fn what_would_have_been_shown_is_shown_in_80_of_100() {
        for (shape, name) in [
            ((2, 1, 3), "2 x 1, 3 blocks"),
            ((2, 3, 3), "2 x 3, 3 blocks"),
            ((2, 1, 5), "2 x 1, 5 blocks"),
        ] {
            let mut noise = Noise::new(5);
            let (runs, mut kept) = (600, 0);
            for _ in 0..runs {
                let contrast = matrix(&mut noise, shape, |_, _| 0.08, 0.0).contrast(1, 0).unwrap();
                let level = crate::LEVEL / shape.1 as f64;
                let promised = contrast.detectable(level).unwrap();
                let next = matrix(&mut noise, shape, |_, _| 0.08, promised.ln())
                    .contrast(1, 0)
                    .unwrap();
                kept += u32::from(next.p_of(1.0) <= level);
            }
            println!(
                "{name}: promised power kept in {:.0} of 100",
                100.0 * f64::from(kept) / f64::from(runs)
            );
            assert!(
                (0.70..0.90).contains(&(f64::from(kept) / f64::from(runs))),
                "{name}: {kept}"
            );
        }
    }

    #[test]
    fn one_lucky_trial_is_told_and_noise_is_not() {
        let mut noise = Noise::new(9);
        let (runs, mut false_alarms, mut found) = (400, 0, 0);
        for _ in 0..runs {
            let layout = matrix(&mut noise, (3, 2, 5), |_, _| 0.08, 0.0);
            false_alarms += u32::from(!layout.outliers(0.01).is_empty());
            let mut series = layout.series.clone();
            *series[4].by_block.get_mut(&2).unwrap() += 0.6;
            found += u32::from(
                Layout::new(series)
                    .outliers(0.01)
                    .iter()
                    .any(|o| (o.cell, o.block) == (4, 2)),
            );
        }
        println!("outliers: false alarms in {false_alarms} of {runs}, a trial 1.8 times as fast found in {found}");
        assert!(false_alarms <= 12 && found >= 300, "{false_alarms} {found}");
    }

    #[test]
    fn two_runs_are_compared_by_what_all_cells_spread() {
        let cells: [&[f64]; 4] = [&[1.0, 1.1, 0.9], &[1.3, 1.4, 1.2], &[5.0, 5.1, 4.9], &[5.0, 5.1, 4.9]];
        let pool = Samples::new(cells.into_iter());
        let got = pool.contrast(cells[1], cells[0]).unwrap();
        assert_eq!((got.degrees, got.pooled, got.n), (8.0, true, 3));
        assert!((got.estimate - 0.3).abs() < 1e-12);
        assert_eq!(pool.contrast(&cells[1][..2], cells[0]), None);
    }
}
