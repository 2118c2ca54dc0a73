//! What can be planned and priced, but not measured so far: refused by a run, told by a plan.

use std::ops::Range;

use toml::Spanned;

use super::{behaviour, members};

use crate::mistakes::{Collector, Mistakes};
use crate::{Job, NodeFaultKind, Note, Provider, raw};

/// Why a run would not measure what the file states, at its place.
struct Problem {
    at: Range<usize>,
    what: String,
    help: &'static str,
}

/// Refuses the frozen file of a run that is to go on, where it states what cannot be measured, or what this plan of it
/// would not measure; a file that cannot be read any more says nothing here.
///
/// # Errors
/// Everything in it that would not be measured.
pub fn refuse_unmeasurable(source_name: &str, text: &str, Job { plan, setups }: &Job) -> Result<(), Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    if let Ok(file) = toml::from_str::<raw::Experiment>(text) {
        let provider = match (&plan.simulated, &plan.hosts, &plan.aws) {
            (Some(_), _, _) => Provider::Simulated,
            (None, Some(_), _) => Provider::Hosts,
            (None, None, Some(_)) => Provider::Aws,
            (None, None, None) => Provider::Local,
        };
        check(&file, Some(provider), &mut mistakes);
        for configuration in file.configuration.iter().map(Spanned::get_ref) {
            let name = configuration.name.get_ref();
            let planned = setups.of(name).map_or(1, |setup| i64::from(setup.placement.nodes));
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
    for problem in problems(file, mistakes.text, provider) {
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

fn problems(file: &raw::Experiment, text: &str, provider: Option<Provider>) -> Vec<Problem> {
    let target = file.target.as_ref().map(Spanned::get_ref);
    let simulated = || provider == Some(Provider::Simulated);
    let hosts = target
        .and_then(|t| t.hosts.as_ref())
        .filter(|_| simulated())
        .map(|hosts| Problem {
            at: hosts.span(),
            what: "[target] hosts: a simulation has no cluster to talk to".to_owned(),
            help: "remove it, or run without --provider simulated",
        });
    let clients = file.load.get_ref().stated_clients().filter(|(_, n)| *n > 1);
    let clients = clients.filter(|_| simulated()).map(|(at, n)| Problem {
        at,
        what: format!("clients = {n}: the simulation has one client"),
        help: "its client is never the limit; run it on this machine: without --provider simulated",
    });
    let truth = file.provider.simulated.as_ref();
    let reported = truth.map(|truth| super::variant::with_effects(truth.get_ref(), file).settings);
    let is_reported = |name: &str| reported.as_ref().is_some_and(|reported| reported.contains_key(name));
    let settings = file.configuration.iter().map(Spanned::get_ref).filter_map(|c| {
        let settings = c.settings.as_ref().filter(|_| simulated())?;
        if is_reported(c.name.get_ref()) {
            return None;
        }
        Some(Problem {
            at: settings.span(),
            what: format!(
                "settings of {}: a simulation has no database to set them in",
                c.name.get_ref()
            ),
            help: "say what they do, for example [provider.simulated.settings.NAME] misses = 0.5 with the name of the \
                   variant or of the configuration; or remove them, or run without --provider simulated",
        })
    });
    let backlogs = file.configuration.iter().map(Spanned::get_ref).filter_map(|c| {
        let backlog = c.backlog.as_ref().filter(|_| simulated())?;
        Some(Problem {
            at: backlog.span(),
            what: format!(
                "backlog of {}: a simulation has no SSTables to compact",
                c.name.get_ref()
            ),
            help: "remove it, or run without --provider simulated",
        })
    });
    let read_ahead = file.configuration.iter().filter_map(|c| not_ours(file, c, provider));
    let faults = file
        .fault
        .iter()
        .filter_map(|fault| not_taken_away(file, fault, provider));
    let machines = match provider {
        Some(Provider::Hosts) => on_hosts(file),
        Some(Provider::Aws) => on_aws(file),
        _ => Vec::new(),
    };
    let simulation = hosts.into_iter().chain(clients).chain(settings).chain(backlogs);
    let simulation = simulation.chain(read_ahead);
    let behaviours = real_volumes(file, text, provider);
    let several = several_volumes(file, text, provider);
    simulation
        .chain(faults)
        .chain(machines)
        .chain(behaviours)
        .chain(several)
        .collect()
}

/// What is stated of a host that is somebody else's.
fn not_ours(file: &raw::Experiment, of: &Spanned<raw::Configuration>, provider: Option<Provider>) -> Option<Problem> {
    let settings = of.get_ref().settings.as_ref()?.get_ref();
    let (key, _) = settings.host.as_ref()?.iter().next()?;
    (provider == Some(Provider::Hosts) && !file.holds_hosts_to_limits()).then(|| Problem {
        at: key.span(),
        what: format!(
            "{} of {}: these machines have disks of their own, which others may use",
            key.get_ref(),
            of.get_ref().name.get_ref()
        ),
        help: "set it by hand on the machines; or run on volumes that iopslab makes: on this machine, or with limits = true",
    })
}

/// What is stated of how volumes behave, where nobody emulates them.
fn real_volumes(file: &raw::Experiment, text: &str, provider: Option<Provider>) -> Vec<Problem> {
    let why = match provider {
        _ if file.has_existing_cluster() => "an existing cluster has its volumes",
        Some(Provider::Aws) => "volumes of AWS behave as they do",
        Some(Provider::Hosts) if !file.holds_hosts_to_limits() => {
            "machines without limits have the disks that they have"
        }
        _ => return Vec::new(),
    };
    let problem = |(key, at)| Problem {
        at,
        what: format!("`{key}` of a volume: {why}"),
        help: "remove it, or run on this machine with volumes = \"served\" in [provider.local]",
    };
    behaviour::places(file, text).into_iter().map(problem).collect()
}

/// Several data volumes of a node, where iopslab does not make them.
fn several_volumes(file: &raw::Experiment, text: &str, provider: Option<Provider>) -> Vec<Problem> {
    let why = match provider {
        _ if file.has_existing_cluster() => "an existing cluster is watched on one volume for its data",
        Some(Provider::Aws) => "AWS machines are made with one volume for their data so far",
        Some(Provider::Hosts) if !file.holds_hosts_to_limits() => {
            "machines without limits are measured on one directory or device for their data"
        }
        _ => return Vec::new(),
    };
    let problem = |(at, name, count)| Problem {
        at,
        what: format!("count = {count} of {name}'s data_volume: {why}"),
        help: "remove it, or run on this machine or with limits = true in [provider.hosts], where iopslab makes the volumes",
    };
    members::places(file, text).map(problem).collect()
}

/// A fault that this provider cannot carry out.
fn not_taken_away(file: &raw::Experiment, fault: &Spanned<raw::Fault>, provider: Option<Provider>) -> Option<Problem> {
    let kind = fault.get_ref().kind.get_ref();
    let is_cut = kind == NodeFaultKind::HostCut.name();
    let is_of_disk = NodeFaultKind::ALL.iter().any(|k| k.name() == kind && k.is_of_disk());
    match provider {
        Some(Provider::Simulated) => Some(Problem {
            at: fault.span(),
            what: "[[fault]]: a simulation has no node to take away".to_owned(),
            help: "remove it, or run without --provider simulated; what goes wrong in a simulation stands in \
                   [[provider.simulated.fault]]",
        }),
        Some(Provider::Hosts | Provider::Aws) => is_of_disk.then(|| Problem {
            at: fault.get_ref().kind.span(),
            what: format!("{kind}: iopslab does not answer for the disks of these machines"),
            help: "run it on this machine, with volumes = \"served\" in [provider.local]; or plan a node's fault",
        }),
        None if file.provider.hosts.is_some() => None,
        Some(Provider::Local) | None => is_cut.then(|| Problem {
            at: fault.get_ref().kind.span(),
            what: "host-cut: nodes of one machine share its network".to_owned(),
            help: "plan node-pause, which looks the same from outside; or run on hosts of their own: --provider hosts",
        }),
    }
}

/// What a run on the hosts of the file would not measure as it states it.
fn on_hosts(file: &raw::Experiment) -> Vec<Problem> {
    if let Some(existing) = file.target.as_ref().and_then(|target| target.get_ref().hosts.as_ref()) {
        return vec![Problem {
            at: existing.span(),
            what: "[target] hosts: an existing cluster has its machines, and --provider hosts is for others".to_owned(),
            help: "without --provider hosts, with [target] client = [\"load1\"] for clients on other machines; or leave [target] \
                   hosts out, for a Cassandra of its own on the machines",
        }];
    }
    let Some(hosts) = &file.provider.hosts else {
        return vec![Problem {
            at: file.name.span(),
            what: "[provider.hosts] is missing: --provider hosts needs machines".to_owned(),
            help: "for example: [provider.hosts] database = [\"db1\"] client = [\"load1\"]",
        }];
    };
    let hosts = hosts.get_ref();
    let machines = hosts.database.get_ref().len();
    let mut problems = Vec::new();
    for configuration in file.configuration.iter().map(Spanned::get_ref) {
        if let Some(nodes) = configuration.nodes.as_ref()
            && usize::try_from(*nodes.get_ref()).is_ok_and(|nodes| nodes > machines)
        {
            problems.push(Problem {
                at: nodes.span(),
                what: format!(
                    "nodes = {} of {}: [provider.hosts] names {machines} for databases",
                    nodes.get_ref(),
                    configuration.name.get_ref()
                ),
                help: "name one machine for each node in [provider.hosts] database",
            });
        }
    }
    let sending = hosts.client.get_ref().len();
    if let Some((at, clients)) = file.load.get_ref().stated_clients()
        && usize::try_from(clients).is_ok_and(|clients| clients > sending)
    {
        problems.push(Problem {
            at,
            what: format!("clients = {clients}: [provider.hosts] names {sending}"),
            help: "name one machine for each client in [provider.hosts] client",
        });
    }
    let scale = file
        .provider
        .local
        .scale
        .as_ref()
        .filter(|scale| *scale.get_ref() != 1.0);
    if let Some(scale) = scale.filter(|_| !hosts.limits.unwrap_or(false)) {
        problems.push(Problem {
            at: scale.span(),
            what: format!(
                "scale = {}: machines without limits are measured as they are",
                scale.get_ref()
            ),
            help: "leave scale out, or hold the machines to the configurations with limits = true in [provider.hosts]",
        });
    }
    problems
}

/// What a run on AWS would not measure as it states it.
fn on_aws(file: &raw::Experiment) -> Vec<Problem> {
    let existing = file.target.as_ref().and_then(|target| target.get_ref().hosts.as_ref());
    let existing = existing.map(|existing| Problem {
        at: existing.span(),
        what: "[target] hosts: an existing cluster has its machines, and --provider aws makes others".to_owned(),
        help: "without --provider aws; or leave [target] hosts out, for a Cassandra of its own on AWS",
    });
    existing.into_iter().collect()
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
