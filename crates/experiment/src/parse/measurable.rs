//! What can be planned and priced, but not measured so far: refused by a run, noted by a plan.

use std::ops::Range;

use super::data_set_store::S3;
use super::inline::within;
use super::{behaviour, effect, members};
use crate::mistakes::{Collector, Mistakes};
use crate::spanned::{Spanned, place};
use crate::{
    ConfiguredVolume, Emulation, Experiment, Job, Machines, NodeFaultKind, Note, PRODUCTS, Place, Provider, Sentence,
    raw,
};
use product::Lack;

/// Why a run would not measure what the file states, at its place.
struct Problem {
    at: Range<usize>,
    what: Sentence,
    help: &'static str,
}

fn problem(at: Range<usize>, what: impl Into<Sentence>, help: &'static str) -> Problem {
    Problem { at, what: what.into(), help }
}

/// Refuses the frozen file of a run that is to go on, where it states what cannot be measured, or what this plan of it
/// would not measure; a file that cannot be read any more says nothing here. Errors: everything in it that would not be
/// measured.
pub fn refuse_unmeasurable(source_name: &str, text: &str, Job { plan, setups }: &Job) -> Result<(), Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    if let Ok(file) = toml::from_str::<raw::Experiment>(text) {
        check(&file, Some(plan.place.provider()), &mut mistakes);
        for configuration in &file.configuration {
            let name = &configuration.name;
            let planned = setups.of(name).map_or(1, |setup| i64::from(setup.placement.nodes));
            if let Some(nodes) = configuration.nodes.as_ref().filter(|nodes| ***nodes != planned) {
                let message = format!("nodes = {nodes} of {name}: this run was planned with {planned}");
                mistakes.add(nodes.span(), message, "start a new run of this file");
            }
        }
    }
    mistakes.finish(Some(()))
}

/// Mistakes where somebody is to carry the experiment out, notes where it is only planned.
pub(super) fn check(file: &raw::Experiment, provider: Option<Provider>, mistakes: &mut Collector<'_>) {
    let problems = problems(file, mistakes.text, provider);
    tell(problems, provider, mistakes);
}

fn tell(problems: impl IntoIterator<Item = Problem>, provider: Option<Provider>, mistakes: &mut Collector<'_>) {
    let mut each: Vec<Problem> = Vec::new();
    for problem in problems {
        let is_same = |known: &mut Problem| known.help == problem.help && known.what.takes(&problem.what);
        if !each.iter_mut().any(is_same) {
            each.push(problem);
        }
    }
    for problem in each {
        if provider.is_some() {
            mistakes.add(problem.at, problem.what.to_string(), problem.help);
        } else {
            let what = problem.what.behind("iopslab run refuses this: ");
            mistakes.notes.push(Note::new("cannot_be_run", what, capitalised(problem.help)));
        }
    }
}

/// Volumes that are to start with burst credits and that the kernel's throttle would hold, which knows none. `is_known`
/// says whether it is known how this machine would emulate them.
pub(super) fn credits(
    file: &raw::Experiment,
    experiment: &Experiment,
    (provider, is_known): (Option<Provider>, bool),
    mistakes: &mut Collector<'_>,
) {
    let is_known = is_known || file.provider.local.volumes.is_some();
    let is_throttled = match &experiment.place {
        Place::Emulated { volumes: Emulation::Throttled, machines: Machines::This { .. }, .. } => {
            is_known && (provider.is_some() || file.provider.aws.is_none())
        }
        Place::Emulated { volumes: Emulation::Throttled, .. } => true,
        _ => false,
    };
    if !is_throttled {
        return;
    }
    let local = &file.provider.local;
    let of_all = place(&local.burst).or_else(|| place(&local.burst_credits_start));
    let text = mistakes.text;
    let starts = |volume: &ConfiguredVolume| volume.burst.is_some_and(|bucket| bucket.credits_start > 0.0);
    let full = effect::volumes(file, experiment).filter(|(_, checked)| starts(checked));
    let mut places: Vec<Range<usize>> = full
        .filter_map(|(raw, _)| match raw.get("burst") {
            Some(_) => Some(within(text, &raw.span(), "burst")),
            None => of_all.clone(),
        })
        .collect();
    places.dedup();
    let what = "burst credits of a throttled volume: the kernel holds it to what lasts";
    let help = "set volumes = \"served\" in [provider.local], or remove it";
    tell(places.into_iter().map(|at| problem(at, what, help)), provider, mistakes);
}

fn problems(file: &raw::Experiment, text: &str, provider: Option<Provider>) -> Vec<Problem> {
    let mut problems = match provider {
        Some(Provider::Simulated) => in_simulation(file),
        Some(Provider::Hosts) => on_hosts(file),
        Some(Provider::Aws) => on_aws(file),
        Some(Provider::Local | Provider::Imported) | None => Vec::new(),
    };
    problems.extend(file.configuration.iter().filter_map(|c| not_ours(file, c, provider)));
    problems.extend(file.fault.iter().filter_map(|fault| not_taken_away(file, fault, provider)));
    problems.extend(file.workload.iter().filter_map(|workload| read_elsewhere(workload, provider)));
    problems.extend(snapshot_elsewhere(file, provider));
    problems.extend(real_volumes(file, text, provider));
    problems.extend(several_volumes(file, text, provider));
    problems
}

/// Caches in front of a database that is only simulated.
fn caches_in_simulation(file: &raw::Experiment) -> impl Iterator<Item = Problem> {
    tiers(file).map(|(name, tier)| {
        let what = Sentence::of("cache_tier of ", name, ": a simulation has no cache to ask");
        problem(tier.span(), what, "run it on this machine: --provider local")
    })
}

/// The cache tiers of a file, with the names of their configurations.
fn tiers(file: &raw::Experiment) -> impl Iterator<Item = (&str, &Spanned<raw::CacheTier>)> {
    file.configuration.iter().filter_map(|c| Some((c.name.as_str(), c.cache_tier.as_ref()?)))
}

/// Caches for which no machines are named.
fn caches_without_machines(file: &raw::Experiment, hosts: &raw::Hosts) -> Vec<Problem> {
    let machines = hosts.cache.as_ref().map_or(0, |named| named.len());
    let problem = |(name, tier): (&str, &Spanned<raw::CacheTier>)| {
        let nodes = tier.nodes.as_ref().map_or(1, |nodes| **nodes);
        let is_short = usize::try_from(nodes).is_ok_and(|nodes| nodes > machines);
        is_short.then(|| {
            let named = if machines == 0 { "no machine".to_owned() } else { machines.to_string() };
            let what = format!(": [provider.hosts] names {named} for caches, and it has nodes = {nodes}");
            let help = "name one machine for each of its nodes: [provider.hosts] cache = [\"cache1\"]";
            problem(tier.span(), Sentence::of("cache_tier of ", name, what), help)
        })
    };
    tiers(file).filter_map(problem).collect()
}

/// The database of the file, where it is a product that has nothing of this kind.
fn database_lacking(file: &raw::Experiment, what: Lack) -> Option<&Spanned<String>> {
    let stated = file.target.as_ref()?.database.as_ref()?;
    let mut known = PRODUCTS.iter();
    known.any(|product| product.name == stated.as_str() && product.lacks(what)).then_some(stated)
}

/// What a simulation has nothing for.
fn in_simulation(file: &raw::Experiment) -> Vec<Problem> {
    let elsewhere = "remove it, or run without --provider simulated";
    let mut problems = Vec::new();
    if let Some(hosts) = file.existing() {
        let what = "[target] hosts: a simulation has no cluster to talk to";
        problems.push(problem(hosts.span(), what, elsewhere));
    }
    if let Some(name) = database_lacking(file, Lack::Simulation) {
        let what = format!("database = \"{name}\": what is simulated is {}", PRODUCTS[0].title);
        problems.push(problem(name.span(), what, "run without --provider simulated"));
    }
    if let Some((at, n)) = file.load.stated_clients().filter(|(_, n)| *n > 1) {
        let what = format!("clients = {n}: the simulation has one client");
        let help = "[provider.simulated] client_threads says how much it carries; or run it on this machine: without \
                    --provider simulated";
        problems.push(problem(at, what, help));
    }
    if let Some((language, path)) = file.workload.iter().find_map(|workload| workload.own()) {
        let what = format!("{} = \"{path}\": a simulation has no database to ask", language.key());
        problems.push(problem(path.span(), what, elsewhere));
    }
    let truth = file.provider.simulated.as_ref();
    let reported = truth.map(|truth| super::variant::with_effects(truth, file).settings);
    for c in &file.configuration {
        let is_reported = reported.as_ref().is_some_and(|reported| reported.contains_key(c.name.as_str()));
        let help = "say what they do, for example [provider.simulated.settings.NAME] misses = 0.5 with the name of \
                    the variant or of the configuration; or remove them, or run without --provider simulated";
        if let Some(settings) = c.settings.as_ref().filter(|_| !is_reported) {
            let what = Sentence::of("settings of ", c.name.as_str(), ": a simulation has no database to set them in");
            problems.push(problem(settings.span(), what, help));
        }
        if let Some(database) = c.database.as_ref().filter(|_| !is_reported) {
            let what = Sentence::of("database of ", c.name.as_str(), ": all versions are one to a simulation");
            problems.push(problem(database.span(), what, help));
        }
        if let Some(backlog) = &c.backlog {
            let what = Sentence::of("backlog of ", c.name.as_str(), ": a simulation has no SSTables to compact");
            problems.push(problem(backlog.span(), what, elsewhere));
        }
    }
    problems.extend(caches_in_simulation(file));
    problems
}

/// What is stated of a host that is somebody else's.
fn not_ours(file: &raw::Experiment, of: &raw::Configuration, provider: Option<Provider>) -> Option<Problem> {
    let (key, _) = of.settings.as_ref()?.host.as_ref()?.iter().next()?;
    (provider == Some(Provider::Hosts) && !file.holds_hosts_to_limits()).then(|| {
        let why = ": these machines have disks of their own, which others may use";
        let what = Sentence::of(format!("{key} of "), of.name.as_str(), why);
        let help = "set it by hand on the machines; or run on volumes that iopslab makes: on this machine, \
                    or with limits = true";
        problem(key.span(), what, help)
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
    let help = "remove it, or run on this machine with volumes = \"served\" in [provider.local]";
    let places = behaviour::places(file, text).into_iter();
    places.map(|(key, at)| problem(at, format!("`{key}` of a volume: {why}"), help)).collect()
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
    let help =
        "remove it, or run on this machine or with limits = true in [provider.hosts], where iopslab makes the volumes";
    let what =
        |name: &str, count| Sentence::of(format!("count = {count} of the data_volume of "), name, format!(": {why}"));
    members::places(file, text).map(|(at, name, count)| problem(at, what(name, count), help)).collect()
}

/// A recording that the client would have to read on another machine.
fn read_elsewhere(workload: &raw::Workload, provider: Option<Provider>) -> Option<Problem> {
    let replay = workload.replay.as_ref().filter(|_| matches!(provider, Some(Provider::Hosts | Provider::Aws)))?;
    let what = format!("replay = \"{replay}\": a recording is read on this machine alone so far");
    Some(problem(replay.span(), what, "run it on this machine: --provider local"))
}

/// A snapshot that machines would have to read which cannot have it.
fn snapshot_elsewhere(file: &raw::Experiment, provider: Option<Provider>) -> Option<Problem> {
    // Restored here, it may be in the store.
    let snapshot = file.dataset.snapshot.as_ref().filter(|_| file.dataset.store.is_none())?;
    let why = match provider {
        Some(Provider::Aws | Provider::Hosts) if snapshot.starts_with(S3) => {
            "a bucket's files are fetched to this machine alone so far"
        }
        Some(Provider::Aws) => "machines of AWS have no such directory",
        _ => return None,
    };
    let help = "restore it once on this machine with [dataset.store] at = \"s3://...\", keep = true, and state \
                that store here";
    Some(problem(snapshot.span(), format!("snapshot = \"{snapshot}\": {why}"), help))
}

/// A fault that this provider cannot carry out.
fn not_taken_away(file: &raw::Experiment, fault: &Spanned<raw::Fault>, provider: Option<Provider>) -> Option<Problem> {
    let kind = &fault.kind;
    let is_cut = kind.as_str() == NodeFaultKind::HostCut.name();
    let is_of_disk = NodeFaultKind::ALL.iter().any(|k| k.name() == kind.as_str() && k.is_of_disk());
    match provider {
        Some(Provider::Simulated) => Some(problem(
            fault.span(),
            "[[fault]]: a simulation has no node to take away",
            "remove it, or run without --provider simulated; what goes wrong in a simulation stands in \
             [[provider.simulated.fault]]",
        )),
        Some(Provider::Hosts | Provider::Aws) => is_of_disk.then(|| {
            let what = format!("{kind}: iopslab does not answer for the disks of these machines");
            let help = "run it on this machine, with volumes = \"served\" in [provider.local]; or plan a node's fault";
            problem(kind.span(), what, help)
        }),
        Some(Provider::Imported) => None,
        None if file.provider.hosts.is_some() => None,
        Some(Provider::Local) | None => is_cut.then(|| {
            let what = "host-cut: nodes of one machine share its network";
            let help =
                "plan node-pause, which looks the same from outside; or run on hosts of their own: --provider hosts";
            problem(kind.span(), what, help)
        }),
    }
}

/// What a run on the hosts of the file would not measure as it states it.
fn on_hosts(file: &raw::Experiment) -> Vec<Problem> {
    if let Some(existing) = file.existing() {
        return vec![problem(
            existing.span(),
            "[target] hosts: an existing cluster has its machines, and --provider hosts is for others",
            "without --provider hosts, with [target] client = [\"load1\"] for clients on other machines; or leave \
             [target] hosts out, for a database of its own on the machines",
        )];
    }
    let Some(hosts) = &file.provider.hosts else {
        return vec![problem(
            file.name.span(),
            "[provider.hosts] is missing: --provider hosts needs machines",
            "for example: [provider.hosts] database = [\"db1\"] client = [\"load1\"]",
        )];
    };
    let is_above = |number: i64, machines: usize| usize::try_from(number).is_ok_and(|number| number > machines);
    let machines = hosts.database.len();
    let mut problems = Vec::new();
    for configuration in &file.configuration {
        if let Some(nodes) = configuration.nodes.as_ref().filter(|nodes| is_above(***nodes, machines)) {
            let names = format!(": [provider.hosts] names {machines} for databases");
            let what = Sentence::of(format!("nodes = {nodes} of "), configuration.name.as_str(), names);
            let help = "name one machine for each node in [provider.hosts] database";
            problems.push(problem(nodes.span(), what, help));
        }
    }
    problems.extend(caches_without_machines(file, hosts));
    let sending = hosts.client.len();
    if let Some((at, clients)) = file.load.stated_clients().filter(|(_, clients)| is_above(*clients, sending)) {
        let what = format!("clients = {clients}: [provider.hosts] names {sending}");
        problems.push(problem(at, what, "name one machine for each client in [provider.hosts] client"));
    }
    let scale = file.provider.local.scale.as_ref().filter(|scale| ***scale != 1.0);
    if let Some(scale) = scale.filter(|_| !hosts.limits.unwrap_or(false)) {
        let what = format!("scale = {scale}: machines without limits are measured as they are");
        let help = "leave scale out, or hold the machines to the configurations with limits = true in [provider.hosts]";
        problems.push(problem(scale.span(), what, help));
    }
    problems
}

/// What a run on AWS would not measure as it states it.
fn on_aws(file: &raw::Experiment) -> Vec<Problem> {
    let existing = file.existing().map(|hosts| {
        let what = "[target] hosts: an existing cluster has its machines, and --provider aws makes others";
        let help = "without --provider aws; or leave [target] hosts out, for a database of its own on AWS";
        problem(hosts.span(), what, help)
    });
    // Beside [provider.aws] that is refused there, whoever is to run it.
    let name = database_lacking(file, Lack::Aws).filter(|_| file.provider.aws.is_none());
    let unknown = name.map(|name| {
        let what = format!("database = \"{name}\": machines on AWS are made for {} alone so far", PRODUCTS[0].title);
        problem(name.span(), what, "measure it on this machine, or by SSH on machines of yours: --provider hosts")
    });
    existing.into_iter().chain(unknown).chain(stored_elsewhere(file)).collect()
}

/// What new machines of AWS cannot have from a store of data sets: what lies in a directory, and the snapshot of nodes
/// that had other addresses.
fn stored_elsewhere(file: &raw::Experiment) -> Vec<Problem> {
    let Some(store) = &file.dataset.store else { return Vec::new() };
    let directory = store.at.starts_with('/').then(|| {
        let what = format!("[dataset.store] at = \"{}\": machines of AWS have no such directory", store.at);
        problem(store.at.span(), what, "keep data sets in a bucket: at = \"s3://BUCKET/PREFIX\", with its region")
    });
    let of_cluster = file.configuration.iter().filter_map(|configuration| {
        let nodes = configuration.nodes.as_ref().filter(|nodes| ***nodes > 1 && file.dataset.snapshot.is_some())?;
        let why = ": each is restored only at the address that it had, and new machines have others";
        let what = Sentence::of(format!("a snapshot for the {nodes} nodes of "), configuration.name.as_str(), why);
        Some(problem(nodes.span(), what, "measure it on this machine, or leave this configuration out"))
    });
    directory.into_iter().chain(of_cluster).collect()
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
