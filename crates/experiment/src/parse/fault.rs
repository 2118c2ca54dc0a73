//! `[[fault]]`: nodes taken away, and disks that fail, in every trial.

use toml::Spanned;

use super::disk_fault;
use super::numbers::Check as _;
use crate::mistakes::{Collector, choice};
use crate::{Configuration, Emulation, Load, NodeFault, NodeFaultKind, raw};

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
    let Some(first) = file.fault.first() else {
        return Some(Vec::new());
    };
    surroundings(file, first, mistakes);
    let duration_s = load.map_or(f64::INFINITY, |load| load.duration_s);
    let mut checked: Vec<(&Spanned<raw::Fault>, NodeFault)> = Vec::new();
    let mut is_whole = true;
    for given in &file.fault {
        match fault(given, duration_s, mistakes) {
            Some(fault) => {
                exists(given, fault, configurations, mistakes);
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
                "one fault at a time: what each one does could not be told apart",
            );
        }
    }
    is_whole.then(|| checked.into_iter().map(|(_, fault)| fault).collect())
}

fn fault(given: &Spanned<raw::Fault>, duration_s: f64, mistakes: &mut Collector<'_>) -> Option<NodeFault> {
    let raw::Fault {
        kind,
        node,
        at_s,
        for_s,
        ..
    } = given.get_ref();
    let known = NodeFaultKind::ALL.into_iter().find(|k| k.name() == kind.get_ref());
    if known.is_none() {
        let names = NodeFaultKind::ALL.map(NodeFaultKind::name);
        mistakes.add(
            kind.span(),
            format!("unknown kind of fault `{}`", kind.get_ref()),
            choice(kind.get_ref(), &names),
        );
    }
    let action = known.map(|kind| disk_fault::action(given.get_ref(), kind, mistakes));
    let node = mistakes.integer(node.as_ref(), "node", 1, 12, 1);
    let at = mistakes.number(Some(at_s), "at_s", BEFORE_S_MIN..=f64::MAX, BEFORE_S_MIN)?;
    let lasting_s = match for_s {
        Some(stated) => Some(mistakes.number(Some(stated), "for_s", 1.0..=f64::MAX, 1.0)?),
        None => None,
    };
    let fault = NodeFault {
        action: action??,
        node: node? as u32,
        at_s: at,
        for_s: lasting_s,
    };
    let late = if at >= duration_s {
        Some((at_s.span(), format!("at_s = {at}")))
    } else {
        let over = fault.until_s().filter(|until_s| *until_s >= duration_s);
        over.zip(for_s.as_ref())
            .map(|(until_s, at)| (at.span(), format!("for_s = {}: {until_s} s", at.get_ref())))
    };
    if let Some((at, what)) = late {
        mistakes.add(
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
        return None;
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
    let at = given.get_ref().node.as_ref().map_or(given.span(), Spanned::span);
    let small = configurations.iter().flatten().find(|c| c.placement.nodes < fault.node);
    if let Some(small) = small {
        mistakes.add(
            at,
            format!(
                "node = {}: {} has {}",
                fault.node,
                small.name,
                match small.placement.nodes {
                    1 => "one node".to_owned(),
                    nodes => format!("{nodes} nodes"),
                }
            ),
            "every configuration goes through the same faults: name a node that each one has",
        );
    }
}

/// What else the experiment states that does not go with faults.
fn surroundings(file: &raw::Experiment, first: &Spanned<raw::Fault>, mistakes: &mut Collector<'_>) {
    let load = file.load.get_ref();
    if let Some(operations) = &load.operations {
        mistakes.add(
            operations.span(),
            "operations with [[fault]]: a trial could end before its faults",
            "give duration_s only",
        );
    }
    let dataset = file.dataset.get_ref();
    let field_length = dataset.field_length.as_ref();
    if let Some(short) = field_length.filter(|length| *length.get_ref() < FIELD_BYTES_MIN) {
        mistakes.add(
            short.span(),
            format!(
                "field_length = {} with [[fault]]: a written value carries its key and a number",
                short.get_ref()
            ),
            format!("at least {FIELD_BYTES_MIN} bytes"),
        );
    }
    let target = file.target.as_ref().map(Spanned::get_ref);
    let of_configuration = || file.configuration.iter().find_map(|c| c.get_ref().hosts.as_ref());
    if target
        .and_then(|t| t.hosts.as_ref())
        .or_else(of_configuration)
        .is_some()
    {
        mistakes.add(
            first.span(),
            "[[fault]] with an existing cluster: its nodes are not iopslab's to stop",
            "remove it, or have iopslab start the database: leave hosts out",
        );
    }
}
