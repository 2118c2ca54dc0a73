//! The 1:N model: what a configuration becomes on the machine that rehearses it.
//!
//! Divided by `scale`: IOPS, bytes per second, burst buckets, CPUs (by their speed), volume sizes, the page-cache
//! budget, records, operations and rates. Not divided: concurrency, record size, the time of one I/O, and the heap's
//! floor. So *ratios* between configurations can be rehearsed; latencies under a saturated volume grow by N at the same
//! concurrency.

use catalog::{Burst, ByteBurst, GIB, IoLimits, VolumeType};

use crate::cpu_share::{LEAST_CPUS, Speeds};
use crate::placement::first_hosts;
use crate::{
    Configuration, ConfiguredVolume, Database, Dataset, Emulation, Experiment, LocalSettings, ServedAs, Setup, Setups,
    VolumeKind, VolumeRole, VolumeSetup,
};

/// The JVM's own memory besides heap and direct buffers: code, metaspace, threads, GC structures. Cassandra 5.0 with a
/// 1 GiB heap and 256 MiB of direct memory was measured at about 1.5 GB resident.
const NATIVE_BYTES: f64 = 512.0 * catalog::MIB;
/// The heap rule of the DSE guide: a quarter of memory, at most 8 GiB.
const MOST_HEAP: f64 = 8.0 * GIB;
/// Cassandra does not run well below this heap; the rule's result is raised to it on this machine.
pub(crate) const LEAST_HEAP: f64 = GIB;
/// Smallest page-cache budget: below it the kernel reclaims executable pages and nothing is measured but thrashing.
pub(crate) const LEAST_PAGE_CACHE: f64 = 64.0 * catalog::MIB;

/// Heap at full scale.
fn heap_rule(memory_bytes: f64) -> f64 {
    (memory_bytes / 4.0).min(MOST_HEAP)
}

/// Direct buffers: a quarter of the heap, at most 512 MiB (Cassandra's `file_cache_size` default; the chunk cache
/// itself is off, as shipped with 5.0, so that blocks are cached by the page cache alone).
fn direct_rule(heap_bytes: f64) -> f64 {
    (heap_bytes / 4.0).min(512.0 * catalog::MIB)
}

/// The key cache: a twentieth of the heap, at most 100 MiB (Cassandra's `key_cache_size` default).
fn key_cache_rule(heap_bytes: f64) -> f64 {
    (heap_bytes / 20.0).min(100.0 * catalog::MIB)
}

/// The key cache of a 1:N model, in whole MiB as Cassandra counts it: that of the full heap, divided. By the rule on
/// the model's own heap, which is not divided, it would hold most of the model's keys where it holds few of the full
/// data set, and would fill for as many reads as there are keys: at 47 IOPS, for hours.
fn key_cache(full_heap: f64, heap: f64, scale: f64) -> u64 {
    let bytes = if scale > 1.0 { key_cache_rule(full_heap) / scale } else { key_cache_rule(heap) };
    ((bytes / catalog::MIB).round().max(1.0) * catalog::MIB) as u64
}

/// What a memory limit leaves for the page cache at full scale; `None` when nothing is left.
pub fn page_cache_at_full_scale(memory_limit_bytes: u64) -> Option<f64> {
    let memory = memory_limit_bytes as f64;
    let heap = heap_rule(memory);
    Some(memory - heap - direct_rule(heap) - NATIVE_BYTES).filter(|left| *left > 0.0)
}

/// Every configuration as the experiment's provider builds it, in the order of the file.
pub fn setups(experiment: &Experiment) -> Setups {
    let dataset = scaled_dataset(experiment);
    let speeds = Speeds::of(experiment);
    let mut setups: Vec<Setup> = experiment
        .configurations
        .iter()
        .map(|c| Setup {
            existing: existing(c, &experiment.target.database),
            watched: c.watched.clone(),
            ..setup(&c.attached_for(experiment), &experiment.local, &dataset, speeds.as_ref())
        })
        .collect();
    let is_simulated = experiment.simulated.is_some();
    if experiment.local.volumes == Emulation::Throttled && !is_simulated {
        // The kernel's throttle holds reads and writes apart, and of bought volumes nobody here sees to it.
        let volumes = setups.iter_mut().flat_map(Setup::volumes_mut);
        volumes.for_each(|volume| volume.combined = None);
    }
    if let Some(aws) = &experiment.aws {
        let placements = experiment.configurations.iter().map(|c| c.placement);
        for (setup, first) in setups.iter_mut().zip(first_hosts(placements)) {
            (setup.first_host, setup.is_bought) = (first, true);
            setup.batch = aws.batch_of(&setup.configuration).unwrap_or_default();
            for volume in setup.volumes_mut() {
                // A new volume has all of its credits.
                if let Some(burst) = &mut volume.burst {
                    burst.credits_start = burst.credits_max;
                }
            }
        }
    }
    if experiment.hosts.as_ref().is_some_and(|hosts| !hosts.limits) {
        for setup in &mut setups {
            setup.instance_limits = None;
            for volume in setup.volumes_mut() {
                (volume.limits, volume.own_limits, volume.burst) = (IoLimits::default(), None, None);
                (volume.served, volume.combined, volume.byte_burst) = (None, None, None);
            }
        }
    }
    Setups::new(setups)
}

/// Configurations without limits, once the machines are known: each configuration has all CPUs and all memory of the
/// smallest of them, and the page cache what its database leaves. `Err` names a configuration whose heap leaves
/// nothing, with what its database takes, bytes.
pub fn use_whole_machines(setups: &mut [Setup], cpus: f64, memory_bytes: u64) -> Result<(), (String, u64)> {
    for setup in setups {
        let own = setup.heap_bytes + setup.direct_memory_bytes + NATIVE_BYTES as u64;
        let left = memory_bytes.checked_sub(own).filter(|left| *left as f64 >= LEAST_PAGE_CACHE);
        let left = left.ok_or_else(|| (setup.configuration.clone(), own))?;
        (setup.cpus, setup.stands_for) = (cpus, None);
        (setup.memory_limit_bytes, setup.page_cache_budget_bytes) = (memory_bytes, left);
    }
    Ok(())
}

/// Contact points of the cluster that a configuration is the name of.
fn existing(configuration: &Configuration, database: &Database) -> Option<Vec<String>> {
    match database {
        Database::Cassandra { .. } => None,
        Database::Hosts { hosts, .. } => Some(configuration.hosts.clone().unwrap_or_else(|| hosts.clone())),
    }
}

/// The data set with its records divided by the scale.
pub(crate) fn scaled_dataset(experiment: &Experiment) -> Dataset {
    let records = (experiment.dataset.records as f64 / experiment.local.scale).round().max(1.0) as u64;
    Dataset { records, ..experiment.dataset }
}

fn setup(configuration: &Configuration, local: &LocalSettings, dataset: &Dataset, speeds: Option<&Speeds>) -> Setup {
    let scale = local.scale;
    let path = configuration.instance.card_limits();
    let cards = configuration.cards();
    let full_heap = heap_rule(configuration.memory_limit_bytes as f64);
    let heap = local.heap_bytes.map_or_else(|| (full_heap / scale).max(LEAST_HEAP.min(full_heap)), |b| b as f64);
    let direct = direct_rule(heap);
    let full_cache = page_cache_at_full_scale(configuration.memory_limit_bytes).unwrap_or(0.0);
    // What each node holds of the data set.
    let at_rest = dataset.payload_bytes() as f64 * configuration.placement.share_per_node();
    let backlog = configuration.backlog.map(|backlog| backlog.of(dataset.records));
    let payload = at_rest * backlog.map_or(1.0, |backlog| backlog.growth(dataset.records));
    let budget = local.page_cache_bytes.map_or_else(|| (full_cache / scale).max(LEAST_PAGE_CACHE), |b| b as f64);
    let stands_for = speeds.map(|speeds| speeds.share_of(&configuration.instance));
    let data_volume = &configuration.data_volume;
    let data_cards = &cards[..data_volume.count as usize];
    let data = |role: VolumeRole, card: Option<u32>| {
        // Those that share a path with it, itself among them.
        let beside = data_cards.iter().filter(|other| **other == card).count();
        let data_path = path_of_each(path, beside as u32, local);
        VolumeSetup { card, ..volume(data_volume, role, local, payload, data_path) }
    };
    let mut each = VolumeRole::DATA.into_iter().zip(data_cards.iter().copied());
    let first = each.next().map_or((VolumeRole::Data, None), |first| first);
    Setup {
        configuration: configuration.name.clone(),
        cpus: stands_for
            .as_ref()
            .map_or_else(|| (configuration.instance.vcpus / scale).max(LEAST_CPUS), |share| share.cpus(scale)),
        stands_for,
        heap_bytes: heap as u64,
        direct_memory_bytes: direct as u64,
        key_cache_bytes: key_cache(full_heap, heap, scale),
        memory_limit_bytes: (heap + direct + NATIVE_BYTES + budget) as u64,
        page_cache_budget_bytes: budget as u64,
        data: data(first.0, first.1),
        more_data: each.map(|(role, card)| data(role, card)).collect(),
        layout: data_volume.layout,
        commitlog: configuration.commitlog_volume.as_ref().map(|v| VolumeSetup {
            card: cards.last().copied().flatten(),
            ..volume(v, VolumeRole::Commitlog, local, payload, path)
        }),
        instance_limits: shared_path(configuration, &cards, local),
        placement: configuration.placement,
        first_host: 0,
        batch: 0,
        is_bought: false,
        existing: None,
        watched: Vec::new(),
        consistency: configuration.consistency,
        settings: configuration.settings.clone(),
        backlog,
    }
}

/// What served volumes of EBS share on their way to the instance. A volume given by its limits is not behind it.
fn shared_path(configuration: &Configuration, cards: &[Option<u32>], local: &LocalSettings) -> Option<IoLimits> {
    let of_ebs = configuration.volumes().filter(|volume| matches!(volume.kind, VolumeKind::Ebs(_)));
    let path = configuration.instance.card_limits();
    let do_share = match configuration.instance.ebs_cards {
        None => of_ebs.map(|volume| volume.count).sum::<u32>() > 1,
        Some(_) => cards.iter().flatten().any(|card| cards.iter().flatten().filter(|other| *other == card).count() > 1),
    };
    let is_shared = do_share && local.volumes == Emulation::Served;
    (is_shared && path != IoLimits::default()).then(|| path.scaled(local.scale))
}

/// What the instance lets through to each of so many data volumes: served ones share it as the real ones do; nothing
/// shares the kernel's throttle over several devices, nor a simulation, so that there each has an equal part.
fn path_of_each(path: IoLimits, count: u32, local: &LocalSettings) -> IoLimits {
    match local.volumes {
        Emulation::Served => path,
        Emulation::Throttled => path.scaled(f64::from(count)),
    }
}

/// Device sizes are scaled too, but never below what the run itself needs; images are sparse, so size costs nothing.
fn volume(
    volume: &ConfiguredVolume,
    role: VolumeRole,
    local: &LocalSettings,
    payload_bytes: f64,
    path: IoLimits,
) -> VolumeSetup {
    let scale = local.scale;
    let least = match role {
        // The pristine copy, the live copy after updates, and compaction's working space.
        role if role.is_data() => GIB.max(5.0 * payload_bytes),
        // commitlog_total_space is 1 GiB here; twice that never fills.
        _ => 2.0 * GIB,
    };
    let byte_burst = volume.byte_burst.filter(|_| local.volumes == Emulation::Served);
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
        served: (local.volumes == Emulation::Served).then(|| served_as(volume)),
        combined: is_obeyed(volume, local).then(|| is_combined(volume)),
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

/// Whether it is known how reads and writes share limits here; in a simulation those of EBS do, as the real ones.
fn is_obeyed(volume: &ConfiguredVolume, local: &LocalSettings) -> bool {
    local.volumes == Emulation::Served || matches!(volume.kind, VolumeKind::Ebs(_))
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
