//! Which resource is named, by use alone.

use std::collections::{BTreeMap, BTreeSet};

use evidence::HostId;
use experiment::Setup;

use super::typical::{self, Uses};
use super::window::Watched;
use crate::document::limit::{GC_DOMINATES, GC_MATTERS, Limit, LimitKind, ResourceUse};
use crate::measurement::TrialMeasurement;
use crate::rules::CLIENT_CPU_MAX;

/// Names the resource that bounded a cell, from the windows of its valid trials.
///
/// All resources at their cap are candidates; the one nearest to its capacity in the middle window is named, the
/// others are listed with it. A capacity is what was really there in that window: CPUs less steal and foreign quotas, a
/// bucket's burst rate while credits last and its baseline after. The network is named only where its capacity is
/// known, which the local provider (loopback) never knows.
///
/// A database of several nodes is as fast as its slowest node: each resource counts where it is fullest, against what
/// that node had of it.
pub fn of_cell(setup: Option<&Setup>, trials: &[&TrialMeasurement]) -> Limit {
    let undisturbed: Vec<&TrialMeasurement> = trials.iter().map(|t| t.undisturbed()).collect();
    named(&typical::of_nodes(setup, &undisturbed), &undisturbed)
}

/// The same from what was used on each node.
pub fn named(nodes: &BTreeMap<HostId, Uses>, trials: &[&TrialMeasurement]) -> Limit {
    if trials.is_empty() {
        return reported(LimitKind::NotComparable, Vec::new(), Vec::new());
    }
    let mut uses = fullest(nodes);
    uses.extend(typical::of_load(trials).into_iter().map(|(_, used)| used));
    uses.sort_by_key(|u| u.kind);
    let (kind, also) = name(&uses);
    let kind = match kind {
        // "None found" would say that somebody has looked.
        LimitKind::NoneFound if nodes.values().all(Vec::is_empty) => LimitKind::NotWatched,
        kind => kind,
    };
    let count = if nodes.len() > 1 { nodes.len() as u32 } else { 0 };
    Limit {
        of_nodes: count,
        nodes: at(kind, nodes.values().flatten().map(|(_, used)| used)),
        ..reported(kind, also, uses)
    }
}

/// The nodes at a limit, of several: those whose resource is at its cap; where it is at its cap on none, the one whose
/// is the fullest. Empty for one node, and for what is no node's.
pub fn at<'a>(kind: LimitKind, uses: impl Iterator<Item = &'a ResourceUse>) -> Vec<HostId> {
    let of_kind: Vec<(HostId, &ResourceUse)> =
        uses.filter(|u| u.kind == kind).filter_map(|u| Some((u.node?, u))).collect();
    let at_cap = of_kind.iter().filter(|(_, u)| u.at_cap);
    let mut nodes: BTreeSet<HostId> = at_cap.map(|(node, _)| *node).collect();
    if nodes.is_empty() {
        let fullest = of_kind.iter().max_by(|a, b| by_fullness(a.1, b.1));
        nodes.extend(fullest.map(|(node, _)| *node));
    }
    nodes.into_iter().collect()
}

/// At its cap before not, then by share.
fn by_fullness(a: &ResourceUse, b: &ResourceUse) -> std::cmp::Ordering {
    a.at_cap.cmp(&b.at_cap).then(a.share().total_cmp(&b.share()))
}

/// Of each resource the use of the node where it is fullest.
fn fullest(nodes: &BTreeMap<HostId, Uses>) -> Vec<ResourceUse> {
    let mut fullest: BTreeMap<Watched, ResourceUse> = BTreeMap::new();
    for (resource, used) in nodes.values().flatten() {
        let known = fullest.entry(*resource).or_insert(*used);
        if by_fullness(known, used).is_lt() {
            *known = *used;
        }
    }
    fullest.into_values().collect()
}

/// A limit with its numbers.
fn reported(kind: LimitKind, also: Vec<LimitKind>, uses: Vec<ResourceUse>) -> Limit {
    Limit { kind, also, evidence: uses.iter().flat_map(numbers).collect(), uses, ..Limit::default() }
}

/// A use as the flat numbers of `evidence`, units in their names: used, capacity and share.
fn numbers(used: &ResourceUse) -> [(String, f64); 3] {
    let (of, unit) = (subject(used.kind), used.unit.name());
    [
        (format!("{of}_{unit}_used"), used.used),
        (format!("{of}_{unit}_capacity"), used.capacity),
        (format!("{of}_{unit}_used_share"), used.share()),
    ]
}

fn subject(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::VolumeIops | LimitKind::VolumeThroughput => "volume",
        LimitKind::BurstSpent => "baseline",
        LimitKind::InstanceEbsBandwidth => "instance_ebs",
        LimitKind::CommitLog => "commit_log",
        LimitKind::CacheTierCpu => "cache_tier",
        LimitKind::Cpu => "database",
        LimitKind::Client => "client",
        LimitKind::Gc => "gc_pause",
        LimitKind::Compaction => "compactions",
        LimitKind::Network => "network",
        LimitKind::OfferedRate => "rate",
        LimitKind::NotAtRest | LimitKind::NoneFound | LimitKind::NotWatched | LimitKind::NotComparable => "",
    }
}

/// The kind that a cell's limit has by what was used alone, whatever interventions say of it: these know throughput.
pub fn by_use(limit: &Limit) -> LimitKind {
    name(&limit.uses).0
}

/// The limit and those beside it.
fn name(uses: &[ResourceUse]) -> (LimitKind, Vec<LimitKind>) {
    use LimitKind::{Client, Compaction, Cpu, Gc, NoneFound, OfferedRate};
    let of = |kind| uses.iter().find(|u| u.kind == kind);
    let is_held = of(OfferedRate).is_some_and(|u| u.at_cap);
    let mut full: Vec<&ResourceUse> =
        uses.iter().filter(|u| u.at_cap && !matches!(u.kind, Gc | Compaction | OfferedRate)).collect();
    let nearness = |u: &ResourceUse| (u.share().min(1.0), u.windows_at_cap);
    full.sort_by(|a, b| nearness(b).partial_cmp(&nearness(a)).unwrap_or(std::cmp::Ordering::Equal));
    let mut kinds: Vec<LimitKind> = full.iter().map(|u| u.kind).collect();
    // Pauses are reported with what had no room between them.
    let counts = |gc: &ResourceUse| match kinds.is_empty() {
        true => gc.at_cap && !is_held,
        false => gc.at_cap || gc.share() >= GC_MATTERS,
    };
    if let Some(gc) = of(Gc).filter(|gc| counts(gc)) {
        // Pauses that dominate are why the CPUs are busy; shorter ones cost a little of busy CPUs.
        let cpu = kinds.iter().position(|k| *k == Cpu).filter(|_| gc.share() >= GC_DOMINATES);
        kinds.insert(cpu.unwrap_or(kinds.len()), Gc);
    }
    if is_held {
        kinds.push(OfferedRate);
    }
    if kinds.is_empty() {
        let client = of(Client).filter(|u| u.share() >= CLIENT_CPU_MAX).map(|u| u.kind);
        let last = client.or_else(|| of(Compaction).filter(|u| u.at_cap).map(|u| u.kind));
        return (last.unwrap_or(NoneFound), Vec::new());
    }
    // A volume's requests and bytes may be one kind (the instance's path, the commit log).
    let mut seen = BTreeSet::new();
    kinds.retain(|kind| seen.insert(*kind));
    (kinds.remove(0), kinds)
}
