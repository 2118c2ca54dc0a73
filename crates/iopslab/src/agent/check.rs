//! What stands in the way of a run on this machine.

use std::path::Path;

use wire::{Needs, Problem};

use super::volumes::CGROUP_ROOT;

/// Everything that stands in the way, the experiment's part first; changes nothing.
pub(super) fn problems(needs: &Needs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    if let Some((configuration, wanted)) = needs.cpus.as_ref().filter(|(_, wanted)| *wanted > cpus) {
        problems.push(Problem {
            what: format!("configuration {configuration} needs {wanted:.1} CPUs here, this machine has {cpus}"),
            fix: "raise provider.local.scale; without a machine: --provider simulated".to_owned(),
            is_in_the_experiment: true,
        });
    }
    let work_directory = Path::new(&needs.work_directory);
    let existing = work_directory.ancestors().find(|p| p.exists());
    let existing = existing.unwrap_or(Path::new("/"));
    for problem in storage::preflight(existing, needs.bytes, Path::new(CGROUP_ROOT)) {
        problems.push(Problem {
            what: problem.what,
            fix: problem.fix,
            is_in_the_experiment: false,
        });
    }
    problems
}
