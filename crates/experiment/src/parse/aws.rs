//! `[provider.aws]`: how a run's machines are made and reached.

use std::collections::BTreeMap;

use super::aws_machines::DEFAULT_ROOT_GIB;
use super::hosts::ssh_name;
use super::{aws_backend, aws_pairs, aws_sites};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{AwsSettings, raw};

const DEFAULT_USER: &str = "admin";
const LIFETIME_MIN: f64 = 30.0;
/// Its start, its file systems, its packages.
const READY_S: f64 = 900.0;
const WAIT_MIN: f64 = 15.0;

/// The settings, without machines so far; what is wrong with them is noted at its place and left out. Where one site is
/// wrong there is none.
pub(super) fn check(given: &raw::Aws, mistakes: &mut Collector<'_>) -> AwsSettings {
    let sites = aws_sites::check(given, mistakes);
    if let Some(zone) = &given.client_zone {
        mistakes.refuse_other(zone, "client_zone cannot be", &["same", "other"]);
    }
    if let Some(group) = &given.placement_group {
        mistakes.refuse_other(group, "placement_group cannot be", &["cluster", "spread", "partition"]);
    }
    if let Some(pairs) = &given.pair_volumes {
        mistakes.refuse_other(pairs, "pair_volumes cannot be", &[aws_pairs::MODIFY]);
    }
    mistakes.integer(&given.root_gib, "root_gib", 16..=16_384, DEFAULT_ROOT_GIB);
    let ssh_user = match &given.ssh_user {
        Some(user) => ssh_name(user, user.span(), mistakes).unwrap_or_default(),
        None => DEFAULT_USER.to_owned(),
    };
    let lifetime_min = mistakes.number(&given.lifetime_min, "lifetime_min", 10.0..=1_440.0, LIFETIME_MIN);
    let ready_s = mistakes.number(&given.ready_timeout_s, "ready_timeout_s", 60.0..=7_200.0, READY_S);
    let wait_min = mistakes.number(&given.capacity_wait_min, "capacity_wait_min", 0.0..=1_440.0, WAIT_MIN);
    let tags = given.tags.as_ref().map(|given| tags(given, mistakes));
    let backend = given.backend.as_ref();
    AwsSettings {
        controller_cidr: given.controller_cidr.as_ref().and_then(|given| cidr(given, mistakes)),
        public_address: given.public_address.unwrap_or(false),
        placement_group: given.placement_group.as_deref().cloned(),
        ssh_user,
        tags: tags.unwrap_or_default(),
        lifetime_s: (lifetime_min * 60.0) as u64,
        ready_timeout_s: ready_s as u64,
        capacity_wait_s: (wait_min * 60.0) as u64,
        binary_x86_64: given.binary_x86_64.clone(),
        binary_aarch64: given.binary_aarch64.clone(),
        max_cost_usd: mistakes.stated_number(&given.max_cost_usd, "max_cost_usd", 0.01..=1e7),
        backend: backend.and_then(|given| aws_backend::check(given, mistakes)),
        batches: Vec::new(),
        initialisations: Vec::new(),
        pairs: Vec::new(),
        sites: sites.unwrap_or_default(),
    }
}

/// What only a run needs: a way to the machines.
pub(super) fn reachable(file: &raw::Experiment, settings: &AwsSettings, mistakes: &mut Collector<'_>) {
    let given = file.provider.aws.as_ref();
    let at = given.map_or(file.name.span(), Spanned::span);
    // One that is wrong is reported as that.
    if given.is_none_or(|given| given.controller_cidr.is_none()) {
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

fn tags(given: &Spanned<BTreeMap<String, String>>, mistakes: &mut Collector<'_>) -> BTreeMap<String, String> {
    let is_taken = |key: &&String| key.starts_with("iopslab:") || key.starts_with("aws:") || *key == "Name";
    if let Some(own) = given.keys().find(is_taken) {
        let help = "Name and tags that begin with iopslab: are what finds a run's machines again";
        mistakes.add(given.span(), format!("`{own}` cannot be a tag of yours"), help);
    }
    given.get_ref().clone()
}

/// An IPv4 network that is not the whole internet.
fn cidr(given: &Spanned<String>, mistakes: &mut Collector<'_>) -> Option<String> {
    let parsed = given.split_once('/').and_then(|(address, bits)| {
        let address: std::net::Ipv4Addr = address.parse().ok()?;
        let bits: u32 = bits.parse().ok().filter(|bits| (8..=32).contains(bits))?;
        (u64::from(address.to_bits()) << bits & 0xffff_ffff == 0).then(|| given.get_ref().clone())
    });
    if parsed.is_none() {
        let help = "an IPv4 network such as \"203.0.113.7/32\", no larger than /8";
        mistakes.add(given.span(), format!("controller_cidr cannot be `{given}`"), help);
    }
    parsed
}
