//! `pair_volumes` of `[provider.aws]`: configurations that are measured on the same machines, whose volume is modified
//! between their trials.

use catalog::{GIB, MIB, MODIFICATIONS_A_DAY, VolumeLevel, VolumeType};

use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{AwsLevel, AwsPair, Configuration, ConfiguredVolume, Experiment, Setup, raw};

/// What the key can be.
pub(super) const MODIFY: &str = "modify";

/// Where the key stands, if it asks for pairs. Another word is reported where the file is read.
fn asked(given: &raw::Aws) -> Option<&Spanned<String>> {
    given.pair_volumes.as_ref().filter(|asked| asked.as_str() == MODIFY)
}

/// Refuses the key in a file in which no two configurations can share a machine. All are looked at, also those that
/// `only` leaves out: the partner may be one of them, and then there is nothing to modify.
pub(super) fn are_some(file: &raw::Experiment, experiment: &Experiment, mistakes: &mut Collector<'_>) {
    let given = file.provider.aws.as_deref().filter(|_| experiment.place.aws().is_some());
    let Some(asked) = given.and_then(asked) else { return };
    if pairs(&experiment.configurations, experiment.load.repetitions).is_empty() {
        mistakes.add(
            asked.span(),
            "pair_volumes: no two configurations differ in nothing but type, IOPS and MiB/s of one data volume",
            "a volume that is modified is of gp3, io1 or io2 and keeps its size: give them the same size_gib, instance \
             and everything else, or leave pair_volumes out",
        );
    }
}

/// The pairs of what is measured; none where they are not asked for. What does not go with them, or would modify a
/// volume more often than AWS does, is noted at its place.
pub(super) fn check(
    file: &raw::Experiment,
    given: &raw::Aws,
    experiment: &Experiment,
    mistakes: &mut Collector<'_>,
) -> Vec<AwsPair> {
    let Some(asked) = asked(given) else { return Vec::new() };
    let repetitions = experiment.load.repetitions;
    let pairs = pairs(&experiment.configurations, repetitions);
    if pairs.is_empty() {
        return pairs;
    }
    if let Some(forks) = file.load.forks.as_ref().filter(|_| experiment.load.forks > 1) {
        let message = format!(
            "pair_volumes beside forks = {}: trials of a configuration stand together in a block, so that most of \
             these cuts would fall between configurations, where another process is started anyway",
            experiment.load.forks
        );
        mistakes.add(forks.span(), message, "leave forks out, or leave pair_volumes out");
    }
    for (key, is_stated) in [
        ("rate = \"find\"", experiment.load.find.is_some()),
        ("repetitions = \"auto\" or \"adaptive\"", experiment.load.adaptive.is_some()),
    ] {
        if is_stated {
            let message = format!("pair_volumes beside {key}: how often volumes would be modified is not known before");
            mistakes.add(asked.span(), message, "give numbers, or leave pair_volumes out");
        }
    }
    if experiment.load.adaptive.is_none() {
        pairs.iter().filter(|pair| pair.modifications > MODIFICATIONS_A_DAY).for_each(|pair| {
            too_many(asked, pair, repetitions, mistakes);
        });
    }
    pairs
}

/// Refuses machines that cannot hold a copy of the data set for each configuration that shares them. What their file
/// systems and programs take is not known before they are made.
pub(super) fn fit(file: &raw::Experiment, experiment: &Experiment, mistakes: &mut Collector<'_>) {
    let (Some(aws), Some(given)) = (experiment.place.aws(), &file.provider.aws) else { return };
    let Some(asked) = given.pair_volumes.as_ref().filter(|_| !aws.pairs.is_empty() && !aws.batches.is_empty()) else {
        return;
    };
    let job = crate::job(experiment);
    let is_restored = aws.sites.iter().any(|site| site.snapshot.is_some());
    for pair in &aws.pairs {
        let hosts = job.setups.of(pair.owner()).map(Setup::database_hosts).unwrap_or_default();
        let bytes = hosts.into_iter().map(|host| job.needed_bytes(host, is_restored)).max().unwrap_or_default();
        let needed_gib = (bytes as f64 / GIB).ceil() as u32;
        let names: Vec<&str> = pair.levels.iter().map(|level| level.configuration.as_str()).collect();
        let names = names.join(", ");
        let what = match is_restored {
            true => "a copy of the data set for each of them takes",
            false => "the data set and a copy of it for each of them take",
        };
        let owner = file.configuration.iter().find(|raw| raw.name.as_str() == pair.owner());
        if let Some(owner) = owner.filter(|_| pair.size_gib < needed_gib) {
            let message = format!("the data volume of {names} has {} GiB, and {what} {needed_gib} GiB", pair.size_gib);
            let help =
                format!("size_gib above {needed_gib} for each of them; or compare fewer, or leave pair_volumes out");
            mistakes.add(owner.data_volume.span(), message, help);
        }
        let mut machines = aws.batches.iter().flat_map(|batch| &batch.machines);
        let machine = machines.find(|machine| machine.is_node_of(pair.owner()));
        if let Some(machine) = machine.filter(|machine| !is_restored && machine.root_gib < needed_gib) {
            let message = format!(
                "pair_volumes: the root volume of the machine of {names} has {} GiB, and {what} {needed_gib} GiB",
                machine.root_gib
            );
            let at = given.root_gib.as_ref().map_or_else(|| asked.span(), Spanned::span);
            let help = format!("root_gib above {needed_gib}; or compare fewer, or leave pair_volumes out");
            mistakes.add(at, message, help);
        }
    }
}

/// A volume would be modified more often than AWS does.
fn too_many(asked: &Spanned<String>, pair: &AwsPair, repetitions: u32, mistakes: &mut Collector<'_>) {
    let names: Vec<&str> = pair.levels.iter().map(|level| level.configuration.as_str()).collect();
    let each = switches(pair.levels.len());
    let message = format!(
        "pair_volumes: the volume of {} would be modified {} times, {each} in each of {repetitions} repetitions, and \
         AWS modifies one {MODIFICATIONS_A_DAY} times in 24 hours",
        names.join(", "),
        pair.modifications
    );
    let help = match MODIFICATIONS_A_DAY / each {
        0 => format!("pair at most {} configurations, or leave pair_volumes out", MODIFICATIONS_A_DAY + 1),
        most => format!("repetitions = {most} is the most, or compare fewer of them; or leave pair_volumes out"),
    };
    mistakes.add(asked.span(), message, help);
}

/// Modifications of a block that goes through so many levels: it begins with the one that the last block ended with.
fn switches(levels: usize) -> u32 {
    u32::try_from(levels).unwrap_or(u32::MAX).saturating_sub(1)
}

/// Configurations that can share machines, those that have somebody to share them with.
fn pairs(configurations: &[Configuration], repetitions: u32) -> Vec<AwsPair> {
    let mut groups: Vec<Vec<(&Configuration, VolumeLevel)>> = Vec::new();
    for configuration in configurations {
        let Some(level) = level(&configuration.data_volume) else { continue };
        match groups.iter_mut().find(|group| group.first().is_some_and(|(first, _)| is_like(first, configuration))) {
            Some(group) => group.push((configuration, level)),
            None => groups.push(vec![(configuration, level)]),
        }
    }
    let pair = |group: Vec<(&Configuration, VolumeLevel)>| {
        let size_gib = group.first().and_then(|(first, _)| first.data_volume.order).map(|order| order.size_gib)?;
        let level = |(configuration, volume): &(&Configuration, VolumeLevel)| AwsLevel {
            configuration: configuration.name.clone(),
            volume: *volume,
        };
        Some(AwsPair {
            size_gib: size_gib.ceil() as u32,
            modifications: switches(group.len()).saturating_mul(repetitions),
            levels: group.iter().map(level).collect(),
        })
    };
    groups.into_iter().filter(|group| group.len() > 1).filter_map(pair).collect()
}

/// The level of a volume that can be modified; `None`: its IOPS follow its size, or there are several.
fn level(volume: &ConfiguredVolume) -> Option<VolumeLevel> {
    let order = volume.order.filter(|_| volume.count == 1)?;
    let whole = |number: f64| number.round() as u32;
    match order.kind {
        VolumeType::Gp3 => Some(VolumeLevel {
            kind: order.kind,
            iops: whole(volume.volume_limits.read_iops?),
            mib_per_s: Some(whole(volume.volume_limits.read_bytes_per_s? / MIB)),
        }),
        VolumeType::Io1 | VolumeType::Io2 => {
            Some(VolumeLevel { kind: order.kind, iops: whole(order.iops?), mib_per_s: None })
        }
        _ => None,
    }
}

/// Whether two configurations differ in nothing but name, price, and the level of their data volume.
fn is_like(a: &Configuration, b: &Configuration) -> bool {
    let size_gib = |of: &Configuration| of.data_volume.order.map(|order| order.size_gib);
    let same = Configuration {
        name: a.name.clone(),
        data_volume: a.data_volume.clone(),
        price_usd_per_month: a.price_usd_per_month,
        ..b.clone()
    };
    *a == same && size_gib(a) == size_gib(b)
}
