//! `[provider.aws]`: which machines a run has made, and whether AWS has them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use catalog::{Basis, Catalog, EbsOptimisation, InstanceType, Lifecycle, UnknownVolumeType, VolumeRequest, VolumeType};
use toml::Spanned;

use super::configuration::known_instance;
use super::hosts::ssh_name;
use super::numbers::Check as _;
use crate::mistakes::{Collector, choice};
use crate::placement::first_hosts;
use crate::{AwsMachine, AwsNetwork, AwsSettings, AwsVolume, Configuration, Volume, VolumeKind, raw};

const DEFAULT_REGION: &str = "us-east-1";
/// Eight CPUs of today: a client should not be the limit.
const DEFAULT_CLIENT: &str = "c7i.2xlarge";
const DEFAULT_USER: &str = "admin";
const DEFAULT_ROOT_GIB: i64 = 64;
const DEFAULT_LIFETIME_MIN: f64 = 30.0;
const ZONES: [&str; 2] = ["same", "other"];
const STRATEGIES: [&str; 3] = ["cluster", "spread", "partition"];

/// The settings, without machines so far; what is wrong with them is noted at its place, and there are none then.
pub(super) fn check(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<AwsSettings> {
    let plain = |text: &Option<Spanned<String>>, key: &str, mistakes: &mut Collector<'_>| match text {
        Some(text) => word(text, key, mistakes).map(Some),
        None => Some(None),
    };
    let region = plain(&given.region, "region", mistakes);
    let image_x86_64 = plain(&given.image_x86_64, "image_x86_64", mistakes);
    let image_arm64 = plain(&given.image_arm64, "image_arm64", mistakes);
    let ssh_user = match &given.ssh_user {
        Some(user) => ssh_name(user.get_ref(), user.span(), mistakes),
        None => Some(DEFAULT_USER.to_owned()),
    };
    let client_zone = one_of(given.client_zone.as_ref(), "client_zone", &ZONES, mistakes);
    let placement_group = one_of(given.placement_group.as_ref(), "placement_group", &STRATEGIES, mistakes);
    let controller_cidr = match &given.controller_cidr {
        Some(cidr) => self::cidr(cidr, mistakes).map(Some),
        None => Some(None),
    };
    let root_gib = mistakes.integer(given.root_gib.as_ref(), "root_gib", 16, 16_384, DEFAULT_ROOT_GIB);
    let lifetime = mistakes.number(
        given.lifetime_min.as_ref(),
        "lifetime_min",
        10.0..=1_440.0,
        DEFAULT_LIFETIME_MIN,
    );
    let most = mistakes.number(given.max_cost_usd.as_ref(), "max_cost_usd", 0.01..=1e7, 1.0);
    let tags = tags(given.tags.as_ref(), mistakes);
    let network = network(given, mistakes);
    client_zone?;
    root_gib?;
    Some(AwsSettings {
        region: region?.unwrap_or_else(|| DEFAULT_REGION.to_owned()),
        profile: given.profile.clone(),
        network: network?,
        controller_cidr: controller_cidr?,
        public_address: given.public_address.unwrap_or(false),
        placement_group: placement_group?.map(str::to_owned),
        image_x86_64: image_x86_64?,
        image_arm64: image_arm64?,
        ssh_user: ssh_user?,
        tags: tags?,
        lifetime_s: (lifetime? * 60.0) as u64,
        binary_x86_64: given.binary_x86_64.clone(),
        binary_aarch64: given.binary_aarch64.clone(),
        max_cost_usd: given.max_cost_usd.as_ref().and(most),
        machines: Vec::new(),
    })
}

/// The machines that the experiment needs, and a way to them; what AWS has not is noted at its place.
pub(super) fn machines(
    catalog: &Catalog,
    file: &raw::Experiment,
    settings: &mut AwsSettings,
    configurations: &[Configuration],
    clients: u32,
    mistakes: &mut Collector<'_>,
) {
    let default = raw::Aws::default();
    let given = file.provider.aws.as_ref().map_or(&default, Spanned::get_ref);
    let of_nodes = databases(catalog, file, configurations, given, mistakes);
    let (client, at) = match &given.client {
        Some(client) => (client.get_ref().as_str(), client.span()),
        None => (DEFAULT_CLIENT, file.name.span()),
    };
    let client = instance(catalog, client, at, mistakes);
    let (Some(of_nodes), Some(client)) = (of_nodes, client) else {
        return;
    };
    let is_other = given.client_zone.as_ref().is_some_and(|zone| zone.get_ref() == "other");
    let racks = configurations.iter().map(|c| c.placement.racks).max().unwrap_or(1);
    let of_clients = (0..clients).map(|host| AwsMachine {
        name: format!("client-{}", host + 1),
        configuration: None,
        host,
        instance_type: client.name.clone(),
        architecture: client.architecture.clone(),
        zone: if is_other { racks } else { 0 },
        root_gib: root_gib(given),
        spot: given.spot.unwrap_or(false),
        ebs_optimized: None,
        instance_store: false,
        volumes: BTreeMap::new(),
        usd_per_hour: None,
        price_missing: None,
    });
    settings.machines = of_nodes.into_iter().chain(of_clients).collect();
    for machine in &mut settings.machines {
        match price(catalog, machine, &settings.region) {
            Ok(usd) => machine.usd_per_hour = Some(usd),
            Err(missing) => machine.price_missing = Some(missing),
        }
    }
    let zones = settings.zones();
    if let Some(group) = given
        .placement_group
        .as_ref()
        .filter(|group| zones > 1 && group.get_ref() == "cluster")
    {
        let message = format!("a cluster placement group lies in one zone, and the machines stand in {zones}");
        mistakes.add(
            group.span(),
            message,
            "leave it out, or racks and client_zone = \"other\"",
        );
    }
    if let (Some(network), Some(subnets)) = (&settings.network, &given.subnets)
        && network.subnet_ids.len() < zones as usize
    {
        let message = format!("{} subnets for {zones} zones", network.subnet_ids.len());
        let help = "one for each: racks are zones, and clients in another zone need one more";
        mistakes.add(subnets.span(), message, help);
    }
}

/// USD an hour at the catalog's latest on-demand prices, its volumes and its root among them; the error is what has no
/// price.
fn price(catalog: &Catalog, machine: &AwsMachine, region: &str) -> Result<f64, String> {
    let basis = Basis {
        region: region.to_owned(),
        ebs_optimised: machine.ebs_optimized.unwrap_or(false),
        ..Basis::default()
    };
    let root = VolumeRequest {
        kind: VolumeType::Gp3,
        size_gib: f64::from(machine.root_gib),
        iops: None,
        mib_per_s: None,
    };
    let order = |volume: &AwsVolume| {
        Ok(VolumeRequest {
            kind: volume
                .kind
                .parse()
                .map_err(|error: UnknownVolumeType| error.to_string())?,
            size_gib: f64::from(volume.size_gib),
            iops: volume.iops.map(f64::from),
            mib_per_s: volume.mib_per_s.map(f64::from),
        })
    };
    let mut orders = machine
        .volumes
        .values()
        .map(order)
        .collect::<Result<Vec<_>, String>>()?;
    orders.push(root);
    let cost = catalog.cost_of(&machine.instance_type, &orders, 1, &basis);
    let cost = cost.map_err(|error| error.to_string())?;
    Ok(cost.usd_per_month / basis.hours_per_month)
}

fn root_gib(given: &raw::Aws) -> u32 {
    let stated = given.root_gib.as_ref().map_or(DEFAULT_ROOT_GIB, |gib| *gib.get_ref());
    u32::try_from(stated).unwrap_or_default()
}

/// What only a run needs: a way to the machines.
pub(super) fn reachable(file: &raw::Experiment, settings: &AwsSettings, mistakes: &mut Collector<'_>) {
    let at = file.provider.aws.as_ref().map_or(file.name.span(), Spanned::span);
    if settings.controller_cidr.is_none() {
        mistakes.add(
            at.clone(),
            "[provider.aws] controller_cidr is missing: nobody could reach the machines by SSH",
            "the address from which you run iopslab, as the machines see it: controller_cidr = \"203.0.113.7/32\"",
        );
    }
    if settings.network.is_none() && !settings.public_address {
        mistakes.add(
            at,
            "a network that is made for the run has no way in but public addresses",
            "public_address = true; or name a network that you reach: vpc = \"vpc-...\", subnets = [\"subnet-...\"]",
        );
    }
}

/// A machine for every node of every configuration.
fn databases(
    catalog: &Catalog,
    file: &raw::Experiment,
    configurations: &[Configuration],
    given: &raw::Aws,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<AwsMachine>> {
    let mut machines = Vec::new();
    let mut sound = true;
    for ((configuration, first), raw) in configurations
        .iter()
        .zip(first_hosts(configurations.iter().map(|c| c.placement)))
        .zip(&file.configuration)
    {
        let at = raw.get_ref().instance.span();
        let found = match configuration.instance.from_catalog {
            true => instance(catalog, &configuration.instance.label, at, mistakes),
            false => {
                let message = format!("`{}` is no instance type of AWS", configuration.instance.label);
                mistakes.add(at, message, "name a type; see: iopslab catalog list");
                None
            }
        };
        let mut volumes = BTreeMap::new();
        let of_role = [
            (
                "data",
                Some(&configuration.data_volume),
                Some(&raw.get_ref().data_volume),
            ),
            (
                "commitlog",
                configuration.commitlog_volume.as_ref(),
                raw.get_ref().commitlog_volume.as_ref(),
            ),
        ];
        let mut instance_store = false;
        for (role, volume, given) in of_role {
            let (Some(volume), Some(given)) = (volume, given) else {
                continue;
            };
            match ordered(volume) {
                Ordered::Ebs(ordered) => drop(volumes.insert(role.to_owned(), ordered)),
                Ordered::Local if role == "data" => instance_store = true,
                Ordered::Local => {
                    sound = false;
                    let message = "the commit log alone on the instance's own disks cannot be made on AWS so far";
                    mistakes.add(given.span(), message, "name an EBS volume for it, or leave it out");
                }
                Ordered::Nothing => {
                    sound = false;
                    let message = format!("`{}` is no volume of AWS", volume.label);
                    mistakes.add(
                        given.span(),
                        message,
                        "name its type: { type = \"gp3\", size_gib = 500 }",
                    );
                }
            }
        }
        let Some(found) = found else {
            sound = false;
            continue;
        };
        machines.extend((0..configuration.placement.nodes).map(|node| AwsMachine {
            name: format!("{}.database-{}", configuration.name, node + 1),
            configuration: Some(configuration.name.clone()),
            host: first + node,
            instance_type: found.name.clone(),
            architecture: found.architecture.clone(),
            zone: node % configuration.placement.racks,
            root_gib: root_gib(given),
            spot: given.spot.unwrap_or(false),
            ebs_optimized: (found.ebs_optimisation == EbsOptimisation::Surcharge).then_some(true),
            instance_store,
            volumes: volumes.clone(),
            usd_per_hour: None,
            price_missing: None,
        }));
    }
    sound.then_some(machines)
}

/// What is ordered for a volume.
enum Ordered {
    Ebs(AwsVolume),
    Local,
    Nothing,
}

fn ordered(volume: &Volume) -> Ordered {
    let whole = |number: Option<f64>| number.map(|number| number.round() as u32);
    match (&volume.order, volume.kind) {
        (Some(order), _) => Ordered::Ebs(AwsVolume {
            kind: order.kind.name().to_owned(),
            size_gib: order.size_gib.ceil() as u32,
            iops: whole(order.iops),
            mib_per_s: whole(order.mib_per_s),
        }),
        (None, VolumeKind::Local) => Ordered::Local,
        (None, _) => Ordered::Nothing,
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
    if found.lifecycle == Lifecycle::Retired {
        let message = format!("AWS no longer offers {name}");
        mistakes.add(
            at,
            message,
            "measure it emulated on one machine: without --provider aws",
        );
        return None;
    }
    Some(found)
}

/// A network that exists has subnets.
fn network(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<Option<AwsNetwork>> {
    match (&given.vpc, &given.subnets) {
        (None, None) => Some(None),
        (Some(vpc), None) => {
            mistakes.add(
                vpc.span(),
                "vpc without subnets",
                "subnets = [\"subnet-...\"], one for each zone",
            );
            None
        }
        (None, Some(subnets)) => {
            mistakes.add(
                subnets.span(),
                "subnets without a vpc",
                "vpc = \"vpc-...\", to which they belong",
            );
            None
        }
        (Some(vpc), Some(subnets)) => {
            let distinct: BTreeSet<&String> = subnets.get_ref().iter().collect();
            if distinct.len() != subnets.get_ref().len() || distinct.is_empty() {
                mistakes.add(
                    subnets.span(),
                    "a subnet is named twice, or none is",
                    "one for each zone",
                );
                return None;
            }
            Some(Some(AwsNetwork {
                vpc_id: word(vpc, "vpc", mistakes)?,
                subnet_ids: subnets.get_ref().clone(),
            }))
        }
    }
}

fn tags(
    given: Option<&Spanned<BTreeMap<String, String>>>,
    mistakes: &mut Collector<'_>,
) -> Option<BTreeMap<String, String>> {
    let Some(given) = given else {
        return Some(BTreeMap::new());
    };
    let is_taken = |key: &&String| key.starts_with("iopslab:") || key.starts_with("aws:") || *key == "Name";
    if let Some(own) = given.get_ref().keys().find(is_taken) {
        let help = "Name and tags that begin with iopslab: are what finds a run's machines again";
        mistakes.add(given.span(), format!("`{own}` cannot be a tag of yours"), help);
        return None;
    }
    Some(given.get_ref().clone())
}

/// A word without spaces and control characters.
fn word(given: &Spanned<String>, key: &str, mistakes: &mut Collector<'_>) -> Option<String> {
    let text = given.get_ref();
    let is_sound = !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '"');
    if !is_sound {
        mistakes.add(
            given.span(),
            format!("{key} cannot be `{text}`"),
            "one word, as AWS writes it",
        );
    }
    is_sound.then(|| text.clone())
}

fn one_of<'w>(
    given: Option<&Spanned<String>>,
    key: &str,
    words: &[&'w str],
    mistakes: &mut Collector<'_>,
) -> Option<Option<&'w str>> {
    let Some(given) = given else {
        return Some(None);
    };
    let found = words.iter().find(|word| **word == given.get_ref().as_str());
    if found.is_none() {
        let message = format!("{key} cannot be `{}`", given.get_ref());
        mistakes.add(given.span(), message, choice(given.get_ref(), words));
    }
    found.map(|word| Some(*word))
}

/// An IPv4 network that is not the whole internet.
fn cidr(given: &Spanned<String>, mistakes: &mut Collector<'_>) -> Option<String> {
    let parts = given.get_ref().split_once('/');
    let parsed = parts.and_then(|(address, bits)| {
        let address: std::net::Ipv4Addr = address.parse().ok()?;
        let bits: u32 = bits.parse().ok().filter(|bits| (8..=32).contains(bits))?;
        (u64::from(address.to_bits()) << bits & 0xffff_ffff == 0).then_some(())
    });
    if parsed.is_none() {
        let help = "an IPv4 network such as \"203.0.113.7/32\", no larger than /8";
        mistakes.add(
            given.span(),
            format!("controller_cidr cannot be `{}`", given.get_ref()),
            help,
        );
    }
    parsed.map(|()| given.get_ref().clone())
}
