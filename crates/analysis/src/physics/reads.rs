//! Device reads are operations times misses, and misses are a matter of the workload and of what the page cache holds:
//! the same page cache leaves the same.

use std::collections::BTreeMap;

use reported::cassandra::SSTABLES_PER_READ;

use super::pair::ComparedCells;
use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope};
use crate::physics::figures::ReadsPerOperation;

/// In each block one cell took so much more device reads for an operation than the other (practice; trials of one cell
/// lie within a few percent) ...
const MORE: f64 = 0.15;
/// ... and so many, so that a few reads of a cache that answers nearly everything are no difference.
const READS_MIN: f64 = 0.02;
/// A read that merges so much more SSTables explains more device reads.
const SSTABLES_MORE: f64 = 0.1;

/// The finding on the cell that took more: its page cache has not come as far.
pub fn finding(together: &ComparedCells<'_>, at: usize) -> Option<Finding> {
    let cell = &together.cells[at];
    if together.is_cold_by_plan(cell) {
        return None;
    }
    let mine = of_trials(together, cell)?;
    let beside = |other: &CellAnalysis| {
        let theirs = of_trials(together, other)?;
        let pairs: Vec<(f64, f64)> =
            mine.iter().filter_map(|(block, reads)| Some((*reads, *theirs.get(block)?))).collect();
        let is_more = |(mine, theirs): &(f64, f64)| *mine > theirs * (1.0 + MORE) && mine - theirs > READS_MIN;
        let is_shown = pairs.len() as u64 >= stats::REPETITIONS_MIN && pairs.iter().all(is_more);
        let is_one_cache = cell.load == other.load && together.has_same_page_cache(cell, other);
        let merges_more = cell
            .database
            .get(&SSTABLES_PER_READ)
            .zip(other.database.get(&SSTABLES_PER_READ))
            .is_some_and(|(mine, theirs)| mine > theirs * (1.0 + SSTABLES_MORE));
        let ratios = pairs.iter().map(|(mine, theirs)| mine / theirs);
        (is_shown && is_one_cache && !merges_more).then(|| ratios.fold(f64::INFINITY, f64::min))
    };
    let others = together.others(at).filter_map(|(_, other)| Some((beside(other)?, other)));
    let (least, other) = others.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let figures = ReadsPerOperation {
        other: other.configuration.clone(),
        device_reads_per_operation: cell.device_reads_per_operation?,
        device_reads_per_operation_of_other: other.device_reads_per_operation?,
        least_ratio: least,
        threshold: 1.0 + MORE,
    };
    Some(Finding::new(Scope::Cell(cell.id.clone()), figures))
}

/// Of each valid trial, by block.
fn of_trials(together: &ComparedCells<'_>, cell: &CellAnalysis) -> Option<BTreeMap<u32, f64>> {
    let each = together.trials_of(cell).map(|t| {
        let reads = t.per_operation(t.sum_of_data(|volume| volume.reads))?;
        Some((t.record.block, reads))
    });
    each.collect()
}
