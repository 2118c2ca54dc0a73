//! What cannot be, whatever the storage: cells of one run held against each other.
//!
//! A ratio of two trials that are both wrong in the same direction looks as sound as any other. But what a
//! configuration can do is bounded by what it has: where one resource limits both sides, the gain is at most the ratio
//! of that resource, times what an operation needs of it. So an operation that needs less on one side has to have a
//! reason: memory that was bought, credits, or a cold start that was asked for. Where it has none, one of the two was
//! not at rest.
//!
//! ```text
//! gain    both limited by a volume: gain <= ratio of the limits        else gain_above_resource
//! reads   same page cache: same device reads for an operation          else reads_per_operation
//! costs   same workload: same CPU time for an operation                else cpu_per_operation
//! ```
//!
//! Little's law, which needs one trial only, is the rule `little`.

mod costs;
pub mod figures;
mod gain;
mod pair;
mod reads;

use crate::finding::Finding;

pub use pair::ComparedCells;

pub fn findings(together: &ComparedCells<'_>) -> Vec<Vec<Finding>> {
    let of_cell = |at: usize| {
        let mut found: Vec<Finding> = gain::finding(together, at).into_iter().collect();
        found.extend(reads::finding(together, at));
        found.extend(costs::finding(together, at));
        found
    };
    // What is done to nodes by plan changes what operations cost.
    let is_judged = together.plan.faults.is_empty();
    (0..together.cells.len()).map(|at| if is_judged { of_cell(at) } else { Vec::new() }).collect()
}
