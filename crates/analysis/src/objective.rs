//! Does a configuration meet the objective? Each part with the interval of its figure over trials.

use experiment::{LatencyObjective, Objective, OperationKind, Plan};
use stats::{Contrast, Samples};

use crate::comparisons::is_open;
use crate::document::{CellAnalysis, Check, Criterion, Meets, Range, Withheld};
use crate::figures::{Figures, worst};
use crate::measurement::TrialMeasurement;
use crate::rules::cassandra::gc_pauses;
use crate::rules::offered_rate;
use crate::rules::stall::{self, Stall};
use crate::withheld::SHARE;

/// Geometric mean of a figure over trials with its interval, and what that comes from; `None`: with fewer than three
/// trials it is the observed range.
pub type Level = (Range, Option<Contrast>);

/// What the cells of one place do against the objective.
pub struct Objectives<'a> {
    plan: &'a Plan,
    objective: &'a Objective,
    cells: &'a [CellAnalysis],
    figures: &'a Figures<'a>,
    /// Each interval misses the truth in this share of experiments: the level of all verdicts over all checks
    /// (Bonferroni). Where a run looks several times, each look has its share of it.
    level: f64,
}

impl<'a> Objectives<'a> {
    /// `None` where the plan states none.
    pub fn new(plan: &'a Plan, cells: &'a [CellAnalysis], figures: &'a Figures<'a>) -> Option<Self> {
        let objective = plan.objective.as_ref()?;
        let parts = objective.latency.len() + usize::from(objective.throughput.is_some());
        Some(Self { plan, objective, cells, figures, level: stats::LEVEL / (parts.max(1) * cells.len().max(1)) as f64 })
    }

    /// The demand, operations per second at full scale.
    pub fn demand(&self) -> Option<f64> {
        self.objective.throughput
    }

    /// Whether anything but a demand is asked.
    pub fn has_bounds(&self) -> bool {
        !self.objective.latency.is_empty() || self.objective.error_share.is_some()
    }

    /// Every part of the objective but the demand, for one cell.
    pub fn checks(&self, cell: usize) -> Vec<Check> {
        let trials = self.figures.trials(&self.cells[cell].id);
        let mut checks: Vec<Check> = self.objective.latency.iter().map(|l| self.latency(cell, l)).collect();
        if let Some(limit) = self.objective.error_share {
            let share = self.cells[cell].error_share;
            checks.push(Check {
                what: Criterion::ErrorShare { limit },
                measured: share.map(|s| Range { median: s, low: s, high: s }),
                level: None,
                meets: match share {
                    Some(share) if share <= limit => Meets::Yes,
                    Some(_) => Meets::No,
                    None => Meets::NotDecided,
                },
                repetitions: None,
            });
        }
        if is_open(self.cells[cell].load) {
            checks.push(Check {
                what: Criterion::RateHeld,
                measured: self.cells[cell].throughput_ops_per_s.map(|t| Range {
                    median: t.median,
                    low: t.smallest,
                    high: t.largest,
                }),
                level: None,
                meets: match (self.cells[cell].withheld, trials.is_empty()) {
                    (Some(Withheld::Rate), _) => Meets::No,
                    (_, true) => Meets::NotDecided,
                    _ if trials.iter().any(|t| !held(t)) => Meets::NotDecided,
                    _ => Meets::Yes,
                },
                repetitions: None,
            });
        }
        checks
    }

    /// A bound that is met in a 1:N model is met, as far as queues decide; one that is missed there is missed only
    /// beyond N times the bound. A machine of full size is N models with one queue: no slower than one of them by
    /// itself, and no faster than a single server N times as fast, whose times are those of the model / N (Kleinrock,
    /// "Queueing Systems", volume II, 1976, on scaling).
    fn latency(&self, cell: usize, wanted: &LatencyObjective) -> Check {
        let figure = |trial: &TrialMeasurement| -> Option<(OperationKind, f64)> {
            match wanted.operation {
                Some(kind) => Some((kind, trial.response.get(&kind)?.figures.figure(wanted.figure)?)),
                None => worst(trial, wanted.figure),
            }
        };
        let of = |cell: usize| -> Vec<f64> {
            let trials = self.figures.trials(&self.cells[cell].id).iter();
            trials.filter_map(|t| Some(figure(t)?.1.ln())).filter(|v| v.is_finite()).collect()
        };
        let kinds = self.figures.trials(&self.cells[cell].id).iter().filter_map(|t| Some(figure(t)?.0)).next();
        let limit = wanted.limit_us;
        let most = limit * self.plan.scale();
        let found = self.level_of(cell, &of);
        let meets = match found {
            Some((range, Some(_))) if range.high <= limit => Meets::Yes,
            Some((range, Some(_))) if range.low > limit && self.is_of_stops(cell, wanted) => Meets::NotDecided,
            Some((range, Some(_))) if range.low > most => Meets::No,
            _ => Meets::NotDecided,
        };
        let repetitions = self.repetitions(cell, found, (limit, most));
        let is_below = found.is_some_and(|(range, _)| range.median <= limit);
        Check {
            what: Criterion::Latency { operation: wanted.operation.or(kinds), figure: wanted.figure, limit_us: limit },
            measured: found.map(|(range, _)| range),
            level: found.and_then(|(_, contrast)| contrast).map(|_| self.level_at(cell)),
            meets,
            repetitions: repetitions.filter(|_| is_below || !self.is_of_stops(cell, wanted)),
        }
    }

    /// The share of experiments in which an interval of a cell misses the truth.
    fn level_at(&self, cell: usize) -> f64 {
        self.level * self.figures.share_of(&self.cells[cell].id)
    }

    /// Repetitions by which a figure would be shown to lie below the one or above the other of two bounds, where it
    /// lies so and its interval holds the bound; none where what was measured is something else.
    fn repetitions(&self, cell: usize, found: Option<Level>, (low, high): (f64, f64)) -> Option<u32> {
        let ((range, contrast), own) = (found?, &self.cells[cell]);
        let bound = match range.median {
            median if median <= low => low,
            median if median >= high => high,
            _ => return None,
        };
        let is_sound = own.withheld.is_none() && own.limited_here.is_none();
        let is_open = is_sound && (range.low..=range.high).contains(&bound);
        contrast.filter(|_| is_open)?.repetitions_to_refute(bound, self.level_at(cell))
    }

    /// Whether a cell misses a bound because it stood still: in half of its trials for longer than the bound, and for
    /// so much of the window that the figure is that of the stop. A stop of a full volume, or of garbage collection, is
    /// the configuration's own; any other is not known to come back where the configuration is bought.
    fn is_of_stops(&self, cell: usize, wanted: &LatencyObjective) -> bool {
        let explains = |stall: &Stall| match wanted.figure.tail() {
            Some(tail) => stall.longest_s * 1e6 > wanted.limit_us && stall.window_share >= tail,
            // Those that came in the stop waited for half of it.
            None => stall.window_share * stall.longest_s / 2.0 * 1e6 > wanted.limit_us,
        };
        let stopped = |trial: &&TrialMeasurement| {
            let before = trial.undisturbed();
            let stops = stall::finding(before).is_some_and(|seen| explains(&seen.figures));
            stops && gc_pauses::finding(before).is_none()
        };
        let trials = self.figures.trials(&self.cells[cell].id);
        let found = trials.iter().copied().filter(stopped).count() as f64;
        found > 0.0 && found >= SHARE * trials.len() as f64 && !self.cells[cell].limit.is_volume()
    }

    /// Geometric mean over trials with its interval, the spread pooled over the cells of the place that held their rate
    /// (a queue without end has no latency to pool).
    fn level_of(&self, cell: usize, of: &dyn Fn(usize) -> Vec<f64>) -> Option<Level> {
        let place = &self.cells[cell];
        let peers: Vec<Vec<f64>> = (0..self.cells.len())
            .filter(|i| self.cells[*i].workload == place.workload && self.cells[*i].load == place.load)
            .filter(|i| *i == cell || self.cells[*i].withheld != Some(Withheld::Rate))
            .map(of)
            .collect();
        let ours = of(cell);
        let mean = stats::ratio(ours.iter().sum(), ours.len() as f64)?;
        let contrast: Option<Contrast> = Samples::new(peers.iter().map(Vec::as_slice)).level(&ours);
        Some(match contrast {
            Some(contrast) => {
                let (low, high) = contrast.interval(self.level_at(cell));
                (Range { median: mean.exp(), low, high }, Some(contrast))
            }
            None => {
                let low = ours.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (Range { median: mean.exp(), low: low.exp(), high: high.exp() }, None)
            }
        })
    }

    /// What a cell carries at full scale with headroom left, operations per second.
    pub fn capacity(&self, cell: usize) -> Option<Level> {
        let of = |cell: usize| -> Vec<f64> {
            let trials = self.figures.trials(&self.cells[cell].id).iter();
            trials.filter_map(|t| t.throughput()).filter(|v| *v > 0.0).map(f64::ln).collect()
        };
        let (range, contrast) = self.level_of(cell, &of)?;
        let factor = self.plan.scale() * self.objective.usable_share();
        let scaled = Range { median: range.median * factor, low: range.low * factor, high: range.high * factor };
        Some((scaled, contrast.map(|c| Contrast { estimate: c.estimate + factor.ln(), ..c })))
    }

    /// The demand against the capacity of a cell. A given rate that was held is no capacity but a lower bound of one:
    /// it may show that the demand is carried, never that it is not. At full scale it may be so many times what it is
    /// in the model, at the least and at the most: what that would change is not decided.
    pub fn demand_check(&self, cell: usize, demand: f64, capacity: Option<Level>, (least, most): (f64, f64)) -> Check {
        let is_bound = is_open(self.cells[cell].load) && self.cells[cell].withheld != Some(Withheld::Rate);
        Check {
            what: Criterion::Throughput { demand },
            measured: capacity.map(|(range, _)| range),
            level: capacity.and_then(|(_, contrast)| contrast).map(|_| self.level_at(cell)),
            meets: match capacity {
                Some((range, Some(_))) if range.low * least >= demand => Meets::Yes,
                Some((range, Some(_))) if range.high * most < demand && !is_bound => Meets::No,
                _ => Meets::NotDecided,
            },
            repetitions: {
                let too_little = if is_bound { 0.0 } else { demand / most };
                self.repetitions(cell, capacity, (too_little, demand / least))
            },
        }
    }
}

/// Whether a trial held its given rate.
pub fn held(trial: &TrialMeasurement) -> bool {
    let before = trial.undisturbed();
    offered_rate::not_achieved(before).is_none() && offered_rate::drained(before).is_none()
}

/// All parts together.
pub fn all(checks: &[Check]) -> Meets {
    if checks.iter().any(|c| c.meets == Meets::No) {
        Meets::No
    } else if checks.iter().all(|c| c.meets == Meets::Yes) {
        Meets::Yes
    } else {
        Meets::NotDecided
    }
}
