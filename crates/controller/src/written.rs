//! Jobs of experiments that tests of the controller have written.

use experiment::{Job, ParseContext, ReadFor};

/// The job of an experiment file that names no other file.
pub(super) fn job(text: &str) -> Job {
    let (catalog, alone) = (catalog::Catalog::built_in(), ParseContext::alone());
    let experiment = experiment::parse(catalog, "x.toml", text, &alone, ReadFor::Anybody);
    experiment::job(&experiment.expect("a valid experiment"))
}

/// The job of one small configuration under reads; `load` is what `[load]` has besides.
pub(super) fn small_job(load: &str) -> Job {
    job_of("records = 1_000", &[("c", SMALL)], load)
}

/// What a small node is.
pub(super) const SMALL: &str = "instance = { vcpus = 1, memory_gib = 8 }\ndata_volume = { iops = 100 }";

/// The job of these configurations, each by its name and what is stated of it, under reads; `dataset` is what
/// `[dataset]` has, and what else the file begins with.
pub(super) fn job_of(dataset: &str, configurations: &[(&str, &str)], load: &str) -> Job {
    let configurations =
        configurations.iter().map(|(name, states)| format!("[[configuration]]\nname = \"{name}\"\n{states}\n"));
    let rest = "[[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [2]\n";
    let configurations: String = configurations.collect();
    job(&format!("name = \"x\"\n[dataset]\n{dataset}\n{configurations}{rest}{load}"))
}
