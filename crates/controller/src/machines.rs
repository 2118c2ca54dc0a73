//! Machines without limits: the setups say what they are instead of what configurations state.

use std::collections::BTreeMap;

use catalog::GIB;
use evidence::{Environment, HostId, Role};
use experiment::Setups;
use process::failure::Failure;

use crate::progress::Screen;

/// A configuration's nodes have all CPUs and all memory of the smallest database host. What differs between these
/// hosts, or from what a configuration states, is reported.
pub fn take_as_they_are(setups: &mut Setups, hosts: &[(HostId, Environment)], screen: &Screen) -> Result<(), Failure> {
    let databases = || hosts.iter().filter(|(host, _)| host.role == Role::Database).map(|(_, facts)| facts);
    let unlike = |what: &str, of: &dyn Fn(&Environment) -> String| {
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (host, facts) in hosts.iter().filter(|(host, _)| host.role == Role::Database) {
            seen.entry(of(facts)).or_default().push(host.to_string());
        }
        if seen.len() > 1 {
            let each = seen.iter().map(|(value, hosts)| format!("{value} ({})", hosts.join(", ")));
            let each: Vec<String> = each.collect();
            screen.say(&format!("warning: the {what} of the database hosts differs: {}", each.join(" / ")));
        }
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    unlike("processor", &|facts| text(&facts.cpu_model));
    unlike("number of CPUs", &|facts| facts.cpus.to_string());
    unlike("kernel", &|facts| text(&facts.kernel));
    unlike("memory", &|facts| {
        let gib = facts.memory_bytes.map(|bytes| bytes as f64 / GIB);
        gib.map_or_else(|| "unknown".to_owned(), |gib| format!("{gib:.1} GiB"))
    });
    let cpus = databases().map(|facts| facts.cpus).min();
    let memory = databases().filter_map(|facts| facts.memory_bytes).min();
    let (Some(cpus), Some(memory)) = (cpus, memory) else {
        return Err(Failure::work("a database host does not say how much memory it has"));
    };
    // Machines of caches, where there are any.
    if let Some(cpus) = hosts.iter().filter(|(host, _)| host.role == Role::Cache).map(|(_, facts)| facts.cpus).min() {
        experiment::use_whole_cache_machines(setups, f64::from(cpus));
    }
    for setup in setups.iter() {
        if setup.cpus != f64::from(cpus) {
            screen.say(&format!(
                "note: configuration {} states {} CPUs, the hosts have {cpus}; they are measured as they are",
                setup.configuration, setup.cpus
            ));
        }
    }
    experiment::use_whole_machines(setups, f64::from(cpus), memory).map_err(|(configuration, own)| {
        let gib = |bytes: u64| bytes as f64 / GIB;
        Failure::input(format!(
            "the database of configuration {configuration} takes {:.1} GiB, the hosts have {:.1} GiB",
            gib(own),
            gib(memory)
        ))
        .help("state a smaller instance, or heap_mib in [provider.local]")
    })
}
