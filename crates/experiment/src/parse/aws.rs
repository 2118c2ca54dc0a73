//! `[provider.aws]`: how a run's machines are made and reached.

use std::collections::BTreeMap;

use toml::Spanned;

use super::aws_machines::DEFAULT_ROOT_GIB;
use super::hosts::ssh_name;
use super::numbers::Check as _;
use super::{aws_backend, aws_sites};
use crate::mistakes::{Collector, choice};
use crate::{AwsSettings, raw};

const DEFAULT_USER: &str = "admin";
const DEFAULT_LIFETIME_MIN: f64 = 30.0;
/// Its start, its file systems, its packages.
const DEFAULT_READY_TIMEOUT_S: f64 = 900.0;
const DEFAULT_CAPACITY_WAIT_MIN: f64 = 15.0;
const ZONES: [&str; 2] = ["same", "other"];
const STRATEGIES: [&str; 3] = ["cluster", "spread", "partition"];

/// The settings, without machines so far; what is wrong with them is noted at its place, and there are none then.
pub(super) fn check(given: &raw::Aws, mistakes: &mut Collector<'_>) -> Option<AwsSettings> {
    let sites = aws_sites::check(given, mistakes);
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
    let ready_timeout = mistakes.number(
        given.ready_timeout_s.as_ref(),
        "ready_timeout_s",
        60.0..=7_200.0,
        DEFAULT_READY_TIMEOUT_S,
    );
    let capacity_wait = mistakes.number(
        given.capacity_wait_min.as_ref(),
        "capacity_wait_min",
        0.0..=1_440.0,
        DEFAULT_CAPACITY_WAIT_MIN,
    );
    let most = mistakes.number(given.max_cost_usd.as_ref(), "max_cost_usd", 0.01..=1e7, 1.0);
    let backend = match &given.backend {
        Some(backend) => aws_backend::check(backend, mistakes).map(Some),
        None => Some(None),
    };
    let tags = tags(given.tags.as_ref(), mistakes);
    client_zone?;
    root_gib?;
    Some(AwsSettings {
        sites: sites?,
        controller_cidr: controller_cidr?,
        public_address: given.public_address.unwrap_or(false),
        placement_group: placement_group?.map(str::to_owned),
        ssh_user: ssh_user?,
        tags: tags?,
        lifetime_s: (lifetime? * 60.0) as u64,
        ready_timeout_s: ready_timeout? as u64,
        capacity_wait_s: (capacity_wait? * 60.0) as u64,
        binary_x86_64: given.binary_x86_64.clone(),
        binary_aarch64: given.binary_aarch64.clone(),
        max_cost_usd: given.max_cost_usd.as_ref().and(most),
        backend: backend?,
        batches: Vec::new(),
        initialisations: Vec::new(),
    })
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
    if settings.sites.iter().any(|site| site.network.is_none()) && !settings.public_address {
        mistakes.add(
            at,
            "a network that is made for the run has no way in but public addresses",
            "public_address = true; or name a network that you reach: vpc = \"vpc-...\", subnets = [\"subnet-...\"]",
        );
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
