//! Experiments that tests write, of this crate and of those that use it: the feature `testing`.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Job, ParseContext, Place, Plan, ReadFor, Setup, parse};

/// The job of an experiment that names no other file.
///
/// # Panics
///
/// With the mistakes of one that has any.
pub fn job(text: &str) -> Job {
    let catalog = catalog::Catalog::built_in();
    let experiment = parse(catalog, "test.toml", text, &ParseContext::alone(), ReadFor::Anybody);
    crate::job(&experiment.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}")))
}

/// A plan as its file states it.
///
/// # Panics
///
/// Where it states none; so do the next two.
pub fn plan(stated: Value) -> Plan {
    Plan::from_json(stated).unwrap_or_else(|error| panic!("{error}"))
}

/// A configuration as a file of setups states it.
pub fn setup(stated: Value) -> Setup {
    read(stated)
}

/// The place of a plan.
pub fn place(stated: Value) -> Place {
    read(stated)
}

fn read<T: DeserializeOwned>(stated: Value) -> T {
    serde_json::from_value(stated).unwrap_or_else(|error| panic!("{error}"))
}

/// An experiment of a million records and these configurations, which are read from; `load` is what `[load]` has
/// besides.
pub fn reads(configurations: &str, load: &str) -> String {
    format!(
        "name = \"x\"\n[dataset]\nrecords = 1_000_000\n{configurations}\n[[workload]]\nname = \"w\"\nread = 1.0\n\
         [load]\nconcurrency = [2]\n{load}\n"
    )
}

/// A configuration of so many CPUs and GiB with a volume of 100 IOPS; `more` is what it has besides.
pub fn configuration(name: &str, (vcpus, memory_gib): (f64, f64), more: &str) -> String {
    format!(
        "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = {vcpus}, memory_gib = {memory_gib} }}\n\
         data_volume = {{ iops = 100 }}\n{more}\n"
    )
}

/// The job of one small configuration; `load` is what `[load]` has besides.
pub fn small_job(load: &str) -> Job {
    job(&reads(&configuration("c", (1.0, 8.0), ""), load))
}

/// The job of one node, and of three half as large that keep each record twice.
pub fn one_and_three() -> Job {
    let three = configuration("three", (0.5, 4.0), "nodes = 3\nreplication_factor = 2");
    job(&reads(&[configuration("one", (1.0, 8.0), ""), three].concat(), ""))
}
