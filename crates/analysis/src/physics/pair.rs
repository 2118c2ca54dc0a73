//! Which cells may be held against each other.

use experiment::{CacheState, Plan, Setup, Setups};

use crate::comparisons::Comparisons;
use crate::document::CellAnalysis;
use crate::measurement::TrialMeasurement;

/// What is held against each other.
#[derive(Clone, Copy)]
pub struct ComparedCells<'a> {
    pub plan: &'a Plan,
    pub setups: &'a Setups,
    pub cells: &'a [CellAnalysis],
    pub trials: &'a [&'a TrialMeasurement],
    pub throughput: &'a Comparisons,
}

/// Page-cache budgets closer than this share are one.
const SAME_BUDGET: f64 = 0.01;

impl<'a> ComparedCells<'a> {
    /// The other cells of this cell's workload whose databases differ by their machines alone: same settings, same
    /// cluster.
    pub fn others(self, at: usize) -> impl Iterator<Item = (usize, &'a CellAnalysis)> {
        let cell = &self.cells[at];
        let setup = self.setup(cell);
        let is_comparable = move |other: &CellAnalysis| {
            let of_other = self.setup(other);
            other.workload == cell.workload
                && other.valid_trials > 0
                && setup.zip(of_other).is_some_and(|(one, other)| is_one_database(one, other))
        };
        let all = self.cells.iter().enumerate();
        all.filter(move |(place, other)| *place != at && is_comparable(other))
    }

    /// The valid trials of a cell.
    pub fn trials_of(self, cell: &CellAnalysis) -> impl Iterator<Item = &'a TrialMeasurement> {
        let is_of = |trial: &&TrialMeasurement| trial.record.cell == cell.id && trial.is_valid();
        self.trials.iter().copied().filter(is_of)
    }

    /// What was built for a cell.
    pub fn setup(self, cell: &CellAnalysis) -> Option<&'a Setup> {
        self.setups.of(&cell.configuration)
    }

    /// Whether both have the same memory for files.
    pub fn has_same_page_cache(self, one: &CellAnalysis, other: &CellAnalysis) -> bool {
        let budget = |cell| self.setup(cell).map(|setup| setup.page_cache_budget_bytes as f64);
        let (one, other) = (budget(one), budget(other));
        one.zip(other).is_some_and(|(one, other)| (one - other).abs() <= SAME_BUDGET * one.max(other))
    }

    /// Whether the cell's trials were to begin with a cold page cache.
    pub fn is_cold_by_plan(self, cell: &CellAnalysis) -> bool {
        self.plan.caches.state(&cell.workload) == CacheState::Cold
    }
}

fn is_one_database(one: &Setup, other: &Setup) -> bool {
    one.version == other.version
        && one.settings == other.settings
        && one.placement == other.placement
        && one.consistency == other.consistency
        && one.backlog == other.backlog
        && one.layout == other.layout
        && one.data_volume_count() == other.data_volume_count()
        && one.cache_tier == other.cache_tier
}
