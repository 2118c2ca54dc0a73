//! Which machines an experiment asks of AWS, where they stand, and in which batches.

use std::collections::BTreeMap;
use std::ops::Range;

use catalog::{Basis, Catalog, Cloud, EbsOptimisation, InstanceType, Lifecycle, UnknownVolumeType, VolumeRequest};

use super::beside::ReadQuotas;
use super::configuration::known_instance;
use super::{aws_pairs, aws_snapshot, only};
use crate::batches::{self, Item, NoRoom, Placed};
use crate::mistakes::Collector;
use crate::placement::first_hosts;
use crate::{
    AwsBatch, AwsMachine, AwsPair, AwsPrice, AwsSettings, AwsSite, AwsVolume, Configuration, Experiment, QuotaNeeds,
    Role, VolumeKind, raw,
};

/// Eight CPUs of today: a client should not be the limit.
pub(super) const DEFAULT_CLIENT: &str = "c7i.2xlarge";
/// GiB.
pub(super) const DEFAULT_ROOT_GIB: i64 = 64;

/// The machines that the experiment needs, in batches within the limits of sites; what AWS has not, or no site has room
/// for, is noted at its place.
pub(super) fn place(
    catalog: &Catalog,
    file: &raw::Experiment,
    settings: &mut AwsSettings,
    experiment: &Experiment,
    quotas: ReadQuotas<'_>,
    mistakes: &mut Collector<'_>,
) {
    let default = raw::Aws::default();
    let given = file.provider.aws.as_deref().unwrap_or(&default);
    for kind in given.site.iter().flat_map(|site| site.machines.keys()) {
        known_instance(catalog, kind.get_ref(), kind.span(), mistakes);
    }
    let configurations = &experiment.configurations;
    settings.initialisations = aws_snapshot::check(file, given, configurations, mistakes);
    settings.pairs = aws_pairs::check(file, given, experiment, mistakes);
    let shared = settings.shared(configurations.iter().map(|c| c.name.as_str()));
    let of_nodes = of_configurations(catalog, file, (configurations.as_slice(), shared.as_slice()), given, mistakes);
    let (client, at) = match &given.client {
        Some(client) => (client.as_str(), client.span()),
        None => (DEFAULT_CLIENT, file.name.span()),
    };
    let client = instance(catalog, client, at, mistakes);
    let (Some(of_nodes), Some(client)) = (of_nodes, client) else { return };
    if settings.sites.is_empty() {
        // What is wrong with one of them is reported.
        return;
    }
    let is_other = given.client_zone.as_deref().is_some_and(|zone| zone == "other");
    let clients = experiment.load.clients;
    let clients_of = |batch: u32, racks: u32| {
        let zone = if is_other { racks } else { 0 };
        (batch * clients..(batch + 1) * clients).map(move |host| client_machine(client, given, host, zone))
    };
    let together = together(&shared);
    let names = |members: &[usize]| -> Vec<String> {
        members.iter().map(|number| configurations[*number].name.clone()).collect()
    };
    let item = |members: &Vec<usize>| Item {
        machines: of_nodes[members[0]].clone(),
        seconds: members.iter().map(|number| experiment.seconds_of(&configurations[*number])).sum::<f64>()
            + settings.modification_s(&names(members)),
    };
    let items: Vec<Item> = together.iter().map(item).collect();
    let beside: Vec<AwsMachine> = clients_of(0, 0).collect();
    let machines = items.iter().flat_map(|item| &item.machines).chain(&beside);
    if !read_quotas(given, &mut settings.sites, machines, quotas, mistakes) {
        return;
    }
    let limits: Vec<&crate::AwsLimits> = settings.sites.iter().map(|site| &site.limits).collect();
    let placed = match batches::place(&items, &beside, &limits) {
        Ok(placed) => placed,
        Err(nowhere) => {
            let nowhere = nowhere.into_iter().map(|none| NoRoom { item: together[none.item][0], ..none });
            return report(&nowhere.collect::<Vec<_>>(), (file, configurations.as_slice()), &settings.sites, mistakes);
        }
    };
    if experiment.load.adaptive.is_some() {
        stops_as_one(file, placed.len(), mistakes);
    }
    settings.batches = placed
        .into_iter()
        .zip(0_u32..)
        .map(|(Placed { site, items: members }, number)| {
            let nodes = members.iter().flat_map(|item| items[*item].machines.iter().cloned());
            let mut members: Vec<usize> = members.iter().flat_map(|item| together[*item].iter().copied()).collect();
            members.sort_unstable();
            let racks = members.iter().map(|number| configurations[*number].placement.racks).max();
            let machines: Vec<AwsMachine> = nodes.chain(clients_of(number, racks.unwrap_or(1))).collect();
            let price = |site| price(catalog, (machines.as_slice(), settings.pairs.as_slice()), site);
            AwsBatch {
                site,
                configurations: names(&members),
                prices: settings.sites.iter().map(price).collect(),
                machines,
            }
        })
        .collect();
    check_zones(given, settings, mistakes);
}

/// A client, by its number among all of the run, from 0.
fn client_machine(kind: &InstanceType, given: &raw::Aws, host: u32, zone: u32) -> AwsMachine {
    AwsMachine { host, zone, ..with_root(format!("client-{}", host + 1), Role::Client, kind, given) }
}

/// The first machine of this type and role, of no configuration, in the first zone, with its root volume alone.
fn with_root(name: String, role: Role, kind: &InstanceType, given: &raw::Aws) -> AwsMachine {
    AwsMachine {
        name,
        role,
        configuration: None,
        host: 0,
        instance_type: kind.name.clone(),
        vcpus: u64::from(kind.vcpus),
        architecture: kind.architecture.clone(),
        zone: 0,
        root_gib: root_gib(given),
        spot: given.spot.unwrap_or(false),
        ebs_optimized: None,
        bandwidth_weighting: None,
        instance_store: false,
        volumes: BTreeMap::new(),
    }
}

/// Configurations on the same machines, by their numbers: each with machines of its own leads those that share them.
fn together(shared: &[Option<usize>]) -> Vec<Vec<usize>> {
    let owners = (0..shared.len()).filter(|number| shared[*number].is_none());
    let with_others = |owner| -> Vec<usize> {
        let others = (0..shared.len()).filter(|other| shared[*other] == Some(owner));
        std::iter::once(owner).chain(others).collect()
    };
    owners.map(with_others).collect()
}

/// An adaptive run has one batch.
fn stops_as_one(file: &raw::Experiment, batches: usize, mistakes: &mut Collector<'_>) {
    if let Some(repetitions) = file.load.repetitions.as_ref().filter(|_| batches > 1) {
        let message = format!(
            "repetitions = {repetitions} with {batches} batches: each would stop after another number of blocks"
        );
        mistakes.add(repetitions.span(), message, "state a number, or limits in which all machines stand at once");
    }
}

/// Asks for the quotas of sites that are limited by them; whether all are known.
fn read_quotas<'m>(
    given: &raw::Aws,
    sites: &mut [AwsSite],
    machines: impl Iterator<Item = &'m AwsMachine>,
    quotas: ReadQuotas<'_>,
    mistakes: &mut Collector<'_>,
) -> bool {
    let limits = given.site.iter().map(|site| site.limits.as_ref());
    let mut limited: Vec<_> =
        sites.iter_mut().zip(limits).filter_map(|(site, limits)| Some((site, limits?.span()))).collect();
    let Some((_, first)) = limited.first() else { return true };
    let needs = match QuotaNeeds::of(machines) {
        Ok(needs) => needs,
        Err(kind) => {
            let message = format!("limits = \"quotas\": which quota {kind} counts against is not known");
            mistakes.add(first.clone(), message, "state vcpus or machines of it instead");
            return false;
        }
    };
    let mut all = true;
    for (site, at) in &mut limited {
        match quotas(site, &needs) {
            Ok(reported) => site.limits.quotas = Some(reported),
            Err(reason) => {
                all = false;
                let help =
                    "docs/aws-policy.json allows what is asked; or state vcpus, machines, volumes, volume_gib instead";
                mistakes.add(at.clone(), format!("the quotas of {} cannot be read: {reason}", site.name), help);
            }
        }
    }
    all
}

/// Whether what was stated of zones holds for the batches.
fn check_zones(given: &raw::Aws, settings: &AwsSettings, mistakes: &mut Collector<'_>) {
    let zones = settings.batches.iter().map(AwsBatch::zones).max().unwrap_or(1);
    let group = given.placement_group.as_ref();
    if let Some(group) = group.filter(|group| zones > 1 && group.as_str() == "cluster") {
        let message = format!("a cluster placement group lies in one zone, and the machines stand in {zones}");
        let help = "leave it out, or racks and client_zone = \"other\"";
        mistakes.add(group.span(), message, help);
    }
    let of_sites = given.site.iter().map(|site| &site.subnets);
    for (site, subnets) in settings.sites.iter().zip(of_sites.chain([&given.subnets])) {
        if let (Some(network), Some(subnets)) = (&site.network, subnets)
            && network.subnet_ids.len() < zones as usize
        {
            let message = format!("{} subnets for {zones} zones", network.subnet_ids.len());
            let help = "one for each: racks are zones, and clients in another zone need one more";
            mistakes.add(subnets.span(), message, help);
        }
    }
}

/// Tells which configurations no site has room for, and why.
fn report(
    nowhere: &[NoRoom],
    (file, configurations): (&raw::Experiment, &[Configuration]),
    sites: &[AwsSite],
    mistakes: &mut Collector<'_>,
) {
    let raws: Vec<_> = only::with_raw(file, configurations).map(|(raw, _)| raw).collect();
    for none in nowhere {
        let name = &raws[none.item].name;
        let why = none.why.iter();
        let why: Vec<String> = why.map(|(site, what)| format!("{}: {what}", sites[*site].name)).collect();
        mistakes.add(
            name.span(),
            format!("no site has room for `{name}` and its clients ({})", why.join("; ")),
            "raise the limits of a site as far as AWS grants them, or leave the configuration out",
        );
    }
}

/// What machines cost at a site; volumes that are modified count at their dearest level.
fn price(catalog: &Catalog, (machines, pairs): (&[AwsMachine], &[AwsPair]), site: &AwsSite) -> AwsPrice {
    let mut usd_per_hour = 0.0;
    for machine in machines {
        let pair = pairs.iter().find(|pair| machine.is_node_of(pair.owner()));
        let levels = pair.iter().flat_map(|pair| &pair.levels).map(|level| {
            let mut at_level = machine.clone();
            let volume = AwsVolume::at(level.volume, pair.map_or(0, |pair| pair.size_gib));
            at_level.volumes.insert("data".to_owned(), volume);
            at_level
        });
        let mut dearest: f64 = 0.0;
        for machine in levels.chain(pair.is_none().then(|| machine.clone())) {
            match usd_per_hour_of(catalog, &machine, site) {
                Ok(usd) => dearest = dearest.max(usd),
                Err(missing) => return AwsPrice::Missing(format!("{}: {missing}", machine.name)),
            }
        }
        usd_per_hour += dearest;
    }
    AwsPrice::UsdPerHour(usd_per_hour)
}

/// USD an hour at the catalog's latest on-demand prices, its volumes and its root among them; the error is what has no
/// price.
fn usd_per_hour_of(catalog: &Catalog, machine: &AwsMachine, site: &AwsSite) -> Result<f64, String> {
    let basis = Basis {
        region: site.region.clone(),
        ebs_optimised: machine.ebs_optimized.unwrap_or(false),
        ..Basis::default()
    };
    let root =
        VolumeRequest { kind: crate::aws::ROOT, size_gib: f64::from(machine.root_gib), iops: None, mib_per_s: None };
    let order = |volume: &AwsVolume| {
        Ok(VolumeRequest {
            kind: volume.kind.parse().map_err(|error: UnknownVolumeType| error.to_string())?,
            size_gib: f64::from(volume.size_gib),
            iops: volume.iops.map(f64::from),
            mib_per_s: volume.mib_per_s.map(f64::from),
        })
    };
    let mut orders = machine.volumes.values().map(order).collect::<Result<Vec<_>, String>>()?;
    orders.push(root);
    let cost = catalog.cost_of(&machine.instance_type, &orders, 1, &basis).map_err(|error| error.to_string())?;
    Ok(cost.usd_per_month / basis.hours_per_month)
}

fn root_gib(given: &raw::Aws) -> u32 {
    given.root_gib.as_deref().copied().unwrap_or(DEFAULT_ROOT_GIB) as u32
}

/// The machines of each configuration's database, then those of the caches in front of it.
fn of_configurations(
    catalog: &Catalog,
    file: &raw::Experiment,
    configurations: (&[Configuration], &[Option<usize>]),
    given: &raw::Aws,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<Vec<AwsMachine>>> {
    let databases = databases(catalog, file, configurations, given, mistakes);
    let caches = caches(catalog, file, configurations, given, mistakes);
    let of_each = databases?.into_iter().zip(caches?);
    Some(of_each.map(|(databases, caches)| [databases, caches].concat()).collect())
}

/// A machine for every node of each configuration's cache tier, all in the zone of the database's first node: a hit and
/// what that node answers then come equally far.
fn caches(
    catalog: &Catalog,
    file: &raw::Experiment,
    (configurations, shared): (&[Configuration], &[Option<usize>]),
    given: &raw::Aws,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<Vec<AwsMachine>>> {
    let firsts = first_hosts(configurations.iter().map(Configuration::cache_nodes).zip(shared.iter().copied()));
    let of_each = only::with_raw(file, configurations).zip(firsts).map(|((raw, configuration), first)| {
        let Some((stated, tier)) = raw.cache_tier.as_ref().zip(configuration.cache_tier.as_ref()) else {
            return Some(Vec::new());
        };
        let found = instance(catalog, &tier.instance, stated.instance.span(), mistakes)?;
        let of_node = |node| AwsMachine {
            configuration: Some(configuration.name.clone()),
            host: first + node,
            ..with_root(format!("{}.cache-{}", configuration.name, node + 1), Role::Cache, found, given)
        };
        Some((0..tier.nodes).map(of_node).collect())
    });
    // All are looked at, so that every mistake is found.
    let of_each: Vec<Option<Vec<AwsMachine>>> = of_each.collect();
    of_each.into_iter().collect()
}

/// A machine for every node of each configuration. One that shares those of an earlier one, whose number it has, would
/// have the same.
fn databases(
    catalog: &Catalog,
    file: &raw::Experiment,
    (configurations, shared): (&[Configuration], &[Option<usize>]),
    given: &raw::Aws,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<Vec<AwsMachine>>> {
    let mut machines = Vec::new();
    let mut sound = true;
    let nodes = configurations.iter().map(|c| c.placement.nodes).zip(shared.iter().copied());
    for ((raw, configuration), first) in only::with_raw(file, configurations).zip(first_hosts(nodes)) {
        let at = raw.instance.span();
        let found = match configuration.instance.from_catalog {
            true => instance(catalog, &configuration.instance.label, at, mistakes),
            false => {
                let message = format!("`{}` is no instance type of AWS", configuration.instance.label);
                mistakes.refuse(at, message, "name a type; see: iopslab catalog list")
            }
        };
        let is_spread = configuration.cards().into_iter().flatten().any(|card| card > 0);
        if let Some(stated) = raw.ebs_cards.as_ref().filter(|_| is_spread) {
            let message = "volumes cannot be spread over EBS cards on AWS: \
                           Terraform's AWS provider has no ebs_card_index, so that all are on card 0";
            let help = "leave it out or state \"first\", or attach volumes by hand to machines of [provider.hosts]";
            mistakes.add(stated.span(), message, help);
            sound = false;
        }
        let mut volumes = BTreeMap::new();
        let mut instance_store = false;
        let log = configuration.commitlog_volume.as_ref().zip(raw.commitlog_volume.as_ref());
        let log = log.map(|(volume, given)| ("commitlog", volume, given.span()));
        let data = ("data", &configuration.data_volume, raw.data_volume.span());
        for (role, volume, at) in std::iter::once(data).chain(log) {
            let (message, help) = match (&volume.order, volume.kind) {
                (Some(order), _) => {
                    volumes.insert(role.to_owned(), ebs(order));
                    continue;
                }
                (None, VolumeKind::Local) if role == "data" => {
                    instance_store = true;
                    continue;
                }
                (None, VolumeKind::Local) => (
                    "the commit log alone on the instance's own disks cannot be made on AWS so far".to_owned(),
                    "name an EBS volume for it, or leave it out",
                ),
                (None, _) => (
                    format!("`{}` is no volume of AWS", volume.label),
                    "name its type: { type = \"gp3\", size_gib = 500 }",
                ),
            };
            sound = false;
            mistakes.add(at, message, help);
        }
        let Some(found) = found else {
            sound = false;
            continue;
        };
        let of_node = |node| AwsMachine {
            configuration: Some(configuration.name.clone()),
            host: first + node,
            zone: node % configuration.placement.racks,
            ebs_optimized: (found.ebs_optimisation == EbsOptimisation::Surcharge).then_some(true),
            bandwidth_weighting: configuration.instance.bandwidth_weighting,
            instance_store,
            volumes: volumes.clone(),
            ..with_root(format!("{}.database-{}", configuration.name, node + 1), Role::Database, found, given)
        };
        machines.push((0..configuration.placement.nodes).map(of_node).collect());
    }
    sound.then_some(machines)
}

fn ebs(order: &VolumeRequest) -> AwsVolume {
    let whole = |number: Option<f64>| number.map(|number| number.round() as u32);
    AwsVolume {
        kind: order.kind.name().to_owned(),
        size_gib: order.size_gib.ceil() as u32,
        iops: whole(order.iops),
        mib_per_s: whole(order.mib_per_s),
    }
}

/// A type that AWS still has.
fn instance<'c>(
    catalog: &'c Catalog,
    name: &str,
    at: Range<usize>,
    mistakes: &mut Collector<'_>,
) -> Option<&'c InstanceType> {
    let found = known_instance(catalog, name, at.clone(), mistakes)?;
    let cloud = found.cloud();
    if cloud != Cloud::Aws {
        let message = format!("{name} is a machine of {}, and iopslab makes machines on AWS alone", cloud.label());
        return mistakes.refuse(
            at,
            message,
            "measure it emulated on one machine, or make it yourself: provider \"hosts\"",
        );
    }
    if found.lifecycle == Lifecycle::Retired {
        let message = format!("AWS no longer offers {name}");
        return mistakes.refuse(at, message, "measure it emulated on one machine: without --provider aws");
    }
    Some(found)
}
