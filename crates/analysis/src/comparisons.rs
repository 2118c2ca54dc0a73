//! All pairs of cells with the same workload and load level, compared once. Everything that the document says about two
//! cells is read from here, from one interval each, so that no two of its sentences can contradict each other.
//!
//! Trials of one block ran close in time, so that slow drift of the machine cancels in their ratio (Abedi & Brecht,
//! "Conducting Repeatable Experiments in Highly Variable Cloud Computing Environments", ICPE 2017). The spread is
//! pooled over cells whose limits are of one kind ([`stats::Layout`]). Cells of different batches of machines share no
//! block: they are compared by the means of their logarithms ([`stats::Samples`]), which is less sharp, and says so.
//! All pairs of a metric are one family: Holm over the experiment at [`stats::LEVEL`], and each interval at the level
//! of its verdict. Throughput for money is a second family of the same pairs, at the same level. Where a run looks at
//! its evidence several times, a pair has the share of the look that saw the last
//! of it ([`stats::Looks`]); Holm's steps go by p-values over shares. A false claim then takes a p-value below its
//! share of level / (true hypotheses) at some look, which happens with the whole level at most.

use std::collections::{BTreeMap, BTreeSet};

use experiment::LoadLevel;
use stats::{Contrast, Layout, Looks, Outlier, Samples, Series, Spread};

use crate::carried::CarriedOver;
use crate::document::{Bound, BoundIs, CellAnalysis, Metric, Ratio, ResidualSpread, Verdict};
use crate::figures::Figures;
use crate::limit::{self, SpreadKind};
use crate::lists::{each_once, grouped};
use crate::rules::OUTLIER_LEVEL;
use crate::rules::imported::windows::Length;

/// One pair of cells.
#[derive(Debug, Clone)]
struct Pair {
    contrast: Option<Contrast>,
    /// What was observed where nothing can be tested: (geometric mean, smallest, largest).
    observed: (f64, f64, f64),
    pairs: u64,
    unpaired: bool,
    level: f64,
    /// The share of the level that the look has which saw the last of it.
    share: f64,
    p_sign_flip: Option<f64>,
}

/// All comparisons of one metric; cells are named by their place in the document.
#[derive(Debug, Clone)]
pub struct Comparisons {
    metric: Metric,
    margin: f64,
    names: Vec<String>,
    effects: Vec<Option<f64>>,
    pairs: BTreeMap<(usize, usize), Pair>,
    spreads: BTreeMap<SpreadKind, Spread>,
    outliers: Vec<Outlier>,
    /// What of this machine limited each cell; until it is known everything carries over.
    carried: CarriedOver,
}

impl Comparisons {
    /// Compares all pairs of cells that share workload and load level. At a given rate throughput says nothing, so that
    /// open-loop cells are compared by latencies only.
    pub fn new(metric: Metric, cells: &[CellAnalysis], figures: &Figures<'_>, margin: f64) -> Self {
        let mut comparisons = Self {
            metric,
            margin,
            names: cells.iter().map(|c| c.configuration.clone()).collect(),
            effects: vec![None; cells.len()],
            pairs: BTreeMap::new(),
            spreads: BTreeMap::new(),
            outliers: Vec::new(),
            carried: CarriedOver::default(),
        };
        // Closed and open loops spread differently: each has its own pool.
        for open in [false, true] {
            if !open || metric.is_latency() {
                comparisons.add(cells, figures, open);
            }
        }
        comparisons.judge(|_| Some(1.0));
        if metric == Metric::Throughput {
            let usd = |i: usize| cells[i].usd_per_month.filter(|usd| *usd > 0.0);
            comparisons.judge(|(a, b)| Some(usd(a)? / usd(b)?).filter(|ratio| *ratio != 1.0));
        }
        comparisons
    }

    /// Gives each pair the level of a family of hypotheses, "the ratio of a to b is that", if it is lower than the one
    /// that it has; `None`: nothing is said of the pair in this family. Ratios and ratios for money are two families,
    /// of other true hypotheses, and each pair is judged at the lower of both levels: it has one interval.
    fn judge(&mut self, ratio: impl Fn((usize, usize)) -> Option<f64>) {
        let p_of =
            |(cells, pair): (&(usize, usize), &Pair)| Some((*cells, pair.contrast?.p_of(ratio(*cells)?) / pair.share));
        let (tested, p_values): (Vec<(usize, usize)>, Vec<f64>) = self.pairs.iter().filter_map(p_of).unzip();
        for (cells, level) in tested.iter().zip(stats::holm_levels(&p_values, stats::LEVEL)) {
            if let Some(pair) = self.pairs.get_mut(cells) {
                pair.level = pair.level.min(level * pair.share);
            }
        }
    }

    /// From here on verdicts say no more than what carries over from this machine.
    pub fn carry_over(&mut self, carried: CarriedOver) {
        self.carried = carried;
    }

    /// The cells whose throughputs make the ratio of `a` to `b`; `None` of latencies, which are not scaled.
    fn of_throughputs(&self, a: usize, b: usize) -> Option<(usize, usize)> {
        match self.metric {
            Metric::Throughput | Metric::OperationsPerDollar => Some((a, b)),
            // The ratio of runtimes is that of throughputs turned over.
            Metric::Runtime => Some((b, a)),
            Metric::Mean | Metric::P50 | Metric::P95 | Metric::P99 | Metric::P999 => None,
        }
    }

    /// What of cell `a` over cell `b` carries over; `None`: all of it.
    pub fn bound(&self, a: usize, b: usize) -> Option<Bound> {
        self.of_throughputs(a, b).and_then(|(a, b)| self.carried.bound(a, b))
    }

    /// What carries over, for comparisons of the same cells by another metric.
    pub fn carried(&self) -> &CarriedOver {
        &self.carried
    }

    /// [`CarriedOver::shift`] of a metric.
    fn shift(&self, a: usize, b: usize) -> (f64, f64) {
        self.of_throughputs(a, b).map_or((1.0, 1.0), |(a, b)| self.carried.shift(a, b))
    }

    fn add(&mut self, cells: &[CellAnalysis], figures: &Figures<'_>, open: bool) {
        let mine: Vec<usize> = (0..cells.len()).filter(|i| is_open(cells[*i].load) == open).collect();
        let batches: BTreeSet<u32> = mine.iter().map(|i| cells[*i].batch).collect();
        for batch in &batches {
            let together: Vec<usize> = mine.iter().copied().filter(|i| cells[*i].batch == *batch).collect();
            self.add_paired(cells, &together, figures, open);
        }
        if batches.len() > 1 {
            self.add_unpaired(cells, &mine, figures);
        }
    }

    /// Pairs of cells that share no block, because they were measured in different batches of machines.
    fn add_unpaired(&mut self, cells: &[CellAnalysis], mine: &[usize], figures: &Figures<'_>) {
        let logs = |i: &usize| -> Vec<f64> {
            let by_block = figures.by_block(&cells[*i].id, self.metric);
            by_block.into_values().map(f64::ln).collect()
        };
        let samples: Vec<Vec<f64>> = mine.iter().map(logs).collect();
        let kinds: Vec<SpreadKind> = mine.iter().map(|i| limit::by_use(&cells[*i].limit).spreads_as()).collect();
        let lengths: Vec<Option<Length>> = mine.iter().map(|i| Length::of(figures.trials(&cells[*i].id))).collect();
        for (a, i) in mine.iter().enumerate() {
            for (b, j) in mine.iter().enumerate().skip(a + 1) {
                let (one, other) = (&cells[*i], &cells[*j]);
                let same_place = one.workload == other.workload && one.load == other.load;
                if one.batch != other.batch && same_place && Length::are_like(lengths[a], lengths[b]) {
                    let pair = unpaired(&pool_of(&samples, &kinds, (a, b)), &samples[a], &samples[b]);
                    self.pairs.extend(pair.map(|pair| ((*i, *j), pair)));
                }
            }
        }
    }

    /// Cells of one batch, whose blocks ran close in time.
    fn add_paired(&mut self, cells: &[CellAnalysis], mine: &[usize], figures: &Figures<'_>, open: bool) {
        let mut groups: Vec<(&str, LoadLevel)> = Vec::new();
        let mut columns: Vec<&str> = Vec::new();
        let series: Vec<Series> = mine
            .iter()
            .map(|i| {
                let place = (cells[*i].workload.as_str(), cells[*i].load);
                let group = groups.iter().position(|g| *g == place).unwrap_or_else(|| {
                    groups.push(place);
                    groups.len() - 1
                });
                let configuration = cells[*i].configuration.as_str();
                let column = columns.iter().position(|c| *c == configuration).unwrap_or_else(|| {
                    columns.push(configuration);
                    columns.len() - 1
                });
                let by_block = figures.by_block(&cells[*i].id, self.metric);
                Series {
                    group,
                    column,
                    kind: limit::by_use(&cells[*i].limit).spreads_as() as usize,
                    process: figures.process_of(configuration),
                    by_block: by_block.into_iter().map(|(block, value)| (block, value.ln())).collect(),
                }
            })
            .collect();
        let group_of: Vec<usize> = series.iter().map(|s| s.group).collect();
        let layout = Layout::new(series);
        if !open {
            for (kind, spread) in SpreadKind::ALL.into_iter().filter_map(|k| Some((k, layout.spread(k as usize)?))) {
                let both = [self.spreads.get(&kind).copied(), Some(spread)];
                self.spreads.extend(Spread::pooled(both.into_iter().flatten()).map(|spread| (kind, spread)));
            }
            let outliers = layout.outliers(OUTLIER_LEVEL).into_iter();
            self.outliers.extend(outliers.map(|outlier| Outlier { cell: mine[outlier.cell], ..outlier }));
        }
        let looks = figures.looks();
        let spread = |i: usize| may_spread_by(limit::by_use(&cells[i].limit).spreads_as());
        // By how much a latency may spread was not seen.
        let is_latency = self.metric.is_latency();
        for (a, i) in mine.iter().enumerate() {
            self.effects[*i] = layout.effect(a);
            for (b, j) in mine.iter().enumerate().skip(a + 1) {
                if group_of[a] == group_of[b] {
                    let spreads = (!is_latency).then(|| (spread(*i), spread(*j)));
                    self.pairs.extend(pair_of(&layout, (a, b), spreads, &looks).map(|pair| ((*i, *j), pair)));
                }
            }
        }
    }

    /// The figure of a cell: its geometric mean over blocks, adjusted for blocks that it misses. For metrics with a
    /// family of figures only.
    pub fn figure(&self, cell: usize) -> Option<f64> {
        self.effects[cell].map(f64::exp)
    }

    /// Spread of a single trial besides cell and block, closed loops: of all cells together.
    pub fn spread(&self) -> Option<Spread> {
        Spread::pooled(self.spreads.values().copied())
    }

    /// The same for each kind of limit.
    pub fn spreads(&self) -> impl Iterator<Item = ResidualSpread> {
        self.spreads.iter().map(|(kind, spread)| ResidualSpread {
            kind: *kind,
            deviation: spread.deviation,
            degrees: spread.degrees,
        })
    }

    /// Closed-loop trials far from what their cell and block let expect; cells by their place in the document.
    pub fn outliers(&self) -> &[Outlier] {
        &self.outliers
    }

    /// Cell `a` against cell `b`; `None` where they have no common block.
    pub fn ratio(&self, a: usize, b: usize) -> Option<Ratio> {
        self.scaled(a, b, 1.0)
    }

    /// The ratio of `a` to `b` times `factor`, judged anew: with a factor of price(b) / price(a) it is a ratio of
    /// operations per dollar.
    pub fn scaled(&self, a: usize, b: usize, factor: f64) -> Option<Ratio> {
        let pair = self.pairs.get(&(a.min(b), a.max(b)))?;
        let swapped = a > b;
        let side = |(middle, low, high): (f64, f64, f64)| match swapped {
            true => (factor / middle, factor / high, factor / low),
            false => (factor * middle, factor * low, factor * high),
        };
        let bound = self.bound(a, b);
        let base = Ratio { unpaired: pair.unpaired, ..Ratio::blank(&self.names[b], Verdict::TooFew, pair.pairs) };
        let Some(contrast) = &pair.contrast else {
            let (median, low, high) = side(pair.observed);
            return Some(Ratio { median, low, high, bound, ..base });
        };
        let (low, high) = contrast.interval(pair.level);
        let (median, low, high) = side((contrast.estimate.exp(), low, high));
        let here = self.carried_verdict(low, high, bound.as_ref());
        let (least, most) = self.shift(a, b);
        let is_same = |by: f64| self.carried_verdict(low * by, high * by, bound.as_ref()) == here;
        let (bound, verdict) = match is_same(least) && is_same(most) {
            true => (bound, here),
            false => (Some(self.carried.missed(a, b)), Verdict::NotCarriedOver),
        };
        // The hypothesis "the scaled ratio is 1" on the unscaled, unswapped contrast.
        let p = contrast.p_of(if swapped { factor } else { 1.0 / factor });
        Some(Ratio {
            median,
            low,
            high,
            level: pair.level,
            pooled: contrast.pooled,
            p_value: Some(p),
            p_adjusted: Some((p * stats::LEVEL / pair.level).min(1.0)),
            p_sign_flip: pair.p_sign_flip.filter(|_| factor == 1.0),
            smallest_detectable: contrast.detectable(pair.level),
            bound,
            verdict,
            ..base
        })
    }

    /// What an interval shows of the configurations: where one side could do more, only what more of it would not undo.
    fn carried_verdict(&self, low: f64, high: f64, bound: Option<&Bound>) -> Verdict {
        let here = |low: f64, high: f64| verdict(low, high, self.margin, self.metric.higher_is_better());
        let Some(bound) = bound else { return here(low, high) };
        let (low, high) = match bound.is {
            BoundIs::AtLeast => (low, f64::INFINITY),
            BoundIs::AtMost => (0.0, high),
            BoundIs::Nothing => return Verdict::NotCarriedOver,
        };
        match here(low, high) {
            Verdict::NoDifferenceShown => Verdict::NotCarriedOver,
            shown => shown,
        }
    }

    /// Repetitions of each cell that would refute "the ratio of `a` to `b` is `ratio`", if what was seen is the truth;
    /// `None` where this machine leaves it open, whatever is repeated, and where what was seen is that ratio within the
    /// margin: more repetitions then show that it is.
    pub fn repetitions_to_refute(&self, a: usize, b: usize, ratio: f64) -> Option<u32> {
        let pair = self.pairs.get(&(a.min(b), a.max(b)))?;
        let contrast = pair.contrast.as_ref()?;
        let estimate = if a > b { -contrast.estimate } else { contrast.estimate };
        let is_more = estimate > ratio.ln();
        let bound = self.bound(a, b).map(|bound| bound.is);
        let is_open = match bound {
            None => false,
            Some(BoundIs::AtLeast) => !is_more,
            Some(BoundIs::AtMost) => is_more,
            Some(BoundIs::Nothing) => true,
        };
        // Without one of its ends no interval lies within the margin.
        let margin = if bound.is_none() { (1.0 + self.margin).ln() } else { 0.0 };
        let (least, most) = self.shift(a, b);
        let near = estimate + least.ln() - margin..=estimate + most.ln() + margin;
        let is_open = is_open || near.contains(&ratio.ln());
        let ratio = if a > b { 1.0 / ratio } else { ratio };
        contrast.repetitions_to_refute(ratio, pair.level).filter(|_| !is_open)
    }

    /// Repetitions of each cell that would show `a` and `b` to be the same, if what was seen is the truth; `None` where
    /// it is not the same, where no affordable number would, and where this machine leaves it open.
    pub fn repetitions_to_equate(&self, a: usize, b: usize) -> Option<u32> {
        let pair = self.pairs.get(&(a.min(b), a.max(b)))?;
        let contrast = pair.contrast.as_ref().filter(|_| self.bound(a, b).is_none())?;
        // The interval has to lie within the margin as measured, and with either shift.
        let (least, most) = self.shift(a.min(b), a.max(b));
        let within = (1.0 / (1.0 + self.margin) / least.min(1.0), (1.0 + self.margin) / most.max(1.0));
        contrast.repetitions_within(within, pair.level)
    }

    /// Cell `a` over cell `b` with the level at which a look with this share would judge them; `None` where nothing can
    /// be tested.
    pub fn tested(&self, a: usize, b: usize, share: f64) -> Option<(Contrast, f64)> {
        let pair = self.pairs.get(&(a.min(b), a.max(b)))?;
        let contrast = pair.contrast?;
        let estimate = if a > b { -contrast.estimate } else { contrast.estimate };
        Some((Contrast { estimate, ..contrast }, pair.level / pair.share * share))
    }

    /// A cell against itself.
    pub fn itself(&self, cell: usize) -> Option<Ratio> {
        self.effects[cell].map(|_| Ratio::blank(&self.names[cell], Verdict::Reference, 0))
    }
}

/// What a trial is taken to spread by at least where two of each cell are all there is: they do not show that one cell
/// of a kind spreads more than the others. In the middle of what repetitions of cells with this limit were seen to
/// spread by, 1 to 10 % and 5 to 35 % (docs/kenzan-2018.md).
fn may_spread_by(kind: SpreadKind) -> f64 {
    match kind {
        SpreadKind::Volume => 0.05,
        SpreadKind::Cpu | SpreadKind::Other => 0.2,
    }
}

/// `spreads`: by what a trial of each may spread, however alike two of them are; `None`: two of each are not tested.
fn pair_of(layout: &Layout, (a, b): (usize, usize), spreads: Option<(f64, f64)>, looks: &Looks) -> Option<Pair> {
    let pairs: Vec<(f64, f64)> = layout.pairs(a, b);
    let differences = || pairs.iter().map(|(a, b)| a - b);
    let mean = stats::ratio(differences().sum(), pairs.len() as f64)?;
    let (low, high) = (differences().fold(f64::INFINITY, f64::min), differences().fold(f64::NEG_INFINITY, f64::max));
    let last_block = layout.last_block(a, b).unwrap_or_default();
    let share = looks.share(last_block);
    let contrast = layout.contrast_of(looks.pairs_min(last_block), a, b).and_then(|contrast| {
        if contrast.n >= stats::REPETITIONS_MIN {
            return Some(contrast);
        }
        let (one, other) = spreads?;
        let may_err = one.hypot(other) / (contrast.n as f64).sqrt();
        Some(contrast.no_surer_than(may_err, stats::LEVEL * share))
    });
    let plain: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a.exp(), b.exp())).collect();
    Some(Pair {
        p_sign_flip: stats::sign_flip_p(&plain).filter(|_| contrast.is_some()),
        contrast,
        observed: (mean.exp(), low.exp(), high.exp()),
        pairs: pairs.len() as u64,
        unpaired: false,
        level: stats::LEVEL,
        share,
    })
}

/// What two samples without common blocks are compared by: of one kind by the spread of all samples of that kind, of
/// two by their own. Samples are on the logarithmic scale; cells that a volume limits repeat within 1 to 10 %, those
/// that the CPU limits spread by 5 to 35 %, and one pool would widen every interval of the former and narrow those of
/// the latter.
pub fn pool_of(samples: &[Vec<f64>], kinds: &[SpreadKind], (a, b): (usize, usize)) -> Samples {
    let is_wanted = |at: usize| if kinds[a] == kinds[b] { kinds[at] == kinds[a] } else { at == a || at == b };
    Samples::new((0..samples.len()).filter(|at| is_wanted(*at)).map(|at| samples[at].as_slice()))
}

/// `a` against `b` by the means of their logarithms; where nothing can be tested, all ratios that could be observed.
fn unpaired(pool: &Samples, a: &[f64], b: &[f64]) -> Option<Pair> {
    let mean = |logs: &[f64]| stats::ratio(logs.iter().sum(), logs.len() as f64);
    let smallest = |logs: &[f64]| logs.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = |logs: &[f64]| logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = mean(a)? - mean(b)?;
    let (low, high) = (smallest(a) - largest(b), largest(a) - smallest(b));
    Some(Pair {
        contrast: pool.contrast(a, b),
        observed: (middle.exp(), low.exp(), high.exp()),
        pairs: a.len().min(b.len()) as u64,
        unpaired: true,
        level: stats::LEVEL,
        // Several batches look once.
        share: 1.0,
        p_sign_flip: None,
    })
}

/// What an interval shows.
pub fn verdict(low: f64, high: f64, margin: f64, higher_is_better: bool) -> Verdict {
    if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin {
        Verdict::Same
    } else if low > 1.0 || high < 1.0 {
        if (low > 1.0) == higher_is_better { Verdict::Faster } else { Verdict::Slower }
    } else {
        Verdict::NoDifferenceShown
    }
}

/// Whether requests come at a given rate.
pub fn is_open(load: LoadLevel) -> bool {
    matches!(load, LoadLevel::Rate { .. })
}

/// The places of a matrix (workload, load level) with the cells that share them, in the order of the experiment.
pub fn places(cells: &[CellAnalysis]) -> Vec<(String, LoadLevel, Vec<usize>)> {
    let groups = grouped(cells.iter().enumerate().map(|(i, cell)| ((&cell.workload, cell.load), i)));
    let place = |((workload, load), members): ((&String, LoadLevel), Vec<usize>)| (workload.clone(), load, members);
    let mut places: Vec<(String, LoadLevel, Vec<usize>)> = groups.into_iter().map(place).collect();
    // All load levels of a workload stand together, as the experiment lists workloads.
    let order = each_once(places.iter().map(|(workload, ..)| workload.clone()));
    places.sort_by_key(|(w, _, _)| order.iter().position(|o| o == w));
    places
}

/// Adds the ratios of throughput to the baseline and to the slowest configuration among the cells with the same
/// workload and load.
pub fn add(cells: &mut [CellAnalysis], baseline: &str, throughput: &Comparisons) {
    for (_, _, members) in places(cells) {
        let slowest = members
            .iter()
            .copied()
            .filter_map(|i| Some((i, throughput.figure(i)?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i);
        let base = members.iter().copied().find(|i| cells[*i].configuration == baseline);
        for &i in &members {
            let to = |other: Option<usize>| match other {
                Some(other) if other == i => throughput.itself(i),
                Some(other) => throughput.ratio(i, other),
                None => None,
            };
            (cells[i].ratio_to_slowest, cells[i].ratio_to_baseline) = (to(slowest), to(base));
        }
    }
}
