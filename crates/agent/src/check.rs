//! What stands in the way of a run on this machine.

use std::path::Path;

use catalog::GIB;
use database::memcached::PROGRAM;
use process::machine;
use wire::{Demand, Needs, Problem};

use super::backing::is_limited;
use super::host::{missing, work_directory};
use super::volumes::CGROUP_ROOT;

/// Everything that stands in the way, the experiment's part first; changes nothing.
pub(super) fn problems(needs: &Needs) -> Vec<Problem> {
    let mut problems = Vec::new();
    let work_directory = work_directory(&needs.work_directory);
    let cpus = machine::cpus() as f64;
    if let Some(demand) = beyond(&needs.cpus, cpus) {
        let needed = sum(demand, 1.0, 1);
        problems.push(asks_for(
            format!("configuration {} needs {needed} CPUs here, this machine has {cpus}", demand.configuration),
            "raise provider.local.scale; without a machine: --provider simulated",
        ));
    }
    let memory = memory_bytes();
    if let Some(demand) = beyond(&needs.memory, memory) {
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
    let of_work_directory = missing(&work_directory, (needs.bytes, needs.log_bytes), needs.machine_use.as_ref());
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
    problems.extend(no_memcached().filter(|_| needs.caches));
    if needs.arrays {
        let of_arrays = storage::Array::problems();
        problems.extend(of_arrays.into_iter().map(|problem| lacks(problem.what, problem.fix)));
    }
    problems
}

/// Everything that stands in the way of a node of a cache tier on this machine, which has nothing else of the run;
/// changes nothing.
pub(super) fn of_cache(needs: &Needs) -> Vec<Problem> {
    let mut problems = Vec::from_iter(no_memcached());
    let mut own = Vec::from_iter(storage::changed_by_others(&work_directory(&needs.work_directory)));
    if is_limited(needs.machine_use.as_ref()) {
        own.extend(storage::preflight_without_volumes(Path::new(CGROUP_ROOT)));
    }
    problems.extend(own.into_iter().map(|problem| lacks(problem.what, problem.fix)));
    let too_much = |demand: &Demand, what: String, has: String| {
        let of = &demand.configuration;
        let what = format!("a node of the cache_tier of {of} needs {what} here, this machine has {has}");
        asks_for(what, "a smaller node in more nodes, or a larger machine")
    };
    let cpus = machine::cpus() as f64;
    if let Some(demand) = beyond(&needs.cpus, cpus) {
        problems.push(too_much(demand, format!("{} CPUs", sum(demand, 1.0, 1)), cpus.to_string()));
    }
    let memory = memory_bytes();
    if let Some(demand) = beyond(&needs.memory, memory) {
        let needed = format!("{} GiB of memory", sum(demand, GIB, 1));
        problems.push(too_much(demand, needed, format!("{:.1}", memory / GIB)));
    }
    problems
}

/// What is asked for, where it is more than there is.
fn beyond(demand: &Option<Demand>, has: f64) -> Option<&Demand> {
    demand.as_ref().filter(|demand| demand.total() > has)
}

/// This machine's memory; without bound where it is not known.
fn memory_bytes() -> f64 {
    monitor::memory_bytes(Path::new("/")).map_or(f64::INFINITY, |bytes| bytes as f64)
}

/// That the program of caches is missing.
fn no_memcached() -> Option<Problem> {
    guarded::program(PROGRAM).is_none().then(|| {
        let what = format!("{PROGRAM} is not installed here, and a configuration has a cache_tier of it");
        lacks(what, format!("apt-get install {PROGRAM}, or dnf install {PROGRAM}"))
    })
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

#[cfg(test)]
mod tests {
    use wire::MachineUse;

    use super::*;

    #[test]
    fn a_machine_that_is_too_small_for_a_cache_is_refused_by_what_it_has() {
        let demand = |each| {
            let configuration = "cached".to_owned();
            Some(Demand { configuration, nodes: 1, each, loads: false })
        };
        let needs = |each| Needs {
            work_directory: "/no/such/directory".to_owned(),
            machine_use: Some(MachineUse::default()),
            memory: demand(each),
            caches: true,
            ..Needs::default()
        };
        let said = |each| of_cache(&needs(each)).into_iter().map(|problem| problem.what).collect::<Vec<_>>();
        let of_memory = |what: &String| what.contains("GiB of memory");
        assert!(!said(GIB / 64.0).iter().any(of_memory), "{:?}", said(GIB / 64.0));
        let large = said(1e9 * GIB);
        let begins = "a node of the cache_tier of cached needs 1000000000.0 GiB of memory here, this machine has ";
        assert!(large.iter().any(|what| what.starts_with(begins)), "{large:?}");
    }
}
