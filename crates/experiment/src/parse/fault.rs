//! `[[fault]]`: nodes and caches taken away, and disks that fail, in every trial.

use super::{cache_tier, disk_fault};
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{Configuration, Emulation, FaultAction, Load, NodeFault, NodeFaultKind, raw};

/// A written value carries its key's number and its own: two numbers of 16 hexadecimal digits, with a mark each.
const FIELD_BYTES_MIN: i64 = 36;
/// Seconds of measurement before the first fault, at the least: what "as before" means has to be measured.
const BEFORE_S_MIN: f64 = 5.0;

pub(super) fn check(
    file: &raw::Experiment,
    configurations: &[Option<Configuration>],
    load: Option<&Load>,
    emulation: Emulation,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<NodeFault>> {
    let Some(first) = file.fault.first() else { return Some(Vec::new()) };
    surroundings(file, first, mistakes);
    let duration_s = load.map_or(f64::INFINITY, |load| load.shape.duration_s);
    let mut checked: Vec<(&Spanned<raw::Fault>, NodeFault)> = Vec::new();
    let mut is_whole = true;
    for given in &file.fault {
        match fault(given, duration_s, mistakes) {
            Some(fault) => {
                match fault.action {
                    FaultAction::CacheKill { cache_node } => {
                        cache_tier::has_node((file, configurations), given, cache_node, mistakes);
                    }
                    _ => exists(given, fault, configurations, mistakes),
                }
                disk_fault::possible(given, fault.action, emulation, configurations, mistakes);
                checked.push((given, fault));
            }
            None => is_whole = false,
        }
    }
    checked.sort_by(|(_, a), (_, b)| a.at_s.total_cmp(&b.at_s));
    for pair in checked.windows(2) {
        if let [(_, earlier), (at, later)] = pair
            && earlier.until_s().is_none_or(|until_s| later.at_s <= until_s)
        {
            mistakes.add(
                at.span(),
                format!("{} begins before {} is over", later.label(), earlier.label()),
                "one fault at a time: their effects could not be distinguished",
            );
        }
    }
    is_whole.then(|| checked.into_iter().map(|(_, fault)| fault).collect())
}

fn fault(given: &raw::Fault, duration_s: f64, mistakes: &mut Collector<'_>) -> Option<NodeFault> {
    let raw::Fault { kind, node, at_s, for_s, .. } = given;
    let known = mistakes.word(kind, "unknown kind of fault");
    let action = known.map(|kind| disk_fault::action(given, kind, mistakes));
    let most = if known == Some(NodeFaultKind::CacheKill) { cache_tier::MOST_NODES } else { 12 };
    let node = mistakes.sound(|mistakes| mistakes.integer(node, "node", 1..=most, 1));
    let at = mistakes.stated_number(at_s, "at_s", BEFORE_S_MIN..=f64::MAX)?;
    let lasting_s = mistakes.sound(|mistakes| mistakes.stated_number(for_s, "for_s", 1.0..=f64::MAX))?;
    let (action, node) = match (action??, node? as u32) {
        // Caches are started beside the database's first node.
        (FaultAction::CacheKill { .. }, cache_node) => (FaultAction::CacheKill { cache_node }, 1),
        of_database => of_database,
    };
    let fault = NodeFault { action, node, at_s: at, for_s: lasting_s };
    let late = if at >= duration_s {
        Some((at_s.span(), format!("at_s = {at}")))
    } else {
        let over = fault.until_s().filter(|until_s| *until_s >= duration_s);
        over.zip(for_s.as_ref()).map(|(until_s, at)| (at.span(), format!("for_s = {at}: {until_s} s")))
    };
    if let Some((at, what)) = late {
        return mistakes.refuse(
            at,
            format!("{what} is not within the measurement of {duration_s} s"),
            match fault.kind() {
                NodeFaultKind::Compaction => "raise duration_s in [load]",
                kind if kind.is_of_disk() => {
                    "raise duration_s in [load]: a disk's fault ends before the measurement does"
                }
                _ => "raise duration_s in [load]; without for_s the node stays away to the end",
            },
        );
    }
    Some(fault)
}

/// The node exists in every configuration, and can be taken away there.
fn exists(
    given: &Spanned<raw::Fault>,
    fault: NodeFault,
    configurations: &[Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    let small = configurations.iter().flatten().find(|c| c.placement.nodes < fault.node);
    if let Some(small) = small {
        let has = match small.placement.nodes {
            1 => "one node".to_owned(),
            nodes => format!("{nodes} nodes"),
        };
        mistakes.add(
            place(&given.node).unwrap_or(given.span()),
            format!("node = {}: {} has {has}", fault.node, small.name),
            "every configuration goes through the same faults: name a node that each one has",
        );
    }
}

/// What else the experiment states that does not go with faults.
fn surroundings(file: &raw::Experiment, first: &Spanned<raw::Fault>, mistakes: &mut Collector<'_>) {
    if let Some(operations) = &file.load.operations {
        let message = "operations with [[fault]]: a trial could end before its faults";
        mistakes.add(operations.span(), message, "give duration_s only");
    }
    let length = file.dataset.field_length.as_ref();
    if let Some(short) = length.filter(|length| ***length < FIELD_BYTES_MIN) {
        mistakes.add(
            short.span(),
            format!("field_length = {short} with [[fault]]: a written value carries its key and a number"),
            format!("at least {FIELD_BYTES_MIN} bytes"),
        );
    }
    if file.has_existing_cluster() || file.configuration.iter().any(|c| c.hosts.is_some()) {
        mistakes.add(
            first.span(),
            "[[fault]] with an existing cluster: its nodes are not iopslab's to stop",
            "remove it, or have iopslab start the database: leave hosts out",
        );
    }
}
