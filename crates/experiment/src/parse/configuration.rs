//! `[[configuration]]`: instance and volumes resolved to limits by the catalog's rules.

use std::ops::{Range, RangeInclusive};

use catalog::{
    Burst, ByteBurst, Catalog, Cloud, CpuSpeed, GIB, InstanceType, IoLimits, MB, MIB, ResolvedVolume, VolumeRequest,
    VolumeType,
};
use toml::Value;

use super::inline::{table, within};
use super::local::LocalSettings;
use super::{
    backlog, behaviour, cache_tier, consistency, explicit_volume, log_space, members, memory, of_instance, placement,
    settings, target,
};
use crate::mistakes::{Collector, choice};
use crate::raw::BurstWord;
use crate::spanned::{Form, Spanned};
use crate::words::Word as _;
use crate::{Configuration, ConfiguredVolume, Database, Emulation, Instance, PRODUCTS, Target, VolumeKind, raw};

/// Speeds of a vCPU that may be stated: beyond them it is another unit, such as GHz or a percentage.
const CPU_SPEEDS: RangeInclusive<f64> = 0.1..=10.0;

pub(super) fn check(
    catalog: &Catalog,
    raw: &Spanned<raw::Configuration>,
    target: Option<&Target>,
    (local, scale): (&LocalSettings, f64),
    mistakes: &mut Collector<'_>,
) -> Option<Configuration> {
    let name = mistakes.safe_name(&raw.name, "configuration");
    let instance = instance(catalog, raw, mistakes);
    let on = (instance.as_ref(), local);
    let data_volume = volume(catalog, &raw.data_volume, "data_volume", on, mistakes);
    let log = raw.commitlog_volume.as_ref();
    let commitlog_volume = log.map(|log| volume(catalog, log, "commitlog_volume", on, mistakes));
    let is_local = |v: &Form<raw::LocalWord, raw::Volume>| v.as_str() == Some(VolumeKind::LOCAL);
    if let Some(log) = log.filter(|log| is_local(log) && is_local(&raw.data_volume)) {
        mistakes.add(
            log.span(),
            "data and commit log both on \"local\" are the same disks, not two volumes",
            "leave commitlog_volume out: the commit log then shares the data volume",
        );
    }
    let placement = placement::check(raw, mistakes);
    let consistency = raw.consistency.as_ref().map(|given| consistency::check(given, mistakes));
    let database = target.map(|target| &target.database);
    let product = database.map_or(PRODUCTS[0], Database::product);
    let version = target::own_version(raw.database.as_ref(), target, mistakes);
    // Of a version that is not sound nothing is known: its settings are not held to another one's.
    let its_version = version.as_ref().and_then(|own| own.as_deref().or_else(|| database?.version()));
    let settings = settings::check(raw.settings.as_deref(), (product, its_version), mistakes);
    let backlog = raw.backlog.as_ref().map(|given| backlog::check(given, mistakes));
    let cache_tier = raw.cache_tier.as_ref().map(|given| {
        let found = known_instance(catalog, &catalog.with_cloud(&given.instance), given.instance.span(), mistakes);
        cache_tier::check(given, found, mistakes)
    });
    let price = mistakes.stated_number(&raw.price_usd_per_month, "price_usd_per_month", 0.01..=1e9);
    let cpu_speed = mistakes.stated_number(&raw.cpu_speed, "cpu_speed", CPU_SPEEDS);
    let mut instance = instance?;
    instance.cpu_speed = cpu_speed.map(CpuSpeed::stated).or(instance.cpu_speed);
    let instance_gib = instance.memory_bytes as f64 / GIB;
    let memory_gib = mistakes.number(&raw.memory_limit_gib, "memory_limit_gib", 0.5..=instance_gib, instance_gib);
    let configuration = Configuration {
        name: name?,
        instance,
        data_volume: data_volume?,
        commitlog_volume: commitlog_volume.flatten(),
        memory_limit_bytes: (memory_gib * GIB) as u64,
        hosts: raw.hosts.as_deref().cloned(),
        // Which cluster it is, and whose nodes these are, is seen with the target.
        watched: Vec::new(),
        placement: placement?,
        version: version?,
        consistency: consistency.flatten(),
        settings: settings?,
        backlog: backlog.flatten(),
        cache_tier: cache_tier.flatten(),
        price_usd_per_month: price,
    };
    let fits = [
        memory::check(raw, &configuration, (&product.memory, local, scale), mistakes),
        log_space::check(raw, &configuration, (product.checkpoints.as_ref(), scale), mistakes),
    ];
    fits.iter().all(Option::is_some).then_some(configuration)
}

/// A type of the catalog; another name is noted at its place.
pub(super) fn known_instance<'c>(
    catalog: &'c Catalog,
    name: &str,
    at: Range<usize>,
    mistakes: &mut Collector<'_>,
) -> Option<&'c InstanceType> {
    let found = catalog.instance(name);
    if found.is_none() {
        let near = catalog.nearest_instances(name);
        let help = if near.is_empty() {
            "see: iopslab catalog list".to_owned()
        } else {
            format!("nearest: {}", near.join(", "))
        };
        let message = match catalog::why_omitted(name) {
            Some(reason) => format!("instance type `{name}` is not in the catalog: {}", reason.words()),
            None => format!("unknown instance type `{name}`"),
        };
        mistakes.add(at, message, help);
    }
    found
}

fn instance(catalog: &Catalog, raw: &raw::Configuration, mistakes: &mut Collector<'_>) -> Option<Instance> {
    let given = &raw.instance;
    match given.get_ref() {
        Value::String(name) => {
            let found = known_instance(catalog, &catalog.with_cloud(name), given.span(), mistakes)?;
            let found = &of_instance::weighted(found, raw.bandwidth_weighting.as_ref(), mistakes)?;
            let found = &of_instance::with_volumes(found, raw, mistakes)?;
            Some(Instance {
                ebs_cards: of_instance::cards(found, raw.ebs_cards.as_ref(), mistakes)?,
                bandwidth_weighting: of_instance::other_weighting(raw.bandwidth_weighting.as_ref()),
                label: found.name.clone(),
                from_catalog: true,
                vcpus: f64::from(found.vcpus),
                memory_bytes: (found.memory_gib * GIB) as u64,
                ebs_limits: found.ebs_limits(),
                cpu_speed: catalog::cpu_speed(&found.name),
            })
        }
        Value::Table(_) => {
            let raw::InstanceSize { vcpus, memory_gib } = table(given, "instance", mistakes)?;
            let (cpus_are, memory_is) = (vcpus > 0.0 && vcpus <= 1024.0, memory_gib > 0.0 && memory_gib <= 32_768.0);
            if !(cpus_are && memory_is) {
                let key = if cpus_are { "memory_gib" } else { "vcpus" };
                let message = format!("no instance has {vcpus} vCPUs and {memory_gib} GiB");
                mistakes.add_within(&given.span(), key, message, "vcpus and memory_gib are positive numbers");
                return None;
            }
            of_instance::none_of_a_size(raw, mistakes)?;
            of_instance::not_together(raw, mistakes)?;
            Some(Instance {
                label: format!("{vcpus} vCPU, {memory_gib} GiB"),
                vcpus,
                memory_bytes: (memory_gib * GIB) as u64,
                ..Instance::default()
            })
        }
        other => {
            let message = format!("an instance cannot be {}", other.type_str());
            let help = "a catalog name, or { vcpus = 4, memory_gib = 16 }";
            mistakes.refuse(given.span(), message, help)
        }
    }
}

fn volume(
    catalog: &Catalog,
    given: &Form<raw::LocalWord, raw::Volume>,
    key: &str,
    (instance, local): (Option<&Instance>, &LocalSettings),
    mistakes: &mut Collector<'_>,
) -> Option<ConfiguredVolume> {
    match given.get_ref() {
        Value::String(text) if text == VolumeKind::LOCAL => instance_store(catalog, given.span(), instance?, mistakes),
        Value::Table(_) => {
            let raw = in_mib(table(given, key, mistakes)?, given.span(), mistakes)?;
            let members = members::check(&given.span(), &raw, key, mistakes);
            let volume = match &raw.kind {
                Some(kind) => of_type(catalog, given.span(), kind, &raw, (instance, local), mistakes),
                None => explicit_volume::check(given.span(), &raw, local, mistakes),
            };
            let (count, layout) = members?;
            Some(ConfiguredVolume { count, layout, ..volume? })
        }
        other => {
            let message = format!("{key} cannot be {other}");
            let help =
                "\"local\", { type = \"gp2\", size_gib = 320 }, or { iops = 960, mib_per_s = 160, size_gib = 100 }";
            mistakes.refuse(given.span(), message, help)
        }
    }
}

/// The volume with its throughput in MiB/s, in whichever unit it is stated.
fn in_mib(raw: raw::Volume, span: Range<usize>, mistakes: &mut Collector<'_>) -> Option<raw::Volume> {
    match (raw.mib_per_s, raw.mb_per_s) {
        (Some(_), Some(_)) => {
            mistakes.refuse(span, "`mib_per_s` and `mb_per_s` state the same throughput", "leave one of them out")
        }
        (None, Some(mb)) => Some(raw::Volume { mib_per_s: Some(mb * MB / MIB), ..raw }),
        _ => Some(raw),
    }
}

fn instance_store(
    catalog: &Catalog,
    span: Range<usize>,
    instance: &Instance,
    mistakes: &mut Collector<'_>,
) -> Option<ConfiguredVolume> {
    let found = catalog.instance(&instance.label).filter(|_| instance.from_catalog);
    let Some((disks, limits)) = found.and_then(|i| Some((i.local_disks.as_ref()?, i.local_limits()?))) else {
        let message = format!("the catalog has no local disks of `{}`", instance.label);
        let help = "name a volume, or an instance type with an instance store, such as i3.4xlarge";
        return mistakes.refuse(span, message, help);
    };
    Some(ConfiguredVolume::plain(disks.label(), VolumeKind::Local, disks.total_gb() * 1e9, limits))
}

/// The rules of a type, of today or of the era that is named.
fn rules(
    kind: VolumeType,
    era: Option<&str>,
    span: &Range<usize>,
    mistakes: &mut Collector<'_>,
) -> Option<&'static catalog::VolumeRules> {
    let Some(era) = era else { return Some(catalog::rules(kind)) };
    let of_kind = || catalog::rules_of_all_eras().iter().filter(|r| r.kind == kind);
    let found = of_kind().find(|r| r.era.split(' ').next() == Some(era));
    if found.is_none() {
        let past = of_kind().filter(|r| !r.era.starts_with("since"));
        let eras: Vec<_> = past.filter_map(|r| r.era.split(' ').next()).collect();
        let message = format!("no {} rules of an era `{era}`", kind.name());
        mistakes.add_within(span, era, message, format!("eras: {}", eras.join(", ")));
    }
    found
}

/// The types of volume of a machine's cloud.
fn of_machine(instance: Option<&Instance>) -> Vec<&'static str> {
    match instance.filter(|instance| instance.from_catalog) {
        Some(instance) => catalog::volume_type_names_of(Cloud::of(&instance.label)),
        None => catalog::volume_type_names().to_vec(),
    }
}

fn of_type(
    catalog: &Catalog,
    span: Range<usize>,
    kind: &str,
    raw: &raw::Volume,
    (instance, local): (Option<&Instance>, &LocalSettings),
    mistakes: &mut Collector<'_>,
) -> Option<ConfiguredVolume> {
    let kind = match kind.parse::<VolumeType>() {
        Ok(kind) => kind,
        Err(error) => {
            let help = match error.nearest {
                _ if kind.to_ascii_lowercase().contains("local") => {
                    "the instance's own disks are data_volume = \"local\"".to_owned()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => choice(kind, &of_machine(instance)),
            };
            mistakes.add_within(&span, kind, format!("unknown volume type `{kind}`"), help);
            return None;
        }
    };
    if behaviour::of_type(kind, &span, raw, mistakes) {
        return None;
    }
    let Some(size_gib) = raw.size_gib else {
        let message = format!("a {} volume needs size_gib", kind.name());
        return mistakes.refuse(span, message, "for example size_gib = 320");
    };
    let request = VolumeRequest { kind, size_gib, iops: raw.iops, mib_per_s: raw.mib_per_s };
    let rules = rules(kind, raw.era.as_deref(), &span, mistakes)?;
    match catalog::resolve_volume_by(rules, &request) {
        Err(error) => {
            mistakes.add_within(&span, error.field.name(), error.to_string(), "");
            None
        }
        Ok(resolved) => {
            let (limits, burst, byte_burst) = at_start(&span, &resolved, raw.burst.as_deref(), local, mistakes)?;
            // Of an unknown one, which is reported, nothing more can be said.
            let instance = instance?;
            // What an instance without Nitro lets through: below what is bought, which is what the volume is.
            let machine = catalog.instance(&instance.label).filter(|_| instance.from_catalog);
            let reachable = machine.and_then(|machine| catalog::resolve_volume_on(rules, &request, machine).ok());
            let reachable = reachable.map_or(resolved.limits, |there| there.limits);
            Some(ConfiguredVolume {
                effective_limits: limits.min(reachable).min(instance.card_limits()),
                burst,
                byte_burst,
                order: Some(request),
                ..ConfiguredVolume::plain(resolved.label, VolumeKind::Ebs(kind), size_gib * GIB, limits)
            })
        }
    }
}

/// Limits and bucket with the start that the volume states itself, or else that of the provider.
///
/// A bucket that starts empty gives the bytes per second that last: gp2's baseline IOPS at 256 KiB each (EC2 User
/// Guide, "EBS volume types"). Only the IOPS follow the bucket while it moves.
fn at_start(
    span: &Range<usize>,
    resolved: &ResolvedVolume,
    stated: Option<&str>,
    local: &LocalSettings,
    mistakes: &mut Collector<'_>,
) -> Option<(IoLimits, Option<Burst>, Option<ByteBurst>)> {
    let share = match stated {
        None => local.burst_credits_start,
        Some(word) => {
            let at = within(mistakes.text, span, word);
            mistakes.one_of(at, word, "burst cannot be", BurstWord::WORDS)?.share()
        }
    };
    let byte_burst =
        resolved.byte_burst().map(|bucket| ByteBurst { credits_start: bucket.credits_max * share, ..bucket });
    let Some(mut burst) = resolved.burst else {
        let is_followed = byte_burst.is_some() && local.volumes == Emulation::Served;
        if stated.is_some() && !is_followed {
            let message = format!("{} has no burst bucket: {}", resolved.label, no_bucket(resolved));
            let help = match byte_burst {
                Some(_) => "set volumes = \"served\" in [provider.local], or remove `burst`",
                None => "remove `burst`",
            };
            mistakes.add_within(span, "burst", message, help);
            return None;
        }
        return Some((resolved.limits, None, byte_burst));
    };
    burst.credits_start = burst.credits_max * share;
    let lasting = IoLimits::symmetric(None, (share <= 0.0).then_some(resolved.baseline_mib_per_s));
    Some((resolved.limits.min(lasting), Some(burst), None))
}

/// Why a volume type, or one of this size, cannot burst.
fn no_bucket(resolved: &ResolvedVolume) -> String {
    match resolved.request.kind {
        // Of RDS they are given by size below 400 GiB, and bought above.
        VolumeType::Gp2 | VolumeType::RdsGp3 | VolumeType::PdBalanced | VolumeType::PdSsd | VolumeType::Premium => {
            format!("with this size it does {} IOPS at all times", resolved.baseline_iops)
        }
        VolumeType::St1 | VolumeType::Sc1 => match resolved.byte_burst() {
            Some(_) => format!("throttled, it has the {:.0} MiB/s that last", resolved.baseline_mib_per_s),
            None => format!("with this size it does {:.0} MiB/s at all times", resolved.baseline_mib_per_s),
        },
        VolumeType::Gp3
        | VolumeType::Io1
        | VolumeType::Io2
        | VolumeType::RdsIo1
        | VolumeType::RdsIo2
        | VolumeType::HyperdiskBalanced
        | VolumeType::HyperdiskExtreme
        | VolumeType::HyperdiskThroughput
        | VolumeType::PremiumV2
        | VolumeType::Ultra => "it does what was bought at all times".to_owned(),
        VolumeType::Standard => "the catalog knows no bucket of the previous generation".to_owned(),
    }
}
