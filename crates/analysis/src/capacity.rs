//! What each configuration carries: from probes and whole trials around the found rate.
//!
//! Each trial has a [`Score`]; a rate is shown to meet the objective where the 95 % interval of its mean lies below 0,
//! and shown to miss it where it lies above. From the lowest rate up the first that is not shown to meet it ends what
//! is shown; from the highest down the same. Tests in such a fixed order need no correction for their number (Westfall
//! and Krishen, Journal of Statistical Planning and Inference 99, 2001), so that each end is wrong in 2.5 % of
//! experiments. Between the ends the estimate is where a line through the means, made monotone (Ayer and others, Annals
//! of Mathematical Statistics 26, 1955), crosses 0.

use std::cmp::Ordering;

use evidence::RateProbe;
use spec::{Cell, LoadLevel, Plan, Search};
use stats::{LEVEL, Samples};

use crate::document::{Capacity, CapacityLevel, CapacityLimit, CapacityOutcome, CellAnalysis, Meets, Missed};
use crate::figures::Figures;
use crate::limit::{LimitKind, ResourceUse};
use crate::score::{self, Score};
use crate::search::{Step, next_step};

/// Where an end is not shown, one rate more is measured beyond it: further away by this factor, in each round by its
/// square.
const OUTWARDS: f64 = 1.07;
/// Most rounds of trials of a search.
const ROUNDS: u32 = 4;

/// All capacities, in the order of the experiment. Empty where nothing was searched for.
pub fn capacities(plan: &Plan, cells: &[CellAnalysis], figures: &Figures<'_>, probes: &[RateProbe]) -> Vec<Capacity> {
    let (Some(search), Some(objective)) = (&plan.search, &plan.objective) else {
        return Vec::new();
    };
    let scores = |cell: &CellAnalysis| -> Vec<Score> {
        let trials = figures.trials(&cell.id).iter();
        trials.filter_map(|trial| score::of_trial(objective, trial)).collect()
    };
    let all: Vec<Vec<f64>> = cells.iter().map(|cell| values(&scores(cell))).collect();
    let samples = Samples::new(all.iter().map(Vec::as_slice));
    let of_search = |search: &Search| {
        let mut levels: Vec<Level<'_>> = cells
            .iter()
            .filter(|cell| cell.configuration == search.configuration && cell.workload == search.workload)
            .filter_map(|cell| {
                let scores = scores(cell);
                Some(Level {
                    rate: rate(cell.load)? * plan.scale,
                    meets: shown(&samples, &values(&scores)),
                    cell,
                    scores,
                })
            })
            .collect();
        levels.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let own: Vec<&RateProbe> = probes.iter().filter(|p| p.search == search.id).collect();
        capacity(plan, search, &levels, &own)
    };
    search.searches.iter().map(of_search).collect()
}

/// Rates that another round would measure, at full scale; none where nothing is left to show, or it was tried often
/// enough.
pub fn another_round(capacity: &Capacity, rounds: u32) -> Vec<f64> {
    let levels = &capacity.levels;
    let (Some(lowest), Some(highest)) = (levels.first(), levels.last()) else {
        return Vec::new();
    };
    let is_open = matches!(
        capacity.outcome,
        CapacityOutcome::AtLeast | CapacityOutcome::Below | CapacityOutcome::NotShown
    );
    // Too few trials show nothing at any rate.
    let is_tested = |level: &CapacityLevel| level.trials >= stats::REPETITIONS_MIN;
    if !is_open || rounds >= ROUNDS || !(is_tested(lowest) && is_tested(highest)) {
        return Vec::new();
    }
    let outwards = OUTWARDS.powi(1 << rounds.saturating_sub(1).min(4));
    let below = capacity
        .at_least_ops_per_s
        .is_none()
        .then(|| lowest.ops_per_s / outwards);
    let above = capacity.below_ops_per_s.is_none().then(|| highest.ops_per_s * outwards);
    below.into_iter().chain(above).collect()
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
    let Some(contrast) = samples.level(ours) else {
        return Meets::NotDecided;
    };
    // The interval is one of ratios: exponentials of the scores.
    let (low, high) = contrast.interval(2.0 * LEVEL);
    if high <= 1.0 {
        Meets::Yes
    } else if low > 1.0 {
        Meets::No
    } else {
        Meets::NotDecided
    }
}

fn capacity(plan: &Plan, search: &Search, levels: &[Level<'_>], probes: &[&RateProbe]) -> Capacity {
    let at_least = levels.iter().take_while(|level| level.proves()).last();
    let below = levels.iter().rev().take_while(|level| level.meets == Meets::No).last();
    let measured: Vec<(f64, f64, usize)> = levels
        .iter()
        .filter_map(|level| Some((level.rate, level.mean()?, level.scores.len())))
        .collect();
    let missing = levels.iter().find(|level| level.mean().is_some_and(|mean| mean > 0.0));
    let withheld = levels.iter().take_while(|level| level.meets != Meets::No);
    let withheld = withheld
        .filter_map(|level| level.cell.withheld)
        .find(|why| !score::is_proof(Some(*why)));
    let closed = probes.iter().find(|probe| rate(probe.load).is_none());
    let floor = floor(plan, probes);
    let outcome = match (at_least, below, withheld) {
        _ if levels.is_empty() && floor.is_some() => CapacityOutcome::Floor,
        _ if measured.is_empty() => CapacityOutcome::NotMeasured,
        (_, _, Some(why)) => CapacityOutcome::Withheld { why },
        (Some(_), Some(_), _) => CapacityOutcome::Found,
        (Some(_), None, _) => CapacityOutcome::AtLeast,
        (None, Some(_), _) => CapacityOutcome::Below,
        (None, None, _) => CapacityOutcome::NotShown,
    };
    Capacity {
        configuration: search.configuration.clone(),
        workload: search.workload.clone(),
        usd_per_month: levels.first().and_then(|level| level.cell.usd_per_month).or_else(|| {
            let cost = crate::money::of_configuration(plan, &search.configuration)?;
            cost.usd_per_month
        }),
        outcome,
        ops_per_s: crossing(&measured),
        at_least_ops_per_s: at_least.map(|level| level.rate),
        below_ops_per_s: below.map(|level| level.rate),
        missed: missing.and_then(missed).or(floor.filter(|_| levels.is_empty())),
        limit: missing.and_then(|level| fullest(level.cell)),
        closed_loop_ops_per_s: closed.map(|probe| probe.completed_per_s() * plan.scale),
        probes: probes.len() as u64,
        probe_s: probes.iter().map(|probe| probe.seconds).sum(),
        levels: levels.iter().map(of_level).collect(),
    }
}

/// The fullest resource of a cell, besides the rate that it was given: what would be at its limit next, or is.
fn fullest(cell: &CellAnalysis) -> Option<CapacityLimit> {
    let uses = cell
        .limit
        .uses
        .iter()
        .filter(|used| used.kind != LimitKind::OfferedRate);
    let rank = |used: &&ResourceUse| (used.kind == cell.limit.kind, used.share());
    let fullest = uses.max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))?;
    Some(CapacityLimit {
        kind: fullest.kind,
        share: fullest.share(),
    })
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

/// What the trials at a rate miss: the part that most of them name.
fn missed(level: &Level<'_>) -> Option<Missed> {
    let missing = || level.scores.iter().filter(|score| score.misses());
    let times = |of| missing().filter(|other| other.of == of).count();
    let most = missing().max_by_key(|score| times(score.of))?;
    let figures: Vec<f64> = missing()
        .filter(|s| s.of == most.of)
        .filter_map(|s| s.measured)
        .collect();
    Some(Missed {
        of: most.of,
        at_ops_per_s: level.rate,
        measured: stats::median(&figures),
    })
}

/// What the lowest rate that was tried misses, where all were missed.
fn floor(plan: &Plan, probes: &[&RateProbe]) -> Option<Missed> {
    let objective = plan.objective.as_ref()?;
    let open = probes
        .iter()
        .filter_map(|p| Some((rate(p.load)?, score::of_probe(objective, p)?)));
    let open: Vec<(f64, Score)> = open.collect();
    let all: Vec<RateProbe> = probes.iter().map(|probe| (*probe).clone()).collect();
    if next_step(objective, &all) != Step::Nothing {
        return None;
    }
    let (rate, score) = open.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Missed {
        of: score.of,
        at_ops_per_s: rate * plan.scale,
        measured: score.measured,
    })
}

/// Where the means, made monotone, cross 0 on straight lines by the logarithm of the rate; the nearest rate where they do
/// not. Levels are (rate, mean, trials), ascending.
fn crossing(levels: &[(f64, f64, usize)]) -> Option<f64> {
    let mut pools: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    for (rate, mean, trials) in levels {
        let mut pool = (*mean, *trials as f64, vec![*rate]);
        while let Some(before) = pools.pop_if(|before| before.0 >= pool.0) {
            let weight = before.1 + pool.1;
            pool = (
                (before.0 * before.1 + pool.0 * pool.1) / weight,
                weight,
                [before.2, pool.2].concat(),
            );
        }
        pools.push(pool);
    }
    let points: Vec<(f64, f64)> = pools
        .iter()
        .flat_map(|(mean, _, rates)| rates.iter().map(|r| (*r, *mean)))
        .collect();
    let first_above = points.iter().position(|(_, mean)| *mean > 0.0);
    match first_above {
        None => points.last().map(|(rate, _)| *rate),
        Some(0) => points.first().map(|(rate, _)| *rate),
        Some(i) => {
            let ((low, meets), (high, misses)) = (points[i - 1], points[i]);
            let share = stats::ratio(-meets, misses - meets)?;
            Some(low * (high / low).powf(share))
        }
    }
}

fn rate(load: LoadLevel) -> Option<f64> {
    match load {
        LoadLevel::Rate { operations_per_s, .. } => Some(operations_per_s),
        LoadLevel::Concurrency(_) => None,
    }
}

/// The number of rounds that a search has had.
pub fn rounds_of(plan: &Plan, search: &Search) -> u32 {
    let Some(repetitions) = plan.search.as_ref().map(|s| s.repetitions.max(1)) else {
        return 0;
    };
    let is_own = |cell: &&Cell| plan.search_of(cell) == Some(search);
    let own: Vec<&str> = plan.cells.iter().filter(is_own).map(|cell| cell.id.as_str()).collect();
    let blocks = plan.trials.iter().filter(|trial| own.contains(&trial.cell.as_str()));
    blocks.map(|trial| trial.block.div_ceil(repetitions)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_lies_where_monotone_means_cross() {
        let near = |levels: &[(f64, f64, usize)], expected: f64| {
            let found = crossing(levels).unwrap_or(f64::NAN);
            assert!((found / expected - 1.0).abs() < 1e-9, "{levels:?}: {found}");
        };
        near(&[(100.0, -0.5, 3), (110.0, 0.5, 3)], (100.0_f64 * 110.0).sqrt());
        // What contradicts is pooled: 100 and 105 meet it alike.
        near(
            &[(100.0, -0.2, 3), (105.0, -0.4, 3), (110.0, 0.3, 3)],
            (105.0_f64 * 110.0).sqrt(),
        );
        near(&[(100.0, -0.2, 3), (105.0, -0.1, 3)], 105.0);
        near(&[(100.0, 0.2, 3), (105.0, 0.1, 3)], 100.0);
        assert_eq!(crossing(&[]), None);
    }
}
