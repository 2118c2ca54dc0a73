//! What stands in the way of a run on this machine.

use std::path::Path;

use catalog::GIB;
use wire::{Demand, Needs, Problem};

use super::host::{missing, work_directory};
use super::store;
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
    let existing = work_directory.ancestors().find(|p| p.exists());
    let existing = existing.unwrap_or(Path::new("/"));
    for problem in missing(existing, needs.bytes, needs.ground.as_ref()) {
        problems.push(Problem {
            what: problem.what,
            fix: problem.fix,
            is_in_the_experiment: false,
        });
    }
    if let Some((directory, is_written)) = &needs.data_sets {
        problems.extend(store::problem(directory, *is_written));
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
