//! How a plan grows by what its searches find, and how long that takes.

use crate::plan::{OVERHEAD_PER_TRIAL_S, in_blocks};
use crate::search::{LEVELS, Round, Search};
use crate::{Cell, LoadLevel, Plan, PlannedTrial, TrialShape};

/// Probes that a search takes as a rule besides the closed loop: for estimates.
const USUAL_PROBES: f64 = 5.0;

/// Seconds before each probe: requests that the one before it has left are gone by then.
const BEFORE_PROBE_S: f64 = 3.0;
/// Measured seconds of a probe: this share of a trial's, ...
const PROBE_SHARE: f64 = 0.25;
/// ... and at least so many, or as many as a trial has.
const PROBE_LEAST_S: f64 = 5.0;

impl TrialShape {
    /// That of a probe. The first one warms up as a trial does.
    #[must_use]
    pub fn of_probe(&self, is_first: bool) -> Self {
        Self {
            warmup_s: if is_first { self.warmup_s } else { self.warmup_s.min(BEFORE_PROBE_S) },
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

    /// The same without repetitions that are added only where they decide something. What is done once for all trials
    /// of a cell is in its estimate whole.
    #[must_use]
    pub fn without_later_blocks(&self) -> Self {
        let mut plan = self.clone();
        if let Some(adaptive) = &self.adaptive {
            plan.trials.retain(|trial| trial.block <= adaptive.blocks_min);
            plan.estimated_s = plan.estimate();
        }
        plan
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
                    let level = LoadLevel::Rate { operations_per_s: *rate, arrivals: search.arrivals };
                    let id = format!("{}.{}.{}", of.configuration, of.workload, level.slug());
                    if !self.cells.iter().any(|cell| cell.id == id) {
                        self.cells.push(Cell {
                            id: id.clone(),
                            configuration: of.configuration.clone(),
                            workload: of.workload.clone(),
                            load: level.map_rate(|rate| rate / self.scale()),
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
        self.cells.sort_by(|a, b| place(a).cmp(&place(b)).then(rate(a).total_cmp(&rate(b))));
        self.estimated_s = self.estimate();
    }

    /// Estimated seconds of all searches, without the trials that follow.
    pub(crate) fn seconds_of_searches(&self) -> f64 {
        let searches = self.search.iter().flat_map(|plan| &plan.searches);
        searches.map(|search| self.seconds_of_search(search)).sum()
    }

    /// Estimated seconds of one search, without the trials that follow.
    pub fn seconds_of_search(&self, search: &Search) -> f64 {
        let probe_s = |is_first| {
            let shape = self.shape.of_probe(is_first);
            shape.warmup_s + shape.duration_s
        };
        let nodes = self.configuration(&search.configuration).map_or(1, |c| c.placement.nodes);
        let warming_s = self.caches.seconds_of(&search.configuration, &search.workload);
        OVERHEAD_PER_TRIAL_S * f64::from(nodes)
            + self.shape.until_code_is_warm_s()
            + warming_s
            + self.caches.first_seconds_of(&search.configuration, &search.workload)
            + probe_s(true)
            + USUAL_PROBES * probe_s(false)
    }

    /// Trials that searches will add, as far as that is known: a round of each that has none yet.
    pub fn expected_trials(&self) -> Vec<PlannedTrial> {
        let Some(plan) = &self.search else { return Vec::new() };
        let has_none = |s: &&Search| !self.cells.iter().any(|cell| self.search_of(cell) == Some(s));
        let each = |search: &Search| {
            (1..=plan.repetitions).flat_map({
                let cell = search.id.clone();
                move |block| LEVELS.map(|_| PlannedTrial { block, cell: cell.clone() })
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
