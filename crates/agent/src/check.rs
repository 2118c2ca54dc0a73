//! What stands in the way of a run on this machine.

use std::path::Path;

use catalog::GIB;
use database::memcached::PROGRAM;
use process::machine;
use wire::{Demand, Needs, Problem};

use super::host::{missing, work_directory};

/// Everything that stands in the way, the experiment's part first; changes nothing.
pub(super) fn problems(needs: &Needs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let work_directory = work_directory(&needs.work_directory);
    let cpus = machine::cpus() as f64;
    if let Some(demand) = needs.cpus.as_ref().filter(|demand| demand.total() > cpus) {
        let needed = sum(demand, 1.0, 1);
        problems.push(asks_for(
            format!("configuration {} needs {needed} CPUs here, this machine has {cpus}", demand.configuration),
            "raise provider.local.scale; without a machine: --provider simulated",
        ));
    }
    // Without bound where it is not known.
    let memory = monitor::memory_bytes(Path::new("/")).map_or(f64::INFINITY, |bytes| bytes as f64);
    if let Some(demand) = needs.memory.as_ref().filter(|demand| demand.total() > memory) {
        let (name, needed, has) = (&demand.configuration, sum(demand, GIB, 1), memory / GIB);
        let (when, fix) = match demand.loads {
            true => (
                " (while its data set is loaded)",
                "loading takes as much at every scale: use a machine with more memory, or fewer nodes on this one",
            ),
            false => (
                "",
                "raise provider.local.scale, or state page_cache_mib (and heap_mib for a Java heap) \
                 in [provider.local]",
            ),
        };
        problems.push(asks_for(
            format!("configuration {name}{when} needs {needed} GiB of memory here, this machine has {has:.1}"),
            fix,
        ));
    }
    let of_work_directory = missing(&work_directory, needs.bytes, needs.machine_use.as_ref());
    problems.extend(of_work_directory.into_iter().map(|problem| lacks(problem.what, problem.fix)));
    if let Some((directory, is_written)) = &needs.data_sets {
        problems.extend(store_problem(directory, *is_written));
    }
    if needs.network_cut
        && let Err(error) = storage::can_cut_network()
    {
        let what = format!("a planned fault cuts this machine's network: {error}");
        problems.push(lacks(what, "install it there, or plan node-pause instead"));
    }
    if needs.served_volumes
        && let Err(error) = served::available()
    {
        let fix = "or leave the limits to the kernel: volumes = \"throttled\" in [provider.local]";
        problems.push(lacks(error.to_string(), fix));
    }
    if needs.caches && guarded::program(PROGRAM).is_none() {
        let what = format!("{PROGRAM} is not installed here, and a configuration has a cache_tier of it");
        problems.push(lacks(what, format!("apt-get install {PROGRAM}, or dnf install {PROGRAM}")));
    }
    if needs.arrays {
        let of_arrays = storage::Array::problems();
        problems.extend(of_arrays.into_iter().map(|problem| lacks(problem.what, problem.fix)));
    }
    problems
}

/// What this machine lacks, and can be given.
fn lacks(what: String, fix: impl Into<String>) -> Problem {
    Problem { what, fix: fix.into(), is_in_the_experiment: false }
}

/// What this machine cannot be.
fn asks_for(what: String, fix: &str) -> Problem {
    Problem { is_in_the_experiment: true, ..lacks(what, fix) }
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
    if !path.is_dir() {
        let fix = "make it, or mount it, on every database host; or name another place in [dataset.store]";
        return Some(lacks(format!("the store of data sets {directory} is no directory"), fix));
    }
    let is_denied = is_written && rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err();
    is_denied.then(|| {
        let fix = "let the agent's user write to it, or leave out keep in [dataset.store]";
        lacks(format!("nothing can be kept in the store of data sets {directory}"), fix)
    })
}
