//! `[[provider.aws.site]]`: accounts and regions, with what may stand there.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::aws_snapshot;
use super::numbers::Check as _;
use crate::mistakes::{Collector, choice};
use crate::{AwsLimits, AwsNetwork, AwsSite, raw};

const DEFAULT_REGION: &str = "us-east-1";
/// `limits` of a site: AWS is asked.
pub(super) const QUOTAS: &str = "quotas";
/// More than any account has of anything.
const MOST: i64 = 1_000_000_000;

/// A network as it is typed: its VPC and its subnets.
type GivenNetwork<'g> = (&'g Option<Spanned<String>>, &'g Option<Spanned<Vec<String>>>);

/// The sites: those that are stated, else one of the keys of `[provider.aws]` itself.
pub(super) fn check(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<Vec<AwsSite>> {
    if given.site.is_empty() {
        return only(given, mistakes).map(|site| vec![site]);
    }
    let vpc = given.vpc.as_ref().map(Spanned::span);
    let subnets = given.subnets.as_ref().map(Spanned::span);
    let of_words = [
        ("region", &given.region),
        ("image_x86_64", &given.image_x86_64),
        ("image_arm64", &given.image_arm64),
        ("snapshot", &given.snapshot),
    ];
    let of_words = of_words
        .into_iter()
        .map(|(key, text)| (key, text.as_ref().map(Spanned::span)));
    let beside = of_words.chain([("vpc", vpc), ("subnets", subnets)]);
    let profile = given.profile.as_ref().map(|_| given.site[0].span());
    for (key, at) in beside.chain([("profile", profile)]) {
        if let Some(at) = at {
            mistakes.add(
                at,
                format!("[provider.aws] {key} beside sites"),
                "state it in each [[provider.aws.site]]",
            );
        }
    }
    let mut sites: Vec<AwsSite> = Vec::new();
    let mut sound = true;
    for stated in &given.site {
        let Some(site) = checked(stated.get_ref(), mistakes) else {
            sound = false;
            continue;
        };
        if sites
            .iter()
            .any(|other| (&other.region, &other.profile) == (&site.region, &site.profile))
        {
            let message = format!("the same account in {} is a site already", site.region);
            mistakes.add(
                stated.span(),
                message,
                "one site for each account and region, with all that may stand there",
            );
        } else if sites.iter().any(|other| other.name == site.name) {
            let message = format!("two sites are called {}", site.name);
            mistakes.add(stated.span(), message, "name = \"...\", another one for each");
        }
        sites.push(site);
    }
    let without = sites.iter().position(|site| site.snapshot.is_none());
    if let (true, Some(without), true) = (sound, without, sites.iter().any(|site| site.snapshot.is_some())) {
        let message = format!(
            "{} has no snapshot and other sites have one: data volumes would not be made alike",
            sites[without].name
        );
        mistakes.add(
            given.site[without].span(),
            message,
            "copy the snapshot to its region and account and name the copy, or leave all of them out",
        );
        return None;
    }
    sound.then_some(sites)
}

/// The keys of `[provider.aws]` as the only site.
fn only(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<AwsSite> {
    let region = optional(given.region.as_ref(), "region", mistakes);
    let image_x86_64 = optional(given.image_x86_64.as_ref(), "image_x86_64", mistakes);
    let image_arm64 = optional(given.image_arm64.as_ref(), "image_arm64", mistakes);
    let snapshot = aws_snapshot::id(given.snapshot.as_ref(), mistakes);
    let network = network((&given.vpc, &given.subnets), mistakes);
    let region = region?.unwrap_or_else(|| DEFAULT_REGION.to_owned());
    Some(AwsSite {
        name: region.clone(),
        region,
        profile: given.profile.clone(),
        network: network?,
        image_x86_64: image_x86_64?,
        image_arm64: image_arm64?,
        snapshot: snapshot?,
        limits: AwsLimits::default(),
    })
}

fn checked(given: &raw::AwsSite, mistakes: &mut Collector<'_>) -> Option<AwsSite> {
    let name = optional(given.name.as_ref(), "name", mistakes);
    let region = word(&given.region, "region", mistakes);
    let image_x86_64 = optional(given.image_x86_64.as_ref(), "image_x86_64", mistakes);
    let image_arm64 = optional(given.image_arm64.as_ref(), "image_arm64", mistakes);
    let snapshot = aws_snapshot::id(given.snapshot.as_ref(), mistakes);
    let network = network((&given.vpc, &given.subnets), mistakes);
    let limit = |number: Option<&Spanned<i64>>, key: &str, mistakes: &mut Collector<'_>| match number {
        Some(number) => mistakes
            .integer(Some(number), key, 1, MOST, 1)
            .map(|most| Some(most as u64)),
        None => Some(None),
    };
    let vcpus = limit(given.vcpus.as_ref(), "vcpus", mistakes);
    let volumes = limit(given.volumes.as_ref(), "volumes", mistakes);
    let volume_gib = limit(given.volume_gib.as_ref(), "volume_gib", mistakes);
    if let Some(limits) = given.limits.as_ref().filter(|limits| limits.get_ref() != QUOTAS) {
        let message = format!("limits cannot be `{}`", limits.get_ref());
        mistakes.add(
            limits.span(),
            message,
            format!(
                "{}; or state vcpus, machines, volumes, volume_gib",
                choice(limits.get_ref(), &[QUOTAS])
            ),
        );
        return None;
    }
    let mut machines = BTreeMap::new();
    for (kind, most) in &given.machines {
        // None of a type is a limit, too.
        if let Some(most) = mistakes.integer(Some(most), kind.get_ref(), 0, MOST, 0) {
            machines.insert(kind.get_ref().clone(), most as u64);
        }
    }
    let region = region?;
    Some(AwsSite {
        name: name?.unwrap_or_else(|| region.clone()),
        region,
        profile: given.profile.clone(),
        network: network?,
        image_x86_64: image_x86_64?,
        image_arm64: image_arm64?,
        snapshot: snapshot?,
        limits: AwsLimits {
            vcpus: vcpus?,
            machines,
            volumes: volumes?,
            volume_gib: volume_gib?,
            // They are read when it is known what is needed.
            quotas: None,
        },
    })
}

/// A network that exists has subnets.
fn network(given: GivenNetwork<'_>, mistakes: &mut Collector<'_>) -> Option<Option<AwsNetwork>> {
    match given {
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

fn optional(given: Option<&Spanned<String>>, key: &str, mistakes: &mut Collector<'_>) -> Option<Option<String>> {
    match given {
        Some(text) => word(text, key, mistakes).map(Some),
        None => Some(None),
    }
}

/// A word without spaces and control characters.
pub(super) fn word(given: &Spanned<String>, key: &str, mistakes: &mut Collector<'_>) -> Option<String> {
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
