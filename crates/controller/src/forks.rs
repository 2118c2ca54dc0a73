//! Which trials of a block one process of the database serves.

use experiment::{Job, PlannedTrial, Setup};

/// Trials that one process serves.
struct Group<'a> {
    /// The block, and which of its forks.
    fork: (u32, usize),
    /// What the configuration of its first trial became.
    first: Option<&'a Setup>,
    trials: Vec<PlannedTrial>,
}

/// Trials in the order of the plan, but those of a block, or of one of the forks that share it out, that one process
/// can serve come one after the other: where its first one stands.
pub(super) fn by_process(job: &Job, trials: Vec<PlannedTrial>) -> Vec<PlannedTrial> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for trial in trials {
        let cell = job.plan.cells.iter().find(|cell| cell.id == trial.cell);
        let setup = cell.and_then(|cell| job.setups.of(&cell.configuration));
        let fork = (trial.block, job.plan.fork_of(&trial));
        let serves = |group: &&mut Group<'_>| {
            group.fork == fork && group.first.zip(setup).is_some_and(|(a, b)| a.shares_process_with(b))
        };
        match groups.iter_mut().find(serves) {
            Some(group) => group.trials.push(trial),
            None => groups.push(Group { fork, first: setup, trials: vec![trial] }),
        }
    }
    groups.into_iter().flat_map(|group| group.trials).collect()
}

#[cfg(test)]
mod tests {
    use experiment::testing::{configuration, job, reads};

    use super::*;

    #[test]
    fn trials_of_one_process_come_together_where_its_first_one_stands_and_blocks_stay_apart() {
        let [a, b, c] = [("a", 16.0), ("b", 64.0), ("c", 16.0)].map(|(name, gib)| configuration(name, (1.0, gib), ""));
        let mut job = job(&reads(&[a, b, c.replace("iops = 100", "iops = 1000")].concat(), ""));
        let trials = |words: &[&str]| -> Vec<PlannedTrial> {
            let of = |word: &&str| {
                let (block, name) = word.split_at(1);
                PlannedTrial { block: block.parse().unwrap(), cell: format!("{name}.w.c2") }
            };
            words.iter().map(of).collect()
        };
        let given = trials(&["1a", "1b", "1c", "2b", "2c", "2a"]);
        assert_eq!(by_process(&job, given.clone()), trials(&["1a", "1c", "1b", "2b", "2c", "2a"]));
        // Each of three forks has one trial: none is taken from one to another.
        (job.plan.forks, job.plan.trials) = (3, given.clone());
        assert_eq!(by_process(&job, given.clone()), given);
    }
}
