//! What the file states and nothing would follow: reported, so that nothing is ignored in silence. What contradicts
//! itself is a mistake instead, beside the check of its own key.

use super::behaviour;
use super::consistency::{OfOneReplica, of_one_replica};
use super::only;
use crate::spanned::Form;
use crate::{Configuration, ConfiguredVolume, Database, Experiment, LoadLevel, Note, Provider, raw};

/// The notes on keys without effect.
pub(super) fn notes(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    let mut notes = in_simulation(file, experiment);
    if file.provider.simulated.is_some() {
        let why = "[provider.simulated] has no effect in a run on this machine".to_owned();
        notes.push(without_effect(why, "It is for: iopslab run --provider simulated").only(Provider::Local));
    }
    notes.extend(on_hosts(file));
    notes.extend(machines_of_caches(file));
    notes.extend(on_aws(file));
    notes.extend(heap_on_aws(file, experiment));
    notes.extend(in_existing(file));
    notes.extend(one_replica(file, experiment));
    notes.extend(memory(file, experiment));
    notes.extend(stated_memory(file, experiment));
    notes.extend(burst(file, experiment));
    notes.extend(time_to_live(experiment));
    notes.extend(basis(file, experiment));
    notes.extend(closed_loop(experiment));
    notes.extend(latency_in_a_model(experiment));
    notes
}

fn without_effect(message: String, advice: &'static str) -> Note {
    Note::new("key_without_effect", message, advice)
}

/// Keys that are stated and do nothing in some run.
fn none_of(stated: Vec<String>, run: &str, advice: &'static str) -> Option<Note> {
    (!stated.is_empty()).then(|| without_effect(format!("without effect {run}: {}", stated.join(", ")), advice))
}

fn stated<const N: usize>(keys: [(&str, bool); N]) -> Vec<String> {
    keys.into_iter().filter(|(_, is_stated)| *is_stated).map(|(key, _)| key.to_owned()).collect()
}

/// Those of these keys of `[provider.local]` that are stated.
fn of_local<const N: usize>(local: &raw::Local, keys: [&str; N]) -> Vec<String> {
    let is_stated = |key: &&str| match *key {
        "scale" => local.scale.is_some(),
        "work_directory" => local.work_directory.is_some(),
        "page_cache_mib" => local.page_cache_mib.is_some(),
        "page_cache" => local.page_cache.is_some(),
        "heap_mib" => local.heap_mib.is_some(),
        "volumes" => local.volumes.is_some(),
        "burst" => local.burst.is_some(),
        "burst_credits_start" => local.burst_credits_start.is_some(),
        "start_timeout_s" => local.start_timeout_s.is_some(),
        _ => local.settle_timeout_s.is_some(),
    };
    keys.into_iter().filter(is_stated).map(|key| format!("[provider.local] {key}")).collect()
}

/// Each volume of the file, with what it was read as.
pub(super) fn volumes<'f>(
    file: &'f raw::Experiment,
    experiment: &'f Experiment,
) -> impl Iterator<Item = (&'f Form<raw::LocalWord, raw::Volume>, &'f ConfiguredVolume)> {
    only::with_raw(file, &experiment.configurations).flat_map(|(raw, checked)| {
        let log = raw.commitlog_volume.as_ref().zip(checked.commitlog_volume.as_ref());
        std::iter::once((&raw.data_volume, &checked.data_volume)).chain(log)
    })
}

/// A simulation has no Cassandra, no Java and no directory.
fn in_simulation(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    // How many replicas a request asks is simulated; with one of them all levels are the same.
    let mut placements = experiment.configurations.iter().map(|c| c.placement);
    let is_one = placements.all(|placement| placement.replication_factor == 1);
    let target = |is_stated: fn(&raw::Target) -> bool| file.target.as_deref().is_some_and(is_stated);
    let (load, local) = (&file.load, &file.provider.local);
    let has_burst = |(raw, checked): (&Form<raw::LocalWord, raw::Volume>, &ConfiguredVolume)| {
        checked.byte_burst.is_some() && raw.get("burst").is_some()
    };
    let stated = [
        stated([
            ("[load] rest_max_s", load.rest_max_s.is_some()),
            ("[load] forks", load.forks.is_some()),
            ("[target] database", target(|t| t.database.is_some())),
            ("[target] version", target(|t| t.version.is_some())),
            ("[dataset.store]", file.dataset.store.is_some()),
            ("[target] consistency", is_one && target(|t| t.consistency.is_some())),
            ("[load] request_timeout_s", load.request_timeout_s.is_some()),
        ]),
        of_local(local, ["work_directory", "heap_mib", "volumes"]),
        stated([
            ("latency_us, latency_sigma and combined of volumes", behaviour::is_any(file)),
            ("burst of st1 and sc1 volumes", volumes(file, experiment).any(has_burst)),
        ]),
        of_local(local, ["start_timeout_s", "settle_timeout_s"]),
    ];
    let keys = none_of(stated.concat(), "in a simulated run", "They are for a database on a machine");
    let warmup = load.warmup.as_ref().map(|_| {
        let message = "warmup = \"auto\": a simulated run warms up for the whole of max_warmup_s".to_owned();
        without_effect(message, "Simulated seconds cost nothing")
    });
    keys.into_iter().chain(warmup).map(|note| note.only(Provider::Simulated)).collect()
}

/// A cluster that exists has its memory, its volumes and its own start behind it.
fn in_existing(file: &raw::Experiment) -> Option<Note> {
    file.existing()?;
    let mut keys = of_local(
        &file.provider.local,
        [
            "work_directory",
            "heap_mib",
            "page_cache_mib",
            "page_cache",
            "burst",
            "volumes",
            "burst_credits_start",
            "start_timeout_s",
            "settle_timeout_s",
        ],
    );
    keys.extend(stated([
        ("[load] rest_max_s", file.load.rest_max_s.is_some()),
        ("[load] forks", file.load.forks.is_some()),
        ("[dataset] stands_for_records", file.dataset.stands_for_records.is_some()),
        ("memory_limit_gib", limits_memory(file)),
        ("racks", file.configuration.iter().any(|c| c.racks.is_some())),
        ("ebs_cards", file.configuration.iter().any(|c| c.ebs_cards.is_some())),
    ]));
    none_of(keys, "on an existing cluster", "It is measured as it stands: remove them")
}

fn limits_memory(file: &raw::Experiment) -> bool {
    file.configuration.iter().any(|c| c.memory_limit_gib.is_some())
}

/// A level that waits for more than one replica, where there is one.
fn one_replica(file: &raw::Experiment, experiment: &Experiment) -> Vec<Note> {
    let advice = match experiment.target.database {
        Database::Started(_) => "What it costs is measured with more nodes and replicas",
        Database::Existing(_) => "State `nodes` and `replication_factor` as the cluster has them",
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
    let hosts = file.provider.hosts.as_ref()?;
    let local = &file.provider.local;
    let mut keys = of_local(local, ["work_directory"]);
    if !hosts.limits.unwrap_or(false) {
        keys.extend(of_local(local, ["page_cache_mib", "page_cache", "burst", "volumes", "burst_credits_start"]));
        keys.extend(stated([("ebs_cards", file.configuration.iter().any(|c| c.ebs_cards.is_some()))]));
    }
    let advice = "Directories are stated with each host; limits are in force with limits = true";
    Some(none_of(keys, "on hosts", advice)?.only(Provider::Hosts))
}

/// Machines for caches that no configuration has.
fn machines_of_caches(file: &raw::Experiment) -> Option<Note> {
    let named = file.provider.hosts.as_ref()?.cache.is_some();
    let is_unused = named && file.configuration.iter().all(|c| c.cache_tier.is_none());
    is_unused.then(|| {
        let message = "[provider.hosts] cache has no effect: no configuration has a cache_tier".to_owned();
        without_effect(message, "Remove it, or give a configuration a cache_tier").only(Provider::Hosts)
    })
}

/// Machines of AWS are what is bought: nothing of them is divided or emulated.
fn on_aws(file: &raw::Experiment) -> Option<Note> {
    let keys = ["scale", "work_directory", "page_cache_mib", "page_cache", "burst", "volumes", "burst_credits_start"];
    let mut keys = of_local(&file.provider.local, keys);
    keys.extend(stated([("memory_limit_gib", limits_memory(file))]));
    let advice = "Machines are measured as they are bought, at full size";
    Some(none_of(keys, "on AWS", advice)?.only(Provider::Aws))
}

/// A heap that was stated for a model is obeyed there too, whatever memory is bought.
fn heap_on_aws(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let stated_mib = **file.provider.local.heap_mib.as_ref()?;
    let plan = experiment.target.database.product().memory.plan;
    let own_mib = |c: &Configuration| plan(c.instance.memory_bytes as f64, 1.0, None).main_bytes / catalog::MIB;
    let others = experiment.configurations.iter().filter(|c| (own_mib(c) - stated_mib).abs() >= 1.0);
    let others: Vec<String> = others.map(|c| format!("{} {:.0}", c.name, own_mib(c))).collect();
    (!others.is_empty()).then(|| {
        let message = format!(
            "heap_mib = {stated_mib} of [provider.local] is the heap on AWS, too; by memory it would be, MiB: {}",
            others.join(", ")
        );
        let advice = "Remove heap_mib for a run on AWS, unless that is the heap in production";
        Note::new("heap_of_a_model", message, advice).only(Provider::Aws)
    })
}

/// A page cache of a stated size, and what to do where memory is to give it.
fn stated_page_cache(file: &raw::Experiment) -> Option<(String, &'static str)> {
    match (&file.provider.local.page_cache_mib, &file.sweep) {
        (Some(mib), _) => Some((
            format!("page_cache_mib = {mib} is the page cache of every configuration"),
            "Leave page_cache_mib out to measure what memory gives",
        )),
        (None, Some(_)) => Some((
            "cache_ratio of [sweep] says the page cache of every configuration".to_owned(),
            "Leave [sweep] out to measure what memory gives",
        )),
        (None, None) => None,
    }
}

/// It is not made smaller by what a setting gives to the database itself, which then has more memory than it was to
/// have.
fn stated_memory(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let (says, advice) = stated_page_cache(file)?;
    let product = experiment.target.database.product();
    let stated = |c: &Configuration| product.memory.stated_bytes(&c.settings);
    let differ = experiment.configurations.windows(2).any(|pair| stated(&pair[0]) != stated(&pair[1]));
    differ.then(|| {
        let key = product.reports.main_memory;
        let message =
            format!("{says}: the configurations differ in {key}, which is memory beside it and takes nothing from it");
        Note::new("memory_beside_page_cache", message, advice)
    })
}

/// A page cache of a stated size takes the place of what memory would leave.
fn memory(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let (says, advice) = stated_page_cache(file)?;
    let limits = |c: &Configuration| c.memory_limit_bytes;
    let differ = experiment.configurations.windows(2).any(|pair| limits(&pair[0]) != limits(&pair[1]));
    let stated = limits_memory(file);
    let left = format!(" on the {} alone", experiment.target.database.product().reports.main_memory.to_lowercase());
    let (what, left) = match (differ, file.provider.local.heap_mib.is_some()) {
        (true, true) => ("the configurations differ in memory, and that has no effect", ""),
        (true, false) => ("the configurations differ in memory, and that has an effect", left.as_str()),
        (false, true) if stated => ("memory_limit_gib has no effect", ""),
        (false, false) if stated => ("memory_limit_gib has an effect", left.as_str()),
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
    let follows = |volume: &ConfiguredVolume| volume.byte_burst.is_some() && experiment.place.serves_volumes();
    let taken = volumes(file, experiment)
        .any(|(raw, checked)| (checked.burst.is_some() || follows(checked)) && raw.get("burst").is_none());
    (!taken).then(|| {
        let message =
            format!("[provider.local] {key} has no effect: no volume with a burst bucket leaves its start open");
        without_effect(message, "Remove it")
    })
}

/// A time to live that is longer than what a trial can show. Time is not divided by the scale.
fn time_to_live(experiment: &Experiment) -> Option<Note> {
    let longest_s = experiment.load.shape.longest_s();
    let tiers = experiment.configurations.iter().filter_map(|c| Some((c.name.as_str(), c.cache_tier.as_ref()?)));
    let unseen = tiers.filter(|(_, tier)| tier.ttl_s.is_some_and(|ttl_s| f64::from(ttl_s) >= longest_s));
    let names: Vec<&str> = unseen.map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| {
        let message = format!(
            "ttl_s has no effect in trials of {}: a cache is filled and measured within {longest_s:.0} s, so that \
             nothing expires and the hit ratio is that without a ttl",
            names.join(", ")
        );
        without_effect(message, "Remove it; or measure for longer than it")
    })
}

/// A stated price is taken as it is.
fn basis(file: &raw::Experiment, experiment: &Experiment) -> Option<Note> {
    let basis = file.basis.as_ref()?;
    let stated = stated([
        ("purchase", basis.purchase.is_some()),
        ("price_date", basis.price_date.is_some()),
        ("region", basis.region.is_some()),
        ("uplift_percent", basis.uplift_percent.is_some()),
    ]);
    let own = experiment.configurations.iter().filter(|c| c.price_usd_per_month.is_some());
    let own: Vec<&str> = own.map(|c| c.name.as_str()).collect();
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
    Some(Note::new("closed_loop_latency", message, "Give rate = [N]: latency at the load that is expected"))
}

/// A queue in front of a volume with an N-th of the IOPS takes N times as long, so that a bound on latency refuses what
/// is good enough in production.
fn latency_in_a_model(experiment: &Experiment) -> Option<Note> {
    let bounded = experiment.objective.as_ref().is_some_and(|o| !o.latency.is_empty());
    let scale = experiment.place.scale();
    (bounded && scale > 1.0).then(|| {
        let said = match experiment.load.find {
            Some(_) => "what is found to be carried is the least that production carries".to_owned(),
            None => format!("what misses it by less than a factor of {scale} is not decided"),
        };
        let message = format!(
            "the objective bounds latency at scale 1:{scale}, where a queue in front of a volume takes {scale} times \
             as long as in production: {said}"
        );
        let advice = "Bound latency at scale = 1; in a model state a demand: throughput = N";
        Note::new("latency_in_a_model", message, advice).with([("scale", scale)])
    })
}
