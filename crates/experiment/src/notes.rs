//! What can be said about an experiment before anything runs.

use std::collections::BTreeMap;

use catalog::{Catalog, IoLimits, MIB, VolumeRequest, through_cards};
use product::Lack;

use crate::note::grouped;
use crate::{
    Configuration, ConfiguredVolume, Database, ExistingCluster, Experiment, LoadLevel, NodeFaultKind, Note, Place,
    Provider, Setup, SetupAt, VolumeKind, checkpoints, cpu_share, judged, listed, local_bytes, model_notes, pricing,
    read_size, setups, versions, volume_server,
};

/// What an instance lets through may be this much below its volumes before it is worth a word: rounding in published
/// figures.
const SLACK: f64 = 0.001;
/// Less money a month, or a smaller share of the price, is not worth another choice (thresholds: ours).
const LEAST_USD: f64 = 1.0;
const LEAST_SHARE: f64 = 0.01;

/// All static remarks on an experiment; what buys nothing is priced with `catalog`. With a `provider` those on its
/// runs; without one those on any run, and on a simulated one where the file states a truth. `machine_cpus` are those
/// of this machine, where it may be the one that runs it; a run asks its host itself.
pub fn static_notes(
    catalog: &Catalog,
    experiment: &Experiment,
    provider: Option<Provider>,
    machine_cpus: Option<f64>,
) -> Vec<Note> {
    let place = &experiment.place;
    let meant = provider.or(place.truth().map(|_| Provider::Simulated));
    let concerns = |note: &&Note| note.provider.is_none() || note.provider == meant;
    let mut notes: Vec<Note> = experiment.notes.iter().filter(concerns).cloned().collect();
    notes.extend(judged::notes(&experiment.load, place.scale(), place.truth()));
    notes.extend(judged::rates_below_demand(&experiment.load, experiment.objective.as_ref()));
    notes.extend(node_faults(experiment));
    notes.extend(one_latency(experiment));
    notes.extend(loopback_of_clients(experiment));
    notes.extend(of_one_server(experiment));
    if meant != Some(Provider::Simulated) {
        notes.extend(machine_cpus.and_then(|cpus| above_machine(experiment, cpus)));
        notes.extend(machine_cpus.and_then(|cpus| volume_server::beside_databases(experiment, cpus)));
    }
    notes.extend(cpu_share::notes(experiment));
    notes.extend(model_notes::notes(experiment));
    notes.extend(before_release(experiment));
    notes.extend(checkpoints::none_in_a_trial(experiment));
    notes.extend(at_a_crash(experiment));
    notes.extend(open_to_others(experiment));
    // Nothing is emulated of a cluster that exists, and where its commit log lies is its own business.
    let exists = place.existing().is_some();
    for configuration in &experiment.configurations {
        notes.extend(configuration.volumes().filter_map(|v| above_instance(catalog, experiment, configuration, v)));
        notes.extend(together_above_instance(configuration));
        if meant == Some(Provider::Aws) || (meant.is_none() && matches!(place, Place::Bought(_))) {
            notes.extend(cards_on_aws(configuration));
        }
        notes.extend(weighted(catalog, configuration));
        notes.extend(unused_disks(catalog, configuration));
        if exists {
            continue;
        }
        notes.extend(read_size::below_iops(catalog, experiment, configuration));
        let volume = &configuration.data_volume;
        if volume.effective_limits.read_iops.is_none() && volume.effective_limits.read_bytes_per_s.is_none() {
            let words = format!("the catalog knows no limits of {}, so none are emulated", volume.label);
            let advice = "State iops and mib_per_s to emulate it";
            notes.push(Note::new("volume_without_known_limits", (&configuration.name, words), advice));
        } else {
            notes.extend(local_bytes::not_limited(place, configuration));
        }
        // RDS keeps both on one.
        let is_of_rds = matches!(volume.kind, VolumeKind::Ebs(kind) if kind.is_of_rds());
        if configuration.commitlog_volume.is_none() && !is_of_rds {
            notes.push(Note::new(
                "commitlog_on_data_volume",
                (&configuration.name, "the commit log shares the data volume"),
                "Give commitlog_volume to separate them",
            ));
        }
    }
    notes.extend(setups(experiment).iter().filter_map(|setup| fits_memory(experiment, setup)));
    grouped(notes)
}

/// A data set that is read from the page cache that a node gets, or from the memory that is stated of somebody else's.
fn fits_memory(experiment: &Experiment, setup: &Setup) -> Option<Note> {
    let budget = setup.page_cache_budget_bytes as f64;
    let (what, key, memory, advice) = match &setup.at {
        SetupAt::Shared | SetupAt::Bought { .. } => {
            ("page cache", "page_cache_budget_bytes", budget, "load more records or allow less memory")
        }
        SetupAt::Existing { .. } => {
            ("memory that is stated", "memory_bytes", setup.memory_limit_bytes as f64, "load more records")
        }
        SetupAt::Imported { .. } => return None,
    };
    // What each node holds of it.
    let share = setup.placement.share_per_node();
    let payload = share * experiment.dataset.payload_bytes() as f64 / experiment.place.scale();
    (payload <= memory && !experiment.caches.ask_for_memory()).then(|| {
        let words = format!(
            "the data set ({:.0} MiB) fits the {what} ({:.0} MiB): reads will be served from memory",
            payload / MIB,
            memory / MIB
        );
        let advice = format!("This is no test of storage; {advice}");
        let note = Note::new("data_fits_page_cache", (&setup.configuration, words), advice);
        note.with([("payload_bytes", payload), (key, memory)])
    })
}

/// Versions that are not released yet: an alpha is called one.
fn before_release(experiment: &Experiment) -> Vec<Note> {
    let Database::Started(started) = &experiment.target.database else { return Vec::new() };
    let all = versions(&started.version, experiment.configurations.iter().map(|c| &c.version));
    let each = all.into_iter().filter_map(|version| {
        let (_, stage) = version.split_once('-')?;
        let message = format!("{} {version} is no release but {stage}", started.product.title);
        Some(Note::new("before_release", message, "It may change until it is released: measure again then"))
    });
    each.collect()
}

/// Settings that are fast because a crash may cost data: no money, and not for nothing.
fn at_a_crash(experiment: &Experiment) -> Vec<Note> {
    let risks = experiment.target.database.product().reports.risks;
    let each = experiment.configurations.iter().flat_map(|c| risks.iter().map(move |risk| (c, risk)));
    let taken = each.filter(|(configuration, risk)| {
        let set = configuration.settings.keys(risk.section).get(risk.key);
        set.is_some_and(|set| set.value() == risk.value)
    });
    let advice = "It costs no money, and is not for nothing: decide whether a crash may";
    taken.map(|(of, risk)| Note::new("risk_at_a_crash", (&of.name, risk.what), advice)).collect()
}

/// Data of the user's own in a database that asks for no password.
fn open_to_others(experiment: &Experiment) -> Option<Note> {
    let own = experiment.own.as_ref()?;
    let snapshot = own.snapshot.as_ref().map(|snapshot| snapshot.place.to_string());
    let path = snapshot.or_else(|| own.replay.as_ref().map(|replay| replay.path.clone()))?;
    let message = format!(
        "data of yours in {path} come into databases that ask for no password: while a run lasts, whoever reaches \
         their CQL port reads them (on this machine every user)"
    );
    let advice = "Run it where all who reach that port may read them, or mask them before";
    Some(Note::new("own_data_open", message, advice))
}

/// Volumes of several kinds in a simulation, whose truth has one time of a request for all.
fn one_latency(experiment: &Experiment) -> Option<Note> {
    let truth = experiment.place.truth()?;
    let mut kinds: Vec<&str> = Vec::new();
    for kind in experiment.configurations.iter().map(|c| c.data_volume.kind.name()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (kinds.len() > 1).then(|| {
        let message = format!(
            "simulated volumes differ in IOPS, MiB/s and burst credits alone: a request to {} takes device_us = {} \
             without waiting",
            listed(&kinds),
            truth.device_us
        );
        Note::new("one_latency", message, "Latencies by type are in a run on this machine, where volumes are served")
    })
}

/// A contact point that is another machine for each client.
fn loopback_of_clients(experiment: &Experiment) -> Option<Note> {
    let ExistingCluster { hosts, clients, .. } = experiment.place.existing()?;
    let of_each = experiment.configurations.iter().filter_map(|c| c.hosts.as_ref());
    let is_loopback = |point: &&String| ["127.", "localhost", "[::1]"].iter().any(|start| point.starts_with(start));
    let point = of_each.chain([hosts]).flatten().find(is_loopback).filter(|_| !clients.is_empty())?;
    let message = format!("{point} is each client's own machine: {}", clients.join(", "));
    Some(Note::new(
        "loopback_of_clients",
        message,
        "State an address at which they reach the cluster, unless it is on the same machine",
    ))
}

/// What has to be known of a server that exists and is no cluster: nobody watches it, and it has a process for each
/// connection, of which it lets no more in than it is set to.
fn of_one_server(experiment: &Experiment) -> Vec<Note> {
    let product = experiment.target.database.product();
    if experiment.place.existing().is_none() || !product.lacks(Lack::Clusters) {
        return Vec::new();
    }
    let unwatched = experiment.configurations.iter().filter(|configuration| configuration.watched.is_empty());
    let unwatched = unwatched.map(|configuration| {
        let words = "its machine is not watched, and what limits it is not named";
        let advice = "Look at its CPUs and disks while a run lasts";
        Note::new("server_not_watched", (&configuration.name, words), advice)
    });
    let in_flight = experiment.load.levels.iter().filter_map(|level| match level {
        LoadLevel::Concurrency(n) => Some(*n),
        LoadLevel::Rate { .. } => None,
    });
    let connections = in_flight.max().map(|n| {
        let message = format!("each request in flight has a connection: concurrency = {n} takes {n}, and two more");
        let advice = "max_connections of the server must allow them beside those of everybody else";
        Note::new("connections_needed", message, advice).with([("concurrency", f64::from(n))])
    });
    unwatched.chain(connections).collect()
}

/// From the launch of a database to its first answer, with little CPU and a small volume, seconds: what a note leaves
/// room for. (Cassandra answered after 16 to 20 s, and after 37 s on a busy machine: docs/faults.md. The advice leaves
/// twice this.)
const START_S: f64 = 30.0;

/// What a reader of faults should know before they happen.
fn node_faults(experiment: &Experiment) -> Vec<Note> {
    let mut notes = Vec::new();
    let duration_s = experiment.load.shape.duration_s;
    for fault in &experiment.faults {
        let starts = matches!(fault.kind(), NodeFaultKind::NodeStop | NodeFaultKind::NodeKill);
        if let Some(until_s) = fault.until_s().filter(|until_s| starts && duration_s - until_s < START_S) {
            let message = format!(
                "{}: it starts again at {until_s} s, and {:.0} s of measurement are left then",
                fault.label(),
                duration_s - until_s
            );
            let advice = format!(
                "Set [load] duration_s = {} or more, to see it back: \
                 on little CPU a database takes half a minute and more to start",
                until_s + 2.0 * START_S
            );
            notes.push(Note::new("fault_near_end", message, advice));
        }
    }
    // A disk that fails leaves its node there, and so does a compaction.
    if !experiment.faults.iter().any(|fault| fault.kind().takes_node_away()) {
        return notes;
    }
    for configuration in &experiment.configurations {
        if configuration.placement.replication_factor == 1 {
            let words = "with one replica, the records of a node that is away cannot be read or written";
            notes.push(Note::new(
                "fault_without_replica",
                (&configuration.name, words),
                "State replication_factor = 3 to keep them available; errors are expected as it is",
            ));
        }
    }
    notes
}

/// Configurations that want more CPUs than this machine has: a run on it is refused.
fn above_machine(experiment: &Experiment, machine_cpus: f64) -> Option<Note> {
    let setups = setups(experiment);
    let all = |setup: &Setup| setup.cpus * f64::from(setup.placement.nodes);
    let wanting: Vec<_> = setups.iter().filter(|s| s.at.is_started() && all(s) > machine_cpus).collect();
    let most = wanting.iter().map(|setup| all(setup)).reduce(f64::max)?;
    let scale = experiment.place.scale();
    let names: Vec<_> = wanting
        .iter()
        .map(|s| match s.placement.nodes {
            1 => format!("{} {}", s.configuration, s.cpus),
            nodes => format!("{} {nodes} x {} = {}", s.configuration, s.cpus, all(s)),
        })
        .collect();
    let message = format!(
        "CPUs of the database at scale 1:{scale}: {}; this machine has {machine_cpus}, so that iopslab run refuses \
         this here",
        names.join(", ")
    );
    let enough = (most * scale / machine_cpus).ceil();
    let advice =
        format!("Set [provider.local] scale to {enough} or more, or run it on a machine with {most} CPUs or more");
    let note = Note::new("cpus_above_machine", message, advice).only(Provider::Local);
    Some(note.with([("cpus", most), ("machine_cpus", machine_cpus), ("scale_min", enough)]))
}

/// What is paid for and cannot be reached: IOPS, else bytes per second, with its price where it has one of its own.
fn above_instance(
    catalog: &Catalog,
    experiment: &Experiment,
    configuration: &Configuration,
    volume: &ConfiguredVolume,
) -> Option<Note> {
    let more = |bought: Option<f64>, reachable: Option<f64>| {
        let (bought, reachable) = (bought?, reachable?);
        (bought > reachable * (1.0 + SLACK)).then_some((bought, reachable))
    };
    let (own, effective) = (&volume.volume_limits, &volume.effective_limits);
    let iops = more(own.read_iops, effective.read_iops);
    // Throughput that comes with size or IOPS costs nothing of its own.
    let bought = volume.order.and_then(|order| order.mib_per_s);
    let bytes = bought.and_then(|_| more(own.read_bytes_per_s, effective.read_bytes_per_s));
    let machine = &configuration.instance.label;
    let for_a_while = |burst: &str| format!(", and {burst} for at least 30 minutes in 24 hours");
    if let (Some((all, reachable)), true) = (iops, is_included(volume)) {
        let burst = reached_for_a_while(catalog, configuration, (all, reachable), |path| path.read_iops);
        let more = burst.map_or_else(String::new, |burst| for_a_while(&format!("{burst:.0}")));
        let what = format!(
            "{all:.0} IOPS of {} are included in its price; {machine} lets {reachable:.0} through{more}",
            volume.label
        );
        let numbers = [("bought_iops", all), ("reachable_iops", reachable)];
        let advice = "A larger instance reaches more of them";
        return Some(Note::new("volume_above_instance", (&configuration.name, what), advice).with(numbers));
    }
    let (mut numbers, mut what, burst) = match (iops, bytes) {
        (Some((bought, reachable)), _) => (
            BTreeMap::from([("bought_iops", bought), ("reachable_iops", reachable)]),
            format!("{bought:.0} IOPS of {} bought, {reachable:.0} reachable", volume.label),
            reached_for_a_while(catalog, configuration, (bought, reachable), |path| path.read_iops)
                .map(|burst| format!("{burst:.0} IOPS")),
        ),
        (None, Some((bought, reachable))) => (
            BTreeMap::from([("bought_bytes_per_s", bought), ("reachable_bytes_per_s", reachable)]),
            format!("{:.0} MiB/s of {} bought, {:.0} reachable", bought / MIB, volume.label, reachable / MIB),
            reached_for_a_while(catalog, configuration, (bought, reachable), |path| path.read_bytes_per_s)
                .map(|burst| format!("{:.0} MiB/s", burst / MIB)),
        ),
        (None, None) => return None,
    };
    what += &match &burst {
        None => format!(" through {machine}"),
        Some(burst) => format!(" sustained through {machine}{}", for_a_while(burst)),
    };
    // What is reached for a while is not nothing.
    let nothing = if burst.is_some() { "nothing that lasts" } else { "nothing" };
    let mut advice = "Choose a larger instance or a slower volume".to_owned();
    match wasted(catalog, experiment, configuration, volume) {
        Some(Wasted { usd, all, .. }) if usd < LEAST_USD || usd < all * LEAST_SHARE => {
            let little = match usd < LEAST_USD {
                true => format!("less than {LEAST_USD} USD a month"),
                false => format!("{usd:.2} USD a month, less than {} % of the price", LEAST_SHARE * 100.0),
            };
            advice = format!("It costs {little}, but what is stated is not what is measured");
        }
        Some(Wasted { usd, parts, .. }) => {
            numbers.insert("wasted_usd_per_month", usd);
            what += &format!(": {usd:.2} USD a month");
            if let Some([iops, throughput]) = parts {
                what += &format!(" ({iops:.2} for IOPS, {throughput:.2} for MiB/s)");
            }
            what += &format!(" buy {nothing}");
        }
        None => what += &format!(": the rest buys {nothing}"),
    }
    Some(Note::new("volume_above_instance", (&configuration.name, what), advice).with(numbers))
}

/// Whether IOPS and throughput come with the volume's size.
fn is_included(volume: &ConfiguredVolume) -> bool {
    volume.order.is_some_and(|order| order.iops.is_none() && order.mib_per_s.is_none())
}

/// What of `bought` the instance lets through for at least 30 minutes in 24 hours; `None`: no more than at all times.
fn reached_for_a_while(
    catalog: &Catalog,
    configuration: &Configuration,
    (bought, reachable): (f64, f64),
    of: impl Fn(IoLimits) -> Option<f64>,
) -> Option<f64> {
    let instance = &configuration.instance;
    // A weighted path has another burst than the catalog's.
    let is_plain = instance.from_catalog && instance.bandwidth_weighting.is_none();
    let machine = catalog.instance(&instance.label).filter(|_| is_plain)?;
    let (baseline, burst) = (of(machine.ebs_limits())?, of(machine.ebs_burst_limits())?);
    // Where something else than its path is the limit, a burst of the path does not help.
    (baseline <= reachable * (1.0 + SLACK) && burst > baseline).then(|| burst.min(bought))
}

/// Money for what cannot be reached at all times, USD a month.
struct Wasted {
    usd: f64,
    /// Its parts for IOPS and for MiB/s, where both have one.
    parts: Option<[f64; 2]>,
    /// What nodes and volumes cost.
    all: f64,
}

/// The difference in price to a volume of no more than what can be reached; `None` where that costs nothing of its own.
fn wasted(
    catalog: &Catalog,
    experiment: &Experiment,
    configuration: &Configuration,
    volume: &ConfiguredVolume,
) -> Option<Wasted> {
    let bought = volume.order?;
    let least = |bought: Option<f64>, reachable: Option<f64>| Some(bought?.min(reachable?.ceil()));
    let effective = &volume.effective_limits;
    let enough = VolumeRequest {
        iops: least(bought.iops, effective.read_iops).or(bought.iops),
        mib_per_s: least(bought.mib_per_s, effective.read_bytes_per_s.map(|bytes| bytes / MIB)).or(bought.mib_per_s),
        ..bought
    };
    let usd = |order| pricing::with_data_volume(catalog, experiment, configuration, volume.count, order);
    let all = usd(bought)?;
    // Whole cents: differences of binary fractions are not.
    let cents = |order: VolumeRequest| usd(order).map(|usd| ((all - usd) * 100.0).round());
    let both = cents(enough)?;
    let of_iops = cents(VolumeRequest { mib_per_s: bought.mib_per_s, ..enough });
    let of_each = of_iops.filter(|of_iops| *of_iops >= 1.0 && both - of_iops >= 1.0);
    let parts = of_each.map(|of_iops| [of_iops / 100.0, (both - of_iops) / 100.0]);
    (both >= 1.0).then_some(Wasted { usd: both / 100.0, parts, all })
}

/// Each of several volumes fits the instance's path, but not all of them at the same time.
fn together_above_instance(configuration: &Configuration) -> Option<Note> {
    let ceiling = configuration.instance.card_limits().read_iops?;
    let count = configuration.data_volume.count;
    let of_each = |volume: &ConfiguredVolume| volume.order.and(volume.effective_limits.read_iops);
    let all = configuration.volumes().flat_map(|volume| std::iter::repeat_n(volume, volume.count as usize));
    let each: Option<Vec<f64>> = all.map(of_each).collect();
    let each = each?;
    let together: f64 = each.iter().sum();
    // With cards: what those of each let through.
    let reachable = match configuration.instance.ebs_cards {
        None => ceiling,
        Some(_) => through_cards(configuration.cards().into_iter().zip(each), ceiling),
    };
    let is_alone = count == 1 && configuration.commitlog_volume.is_none();
    (!is_alone && together > reachable * (1.0 + SLACK)).then(|| {
        let who = match (count, &configuration.commitlog_volume) {
            (1, _) => "data and commit log".to_owned(),
            (n, None) => format!("{n} data volumes"),
            (n, Some(_)) => format!("{n} data volumes and commit log"),
        };
        let words = format!(
            "{who} could do {together:.0} IOPS together, {} lets {reachable:.0} through",
            configuration.instance.label
        );
        let advice = match count {
            1 => "They are emulated apart; on AWS they share the instance's path",
            _ => "They share the instance's path: what they could do beyond it is not to be had",
        };
        let numbers = [("bought_iops", together), ("reachable_iops", reachable)];
        Note::new("volumes_above_instance", (&configuration.name, words), advice).with(numbers)
    })
}

/// Terraform's provider attaches all volumes to the first of several EBS cards.
fn cards_on_aws(configuration: &Configuration) -> Option<Note> {
    let cards = configuration.instance.ebs_cards?;
    let is_ebs = |volume: &ConfiguredVolume| matches!(volume.kind, VolumeKind::Ebs(_));
    configuration.volumes().any(is_ebs).then(|| {
        let one = configuration.instance.card_limits().read_iops.unwrap_or_default();
        let words = format!(
            "{} has {} EBS cards, and ebs_card_index is not set on AWS: all of its volumes are on card 0, which lets \
             {one:.0} IOPS through",
            configuration.instance.label, cards.count
        );
        let advice = "Terraform's AWS provider, 5 and 6, has no such attribute; \
                      the rest of the path is paid and not measured there";
        let note = Note::new("ebs_card_not_set", (&configuration.name, words), advice);
        note.only(Provider::Aws).with([("card_iops", one)])
    })
}

/// What bandwidth weighting changes.
fn weighted(catalog: &Catalog, configuration: &Configuration) -> Option<Note> {
    let weighting = configuration.instance.bandwidth_weighting?;
    let plain = catalog.instance(&configuration.instance.label)?;
    let said = plain.weighted(weighting).ok()?.weighted_from(plain)?;
    let advice = "Its network is not emulated: what clients and replicas lose is measured on real machines alone";
    Some(Note::new("bandwidth_weighting", (&configuration.name, said), advice))
}

/// Local disks are part of an instance's price.
fn unused_disks(catalog: &Catalog, configuration: &Configuration) -> Option<Note> {
    let instance = catalog.instance(&configuration.instance.label).filter(|_| configuration.instance.from_catalog)?;
    let disks = instance.local_disks.as_ref()?;
    configuration.volumes().all(|volume| volume.order.is_some()).then(|| {
        let words = format!("the price of {} includes {}, which nothing uses", instance.name, disks.label());
        let advice = "Put data or commit log on \"local\", or choose a type without local disks";
        let note = Note::new("local_disks_unused", (&configuration.name, words), advice);
        note.with([("local_disks_gb", disks.total_gb())])
    })
}
