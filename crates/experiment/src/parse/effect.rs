//! What the file states and nothing would follow: told, so that nothing is ignored in silence. What contradicts itself
//! is a mistake instead, beside the check of its own key.

use toml::Spanned;

use super::behaviour;
use super::consistency::{OfOneReplica, of_one_replica};
use crate::{Configuration, ConfiguredVolume, Database, Emulation, Experiment, LoadLevel, Note, Provider, raw};

/// The notes on keys without effect.
pub(super) fn notes(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    let mut notes = in_simulation(file, experiment);
    if file.provider.simulated.is_some() {
        let why = "[provider.simulated] has no effect in a run on this machine".to_owned();
        notes.push(without_effect(why, "It is for: iopslab run --provider simulated").only(Provider::Local));
    }
    notes.extend(on_hosts(file));
    notes.extend(on_aws(file));
    notes.extend(in_existing(file));
    notes.extend(one_replica(file, experiment));
    notes.extend(memory(file, experiment));
    notes.extend(burst(file, experiment));
    notes.extend(basis(file, experiment));
    notes.extend(closed_loop(experiment));
    notes.extend(latency_in_a_model(experiment));
    notes
}

fn without_effect(message: String, advice: &'static str) -> Note {
    Note::new("key_without_effect", message, advice)
}

/// The keys that are stated.
fn stated<const N: usize>(keys: [(&'static str, bool); N]) -> Vec<&'static str> {
    keys.into_iter()
        .filter_map(|(key, is_stated)| is_stated.then_some(key))
        .collect()
}

/// A simulation has no Cassandra, no Java and no directory.
fn in_simulation(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    // How many replicas a request asks is simulated; with one of them all levels are the same.
    let is_one = experiment
        .configurations
        .iter()
        .all(|c| c.placement.replication_factor == 1);
    let target = file.target.as_ref().map(Spanned::get_ref);
    let (load, local) = (file.load.get_ref(), &file.provider.local);
    let stated = stated([
        ("[load] rest_max_s", load.rest_max_s.is_some()),
        ("[load] forks", load.forks.is_some()),
        ("[target] database", target.is_some_and(|t| t.database.is_some())),
        ("[target] version", target.is_some_and(|t| t.version.is_some())),
        ("[dataset.store]", file.dataset.get_ref().store.is_some()),
        (
            "[target] consistency",
            is_one && target.is_some_and(|t| t.consistency.is_some()),
        ),
        ("[load] request_timeout_s", load.request_timeout_s.is_some()),
        ("[provider.local] work_directory", local.work_directory.is_some()),
        ("[provider.local] heap_mib", local.heap_mib.is_some()),
        ("[provider.local] volumes", local.volumes.is_some()),
        (
            "latency_us, latency_sigma and combined of volumes",
            behaviour::is_any(file),
        ),
        ("burst of st1 and sc1 volumes", burst_of_bytes(file, experiment)),
        ("[provider.local] start_timeout_s", local.start_timeout_s.is_some()),
        ("[provider.local] settle_timeout_s", local.settle_timeout_s.is_some()),
    ]);
    let mut notes = Vec::new();
    if !stated.is_empty() {
        let message = format!("without effect in a simulated run: {}", stated.join(", "));
        notes.push(without_effect(message, "They are for a database on a machine").only(Provider::Simulated));
    }
    if load.warmup.is_some() {
        let message = "warmup = \"auto\": a simulated run warms up for the whole of max_warmup_s".to_owned();
        notes.push(without_effect(message, "Simulated seconds cost nothing").only(Provider::Simulated));
    }
    notes
}

/// Whether a volume with a bucket of bytes states how that starts.
fn burst_of_bytes(file: &raw::Experiment, experiment: &Experiment) -> bool {
    let both = file.configuration.iter().zip(&experiment.configurations);
    both.into_iter().any(|(raw, checked)| {
        let raw = raw.get_ref();
        let log = raw.commitlog_volume.as_ref().zip(checked.commitlog_volume.as_ref());
        let volumes = std::iter::once((&raw.data_volume, &checked.data_volume)).chain(log);
        let states = |(raw, checked): (&Spanned<toml::Value>, &ConfiguredVolume)| {
            checked.byte_burst.is_some() && raw.get_ref().get("burst").is_some()
        };
        volumes.into_iter().any(states)
    })
}

/// A cluster that exists has its memory, its volumes and its own start behind it.
fn in_existing(file: &raw::Experiment) -> Option<Note> {
    file.target.as_ref()?.get_ref().hosts.as_ref()?;
    let local = &file.provider.local;
    let has_memory = |c: &Spanned<raw::Configuration>| c.get_ref().memory_limit_gib.is_some();
    let stated = stated([
        ("[provider.local] work_directory", local.work_directory.is_some()),
        ("[provider.local] heap_mib", local.heap_mib.is_some()),
        ("[provider.local] page_cache_mib", local.page_cache_mib.is_some()),
        ("[provider.local] burst", local.burst.is_some()),
        ("[provider.local] volumes", local.volumes.is_some()),
        (
            "[provider.local] burst_credits_start",
            local.burst_credits_start.is_some(),
        ),
        ("[provider.local] start_timeout_s", local.start_timeout_s.is_some()),
        ("[provider.local] settle_timeout_s", local.settle_timeout_s.is_some()),
        ("[load] rest_max_s", file.load.get_ref().rest_max_s.is_some()),
        ("[load] forks", file.load.get_ref().forks.is_some()),
        ("memory_limit_gib", file.configuration.iter().any(has_memory)),
        ("racks", file.configuration.iter().any(|c| c.get_ref().racks.is_some())),
    ]);
    (!stated.is_empty()).then(|| {
        let message = format!("without effect on an existing cluster: {}", stated.join(", "));
        without_effect(message, "It is measured as it stands: remove them")
    })
}

/// A level that waits for more than one replica, where there is one.
fn one_replica(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    let advice = match experiment.target.database {
        Database::Cassandra { .. } => "What it costs is measured with more nodes and replicas",
        Database::Hosts { .. } => "State `nodes` and `replication_factor` as the cluster has them",
    };
    let note = |of: OfOneReplica| {
        let whose = match of.configurations.len() == experiment.configurations.len() {
            true => String::new(),
            false => format!(" of {}", of.configurations.join(", ")),
        };
        let message = format!(
            "consistency = \"{}\"{whose}: {} of one replica is that one, as ONE is",
            of.levels.label(),
            of.above_one.join(" and ")
        );
        without_effect(message, advice)
    };
    of_one_replica(file, experiment).into_iter().map(note).collect()
}

/// Machines that are what they are: what would limit or divide them does nothing.
fn on_hosts(file: &raw::Experiment) -> Option<Note> {
    let hosts = file.provider.hosts.as_ref()?.get_ref();
    let local = &file.provider.local;
    let limits = hosts.limits.unwrap_or(false);
    let stated = stated([
        ("work_directory", local.work_directory.is_some()),
        ("page_cache_mib", !limits && local.page_cache_mib.is_some()),
        ("burst", !limits && local.burst.is_some()),
        ("volumes", !limits && local.volumes.is_some()),
        ("burst_credits_start", !limits && local.burst_credits_start.is_some()),
    ]);
    (!stated.is_empty()).then(|| {
        let message = format!("without effect on hosts: [provider.local] {}", stated.join(", "));
        let advice = "Directories are stated with each host; limits are in force with limits = true";
        without_effect(message, advice).only(Provider::Hosts)
    })
}

/// Machines of AWS are what is bought: nothing of them is divided or emulated.
fn on_aws(file: &raw::Experiment) -> Option<Note> {
    let local = &file.provider.local;
    let limits_memory = file
        .configuration
        .iter()
        .any(|c| c.get_ref().memory_limit_gib.is_some());
    let stated = stated([
        ("[provider.local] scale", local.scale.is_some()),
        ("[provider.local] work_directory", local.work_directory.is_some()),
        ("[provider.local] page_cache_mib", local.page_cache_mib.is_some()),
        ("[provider.local] burst", local.burst.is_some()),
        ("[provider.local] volumes", local.volumes.is_some()),
        (
            "[provider.local] burst_credits_start",
            local.burst_credits_start.is_some(),
        ),
        ("memory_limit_gib", limits_memory),
    ]);
    (!stated.is_empty()).then(|| {
        let message = format!("without effect on AWS: {}", stated.join(", "));
        let advice = "Machines are measured as they are bought, at full size";
        without_effect(message, advice).only(Provider::Aws)
    })
}

/// A page cache of a stated size takes the place of what memory would leave.
fn memory(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let (says, advice) = match (&file.provider.local.page_cache_mib, &file.sweep) {
        (Some(mib), _) => (
            format!(
                "page_cache_mib = {} is the page cache of every configuration",
                mib.get_ref()
            ),
            "Leave page_cache_mib out to measure what memory gives",
        ),
        (None, Some(_)) => (
            "cache_ratio of [sweep] says the page cache of every configuration".to_owned(),
            "Leave [sweep] out to measure what memory gives",
        ),
        (None, None) => return None,
    };
    let limits = |c: &Configuration| c.memory_limit_bytes;
    let differ = experiment
        .configurations
        .windows(2)
        .any(|pair| limits(&pair[0]) != limits(&pair[1]));
    let stated = file
        .configuration
        .iter()
        .any(|c| c.get_ref().memory_limit_gib.is_some());
    let (what, left) = match (differ, file.provider.local.heap_mib.is_some()) {
        (true, true) => ("the configurations differ in memory, and that has no effect", ""),
        (true, false) => (
            "the configurations differ in memory, and that has an effect",
            " on the heap alone",
        ),
        (false, true) if stated => ("memory_limit_gib has no effect", ""),
        (false, false) if stated => ("memory_limit_gib has an effect", " on the heap alone"),
        (false, _) => return None,
    };
    Some(without_effect(format!("{says}: {what}{left}"), advice))
}

/// A start of buckets that no volume takes up.
fn burst(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let local = &file.provider.local;
    let key = match (&local.burst, &local.burst_credits_start) {
        (Some(_), _) => "burst",
        (None, Some(_)) => "burst_credits_start",
        (None, None) => return None,
    };
    let states_own = |given: &Spanned<toml::Value>| given.get_ref().get("burst").is_some();
    let follows =
        |volume: &ConfiguredVolume| volume.byte_burst.is_some() && experiment.local.volumes == Emulation::Served;
    let taken = file
        .configuration
        .iter()
        .zip(&experiment.configurations)
        .any(|(raw, checked)| {
            let raw = raw.get_ref();
            let log = raw.commitlog_volume.as_ref().zip(checked.commitlog_volume.as_ref());
            std::iter::once((&raw.data_volume, &checked.data_volume))
                .chain(log)
                .any(|(raw, checked)| (checked.burst.is_some() || follows(checked)) && !states_own(raw))
        });
    (!taken).then(|| {
        let message =
            format!("[provider.local] {key} has no effect: no volume with a burst bucket leaves its start open");
        without_effect(message, "Remove it")
    })
}

/// A stated price is taken as it is.
fn basis(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let basis = file.basis.as_ref()?.get_ref();
    let stated = stated([
        ("purchase", basis.purchase.is_some()),
        ("price_date", basis.price_date.is_some()),
        ("region", basis.region.is_some()),
        ("uplift_percent", basis.uplift_percent.is_some()),
    ]);
    let own: Vec<&str> = experiment
        .configurations
        .iter()
        .filter(|c| c.price_usd_per_month.is_some())
        .map(|c| c.name.as_str())
        .collect();
    (!stated.is_empty() && !own.is_empty()).then(|| {
        let message = format!(
            "[basis] {} has no effect on {}: price_usd_per_month is taken as stated",
            stated.join(", "),
            own.join(", ")
        );
        without_effect(message, "State prices on the same basis")
    })
}

/// In a closed loop latency follows from the number of requests in flight.
fn closed_loop(experiment: &Experiment) -> Option<Note> {
    let bounded = experiment.objective.as_ref().is_some_and(|o| !o.latency.is_empty());
    let closed = |level: &&LoadLevel| matches!(level, LoadLevel::Concurrency(_));
    let level = experiment.load.levels.iter().find(closed).filter(|_| bounded)?;
    let message = format!(
        "the objective bounds latency, and load level {} is a closed loop: its mean latency is the requests in flight \
         over the throughput",
        level.slug()
    );
    Some(Note::new(
        "closed_loop_latency",
        message,
        "Give rate = [N]: latency at the load that is expected",
    ))
}

/// A queue in front of a volume with an N-th of the IOPS takes N times as long, so that a bound on latency refuses what
/// is good enough in production.
fn latency_in_a_model(experiment: &Experiment) -> Option<Note> {
    let bounded = experiment.objective.as_ref().is_some_and(|o| !o.latency.is_empty());
    let scale = experiment.local.scale;
    (bounded && scale > 1.0).then(|| {
        let message = format!(
            "the objective bounds latency at scale 1:{scale}, where a queue in front of a volume takes {scale} times as \
             long as in production"
        );
        let advice = "Bound latency at scale = 1; in a model state a demand: throughput = N";
        Note::new("latency_in_a_model", message, advice).with([("scale", scale)])
    })
}
