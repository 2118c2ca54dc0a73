//! Which resource is named, by use alone.

use std::collections::{BTreeMap, BTreeSet};

use spec::Setup;

use super::numbers;
use super::uses::{self, GC_DOMINATES};
use super::window::{Watched, Window};
use crate::document::limit::{Counted, Limit, LimitKind, ResourceUse};
use crate::measurement::TrialMeasurement;
use crate::rules::{AT_CAP_WINDOWS, CLIENT_CPU_MAX};

/// That reads and writes share one limit is believed when their sum stays at it in at least this share of the windows.
const TOGETHER_WINDOWS: f64 = 0.9;

/// Names the resource that bounded a cell, from the windows of its valid trials.
///
/// All resources at their cap are candidates; the one nearest to its capacity in the middle window is named, the
/// others are told with it. A capacity is what was really there in that window: CPUs less steal and foreign quotas, a
/// bucket's burst rate while credits last and its baseline after. The network is named only where its capacity is
/// known, which the local provider (loopback) never knows.
pub fn of_cell(setup: Option<&Setup>, trials: &[&TrialMeasurement]) -> Limit {
    if trials.is_empty() {
        return told(LimitKind::NotComparable, Vec::new(), Vec::new());
    }
    let mut by_resource: BTreeMap<Watched, Vec<Vec<Window>>> = BTreeMap::new();
    for (watched, windows) in trials.iter().flat_map(|t| uses::of_trial(setup, t)) {
        by_resource.entry(watched).or_default().push(windows);
    }
    let all: Vec<(Watched, ResourceUse)> = by_resource
        .iter()
        .filter_map(|(watched, trials)| Some((*watched, typical(*watched, trials)?)))
        .collect();
    let uses = one_way_of_counting(all);
    let (kind, also) = name(&uses);
    told(kind, also, uses)
}

/// A limit with its numbers.
fn told(kind: LimitKind, also: Vec<LimitKind>, uses: Vec<ResourceUse>) -> Limit {
    Limit {
        kind,
        also,
        evidence: uses.iter().flat_map(numbers::of).collect(),
        uses,
        ..Limit::default()
    }
}

/// The middle window of each trial, median over trials; of a volume that changed its limit only the windows under the
/// limit that it was at most often.
fn typical(watched: Watched, trials: &[Vec<Window>]) -> Option<ResourceUse> {
    let mut full: BTreeMap<LimitKind, (usize, usize)> = BTreeMap::new();
    for window in trials.iter().flatten() {
        let (at_cap, all) = full.entry(window.kind).or_default();
        *at_cap += usize::from(window.at_cap);
        *all += 1;
    }
    let kind = full
        .into_iter()
        .max_by_key(|(_, counts)| *counts)
        .map(|(kind, _)| kind)?;
    let middle: Vec<Window> = trials.iter().filter_map(|windows| middle_of(windows, kind)).collect();
    let median = |figure: fn(&Window) -> f64| stats::median(&middle.iter().map(figure).collect::<Vec<_>>());
    let shares: Vec<f64> = trials
        .iter()
        .filter_map(|windows| {
            let full = windows.iter().filter(|w| w.at_cap).count();
            stats::ratio(full as f64, windows.len() as f64)
        })
        .collect();
    let windows_at_cap = stats::ratio(shares.iter().sum(), shares.len() as f64)?;
    let counted = match watched {
        Watched::Volume(_, _, counted) => Some(counted),
        _ => None,
    };
    let needed = match counted {
        Some(Counted::Together | Counted::InUnits) => TOGETHER_WINDOWS,
        _ => AT_CAP_WINDOWS,
    };
    Some(ResourceUse {
        kind,
        unit: watched.unit(),
        used: median(|w| w.used)?,
        capacity: median(|w| w.capacity)?,
        windows_at_cap,
        at_cap: windows_at_cap >= needed,
        counted,
    })
}

/// The middle one by share; of two the fuller.
fn middle_of(windows: &[Window], kind: LimitKind) -> Option<Window> {
    let mut of_kind: Vec<Window> = windows.iter().copied().filter(|w| w.kind == kind).collect();
    of_kind.sort_by(|a, b| a.share().total_cmp(&b.share()));
    of_kind.get(of_kind.len() / 2).copied()
}

/// Keeps one way of counting for each volume and dimension: the one that is full; else reads and writes together
/// where the limit may mean that; else the fuller of the two.
fn one_way_of_counting(all: Vec<(Watched, ResourceUse)>) -> Vec<ResourceUse> {
    let mut kept = Vec::new();
    let mut volumes: BTreeMap<_, Vec<ResourceUse>> = BTreeMap::new();
    for (watched, used) in all {
        match watched {
            Watched::Volume(role, dimension, _) => volumes.entry((role, dimension)).or_default().push(used),
            _ => kept.push(used),
        }
    }
    let fullest = |uses: &[ResourceUse], of: &dyn Fn(&ResourceUse) -> bool| {
        let candidates = uses.iter().filter(|u| of(u)).copied();
        candidates.max_by(|a, b| a.share().total_cmp(&b.share()))
    };
    let counted = |u: &ResourceUse, wanted: &[Counted]| u.counted.is_some_and(|c| wanted.contains(&c));
    let apart = [Counted::Reads, Counted::Writes];
    for uses in volumes.into_values() {
        let chosen = fullest(&uses, &|u| u.at_cap && counted(u, &[Counted::Together]))
            .or_else(|| fullest(&uses, &|u| u.at_cap && counted(u, &apart)))
            .or_else(|| fullest(&uses, &|u| u.at_cap))
            .or_else(|| fullest(&uses, &|u| u.share() <= 1.0 && counted(u, &[Counted::Together])))
            .or_else(|| fullest(&uses, &|u| counted(u, &apart)));
        kept.extend(chosen);
    }
    kept.sort_by_key(|u| u.kind);
    kept
}

/// The limit and those beside it.
fn name(uses: &[ResourceUse]) -> (LimitKind, Vec<LimitKind>) {
    use LimitKind::{Client, Compaction, Cpu, Gc, NoneFound, OfferedRate};
    let of = |kind| uses.iter().find(|u| u.kind == kind);
    let is_held = of(OfferedRate).is_some_and(|u| u.at_cap);
    let mut full: Vec<&ResourceUse> = uses
        .iter()
        .filter(|u| u.at_cap && !matches!(u.kind, Gc | Compaction | OfferedRate))
        .collect();
    let nearness = |u: &ResourceUse| (u.share().min(1.0), u.windows_at_cap);
    full.sort_by(|a, b| {
        nearness(b)
            .partial_cmp(&nearness(a))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut kinds: Vec<LimitKind> = full.iter().map(|u| u.kind).collect();
    if let Some(gc) = of(Gc).filter(|u| u.at_cap && !(is_held && kinds.is_empty())) {
        // Pauses that dominate are why the CPUs are busy; shorter ones cost a little of busy CPUs.
        let cpu = kinds
            .iter()
            .position(|k| *k == Cpu)
            .filter(|_| gc.share() >= GC_DOMINATES);
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
