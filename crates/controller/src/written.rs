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
    let text = r#"
        name = "x"
        [dataset]
        records = 1_000
        [[configuration]]
        name = "c"
        instance = { vcpus = 1, memory_gib = 8 }
        data_volume = { iops = 100 }
        [[workload]]
        name = "w"
        read = 1.0
        [load]
        concurrency = [2]
    "#;
    job(&[text, load].concat())
}
