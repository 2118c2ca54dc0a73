//! What `[[fault]]` states of a disk: its keys, each where it has an effect, and what kind of volume it needs.

use crate::mistakes::Collector;
use crate::spanned::place;
use crate::{Configuration, Emulation, FailingRequests, FaultAction, NodeFaultKind, VolumeRole, raw};

/// A disk that is not slower than before has no fault; one that is slower still than this answers nothing.
const TIMES: std::ops::RangeInclusive<f64> = 1.01..=10_000.0;
/// The smallest share of requests that may fail: one of a million.
const SHARE: std::ops::RangeInclusive<f64> = 1e-6..=1.0;

/// What is done, with its particulars; `None` where a key is wrong.
pub(super) fn action(given: &raw::Fault, kind: NodeFaultKind, mistakes: &mut Collector<'_>) -> Option<FaultAction> {
    mistakes.sound(|mistakes| {
        only_with_effect(given, kind, mistakes);
        let volume = given.volume.as_ref().filter(|_| kind.is_of_disk());
        let volume = volume.and_then(|word| mistakes.word(word, "unknown volume")).unwrap_or(VolumeRole::Data);
        match kind {
            NodeFaultKind::NodeStop => FaultAction::NodeStop,
            NodeFaultKind::NodeKill => FaultAction::NodeKill,
            NodeFaultKind::NodePause => FaultAction::NodePause,
            NodeFaultKind::HostCut => FaultAction::HostCut,
            NodeFaultKind::Compaction => FaultAction::Compaction,
            // Which of them is what `node` says.
            NodeFaultKind::CacheKill => FaultAction::CacheKill { cache_node: 1 },
            NodeFaultKind::DiskStall => FaultAction::DiskStall { volume },
            NodeFaultKind::DiskFull => FaultAction::DiskFull { volume },
            NodeFaultKind::DiskSlow => FaultAction::DiskSlow { volume, times: times(given, mistakes) },
            NodeFaultKind::DiskError => errors(given, volume, mistakes),
        }
    })
}

/// A key that has no effect on this kind is a mistake, and so is a disk's fault without an end.
fn only_with_effect(given: &raw::Fault, kind: NodeFaultKind, mistakes: &mut Collector<'_>) {
    let (is_slow, is_error) = (kind == NodeFaultKind::DiskSlow, kind == NodeFaultKind::DiskError);
    let of_disks = "disk-stall, disk-slow, disk-error and disk-full";
    let undone = "faults that are undone; a compaction ends when it is done";
    for (key, at, kinds, applies) in [
        ("volume", place(&given.volume), of_disks, kind.is_of_disk()),
        ("times", place(&given.times), "disk-slow", is_slow),
        ("requests", place(&given.requests), "disk-error", is_error),
        ("for_s", place(&given.for_s), undone, kind != NodeFaultKind::Compaction),
        ("share", place(&given.share), "disk-error", is_error),
        ("range", place(&given.range), "disk-error", is_error),
    ] {
        if let Some(at) = at.filter(|_| !applies) {
            let what = format!("{key} has no effect on {}: it is for {kinds}", kind.name());
            mistakes.add(at, what, "remove it, or give the kind that is meant");
        }
    }
    if kind.is_of_disk() && given.for_s.is_none() {
        let what = format!("{} without for_s: a disk's fault ends before the measurement does", kind.name());
        let help = "give for_s in seconds: acknowledged writes are read back at the end, from disks without faults";
        mistakes.add(given.kind.span(), what, help);
    }
}

fn times(given: &raw::Fault, mistakes: &mut Collector<'_>) -> f64 {
    if given.times.is_none() {
        let what = "disk-slow without times: how much slower is not said";
        mistakes.add(given.kind.span(), what, "for example times = 10");
    }
    mistakes.number(&given.times, "times", TIMES, *TIMES.end())
}

fn errors(given: &raw::Fault, volume: VolumeRole, mistakes: &mut Collector<'_>) -> FaultAction {
    let requests = given.requests.as_ref();
    let requests = requests.and_then(|word| mistakes.word(word, "unknown requests"));
    let range = given.range.as_deref().copied();
    if let (Some(at), Some((from, to))) = (place(&given.range), range)
        && !(0.0 <= from && from < to && to <= 1.0)
    {
        let help = "two shares of the volume's size, the lesser first: [0.0, 0.5] is its first half";
        mistakes.add(at, format!("range cannot be [{from}, {to}]"), help);
    }
    FaultAction::DiskError {
        volume,
        requests: requests.unwrap_or(FailingRequests::All),
        share: mistakes.number(&given.share, "share", SHARE, 1.0),
        range,
    }
}

/// Every configuration has that volume, and a process that answers for it.
pub(super) fn possible(
    given: &raw::Fault,
    action: FaultAction,
    emulation: Emulation,
    configurations: &[Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    let Some(role) = action.volume() else { return };
    let name = action.kind().name();
    let at = given.kind.span();
    let of_volume = place(&given.volume).unwrap_or(at.clone());
    if emulation != Emulation::Served {
        mistakes.add(
            at,
            format!("{name}: volumes are throttled by the kernel, which has no such fault"),
            "state volumes = \"served\" in [provider.local]: then a process answers for them",
        );
    }
    let on_data = |c: &&Configuration| role == VolumeRole::Commitlog && c.commitlog_volume.is_none();
    if let Some(configuration) = configurations.iter().flatten().find(on_data) {
        mistakes.add(
            of_volume.clone(),
            format!("volume = \"commitlog\": {} has none, its commit log is on the data volume", configuration.name),
            "give every configuration a commitlog_volume, or plan the fault of the data volume",
        );
    }
    let is_beyond = |c: &&Configuration| role.place().is_some_and(|place| place >= c.data_volume.count as usize);
    if let Some(configuration) = configurations.iter().flatten().find(is_beyond) {
        let has = match configuration.data_volume.count {
            1 => "one data volume, data".to_owned(),
            n => format!("{n} data volumes, the last of them {}", VolumeRole::DATA[n as usize - 1].name()),
        };
        mistakes.add(
            of_volume,
            format!("volume = \"{}\": {} has {has}", role.name(), configuration.name),
            "name a volume that every configuration has, or raise `count` of its data_volume",
        );
    }
}
