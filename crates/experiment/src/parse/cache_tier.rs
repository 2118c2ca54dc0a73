//! `cache_tier`: nodes of memcached in front of a configuration's database.

use std::ops::Range;

use ::workload::Definition;
use catalog::{GIB, InstanceType, MIB};

use crate::cache_tier::{LEAST_BYTES, MOST_KEY_BYTES, MOST_RECORD_BYTES, most_for_items};
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{CacheTier, Configuration, Dataset, NodeFaultKind, raw};

pub(super) const MOST_NODES: i64 = 64;
/// The longest time to live: what is longer memcached takes for a moment (memcached, doc/protocol.txt, "Expiration
/// times").
const LONGEST_TTL_S: i64 = 60 * 60 * 24 * 30;

/// What stands there by itself, on this type of machine; `None`: the catalog does not have it, which has been reported.
pub(super) fn check(
    given: &raw::CacheTier,
    found: Option<&InstanceType>,
    mistakes: &mut Collector<'_>,
) -> Option<CacheTier> {
    let raw::CacheTier { memory_gib, nodes, instance: _, ttl_s, policy } = given;
    // To the hundredth, as it is printed.
    let most_of = |found: &InstanceType| (most_for_items(found.memory_gib * GIB) / GIB * 100.0).floor() / 100.0;
    let most_gib = found.map_or(32_768.0, most_of);
    let memory = mistakes.stated_number(memory_gib, "memory_gib of cache_tier", 0.001..=most_gib);
    let nodes = mistakes.integer(nodes, "nodes of cache_tier", 1..=MOST_NODES, 1) as u32;
    let ttl = mistakes.stated_integer(ttl_s, "ttl_s", 1..=LONGEST_TTL_S);
    let policy = policy.as_ref().map(|word| mistakes.word(word, "policy cannot be"));
    let found = found?;
    Some(CacheTier {
        nodes,
        instance: found.name.clone(),
        vcpus: f64::from(found.vcpus),
        cpu_speed: catalog::cpu_speed(&found.name),
        network_gbps: found.network_gbps,
        memory_bytes: (memory? * GIB) as u64,
        ttl_s: ttl.map(|s| s as u32),
        // A word that is none has been reported.
        policy: policy.flatten().unwrap_or_default(),
    })
}

/// What else the experiment states that does not go with it.
pub(super) fn fits(
    file: &raw::Experiment,
    (dataset, scale): (Option<&Dataset>, f64),
    configurations: &[Option<Configuration>],
    workloads: &[Option<Definition>],
    mistakes: &mut Collector<'_>,
) {
    let key_bytes = workloads.iter().flatten().map(|asked| {
        let mut key = String::new();
        workload::write_key(0, asked.keys, &mut key);
        key.len()
    });
    let longest_key = key_bytes.max().filter(|bytes| *bytes > MOST_KEY_BYTES);
    for (given, checked) in file.configuration.iter().zip(configurations) {
        let Some(tier) = &given.cache_tier else { continue };
        for (at, why, help) in contradictions(file, tier.span()) {
            mistakes.add(at, format!("cache_tier of {}: {why}", given.name), help);
        }
        let checked = checked.as_ref().and_then(|checked| checked.cache_tier.as_ref());
        if let Some(bytes) = checked.map(|tier| tier.memory_bytes as f64 / scale).filter(|bytes| *bytes < LEAST_BYTES) {
            mistakes.add(
                tier.memory_gib.span(),
                format!(
                    "cache_tier of {}: a node would have {:.1} MiB for items on this machine; below {:.0} MiB \
                     memcached has a few pages and nothing is measured",
                    given.name,
                    bytes / MIB,
                    LEAST_BYTES / MIB
                ),
                "more memory_gib, fewer nodes, or a smaller scale in [provider.local]",
            );
        }
        if let Some(bytes) = dataset.map(Dataset::record_bytes).filter(|bytes| *bytes > MOST_RECORD_BYTES) {
            mistakes.add(
                tier.span(),
                format!("cache_tier of {}: memcached takes no item of {:.1} MiB", given.name, bytes / MIB),
                "records of less than 1 MiB, or no cache_tier",
            );
        }
        if let Some(bytes) = longest_key {
            mistakes.add(
                tier.span(),
                format!("cache_tier of {}: memcached takes no key of {bytes} bytes", given.name),
                format!("zeropadding of the YCSB file of at most {}, or no cache_tier", MOST_KEY_BYTES - "user".len()),
            );
        }
    }
}

/// What is not built, each with what to do.
fn contradictions(file: &raw::Experiment, tier: Range<usize>) -> Vec<(Range<usize>, &'static str, &'static str)> {
    let mut found = Vec::new();
    if file.has_existing_cluster() {
        let help = "remove it; or leave [target] hosts out, for a database of its own";
        found.push((tier.clone(), "iopslab puts nothing in front of a cluster that exists", help));
    }
    if let Some((_, path)) = file.workload.iter().find_map(|workload| workload.own()) {
        let why = "which of your own statements a cache could answer, iopslab does not know";
        found.push((path.span(), why, "use a workload of YCSB, or remove it"));
    }
    let of_cache = NodeFaultKind::CacheKill.name();
    if let Some(fault) = file.fault.iter().find(|fault| fault.kind.as_str() != of_cache) {
        let why = "no [[fault]] but cache-kill is measured behind a cache so far";
        found.push((fault.span(), why, "remove one of the two"));
    }
    found
}

/// Every configuration has the node of its cache tier that a fault kills.
pub(super) fn has_node(
    (file, configurations): (&raw::Experiment, &[Option<Configuration>]),
    given: &Spanned<raw::Fault>,
    cache_node: u32,
    mistakes: &mut Collector<'_>,
) {
    if let Some(without) = file.configuration.iter().find(|c| c.cache_tier.is_none()) {
        mistakes.add(
            given.kind.span(),
            format!("cache-kill: {} has no cache_tier", without.name),
            "every configuration goes through the same faults: give each one a cache_tier, or measure those without \
             one in an experiment of their own",
        );
    }
    let mut tiers = configurations.iter().flatten().filter_map(|c| Some((&c.name, c.cache_tier.as_ref()?)));
    if let Some((name, tier)) = tiers.find(|(_, tier)| tier.nodes < cache_node) {
        let has = match tier.nodes {
            1 => "one node".to_owned(),
            nodes => format!("{nodes} nodes"),
        };
        mistakes.add(
            place(&given.node).unwrap_or(given.span()),
            format!("node = {cache_node}: the cache tier of {name} has {has}"),
            "every configuration goes through the same faults: name a node that each tier has",
        );
    }
}
