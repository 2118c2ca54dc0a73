//! A volume that is given by its limits.

use std::ops::Range;

use catalog::{GIB, IoLimits};

use super::behaviour;
use super::local::LocalSettings;
use crate::mistakes::Collector;
use crate::{ConfiguredVolume, VolumeKind, raw};

/// A volume given by its limits alone; no instance caps it, because nobody sells it.
pub(super) fn check(
    span: Range<usize>,
    raw: &raw::Volume,
    local: &LocalSettings,
    mistakes: &mut Collector<'_>,
) -> Option<ConfiguredVolume> {
    if raw.era.is_some() {
        let help = "give `type` as well, or leave it out";
        return mistakes.refuse(span, "`era` belongs to a volume type", help);
    }
    if raw.burst.is_some() {
        let message = "a volume given by its limits has no burst bucket: it does its limits at all times";
        mistakes.add_within(&span, "burst", message, "give `type` and `size_gib` instead, or remove `burst`");
        return None;
    }
    if raw.iops.is_none() && raw.mib_per_s.is_none() {
        let help = "either type = \"gp2\", or iops and/or mib_per_s";
        return mistakes.refuse(span, "this volume has neither a type nor a limit", help);
    }
    let latency = mistakes.sound(|mistakes| {
        for (key, value, least) in
            [("iops", raw.iops, 1.0), ("mib_per_s", raw.mib_per_s, 0.1), ("size_gib", raw.size_gib, 0.5)]
        {
            mistakes.number_within(&span, key, value, least..=1e7);
        }
        behaviour::of_explicit(&span, raw, local, mistakes)
    });
    let mut parts = Vec::new();
    parts.extend(raw.iops.map(|iops| format!("{iops} IOPS")));
    parts.extend(raw.mib_per_s.map(|mib| format!("{} MiB/s", (mib * 100.0).round() / 100.0)));
    parts.extend((raw.combined == Some(false)).then(|| "reads and writes apart".to_owned()));
    parts.extend(raw.latency_us.map(|us| format!("{us} us")));
    let limits = IoLimits::symmetric(raw.iops, raw.mib_per_s);
    let size_bytes = raw.size_gib.unwrap_or(100.0) * GIB;
    Some(ConfiguredVolume {
        latency: latency??,
        limits_apart: raw.combined == Some(false),
        ..ConfiguredVolume::plain(parts.join(", "), VolumeKind::Explicit, size_bytes, limits)
    })
}
