//! What `[[fault]]` states of a disk: its keys, each where it has an effect, and what kind of volume it needs.

use std::ops::Range;

use toml::Spanned;

use super::numbers::Check as _;
use crate::mistakes::{Collector, choice};
use crate::{Configuration, Emulation, FailingRequests, FaultAction, NodeFaultKind, VolumeRole, raw};

/// A disk that is not slower than before has no fault; one that is slower still than this answers nothing.
const TIMES: std::ops::RangeInclusive<f64> = 1.01..=10_000.0;
/// The smallest share of requests that may fail: one of a million.
const SHARE: std::ops::RangeInclusive<f64> = 1e-6..=1.0;

/// What is done, with its particulars; `None` where a key is wrong.
pub(super) fn action(given: &raw::Fault, kind: NodeFaultKind, mistakes: &mut Collector<'_>) -> Option<FaultAction> {
    let is_sound = only_with_effect(given, kind, mistakes);
    let volume = if kind.is_of_disk() {
        volume(given, mistakes)
    } else {
        None
    };
    let action = match kind {
        NodeFaultKind::NodeStop => FaultAction::NodeStop,
        NodeFaultKind::NodeKill => FaultAction::NodeKill,
        NodeFaultKind::NodePause => FaultAction::NodePause,
        NodeFaultKind::HostCut => FaultAction::HostCut,
        NodeFaultKind::Compaction => FaultAction::Compaction,
        NodeFaultKind::DiskStall => FaultAction::DiskStall { volume: volume? },
        NodeFaultKind::DiskFull => FaultAction::DiskFull { volume: volume? },
        NodeFaultKind::DiskSlow => FaultAction::DiskSlow {
            volume: volume?,
            times: times(given, mistakes)?,
        },
        NodeFaultKind::DiskError => errors(given, volume, mistakes)?,
    };
    is_sound.then_some(action)
}

/// A key that has no effect on this kind is a mistake, and so is a disk's fault without an end.
fn only_with_effect(given: &raw::Fault, kind: NodeFaultKind, mistakes: &mut Collector<'_>) -> bool {
    let span = |key: Option<Range<usize>>, name, kinds: &'static str, applies: bool| {
        key.filter(|_| !applies).map(|at| (at, name, kinds))
    };
    let is_error = kind == NodeFaultKind::DiskError;
    let of_disks = "disk-stall, disk-slow, disk-error and disk-full";
    let stray = [
        span(
            given.volume.as_ref().map(Spanned::span),
            "volume",
            of_disks,
            kind.is_of_disk(),
        ),
        span(
            given.times.as_ref().map(Spanned::span),
            "times",
            "disk-slow",
            kind == NodeFaultKind::DiskSlow,
        ),
        span(
            given.requests.as_ref().map(Spanned::span),
            "requests",
            "disk-error",
            is_error,
        ),
        span(
            given.for_s.as_ref().map(Spanned::span),
            "for_s",
            "faults that are undone; a compaction ends when it is done",
            kind != NodeFaultKind::Compaction,
        ),
        span(given.share.as_ref().map(Spanned::span), "share", "disk-error", is_error),
        span(given.range.as_ref().map(Spanned::span), "range", "disk-error", is_error),
    ];
    let mut is_sound = true;
    for (at, name, kinds) in stray.into_iter().flatten() {
        is_sound = false;
        let what = format!("{name} has no effect on {}: it is for {kinds}", kind.name());
        mistakes.add(at, what, "remove it, or give the kind that is meant");
    }
    if kind.is_of_disk() && given.for_s.is_none() {
        is_sound = false;
        mistakes.add(
            given.kind.span(),
            format!(
                "{} without for_s: a disk's fault ends before the measurement does",
                kind.name()
            ),
            "give for_s in seconds: acknowledged writes are read back at the end, from disks without faults",
        );
    }
    is_sound
}

fn volume(given: &raw::Fault, mistakes: &mut Collector<'_>) -> Option<VolumeRole> {
    let Some(word) = &given.volume else {
        return Some(VolumeRole::Data);
    };
    let known = VolumeRole::named(word.get_ref());
    if known.is_none() {
        let help = choice(word.get_ref(), &VolumeRole::ALL.map(VolumeRole::name));
        mistakes.add(word.span(), format!("unknown volume `{}`", word.get_ref()), help);
    }
    known
}

fn times(given: &raw::Fault, mistakes: &mut Collector<'_>) -> Option<f64> {
    if given.times.is_none() {
        let what = "disk-slow without times: how much slower is not said";
        mistakes.add(given.kind.span(), what, "for example times = 10");
        return None;
    }
    mistakes.number(given.times.as_ref(), "times", TIMES, *TIMES.end())
}

fn errors(given: &raw::Fault, volume: Option<VolumeRole>, mistakes: &mut Collector<'_>) -> Option<FaultAction> {
    let requests = match &given.requests {
        None => Some(FailingRequests::All),
        Some(word) => {
            let known = FailingRequests::ALL.into_iter().find(|r| r.name() == word.get_ref());
            if known.is_none() {
                let help = choice(word.get_ref(), &FailingRequests::ALL.map(FailingRequests::name));
                mistakes.add(word.span(), format!("unknown requests `{}`", word.get_ref()), help);
            }
            known
        }
    };
    let share = mistakes.number(given.share.as_ref(), "share", SHARE, 1.0);
    let range = given.range.as_ref().map(|range| (range.span(), *range.get_ref()));
    if let Some((at, (from, to))) = &range
        && !(0.0 <= *from && from < to && *to <= 1.0)
    {
        mistakes.add(
            at.clone(),
            format!("range cannot be [{from}, {to}]"),
            "two shares of the volume's size, the lesser first: [0.0, 0.5] is its first half",
        );
        return None;
    }
    Some(FaultAction::DiskError {
        volume: volume?,
        requests: requests?,
        share: share?,
        range: range.map(|(_, range)| range),
    })
}

/// Every configuration has that volume, and a process that answers for it.
pub(super) fn possible(
    given: &Spanned<raw::Fault>,
    action: FaultAction,
    emulation: Emulation,
    configurations: &[Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    let Some(role) = action.volume() else { return };
    let name = action.kind().name();
    let at = given.get_ref().kind.span();
    if emulation != Emulation::Served {
        mistakes.add(
            at.clone(),
            format!("{name}: volumes are throttled by the kernel, which has no such fault"),
            "state volumes = \"served\" in [provider.local]: then a process answers for them",
        );
    }
    let on_data = |c: &&Configuration| role == VolumeRole::Commitlog && c.commitlog_volume.is_none();
    if let Some(configuration) = configurations.iter().flatten().find(on_data) {
        mistakes.add(
            given.get_ref().volume.as_ref().map_or(at, Spanned::span),
            format!(
                "volume = \"commitlog\": {} has none, its commit log is on the data volume",
                configuration.name
            ),
            "give every configuration a commitlog_volume, or plan the fault of the data volume",
        );
    }
    let is_beyond = |c: &&Configuration| role.place().is_some_and(|place| place >= c.data_volume.count as usize);
    if let Some(configuration) = configurations.iter().flatten().find(is_beyond) {
        let has = match configuration.data_volume.count {
            1 => "one data volume, data".to_owned(),
            n => format!(
                "{n} data volumes, the last of them {}",
                VolumeRole::DATA[n as usize - 1].name()
            ),
        };
        mistakes.add(
            given
                .get_ref()
                .volume
                .as_ref()
                .map_or(given.get_ref().kind.span(), Spanned::span),
            format!("volume = \"{}\": {} has {has}", role.name(), configuration.name),
            "name a volume that every configuration has, or raise `count` of its data_volume",
        );
    }
}
