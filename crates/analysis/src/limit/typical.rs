//! From the windows of a cell's trials to its uses: of each resource the middle window, on each node apart.

use std::collections::BTreeMap;

use evidence::HostId;
use experiment::Setup;

use super::uses;
use super::window::{Watched, Window};
use crate::document::limit::{Counted, LimitKind, ResourceUse};
use crate::measurement::TrialMeasurement;
use crate::rules::AT_CAP_WINDOWS;

/// That reads and writes share one limit is believed when their sum stays at it in at least this share of the windows.
const TOGETHER_WINDOWS: f64 = 0.9;

/// The resources of a node, or of the load, in use.
pub type Uses = Vec<(Watched, ResourceUse)>;

/// The rate and the client in use.
pub fn of_load(trials: &[&TrialMeasurement]) -> Uses {
    of_windows(trials.iter().flat_map(|t| uses::of_load(t)))
}

/// The resources of each node in use; the node is named in them where there are several.
pub fn of_nodes(setup: Option<&Setup>, trials: &[&TrialMeasurement]) -> BTreeMap<HostId, Uses> {
    let mut windows: BTreeMap<HostId, Vec<(Watched, Vec<Window>)>> = BTreeMap::new();
    for node in trials.iter().flat_map(|t| t.nodes()) {
        windows.entry(node.id).or_default().extend(uses::of_node(setup, &node));
    }
    let is_alone = windows.len() == 1;
    let of_node = |(node, windows): (HostId, Vec<(Watched, Vec<Window>)>)| {
        let mut uses = fullest_member(of_windows(windows));
        for (_, used) in &mut uses {
            used.node = (!is_alone).then_some(node);
        }
        (node, uses)
    };
    windows.into_iter().map(of_node).collect()
}

/// Of several data volumes the one that is fullest: a database waits for each of them.
fn fullest_member(all: Uses) -> Uses {
    let mut kept = Uses::new();
    for (watched, used) in all {
        let is_same = |known: &Watched| match (*known, watched) {
            (Watched::Volume(one, of, _), Watched::Volume(other, of_other, _)) => {
                one.is_data() && other.is_data() && of == of_other
            }
            _ => false,
        };
        match kept.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, known)) if (known.at_cap, known.share()) < (used.at_cap, used.share()) => *known = used,
            Some(_) => {}
            None => kept.push((watched, used)),
        }
    }
    kept
}

/// Windows of several trials to one use of each resource.
fn of_windows(windows: impl IntoIterator<Item = (Watched, Vec<Window>)>) -> Uses {
    let mut by_resource: BTreeMap<Watched, Vec<Vec<Window>>> = BTreeMap::new();
    for (watched, windows) in windows {
        by_resource.entry(watched).or_default().push(windows);
    }
    let all = by_resource.iter().filter_map(|(watched, trials)| Some((*watched, typical(*watched, trials)?)));
    one_way_of_counting(all.collect())
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
    let kind = full.into_iter().max_by_key(|(_, counts)| *counts).map(|(kind, _)| kind)?;
    let middle: Vec<Window> = trials.iter().filter_map(|windows| middle_of(windows, kind)).collect();
    let median = |figure: fn(&Window) -> f64| stats::median(middle.iter().map(figure));
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
        Watched::Instance(_) => Some(Counted::Together),
        _ => None,
    };
    let needed = match watched {
        Watched::Volume(_, _, Counted::Together | Counted::InUnits) => TOGETHER_WINDOWS,
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
        is_shared: matches!(watched, Watched::Instance(_)),
        node: None,
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
fn one_way_of_counting(all: Uses) -> Uses {
    let mut kept = Vec::new();
    let mut volumes: BTreeMap<_, Vec<ResourceUse>> = BTreeMap::new();
    for (watched, used) in all {
        match watched {
            Watched::Volume(..) => volumes.entry(watched.resource()).or_default().push(used),
            _ => kept.push((watched, used)),
        }
    }
    let fullest = |uses: &[ResourceUse], of: &dyn Fn(&ResourceUse) -> bool| {
        uses.iter().filter(|u| of(u)).copied().max_by(|a, b| a.share().total_cmp(&b.share()))
    };
    let counted = |u: &ResourceUse, wanted: &[Counted]| u.counted.is_some_and(|c| wanted.contains(&c));
    let apart = [Counted::Reads, Counted::Writes];
    for (resource, uses) in volumes {
        let chosen = fullest(&uses, &|u| u.at_cap && counted(u, &[Counted::Together]))
            .or_else(|| fullest(&uses, &|u| u.at_cap && counted(u, &apart)))
            .or_else(|| fullest(&uses, &|u| u.at_cap))
            .or_else(|| fullest(&uses, &|u| u.share() <= 1.0 && counted(u, &[Counted::Together])))
            .or_else(|| fullest(&uses, &|u| counted(u, &apart)));
        kept.extend(chosen.map(|used| (resource, used)));
    }
    kept
}
