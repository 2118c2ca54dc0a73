//! Which trials of a block one process of the database serves.

use spec::{Job, PlannedTrial, Setup};

/// Trials in the order of the plan, but those of a block that one process can serve come one after the other: where its first one stands.
pub(super) fn by_process(job: &Job, trials: Vec<PlannedTrial>) -> Vec<PlannedTrial> {
    let mut groups: Vec<(u32, Option<&Setup>, Vec<PlannedTrial>)> = Vec::new();
    for trial in trials {
        let cell = job.plan.cells.iter().find(|cell| cell.id == trial.cell);
        let setup = cell.and_then(|cell| job.setups.of(&cell.configuration));
        let shares = |(block, first, _): &&mut (u32, Option<&Setup>, Vec<PlannedTrial>)| {
            *block == trial.block && first.zip(setup).is_some_and(|(a, b)| a.shares_process_with(b))
        };
        match groups.iter_mut().find(shares) {
            Some((_, _, group)) => group.push(trial),
            None => groups.push((trial.block, setup, vec![trial])),
        }
    }
    groups.into_iter().flat_map(|(_, _, group)| group).collect()
}
