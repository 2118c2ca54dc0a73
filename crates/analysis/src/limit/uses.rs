//! What one trial used of each resource, on the client and on each node, window by window,
//! against what was really there.

use experiment::{Arrivals, LoadLevel, Setup};

use super::pauses::Pauses;
use super::window::{Watched, Window};
use super::{cpu, instance, volume};
use crate::document::limit::{GC_DOMINATES, GC_MATTERS, LimitKind};
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::rules::{OFF_MAX, off_by_chance};

/// CPU of the client's load threads in use from which the client is full; from [`crate::rules::CLIENT_CPU_MAX`] on it
/// is named where nothing else is full.
const CLIENT_AT_CAP: f64 = 0.95;

/// The rate and the client of a trial, where they have a known capacity; each with at least one window.
pub fn of_load(trial: &TrialMeasurement) -> Vec<(Watched, Vec<Window>)> {
    known(vec![
        (Watched::OfferedRate, offered(trial).into_iter().collect()),
        (Watched::Client, client(trial).into_iter().collect()),
    ])
}

/// All resources of a node that have a known capacity; each with at least one window.
pub fn of_node(setup: Option<&Setup>, node: &Node<'_>) -> Vec<(Watched, Vec<Window>)> {
    let mut uses = vec![
        (Watched::Gc, gc(node)),
        (Watched::Compaction, background_work(node).into_iter().collect()),
        (Watched::Cpu, cpu::windows(node)),
        (Watched::CacheTier, caches(setup, node).into_iter().collect()),
    ];
    let pauses = Pauses::of(node);
    let shared = setup.map(|setup| instance::windows(setup, node, &pauses)).unwrap_or_default();
    for facts in &node.facts.volumes {
        let mut of_volume = volume::windows(setup, node, facts, &pauses);
        if shared.iter().any(|(_, windows)| !windows.is_empty()) {
            // What it does of the instance's path is a part of what all of them do.
            let is_own = |window: &Window| window.kind != LimitKind::InstanceEbsBandwidth;
            of_volume.iter_mut().for_each(|(_, windows)| windows.retain(is_own));
        }
        uses.extend(of_volume);
    }
    uses.extend(shared);
    known(uses)
}

fn known(mut uses: Vec<(Watched, Vec<Window>)>) -> Vec<(Watched, Vec<Window>)> {
    uses.retain(|(_, windows)| !windows.is_empty());
    uses
}

/// Achieved against offered; at its cap where the rate was held, neither missed nor exceeded by a backlog of before.
fn offered(trial: &TrialMeasurement) -> Option<Window> {
    let LoadLevel::Rate { operations_per_s, arrivals } = trial.record.load else { return None };
    if arrivals == Arrivals::Recorded {
        // What a recording offers in this window is not known here.
        return None;
    }
    let achieved = trial.throughput()?;
    let expected = operations_per_s * trial.window_s();
    let by_chance = off_by_chance(arrivals, expected.max(1.0));
    let off = stats::ratio(achieved, operations_per_s)? - 1.0;
    Some(Window {
        kind: LimitKind::OfferedRate,
        used: achieved,
        capacity: operations_per_s,
        at_cap: off.abs() <= OFF_MAX + by_chance,
    })
}

fn client(trial: &TrialMeasurement) -> Option<Window> {
    // Nobody measured the CPU of a tool whose results were imported.
    let client = trial.record.client.as_ref().filter(|client| client.imported.is_none())?;
    let capacity = client.measured_s * f64::from(client.threads);
    // Nothing comes back in a pause.
    let paused = Pauses::of_all(trial);
    let window = || Window::at(LimitKind::Client, client.client_cpu_s, capacity, CLIENT_AT_CAP);
    (capacity > 0.0).then(|| window().between(paused, CLIENT_AT_CAP))
}

/// Pauses count where they leave little of the time, or where the CPUs had no room between them.
fn gc(node: &Node<'_>) -> Vec<Window> {
    cpu::host_windows(node)
        .into_iter()
        .filter_map(|window| {
            let paused = window.pause_share?;
            let busy = cpu::of_window(node, &window).is_some_and(|cpu| cpu.share() >= cpu::AT_CAP * (1.0 - paused));
            Some(Window {
                kind: LimitKind::Gc,
                used: paused,
                capacity: 1.0,
                at_cap: paused >= GC_DOMINATES || (paused >= GC_MATTERS && busy),
            })
        })
        .collect()
}

/// The CPUs of the caches in front of the database, all nodes of them together: the mean of the window.
fn caches(setup: Option<&Setup>, node: &Node<'_>) -> Option<Window> {
    let tier = setup?.cache_tier.as_ref()?;
    Some(Window::at(LimitKind::CacheTierCpu, node.host.cache_cpus_used?, tier.all_cpus(), cpu::AT_CAP))
}

/// A debt that grew by at least two tasks and by half.
fn background_work(node: &Node<'_>) -> Option<Window> {
    let (start, end) = node.host.background_work?;
    let grown = (end - start - 1.0).max(0.0);
    Some(Window::at(LimitKind::Compaction, grown, 1.0 + start / 2.0, 1.0))
}
