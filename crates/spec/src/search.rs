//! `rate = "find"`: which rates are measured is found out in the run.
//!
//! A search has a configuration and a workload. Short probes on one restored data set bracket the highest rate that
//! meets the objective; then whole trials just below, at and just above it are added to the plan, in blocks as always.
//! The plan of a run therefore grows: what was added stands in its journal.

use serde::{Deserialize, Serialize};

use crate::plan::{OVERHEAD_PER_TRIAL_S, in_blocks, scaled_level};
use crate::{Cell, LoadLevel, Plan, PlannedTrial, TrialShape};

/// Requests in flight of the closed loop that a search begins with: more than any device here serves at a time, so that
/// its throughput is the most that the database gives.
pub const CEILING_IN_FLIGHT: u32 = 64;

/// Rates of a round of trials around the found one. Closer ones would not do: with three trials of each and p99 that
/// spreads by 20 % from trial to trial, it is not shown over 10 % of rate that latency rises at all (measured on simulated
/// truth: half of the searches then need more rates).
pub const LEVELS: [f64; 3] = [0.92, 1.0, 1.08];

/// Probes that a search takes as a rule besides the closed loop: for estimates.
const USUAL_PROBES: f64 = 5.0;

/// Seconds before each probe: requests that the one before it has left are gone by then.
const BEFORE_PROBE_S: f64 = 3.0;
/// Measured seconds of a probe: this share of a trial's, ...
const PROBE_SHARE: f64 = 0.25;
/// ... and at least so many, or as many as a trial has.
const PROBE_LEAST_S: f64 = 5.0;

/// What is to be found, and how it is then measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// Exponential gaps between requests rather than constant ones.
    pub poisson: bool,
    /// Trials of each rate in a round.
    pub repetitions: u32,
    /// Each configuration under each workload.
    pub searches: Vec<Search>,
}

/// A configuration under a workload, whose highest rate is to be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// File-name-safe identity: `gp3-3000.reads.find`.
    pub id: String,
    /// Configuration name.
    pub configuration: String,
    /// Workload name.
    pub workload: String,
}

/// Rates that a search has come to: whole trials measure them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Whose.
    pub search: String,
    /// From 1.
    pub round: u32,
    /// Operations per second of the full-size system, ascending; none where nothing meets the objective.
    pub rates: Vec<f64>,
}

/// A rate to three significant digits: what is found is not known better.
pub fn rounded(rate: f64) -> f64 {
    if !(rate.is_finite() && rate > 0.0) {
        return rate;
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    // Decimal again: 0.1 times 37 is not 3.7.
    format!("{:.6e}", (rate / unit).round() * unit).parse().unwrap_or(rate)
}

impl TrialShape {
    /// That of a probe. The first one warms up as a trial does.
    #[must_use]
    pub fn of_probe(&self, is_first: bool) -> Self {
        Self {
            warmup_s: if is_first {
                self.warmup_s
            } else {
                self.warmup_s.min(BEFORE_PROBE_S)
            },
            duration_s: (self.duration_s * PROBE_SHARE).max(PROBE_LEAST_S.min(self.duration_s)),
            ..*self
        }
    }
}

impl Plan {
    /// The search of a cell that was added for it.
    pub fn search_of(&self, cell: &Cell) -> Option<&Search> {
        let searches = self.search.iter().flat_map(|plan| &plan.searches);
        searches
            .filter(|s| s.configuration == cell.configuration && s.workload == cell.workload)
            .find(|_| matches!(cell.load, LoadLevel::Rate { .. }))
    }

    /// Its cells and trials are those of these rounds, in the order of rounds; the same rounds give the same plan.
    pub fn grow(&mut self, rounds: &[Round]) {
        let Some(search) = self.search.clone() else { return };
        self.cells.clear();
        self.trials.clear();
        let last = rounds.iter().map(|round| round.round).max().unwrap_or(0);
        for number in 1..=last {
            let mut of_round = Vec::new();
            for of in &search.searches {
                let found = rounds.iter().filter(|r| r.round == number && r.search == of.id);
                for rate in found.flat_map(|round| &round.rates) {
                    let level = LoadLevel::Rate {
                        operations_per_s: *rate,
                        poisson: search.poisson,
                    };
                    let id = format!("{}.{}.{}", of.configuration, of.workload, level.slug());
                    if !self.cells.iter().any(|cell| cell.id == id) {
                        self.cells.push(Cell {
                            id: id.clone(),
                            configuration: of.configuration.clone(),
                            workload: of.workload.clone(),
                            load: scaled_level(level, self.scale),
                        });
                    }
                    of_round.push(id);
                }
            }
            let seed = self.seed.wrapping_add(u64::from(number));
            let first = (number - 1) * search.repetitions + 1;
            let blocks = first..first + search.repetitions;
            self.trials.extend(in_blocks(&of_round, blocks, seed));
        }
        // As the experiment lists them, and each from its lowest rate up.
        let place = |cell: &Cell| {
            let of = |s: &Search| s.configuration == cell.configuration && s.workload == cell.workload;
            search.searches.iter().position(of)
        };
        let rate = |cell: &Cell| match cell.load {
            LoadLevel::Rate { operations_per_s, .. } => operations_per_s,
            LoadLevel::Concurrency(_) => 0.0,
        };
        self.cells
            .sort_by(|a, b| place(a).cmp(&place(b)).then(rate(a).total_cmp(&rate(b))));
        self.estimated_s = self.estimate();
    }

    /// Estimated seconds of all searches, without the trials that follow.
    pub(crate) fn seconds_of_searches(&self) -> f64 {
        let probe_s = |is_first| {
            let shape = self.shape.of_probe(is_first);
            shape.warmup_s + shape.duration_s
        };
        let each = |search: &Search| {
            let nodes = self
                .configuration(&search.configuration)
                .map_or(1, |c| c.placement.nodes);
            OVERHEAD_PER_TRIAL_S * f64::from(nodes) + probe_s(true) + USUAL_PROBES * probe_s(false)
        };
        let searches = self.search.iter().flat_map(|plan| &plan.searches);
        searches.map(each).sum()
    }

    /// Trials that searches will add, as far as that is known: a round of each that has none yet.
    pub fn expected_trials(&self) -> Vec<PlannedTrial> {
        let Some(plan) = &self.search else { return Vec::new() };
        let has_none = |s: &&Search| !self.cells.iter().any(|cell| self.search_of(cell) == Some(s));
        let each = |search: &Search| {
            (1..=plan.repetitions).flat_map({
                let cell = search.id.clone();
                move |block| {
                    LEVELS.map(|_| PlannedTrial {
                        block,
                        cell: cell.clone(),
                    })
                }
            })
        };
        plan.searches.iter().filter(has_none).flat_map(each).collect()
    }

    /// The configuration that a trial, planned or expected, belongs to.
    pub(crate) fn configuration_of(&self, trial: &PlannedTrial) -> Option<&str> {
        let cell = self.cells.iter().find(|c| c.id == trial.cell);
        let of_search = || {
            let mut searches = self.search.iter().flat_map(|plan| &plan.searches);
            searches.find(|s| s.id == trial.cell).map(|s| s.configuration.as_str())
        };
        cell.map(|cell| cell.configuration.as_str()).or_else(of_search)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_three_digits() {
        for (rate, expected) in [
            (3_914.2, 3_910.0),
            (0.123_456, 0.123),
            (99.96, 100.0),
            (61.25, 61.3),
            (1.0, 1.0),
        ] {
            assert_eq!(rounded(rate), expected);
        }
        assert_eq!(format!("{}", rounded(0.3 * 37.0)), "11.1");
    }
}
