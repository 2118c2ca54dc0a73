//! The uses of a limit as the flat numbers of `evidence`, units in their names.

use crate::document::limit::{LimitKind, ResourceUse};

/// Names and values: used, capacity and share.
pub fn of(used: &ResourceUse) -> [(String, f64); 3] {
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
