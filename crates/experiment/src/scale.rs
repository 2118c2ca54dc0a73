//! The 1:N model: what a configuration becomes on the machine that rehearses it.
//!
//! Divided by `scale`: IOPS, bytes per second, burst buckets, CPUs (by their speed), volume sizes, the page-cache
//! budget, records, operations and rates. Not divided: concurrency, record size, the time of one I/O, and the heap's
//! floor. So *ratios* between configurations can be rehearsed, but for what fewer zipfian keys miss of the page cache
//! (`model_misses`); latencies under a saturated volume grow by N at the same concurrency.

use catalog::{Burst, ByteBurst, GIB, IoLimits, VolumeType};

use crate::checkpoints::{LOG_ROOM, stated_log_bytes};
use crate::cpu_share::{LEAST_CPUS, Speeds};
use crate::placement::first_hosts;
use crate::{
    COMMITLOG_BYTES, Configuration, ConfiguredVolume, Dataset, Experiment, Model, Place, ServedAs, Setup, SetupAt,
    Setups, VolumeKind, VolumeRole, VolumeSetup,
};

/// Smallest page-cache budget: below it the kernel reclaims executable pages and nothing is measured but thrashing.
pub(crate) const LEAST_PAGE_CACHE: f64 = 64.0 * catalog::MIB;

/// Every configuration as the experiment's place has it, in the order of the file.
pub fn setups(experiment: &Experiment) -> Setups {
    let dataset = scaled_dataset(experiment);
    let speeds = Speeds::of(experiment);
    let names = experiment.configurations.iter().map(|c| c.name.as_str());
    let shared = experiment.place.aws().map(|aws| aws.shared(names)).unwrap_or_default();
    let first_of = |nodes: &dyn Fn(&Configuration) -> u32| {
        let shared = shared.iter().copied().chain(std::iter::repeat(None));
        first_hosts(experiment.configurations.iter().map(nodes).zip(shared))
    };
    let firsts = first_of(&|c| c.placement.nodes).into_iter().zip(first_of(&Configuration::cache_nodes));
    let each = experiment.configurations.iter().zip(firsts).map(|(configuration, (first_host, first_cache))| {
        let mut setup = setup(&configuration.attached_for(experiment), experiment, &dataset, speeds.as_ref());
        match &experiment.place {
            // The setups of an import are made with its plan (`imported.rs`), of nothing that an experiment states.
            Place::Emulated { .. } | Place::Simulated { .. } | Place::Imported => {}
            // Nobody holds its volumes to anything.
            Place::AsIs(_) => setup.volumes_mut().for_each(|volume| {
                (volume.limits, volume.own_limits, volume.burst) = (IoLimits::default(), None, None);
            }),
            Place::Bought(aws) => {
                let batch = aws.batch_of(&setup.configuration).unwrap_or_default();
                setup.at = SetupAt::Bought { first_host, first_cache, batch };
                // A new volume has all of its credits.
                for burst in setup.volumes_mut().filter_map(|volume| volume.burst.as_mut()) {
                    burst.credits_start = burst.credits_max;
                }
            }
            Place::Existing(cluster) => {
                setup.at = SetupAt::Existing {
                    contact_points: configuration.hosts.as_ref().unwrap_or(&cluster.hosts).clone(),
                    watched: configuration.watched.clone(),
                };
            }
        }
        setup
    });
    Setups::new(each.collect())
}

/// Configurations without limits, once the machines are known: each configuration has all CPUs and all memory of the
/// smallest of them, and the page cache what its database leaves. `Err` names a configuration whose heap leaves
/// nothing, with what its database takes, bytes.
pub fn use_whole_machines(setups: &mut [Setup], cpus: f64, memory_bytes: u64) -> Result<(), (String, u64)> {
    for setup in setups {
        // What is not page cache is the database's.
        let own = setup.memory_limit_bytes - setup.page_cache_budget_bytes;
        let left = memory_bytes.checked_sub(own).filter(|left| *left as f64 >= LEAST_PAGE_CACHE);
        let left = left.ok_or_else(|| (setup.configuration.clone(), own))?;
        (setup.cpus, setup.stands_for) = (cpus, None);
        (setup.memory_limit_bytes, setup.page_cache_budget_bytes) = (memory_bytes, left);
    }
    Ok(())
}

/// The same of the machines that are for caches: a node of a tier has all CPUs of one.
pub fn use_whole_cache_machines(setups: &mut [Setup], cpus: f64) {
    setups.iter_mut().filter_map(|setup| setup.cache_tier.as_mut()).for_each(|tier| tier.cpus = cpus);
}

/// The data set with its records divided by the scale.
pub(crate) fn scaled_dataset(experiment: &Experiment) -> Dataset {
    if let Some(own) = &experiment.own {
        return Dataset::of_own(&own.scaled(experiment.place.scale()));
    }
    let records = (experiment.dataset.records as f64 / experiment.place.scale()).round().max(1.0) as u64;
    Dataset { records, ..experiment.dataset }
}

fn setup(configuration: &Configuration, experiment: &Experiment, dataset: &Dataset, speeds: Option<&Speeds>) -> Setup {
    let place = &experiment.place;
    let Model { scale, page_cache_bytes, .. } = place.model();
    let path = configuration.instance.card_limits();
    let cards = configuration.cards();
    let product = experiment.target.database.product();
    let (rules, limit) = (&product.memory, configuration.memory_limit_bytes);
    let settings = &configuration.settings;
    // A heap is stated of the model, a setting of full scale.
    let heap = experiment.heap_bytes.map(|bytes| bytes as f64);
    let main = heap.or_else(|| rules.stated_bytes(settings).map(|bytes| bytes / scale));
    let node = (rules.plan)(limit as f64, scale, main);
    let full_cache = rules.page_cache_bytes(limit, settings).unwrap_or(0.0);
    // What each node holds of the data set.
    let at_rest = dataset.payload_bytes() as f64 * configuration.placement.share_per_node();
    let backlog = configuration.backlog.map(|backlog| backlog.of(dataset.records));
    let payload = at_rest * backlog.map_or(1.0, |backlog| backlog.growth(dataset.records));
    let budget = page_cache_bytes.map_or_else(|| (full_cache / scale).max(LEAST_PAGE_CACHE), |b| b as f64);
    let stands_for = speeds.map(|speeds| speeds.share_of(&configuration.instance));
    let data_volume = &configuration.data_volume;
    let data_cards = &cards[..data_volume.count as usize];
    let data = |role: VolumeRole, card: Option<u32>| {
        // Those that share a path with it, itself among them.
        let beside = data_cards.iter().filter(|other| **other == card).count();
        let data_path = path_of_each(path, beside as u32, place);
        VolumeSetup { card, ..volume(data_volume, role, place, payload, data_path) }
    };
    let mut each = VolumeRole::DATA.into_iter().zip(data_cards.iter().copied());
    let first = each.next().unwrap_or((VolumeRole::Data, None));
    Setup {
        configuration: configuration.name.clone(),
        cpus: stands_for
            .as_ref()
            .map_or_else(|| (configuration.instance.vcpus / scale).max(LEAST_CPUS), |share| share.cpus(scale)),
        stands_for,
        heap_bytes: node.main_bytes as u64,
        direct_memory_bytes: node.buffer_bytes as u64,
        key_cache_bytes: node.key_cache_bytes as u64,
        memory_limit_bytes: (node.main_bytes + node.buffer_bytes + rules.process_bytes + budget) as u64,
        page_cache_budget_bytes: budget as u64,
        data: data(first.0, first.1),
        more_data: each.map(|(role, card)| data(role, card)).collect(),
        layout: data_volume.layout,
        commitlog_bytes: stated_log_bytes(product, settings, scale),
        commitlog: configuration.commitlog_volume.as_ref().map(|v| VolumeSetup {
            card: cards.last().copied().flatten(),
            ..volume(v, VolumeRole::Commitlog, place, payload, path)
        }),
        instance_limits: shared_path(configuration, &cards, place),
        placement: configuration.placement,
        at: SetupAt::Shared,
        version: configuration.version.clone(),
        consistency: configuration.consistency,
        settings: settings.clone(),
        backlog,
        cache_tier: configuration.cache_tier.as_ref().map(|tier| {
            let share = speeds.map(|speeds| speeds.share(&tier.instance, tier.vcpus, tier.cpu_speed));
            tier.at(scale, share.map_or(tier.vcpus, |share| share.worth()))
        }),
    }
}

/// What served volumes of EBS share on their way to the instance. A volume given by its limits is not behind it.
fn shared_path(configuration: &Configuration, cards: &[Option<u32>], place: &Place) -> Option<IoLimits> {
    let of_ebs = configuration.volumes().filter(|volume| matches!(volume.kind, VolumeKind::Ebs(_)));
    let path = configuration.instance.card_limits();
    let do_share = match configuration.instance.ebs_cards {
        None => of_ebs.map(|volume| volume.count).sum::<u32>() > 1,
        Some(_) => cards.iter().flatten().any(|card| cards.iter().flatten().filter(|other| *other == card).count() > 1),
    };
    // Those of a cluster that exists share what is real.
    let is_shared = do_share && (place.serves_volumes() || place.existing().is_some());
    (is_shared && path != IoLimits::default()).then(|| path.scaled(place.scale()))
}

/// What the instance lets through to each of so many data volumes: served ones share it as the real ones do; nothing
/// shares the kernel's throttle over several devices, nor a simulation, so that there each has an equal part.
fn path_of_each(path: IoLimits, count: u32, place: &Place) -> IoLimits {
    if place.serves_volumes() { path } else { path.scaled(f64::from(count)) }
}

/// Device sizes are scaled too, but never below what the run itself needs; images are sparse, so size costs nothing.
fn volume(
    volume: &ConfiguredVolume,
    role: VolumeRole,
    place: &Place,
    payload_bytes: f64,
    path: IoLimits,
) -> VolumeSetup {
    let (scale, is_served) = (place.scale(), place.serves_volumes());
    let least = match role {
        // The pristine copy, the live copy after updates, and compaction's working space.
        role if role.is_data() => GIB.max(5.0 * payload_bytes),
        // One whose space is stated has as much of it at full scale, or is refused.
        _ => LOG_ROOM * COMMITLOG_BYTES as f64,
    };
    let byte_burst = volume.byte_burst.filter(|_| is_served);
    // The kernel's throttle holds reads and writes apart; a simulation knows how EBS does it.
    let is_obeyed = is_served || (place.is_simulated() && matches!(volume.kind, VolumeKind::Ebs(_)));
    // While credits last.
    let ceiling = |limits: IoLimits| match byte_burst.map(|bucket| Some(bucket.burst_bytes_per_s)) {
        Some(bytes) => IoLimits { read_bytes_per_s: bytes, write_bytes_per_s: bytes, ..limits },
        None => limits,
    };
    let limits = match (byte_burst, volume.kind) {
        (Some(_), _) => ceiling(volume.effective_limits).min(path),
        (None, VolumeKind::Ebs(_)) => volume.effective_limits.min(path),
        (None, _) => volume.effective_limits,
    };
    VolumeSetup {
        role,
        label: volume.label.clone(),
        size_bytes: (volume.size_bytes as f64 / scale).max(least) as u64,
        limits: limits.scaled(scale),
        own_limits: Some(ceiling(volume.volume_limits).scaled(scale)),
        burst: effective_burst(volume, limits).map(|b| b.scaled(scale)),
        byte_burst: byte_burst.map(|b| under(b, limits).scaled(scale)),
        is_local: volume.kind == VolumeKind::Local,
        served: is_served.then(|| served_as(volume)),
        combined: is_obeyed.then(|| is_combined(volume)),
        card: None,
    }
}

/// What a volume is to whom it answers. One that is given by its limits alone has the time that is stated of it.
fn served_as(volume: &ConfiguredVolume) -> ServedAs {
    let latency = |of| Some(catalog::latency_of(of).latency);
    ServedAs {
        latency: match volume.kind {
            VolumeKind::Ebs(of) => latency(Some(of)),
            VolumeKind::Local => latency(None),
            VolumeKind::Explicit => volume.latency,
        },
        is_hard_disk: matches!(volume.kind, VolumeKind::Ebs(VolumeType::St1 | VolumeType::Sc1 | VolumeType::Standard)),
    }
}

/// Whether reads and writes share its limits. Those of an instance's own disks are stated apart (EC2 user guide,
/// "Instance store").
fn is_combined(volume: &ConfiguredVolume) -> bool {
    match volume.kind {
        VolumeKind::Ebs(_) => true,
        VolumeKind::Local => false,
        VolumeKind::Explicit => !volume.limits_apart,
    }
}

/// The bucket under the instance's cap: an instance slower than the burst ceiling slows the spending, too.
fn effective_burst(volume: &ConfiguredVolume, limits: IoLimits) -> Option<Burst> {
    let cap = limits.read_iops.unwrap_or(f64::INFINITY);
    volume.burst.map(|burst| Burst {
        burst_iops: burst.burst_iops.min(cap),
        baseline_iops: burst.baseline_iops.min(cap),
        ..burst
    })
}

/// The same of a bucket of bytes.
fn under(bucket: ByteBurst, limits: IoLimits) -> ByteBurst {
    let cap = limits.read_bytes_per_s.unwrap_or(f64::INFINITY);
    ByteBurst {
        baseline_bytes_per_s: bucket.baseline_bytes_per_s.min(cap),
        burst_bytes_per_s: bucket.burst_bytes_per_s.min(cap),
        ..bucket
    }
}
