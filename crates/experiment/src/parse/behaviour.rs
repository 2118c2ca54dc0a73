//! `latency_us`, `latency_sigma` and `combined` of a volume: how it behaves besides its limits, where that is stated.

use std::ops::Range;

use catalog::{Latency, VolumeType, latency_of};

use super::inline::within;
use super::local::LocalSettings;
use crate::mistakes::Collector;
use crate::{Emulation, raw};

/// The keys, as they stand in the file.
pub(super) const KEYS: [&str; 3] = ["latency_us", "latency_sigma", "combined"];
/// Medians that a volume may have, microseconds.
const LATENCY_US: std::ops::RangeInclusive<f64> = 1.0..=1e7;
/// Spreads that it may have.
const SIGMA: std::ops::RangeInclusive<f64> = 0.0..=3.0;

/// Those of [`KEYS`] that a volume states.
fn stated(raw: &raw::Volume) -> impl Iterator<Item = &'static str> {
    let are_stated = [raw.latency_us.is_some(), raw.latency_sigma.is_some(), raw.combined.is_some()];
    KEYS.into_iter().zip(are_stated).filter_map(|(key, is)| is.then_some(key))
}

/// Whether a volume of a file states one of [`KEYS`].
pub(super) fn is_any(file: &raw::Experiment) -> bool {
    !places(file, "").is_empty()
}

/// The places of [`KEYS`] in the volumes of a file.
pub(super) fn places(file: &raw::Experiment, text: &str) -> Vec<(&'static str, Range<usize>)> {
    let volumes = file.configuration.iter();
    let volumes = volumes.flat_map(|c| std::iter::once(&c.data_volume).chain(&c.commitlog_volume));
    let places = volumes.flat_map(|volume| {
        KEYS.into_iter().filter(|key| volume.get(key).is_some()).map(|key| (key, within(text, &volume.span(), key)))
    });
    places.collect()
}

/// A type says itself how its volumes behave; whether something is stated all the same, which is reported.
pub(super) fn of_type(kind: VolumeType, span: &Range<usize>, raw: &raw::Volume, mistakes: &mut Collector<'_>) -> bool {
    let known = latency_of(Some(kind)).latency;
    let mut found = false;
    for key in stated(raw) {
        let what = match key {
            "combined" => format!("reads and writes of {kind} share its limits"),
            _ => format!("{kind} has that of its type: median latency {} us, sigma {}", known.median_us, known.sigma),
        };
        let help = "remove it; or give the volume by its limits, without `type`";
        mistakes.add_within(span, key, format!("`{key}` is not for a volume with a type: {what}"), help);
        found = true;
    }
    found
}

/// The time that is stated of a volume given by its limits, if one is; `None` where something is wrong, which is
/// reported.
pub(super) fn of_explicit(
    span: &Range<usize>,
    raw: &raw::Volume,
    local: &LocalSettings,
    mistakes: &mut Collector<'_>,
) -> Option<Option<Latency>> {
    let sound = mistakes.sound(|mistakes| {
        let throttled = stated(raw).filter(|_| local.volumes == Emulation::Throttled);
        for key in throttled {
            let what = match key {
                "combined" => "the throttle holds reads and writes apart",
                _ => "a request takes what this machine's disk takes",
            };
            let message = format!("`{key}` has no effect on a throttled volume: {what}");
            let help = "set volumes = \"served\" in [provider.local], or remove it";
            mistakes.add_within(span, key, message, help);
        }
        if raw.latency_sigma.is_some() && raw.latency_us.is_none() {
            let message = "`latency_sigma` without `latency_us`: a spread of what?";
            mistakes.add_within(span, "latency_sigma", message, "for example latency_us = 500");
        }
        for (key, value, range) in
            [("latency_us", raw.latency_us, LATENCY_US), ("latency_sigma", raw.latency_sigma, SIGMA)]
        {
            mistakes.number_within(span, key, value, range);
        }
    });
    sound.map(|()| raw.latency_us.map(|median_us| Latency { median_us, sigma: raw.latency_sigma.unwrap_or_default() }))
}
