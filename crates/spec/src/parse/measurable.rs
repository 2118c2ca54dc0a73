//! What can be planned and priced, but not measured so far: refused by a run, told by a plan.

use std::ops::Range;

use toml::Spanned;

use crate::mistakes::{Collector, Mistakes};
use crate::{Note, Plan, Provider, raw};

/// Why a run would not measure what the file states, at its place.
pub(super) struct Problem {
    pub at: Range<usize>,
    pub what: String,
    pub help: &'static str,
}

/// Refuses the frozen file of a run that is to go on, where it states what cannot be measured, or what this plan of it
/// would not measure; a file that cannot be read any more says nothing here.
///
/// # Errors
/// Everything in it that would not be measured.
pub fn refuse_unmeasurable(source_name: &str, text: &str, plan: &Plan) -> Result<(), Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    if let Ok(file) = toml::from_str::<raw::Experiment>(text) {
        let provider = match (&plan.simulated, &plan.hosts) {
            (Some(_), _) => Provider::Simulated,
            (None, Some(_)) => Provider::Hosts,
            (None, None) => Provider::Local,
        };
        check(&file, Some(provider), &mut mistakes);
        for configuration in file.configuration.iter().map(Spanned::get_ref) {
            let name = configuration.name.get_ref();
            let planned = plan.setups.iter().find(|s| s.configuration == *name);
            let planned = planned.map_or(1, |setup| i64::from(setup.placement.nodes));
            if let Some(nodes) = configuration.nodes.as_ref().filter(|n| *n.get_ref() != planned) {
                mistakes.add(
                    nodes.span(),
                    format!(
                        "nodes = {} of {name}: this run was planned with {planned}",
                        nodes.get_ref()
                    ),
                    "start a new run of this file",
                );
            }
        }
    }
    mistakes.finish(Some(()))
}

/// Mistakes where somebody is to carry the experiment out, notes where it is only planned.
pub(super) fn check(file: &raw::Experiment, provider: Option<Provider>, mistakes: &mut Collector<'_>) {
    for problem in problems(file, provider) {
        if provider.is_some() {
            mistakes.add(problem.at, problem.what, problem.help);
        } else {
            let what = format!("iopslab run refuses this: {}", problem.what);
            mistakes
                .notes
                .push(Note::new("cannot_be_run", what, capitalised(problem.help)));
        }
    }
}

fn problems(file: &raw::Experiment, provider: Option<Provider>) -> Vec<Problem> {
    let target = file.target.as_ref().map(Spanned::get_ref);
    let hosts = target.and_then(|t| t.hosts.as_ref()).map(|hosts| Problem {
        at: hosts.span(),
        what: "[target] hosts: a run starts its own Cassandra so far".to_owned(),
        help: "measure an existing cluster with: iopslab load --hosts ...",
    });
    let nodes = file.configuration.iter().filter_map(|configuration| {
        let nodes = configuration.get_ref().nodes.as_ref().filter(|n| *n.get_ref() > 1);
        let nodes = nodes.filter(|_| provider == Some(Provider::Simulated))?;
        Some(Problem {
            at: nodes.span(),
            what: format!("nodes = {}: the simulation has one node so far", nodes.get_ref()),
            help: "run it on this machine: without --provider simulated",
        })
    });
    let clients = file.load.get_ref().clients.as_ref().filter(|n| *n.get_ref() > 1);
    let clients = clients
        .filter(|_| provider == Some(Provider::Simulated))
        .map(|n| Problem {
            at: n.span(),
            what: format!("clients = {}: the simulation has one client", n.get_ref()),
            help: "its client is never the limit; run it on this machine: without --provider simulated",
        });
    let machines = match provider {
        Some(Provider::Hosts) => super::hosts::unmeasurable(file),
        _ => Vec::new(),
    };
    hosts.into_iter().chain(nodes).chain(clients).chain(machines).collect()
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
