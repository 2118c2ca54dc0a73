//! Device reads are operations times misses, and misses are a matter of the workload and of what the page cache holds: the same page cache
//! leaves the same.

use super::pair::Together;
use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope};
use crate::rule::Rule;

/// Each trial of one cell took so much more device reads for an operation than each trial of the other (practice; trials of one cell lie
/// within a few percent) ...
const MORE: f64 = 0.15;
/// ... and so many, so that a few reads of a cache that answers nearly everything are no difference.
const READS_MIN: f64 = 0.02;
/// A read that merges so much more SSTables explains more device reads.
const SSTABLES_MORE: f64 = 0.1;

/// The finding on the cell that took more: its page cache has not come as far.
pub fn finding(together: &Together<'_>, at: usize) -> Option<Finding> {
    let cell = &together.cells[at];
    if together.is_cold_by_plan(cell) {
        return None;
    }
    let mine = of_trials(together, cell)?;
    let least = mine.iter().copied().fold(f64::INFINITY, f64::min);
    let beside = |other: &CellAnalysis| {
        let theirs = of_trials(together, other)?;
        let most = theirs.iter().copied().fold(0.0, f64::max);
        let is_more = least > most * (1.0 + MORE) && least - most > READS_MIN;
        let is_one_cache = cell.load == other.load && together.has_same_page_cache(cell, other);
        let merges_more = cell
            .database
            .sstables_per_read
            .zip(other.database.sstables_per_read)
            .is_some_and(|(mine, theirs)| mine > theirs * (1.0 + SSTABLES_MORE));
        (is_more && is_one_cache && !merges_more).then_some(most)
    };
    let others = together
        .others(at)
        .filter_map(|(_, other)| Some((beside(other)?, other)));
    let (most, other) = others.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let numbers = [
        ("device_reads_per_operation_least", least),
        ("device_reads_per_operation_most_of_other", most),
        ("threshold", MORE),
    ];
    let found = Finding::new(Rule::ReadsPerOperation, Scope::Cell(cell.id.clone()), numbers);
    Some(found.with("other", other.configuration.clone()))
}

/// Of each valid trial; `None` where there are too few to tell a difference from noise.
fn of_trials(together: &Together<'_>, cell: &CellAnalysis) -> Option<Vec<f64>> {
    let each = together
        .trials_of(cell)
        .map(|t| t.per_operation(t.sum_of_data(|volume| volume.reads)));
    let each: Vec<f64> = each.collect::<Option<_>>()?;
    (each.len() as u64 >= stats::REPETITIONS_MIN).then_some(each)
}
