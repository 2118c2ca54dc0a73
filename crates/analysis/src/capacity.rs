//! What each configuration carries: from whole trials around the rate that probes have found.
//!
//! Each trial has a [`Score`], which rises with the rate. A straight line through the scores over the rate crosses 0
//! where the objective begins to be missed; the spread about the line is pooled over all searches, and the interval of
//! the crossing is Fieller's ([`stats::Residuals`]), with as many independent points as there are blocks. Where scores
//! jump from far below to far above 0 between two rates no line says where between them; so the interval always holds
//! the two rates between which the means, made monotone (Ayer and others, Annals of Mathematical Statistics 26, 1955),
//! cross 0.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use evidence::RateProbe;
use experiment::{Cell, LoadLevel, Plan, Search};
use stats::{Crossing, LEVEL, Points, Residuals, Samples};

use crate::document::{Capacity, CapacityLevel, CapacityLimit, CapacityOutcome, CellAnalysis, Meets, Missed, Withheld};
use crate::figures::Figures;
use crate::limit::{LimitKind, ResourceUse};
use crate::score::{self, Score};
use crate::search::{Step, next_step};

/// An estimate further outside the rates that were measured than this factor is not believed: more rates are measured.
const BELIEVED: f64 = 1.05;
/// How far the rates of another round lie outside those before, as a factor.
const OUTWARDS: f64 = 1.15;
/// A volume this full says at which rate it would be full: what does not grow with the rate matters little there.
const NEARLY_FULL: f64 = 0.8;
/// Most rounds of trials of a search.
const ROUNDS: u32 = 4;

/// All capacities, in the order of the experiment. Empty where nothing was searched for.
pub fn capacities(plan: &Plan, cells: &[CellAnalysis], figures: &Figures<'_>, probes: &[RateProbe]) -> Vec<Capacity> {
    let (Some(search), Some(objective)) = (&plan.search, &plan.objective) else { return Vec::new() };
    let scores = |cell: &CellAnalysis| -> Vec<Score> {
        let trials = figures.trials(&cell.id).iter();
        trials.filter_map(|trial| score::of_trial(objective, trial)).collect()
    };
    let all: Vec<Vec<f64>> = cells.iter().map(|cell| values(&scores(cell))).collect();
    let samples = Samples::new(all.iter().map(Vec::as_slice));
    let levels_of = |search: &Search| {
        let mut levels: Vec<Level<'_>> = cells
            .iter()
            .filter(|cell| cell.configuration == search.configuration && cell.workload == search.workload)
            .filter_map(|cell| {
                let scores = scores(cell);
                Some(Level {
                    rate: rate(cell.load)? * plan.scale(),
                    meets: shown(&samples, &values(&scores)),
                    cell,
                    scores,
                })
            })
            .collect();
        levels.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        levels
    };
    let all: Vec<(&Search, Vec<Level<'_>>)> = search.searches.iter().map(|s| (s, levels_of(s))).collect();
    let lines: Vec<Points> = all.iter().map(|(_, levels)| points(levels)).collect();
    let spread = Residuals::pooled(lines.iter());
    let each = all.iter().zip(&lines).map(|((search, levels), points)| {
        let own: Vec<&RateProbe> = probes.iter().filter(|p| p.search == search.id).collect();
        let of_level = |level: &Level<'_>| figures.trials(&level.cell.id).iter().map(|trial| trial.record.block);
        let blocks: BTreeSet<u32> = levels.iter().flat_map(of_level).collect();
        let crossing = spread.crossing(points, blocks.len(), LEVEL * 2.0);
        capacity(plan, search, levels, crossing, &own)
    });
    each.collect()
}

/// The rate and the score of each trial.
fn points(levels: &[Level<'_>]) -> Points {
    let of_level = |level: &Level<'_>| {
        let x = level.rate;
        level.scores.iter().map(move |score| (x, score.value)).collect::<Points>()
    };
    levels.iter().flat_map(of_level).collect()
}

/// Rates that another round would measure, at full scale; none where nothing is left to show, or it was tried often
/// enough.
pub fn another_round(capacity: &Capacity, rounds: u32) -> Vec<f64> {
    let levels = &capacity.levels;
    let (Some(lowest), Some(highest)) = (levels.first(), levels.last()) else { return Vec::new() };
    let is_open =
        matches!(capacity.outcome, CapacityOutcome::AtLeast | CapacityOutcome::Below | CapacityOutcome::NotShown);
    // Too few trials show nothing at any rate.
    let is_tested = |level: &CapacityLevel| level.trials >= stats::REPETITIONS_MIN;
    if !is_open || rounds >= ROUNDS || !(is_tested(lowest) && is_tested(highest)) {
        return Vec::new();
    }
    let (down, up) = (lowest.ops_per_s / OUTWARDS, highest.ops_per_s * OUTWARDS);
    match capacity.outcome {
        CapacityOutcome::AtLeast => vec![up],
        CapacityOutcome::Below => vec![down],
        _ => vec![down, up],
    }
}

/// A rate with its trials.
struct Level<'a> {
    /// At full scale.
    rate: f64,
    cell: &'a CellAnalysis,
    scores: Vec<Score>,
    meets: Meets,
}

impl Level<'_> {
    fn mean(&self) -> Option<f64> {
        stats::ratio(values(&self.scores).iter().sum(), self.scores.len() as f64)
    }

    /// Whether it is shown to meet the objective, by storage in its sustained state.
    fn proves(&self) -> bool {
        self.meets == Meets::Yes && score::is_proof(self.cell.withheld)
    }
}

fn values(scores: &[Score]) -> Vec<f64> {
    scores.iter().map(|score| score.value).collect()
}

fn shown(samples: &Samples, ours: &[f64]) -> Meets {
    let Some(contrast) = samples.level(ours) else { return Meets::NotDecided };
    // The interval is one of exponentials.
    let (low, high) = contrast.interval(2.0 * LEVEL);
    if high <= 1.0 {
        Meets::Yes
    } else if low > 1.0 {
        Meets::No
    } else {
        Meets::NotDecided
    }
}

fn capacity(
    plan: &Plan,
    search: &Search,
    levels: &[Level<'_>],
    crossing: Option<Crossing>,
    probes: &[&RateProbe],
) -> Capacity {
    let proven = levels.iter().take_while(|level| level.proves()).last();
    let refuted = levels.iter().rev().take_while(|level| level.meets == Meets::No).last();
    let measured: Vec<(f64, f64, usize)> =
        levels.iter().filter_map(|level| Some((level.rate, level.mean()?, level.scores.len()))).collect();
    let found = estimate(&measured, crossing);
    let missing = levels.iter().find(|level| level.mean().is_some_and(|mean| mean > 0.0));
    let withheld = levels.iter().take_while(|level| level.meets != Meets::No);
    let withheld = withheld.filter_map(|level| level.cell.withheld).find(|why| !score::is_proof(Some(*why)));
    // What a sick machine misses a sound one may meet.
    let mut all = levels.iter().filter_map(|level| level.cell.withheld);
    let withheld = withheld.or_else(|| all.find(|why| matches!(why, Withheld::Sick { .. })));
    let closed = probes.iter().find(|probe| rate(probe.load).is_none());
    let floor = floor(plan, probes);
    let outcome = match (&found, withheld) {
        _ if levels.is_empty() && floor.is_some() => CapacityOutcome::Floor,
        (None, _) => CapacityOutcome::NotMeasured,
        (_, Some(why)) => CapacityOutcome::Withheld { why },
        (Some(found), None) => found.outcome,
    };
    let shown = (proven.map(|level| level.rate), refuted.map(|level| level.rate));
    let ends = match (outcome, found.as_ref().and_then(|found| found.bounds)) {
        (CapacityOutcome::Found, Some(bounds)) => {
            let is_missed = |level: &Level<'_>| level.mean().is_some_and(|mean| mean > 0.0);
            let is_open = !levels.iter().any(is_missed);
            ended(bounds, shown, possible(levels, plan.scale()), is_open)
        }
        (CapacityOutcome::Found, None) => (None, None),
        _ => shown,
    };
    let within = |rate: f64| rate.min(ends.1.unwrap_or(f64::INFINITY)).max(ends.0.unwrap_or(0.0));
    let capacity = Capacity {
        configuration: search.configuration.clone(),
        workload: search.workload.clone(),
        usd_per_month: levels
            .first()
            .and_then(|level| level.cell.usd_per_month)
            .or_else(|| crate::money::of_configuration(plan, &search.configuration)?.usd_per_month),
        outcome,
        ops_per_s: found.map(|found| within(found.rate)),
        low_ops_per_s: ends.0,
        high_ops_per_s: ends.1,
        missed: missing.and_then(missed).or(floor.filter(|_| levels.is_empty())),
        limit: missing.and_then(|level| fullest(level.cell)),
        closed_loop_ops_per_s: closed.map(|probe| probe.completed_per_s() * plan.scale()),
        probes: probes.len() as u64,
        probe_s: probes.iter().map(|probe| probe.seconds).sum(),
        levels: levels.iter().map(of_level).collect(),
    };
    contradicted(capacity)
}

/// The ends of an interval that a line through the scores gives: no further than what was shown to meet or to miss the
/// objective, nor than what is possible. Beyond rates of which none misses it in the mean (`is_open`) the line alone
/// shows nothing.
fn ended(
    (low, high): (f64, f64),
    (proven, refuted): (Option<f64>, Option<f64>),
    possible: Option<f64>,
    is_open: bool,
) -> (Option<f64>, Option<f64>) {
    let most = [refuted, possible].into_iter().flatten().min_by(f64::total_cmp);
    let low = low.max(proven.unwrap_or(0.0));
    let high = match most {
        Some(most) => Some(high.min(most).max(low)),
        None => Some(high).filter(|_| !is_open),
    };
    (Some(low), high)
}

/// The rate at which a volume, or the way to it, would be full, by what operations took of it where it was nearly so;
/// at full scale. `None` where no rate came near.
fn possible(levels: &[Level<'_>], scale: f64) -> Option<f64> {
    let of_level = |level: &Level<'_>| {
        let done = level.cell.throughput_ops_per_s.map_or(level.rate, |t| t.median * scale);
        let uses = level.cell.limit.uses.iter();
        let shares = uses.filter(|used| used.kind.is_volume()).map(ResourceUse::share);
        let fullest = shares.fold(0.0, f64::max);
        (fullest >= NEARLY_FULL).then(|| done.min(level.rate) / fullest)
    };
    levels.iter().filter_map(of_level).max_by(f64::total_cmp)
}

/// Where rates contradict each other no line through them has a crossing, nor has any rate an interval.
fn contradicted(capacity: Capacity) -> Capacity {
    if capacity.outcome != CapacityOutcome::Found || capacity.contradiction().is_none() {
        return capacity;
    }
    Capacity { outcome: CapacityOutcome::NotShown, low_ops_per_s: None, high_ops_per_s: None, ..capacity }
}

/// The fullest resource of a cell, besides the rate that it was given: what would be at its limit next, or is.
fn fullest(cell: &CellAnalysis) -> Option<CapacityLimit> {
    let uses = cell.limit.uses.iter().filter(|used| used.kind != LimitKind::OfferedRate);
    let rank = |used: &&ResourceUse| (used.kind == cell.limit.kind, used.share());
    let fullest = uses.max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))?;
    Some(CapacityLimit { kind: fullest.kind, share: fullest.share() })
}

fn of_level(level: &Level<'_>) -> CapacityLevel {
    CapacityLevel {
        cell: level.cell.id.clone(),
        ops_per_s: level.rate,
        trials: level.scores.len() as u64,
        meets: match level.meets {
            Meets::Yes if !level.proves() => Meets::NotDecided,
            meets => meets,
        },
        score: level.mean(),
    }
}

/// What the trials at a rate miss: the part that most of those name that miss it, as all trials measured it.
fn missed(level: &Level<'_>) -> Option<Missed> {
    let missing = || level.scores.iter().filter(|score| score.misses());
    let times = |of| missing().filter(|other| other.of == of).count();
    let most = missing().max_by_key(|score| times(score.of))?;
    let same = level.scores.iter().filter(|score| score.of == most.of);
    Some(Missed {
        of: most.of,
        at_ops_per_s: level.rate,
        measured: stats::median(same.filter_map(|score| score.measured)),
        trials: level.scores.len() as u64,
        missing: missing().count() as u64,
    })
}

/// What the lowest rate that was tried misses, where all were missed.
fn floor(plan: &Plan, probes: &[&RateProbe]) -> Option<Missed> {
    let objective = plan.objective.as_ref()?;
    let open = probes.iter().filter_map(|p| Some((rate(p.load)?, score::of_probe(objective, p)?)));
    let open: Vec<(f64, Score)> = open.collect();
    let all: Vec<RateProbe> = probes.iter().map(|probe| (*probe).clone()).collect();
    if next_step(objective, &all) != Step::Nothing {
        return None;
    }
    let (rate, score) = open.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Missed { of: score.of, at_ops_per_s: rate * plan.scale(), measured: score.measured, trials: 1, missing: 1 })
}

/// A capacity with what bounds it.
struct Estimate {
    rate: f64,
    bounds: Option<(f64, f64)>,
    outcome: CapacityOutcome,
}

/// From the crossing of the line where that lies inside the rates that were measured, or close to them; else from the
/// means, made monotone. Levels are (rate, mean, trials), ascending. `None` without any.
fn estimate(levels: &[(f64, f64, usize)], crossing: Option<Crossing>) -> Option<Estimate> {
    let (lowest, highest) = (levels.first()?.0, levels.last()?.0);
    let (low, high) = bracket(levels);
    let believed = |rate: f64| (lowest / BELIEVED..=highest * BELIEVED).contains(&rate);
    if let Some((rate, bounds)) = crossing.and_then(|c| Some((c.at, c.bounds?))).filter(|(rate, _)| believed(*rate)) {
        let (least, most) = (bounds.0.max(0.0), bounds.1);
        return Some(Estimate {
            rate,
            bounds: Some((low.map_or(least, |low| low.0.min(least)), high.map_or(most, |high| high.0.max(most)))),
            outcome: CapacityOutcome::Found,
        });
    }
    Some(match (low, high) {
        (Some(low), Some(high)) => Estimate {
            rate: low.0 + (high.0 - low.0) * stats::ratio(-low.1, high.1 - low.1)?,
            bounds: None,
            outcome: CapacityOutcome::NotShown,
        },
        (Some(_), None) => Estimate { rate: highest, bounds: None, outcome: CapacityOutcome::AtLeast },
        (None, _) => Estimate { rate: lowest, bounds: None, outcome: CapacityOutcome::Below },
    })
}

/// A rate with its mean score.
type Mean = (f64, f64);

/// The rates between which the means, made monotone, cross 0: the last that does not lie above it, and the first that
/// does.
fn bracket(levels: &[(f64, f64, usize)]) -> (Option<Mean>, Option<Mean>) {
    let mut pools: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    for (rate, mean, trials) in levels {
        let mut pool = (*mean, *trials as f64, vec![*rate]);
        while let Some(before) = pools.pop_if(|before| before.0 >= pool.0) {
            let weight = before.1 + pool.1;
            pool = ((before.0 * before.1 + pool.0 * pool.1) / weight, weight, [before.2, pool.2].concat());
        }
        pools.push(pool);
    }
    let means: Vec<Mean> = pools.iter().flat_map(|(mean, _, rates)| rates.iter().map(|rate| (*rate, *mean))).collect();
    let above = means.partition_point(|(_, mean)| *mean <= 0.0);
    (above.checked_sub(1).map(|last| means[last]), means.get(above).copied())
}

fn rate(load: LoadLevel) -> Option<f64> {
    match load {
        LoadLevel::Rate { operations_per_s, .. } => Some(operations_per_s),
        LoadLevel::Concurrency(_) => None,
    }
}

/// The number of rounds that a search has had.
pub fn rounds_of(plan: &Plan, search: &Search) -> u32 {
    let Some(repetitions) = plan.search.as_ref().map(|s| s.repetitions.max(1)) else { return 0 };
    let is_own = |cell: &&Cell| plan.search_of(cell) == Some(search);
    let own: Vec<&str> = plan.cells.iter().filter(is_own).map(|cell| cell.id.as_str()).collect();
    let blocks = plan.trials.iter().filter(|trial| own.contains(&trial.cell.as_str()));
    blocks.map(|trial| trial.block.div_ceil(repetitions)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate of 95 is shown to miss what 105 is shown to meet: compaction, a neighbour, or luck. No interval hides it.
    #[test]
    fn rates_that_contradict_each_other_show_nothing() {
        let level = |ops_per_s: f64, meets: Meets| CapacityLevel {
            cell: format!("c.w.{ops_per_s}"),
            ops_per_s,
            trials: 3,
            meets,
            score: None,
        };
        let of = |levels: [(f64, Meets); 3]| {
            contradicted(Capacity {
                configuration: "c".into(),
                workload: "w".into(),
                usd_per_month: None,
                outcome: CapacityOutcome::Found,
                ops_per_s: Some(101.0),
                low_ops_per_s: Some(97.0),
                high_ops_per_s: Some(104.0),
                missed: None,
                limit: None,
                closed_loop_ops_per_s: None,
                probes: 5,
                probe_s: 50.0,
                levels: levels.map(|(rate, meets)| level(rate, meets)).into(),
            })
        };
        let odd = of([(95.0, Meets::No), (100.0, Meets::NotDecided), (105.0, Meets::Yes)]);
        assert_eq!(odd.contradiction(), Some((95.0, 105.0)));
        assert_eq!(odd.outcome, CapacityOutcome::NotShown);
        assert_eq!((odd.low_ops_per_s, odd.high_ops_per_s), (None, None));
        assert!(!another_round(&odd, 1).is_empty(), "more trials may separate luck from the rest");
        let sound = of([(95.0, Meets::Yes), (100.0, Meets::NotDecided), (105.0, Meets::No)]);
        assert_eq!(sound.outcome, CapacityOutcome::Found);
        assert_eq!(sound.contradiction(), None);
    }

    /// 711 was the highest rate that was tried, and the volume is full at 800.
    #[test]
    fn an_interval_ends_at_what_was_shown_or_is_possible() {
        let line = (692.0, 906.0);
        let cases = [
            ((None, None), Some(800.0), true, (692.0, Some(800.0))),
            ((None, None), Some(950.0), true, (692.0, Some(906.0))),
            ((None, None), None, true, (692.0, None)),
            ((None, None), None, false, (692.0, Some(906.0))),
            ((Some(700.0), Some(780.0)), Some(800.0), false, (700.0, Some(780.0))),
            ((Some(711.0), None), Some(705.0), true, (711.0, Some(711.0))),
        ];
        for (shown, possible, is_open, (low, high)) in cases {
            assert_eq!(ended(line, shown, possible, is_open), (Some(low), high), "{shown:?} {possible:?}");
        }
    }

    #[test]
    fn what_contradicts_a_rising_score_is_pooled() {
        let ends = |levels: &[(f64, f64, usize)]| {
            let (low, high) = bracket(levels);
            (low.map(|low| low.0), high.map(|high| high.0))
        };
        assert_eq!(ends(&[(100.0, -0.5, 3), (110.0, 0.5, 3)]), (Some(100.0), Some(110.0)));
        // 100 and 105 meet it alike.
        let levels = [(100.0, -0.2, 3), (105.0, -0.4, 3), (110.0, 0.3, 3)];
        assert_eq!(ends(&levels), (Some(105.0), Some(110.0)));
        assert_eq!(ends(&[(100.0, -0.2, 3), (105.0, -0.1, 3)]), (Some(105.0), None));
        assert_eq!(ends(&[(100.0, 0.2, 3), (105.0, 0.1, 3)]), (None, Some(100.0)));
        assert!(estimate(&[], None).is_none());
    }

    #[test]
    fn a_jump_between_two_rates_leaves_open_where_it_is() {
        let levels = [(95.0, -0.69, 3), (100.0, -0.69, 3), (105.0, 0.69, 3)];
        let points: Points = levels.iter().flat_map(|(rate, score, n)| vec![(*rate, *score); *n]).collect();
        let crossing = Residuals::pooled([&points].into_iter()).crossing(&points, 3, 0.05);
        let found = estimate(&levels, crossing).unwrap();
        let (low, high) = found.bounds.unwrap();
        assert!(low <= 100.0 && high >= 105.0, "{low} to {high}");
        assert!((100.0..105.0).contains(&found.rate), "{}", found.rate);
    }
}
