//! What stands in the way of a run on this machine.

use std::path::Path;

use catalog::GIB;
use wire::{Demand, Needs, Problem};

use super::host::{missing, work_directory};
use crate::machine;

/// Everything that stands in the way, the experiment's part first; changes nothing.
pub(super) fn problems(needs: &Needs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let work_directory = work_directory(&needs.work_directory);
    let cpus = machine::cpus() as f64;
    if let Some(demand) = needs.cpus.as_ref().filter(|demand| demand.total() > cpus) {
        problems.push(Problem {
            what: format!(
                "configuration {} needs {} CPUs here, this machine has {cpus}",
                demand.configuration,
                sum(demand, 1.0, 1)
            ),
            fix: "raise provider.local.scale; without a machine: --provider simulated".to_owned(),
            is_in_the_experiment: true,
        });
    }
    // Without bound where it is not known.
    let memory = monitor::memory_bytes(Path::new("/")).map_or(f64::INFINITY, |bytes| bytes as f64);
    if let Some(demand) = needs.memory.as_ref().filter(|demand| demand.total() > memory) {
        problems.push(Problem {
            what: format!(
                "configuration {} needs {} GiB of memory here, this machine has {:.1}",
                demand.configuration,
                sum(demand, GIB, 1),
                memory / GIB
            ),
            fix: "raise provider.local.scale, or state heap_mib and page_cache_mib in [provider.local]".to_owned(),
            is_in_the_experiment: true,
        });
    }
    for problem in missing(&work_directory, needs.bytes, needs.machine_use.as_ref()) {
        problems.push(Problem { what: problem.what, fix: problem.fix, is_in_the_experiment: false });
    }
    if let Some((directory, is_written)) = &needs.data_sets {
        problems.extend(store_problem(directory, *is_written));
    }
    if needs.network_cut
        && let Err(error) = storage::can_cut_network()
    {
        problems.push(Problem {
            what: format!("a planned fault cuts this machine's network: {error}"),
            fix: "install it there, or plan node-pause instead".to_owned(),
            is_in_the_experiment: false,
        });
    }
    if needs.served_volumes
        && let Err(error) = served::available()
    {
        problems.push(Problem {
            what: error.to_string(),
            fix: "or leave the limits to the kernel: volumes = \"throttled\" in [provider.local]".to_owned(),
            is_in_the_experiment: false,
        });
    }
    if needs.arrays {
        let found = storage::Array::problems().into_iter().map(|problem| Problem {
            what: problem.what,
            fix: problem.fix,
            is_in_the_experiment: false,
        });
        problems.extend(found);
    }
    problems
}

/// `1.0`, or `3 x 0.5 = 1.5`.
fn sum(demand: &Demand, unit: f64, digits: usize) -> String {
    let (each, total) = (demand.each / unit, demand.total() / unit);
    match demand.nodes {
        1 => format!("{total:.digits$}"),
        nodes => format!("{nodes} x {each:.digits$} = {total:.digits$}"),
    }
}

/// What stands in the way of a directory of data sets.
fn store_problem(directory: &str, is_written: bool) -> Option<Problem> {
    let path = Path::new(directory);
    let problem = |what: String, fix: &str| Problem { what, fix: fix.to_owned(), is_in_the_experiment: false };
    if !path.is_dir() {
        let fix = "make it, or mount it, on every database host; or name another place in [dataset.store]";
        return Some(problem(format!("the store of data sets {directory} is no directory"), fix));
    }
    let is_denied = is_written && rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err();
    is_denied.then(|| {
        let fix = "let the agent's user write to it, or leave out keep in [dataset.store]";
        problem(format!("nothing can be kept in the store of data sets {directory}"), fix)
    })
}
