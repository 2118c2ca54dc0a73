//! `[[provider.aws.site]]`: accounts and regions, with what may stand there.

use std::collections::BTreeSet;

use super::aws_snapshot;
use crate::mistakes::{Collector, choice};
use crate::spanned::{Spanned, place};
use crate::{AwsLimits, AwsNetwork, AwsSite, raw};

const DEFAULT_REGION: &str = "us-east-1";
/// `limits` of a site: AWS is asked.
const QUOTAS: &str = "quotas";
/// More than any account has of anything.
const MOST: i64 = 1_000_000_000;

/// The sites: those that are stated, else one of the keys of `[provider.aws]` itself.
pub(super) fn check(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<Vec<AwsSite>> {
    if given.site.is_empty() {
        return only(given, mistakes).map(|site| vec![site]);
    }
    let beside = [
        ("region", place(&given.region)),
        ("image_x86_64", place(&given.image_x86_64)),
        ("image_arm64", place(&given.image_arm64)),
        ("snapshot", place(&given.snapshot)),
        ("vpc", place(&given.vpc)),
        ("subnets", place(&given.subnets)),
        ("profile", given.profile.as_ref().map(|_| given.site[0].span())),
    ];
    let message = |key: &str| format!("[provider.aws] {key} beside sites");
    mistakes.stray(beside, message, "state it in each [[provider.aws.site]]");
    let mut sites: Vec<AwsSite> = Vec::new();
    let mut sound = true;
    for stated in &given.site {
        let Some(site) = checked(stated, mistakes) else {
            sound = false;
            continue;
        };
        if sites.iter().any(|other| (&other.region, &other.profile) == (&site.region, &site.profile)) {
            let message = format!("the same account in {} is a site already", site.region);
            mistakes.add(stated.span(), message, "one site for each account and region, with all that may stand there");
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
        return mistakes.refuse(
            given.site[without].span(),
            message,
            "copy the snapshot to its region and account and name the copy, or leave all of them out",
        );
    }
    sound.then_some(sites)
}

/// The keys of `[provider.aws]` as the only site.
fn only(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<AwsSite> {
    mistakes.sound(|mistakes| {
        let region = optional(&given.region, "region", mistakes);
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        AwsSite {
            name: region.clone(),
            region,
            profile: given.profile.clone(),
            network: network(&given.vpc, &given.subnets, mistakes),
            image_x86_64: optional(&given.image_x86_64, "image_x86_64", mistakes),
            image_arm64: optional(&given.image_arm64, "image_arm64", mistakes),
            snapshot: given.snapshot.as_ref().and_then(|id| aws_snapshot::id(id, mistakes)),
            limits: AwsLimits::default(),
        }
    })
}

fn checked(given: &raw::AwsSite, mistakes: &mut Collector<'_>) -> Option<AwsSite> {
    mistakes.sound(|mistakes| {
        if let Some(limits) = given.limits.as_ref().filter(|limits| *limits.get_ref() != QUOTAS) {
            let help = format!("{}; or state vcpus, machines, volumes, volume_gib", choice(limits, &[QUOTAS]));
            mistakes.add(limits.span(), format!("limits cannot be `{limits}`"), help);
        }
        let mut most = |most: Option<&Spanned<i64>>, key: &str, least| {
            mistakes.stated_integer(most, key, least..=MOST).map(|most| most as u64)
        };
        // None of a type is a limit, too.
        let machines = given.machines.iter();
        let machines = machines.filter_map(|(kind, count)| Some((kind.to_string(), most(Some(count), kind, 0)?)));
        let limits = AwsLimits {
            machines: machines.collect(),
            vcpus: most(given.vcpus.as_ref(), "vcpus", 1),
            volumes: most(given.volumes.as_ref(), "volumes", 1),
            volume_gib: most(given.volume_gib.as_ref(), "volume_gib", 1),
            // They are read when it is known what is needed.
            quotas: None,
        };
        AwsSite {
            name: optional(&given.name, "name", mistakes).unwrap_or_else(|| given.region.to_string()),
            region: word(&given.region, "region", mistakes).unwrap_or_default(),
            profile: given.profile.clone(),
            network: network(&given.vpc, &given.subnets, mistakes),
            image_x86_64: optional(&given.image_x86_64, "image_x86_64", mistakes),
            image_arm64: optional(&given.image_arm64, "image_arm64", mistakes),
            snapshot: given.snapshot.as_ref().and_then(|id| aws_snapshot::id(id, mistakes)),
            limits,
        }
    })
}

/// A network that exists has subnets.
fn network(
    vpc: &Option<Spanned<String>>,
    subnets: &Option<Spanned<Vec<String>>>,
    mistakes: &mut Collector<'_>,
) -> Option<AwsNetwork> {
    match (vpc, subnets) {
        (None, None) => None,
        (Some(vpc), None) => {
            let help = "subnets = [\"subnet-...\"], one for each zone";
            mistakes.refuse(vpc.span(), "vpc without subnets", help)
        }
        (None, Some(subnets)) => {
            let help = "vpc = \"vpc-...\", to which they belong";
            mistakes.refuse(subnets.span(), "subnets without a vpc", help)
        }
        (Some(vpc), Some(subnets)) => {
            let distinct: BTreeSet<&String> = subnets.iter().collect();
            if distinct.len() != subnets.len() || distinct.is_empty() {
                let message = "a subnet is named twice, or none is";
                mistakes.add(subnets.span(), message, "one for each zone");
            }
            Some(AwsNetwork { vpc_id: word(vpc, "vpc", mistakes)?, subnet_ids: subnets.get_ref().clone() })
        }
    }
}

fn optional(given: &Option<Spanned<String>>, key: &str, mistakes: &mut Collector<'_>) -> Option<String> {
    word(given.as_ref()?, key, mistakes)
}

/// A word without spaces and control characters.
pub(super) fn word(given: &Spanned<String>, key: &str, mistakes: &mut Collector<'_>) -> Option<String> {
    let is_sound = !given.is_empty() && !given.chars().any(|c| c.is_whitespace() || c.is_control() || c == '"');
    if !is_sound {
        let message = format!("{key} cannot be `{given}`");
        mistakes.add(given.span(), message, "one word, as AWS writes it");
    }
    is_sound.then(|| given.get_ref().clone())
}
