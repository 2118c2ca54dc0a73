//! `[provider.local]`: how this machine plays another.

use super::numbers::Check as _;
use crate::mistakes::{Collector, choice};
use crate::{Emulation, LocalSettings, Patience, raw};

/// The words for how a burst bucket starts.
pub(super) const BURST_STARTS: [&str; 2] = ["baseline", "full"];

/// The share of its credits with which a bucket starts; `None`: no such word.
pub(super) fn burst_share(word: &str) -> Option<f64> {
    match word {
        "baseline" => Some(0.0),
        "full" => Some(1.0),
        _ => None,
    }
}

/// `unstated`: how volumes are emulated where the file does not say it.
pub(super) fn check(local: &raw::Local, unstated: Emulation, mistakes: &mut Collector<'_>) -> LocalSettings {
    let mib = |v: Option<f64>| v.map(|v| (v * catalog::MIB) as u64);
    let scale = mistakes.number(local.scale.as_ref(), "scale", 1.0..=1_000.0, 1.0);
    let cache = mistakes.number(local.page_cache_mib.as_ref(), "page_cache_mib", 16.0..=1e7, 16.0);
    let heap = mistakes.number(local.heap_mib.as_ref(), "heap_mib", 256.0..=31_744.0, 1024.0);
    LocalSettings {
        work_directory: local.work_directory.as_ref().map(|w| w.get_ref().clone()),
        scale: scale.unwrap_or(1.0),
        page_cache_bytes: local.page_cache_mib.as_ref().and(mib(cache)),
        heap_bytes: local.heap_mib.as_ref().and(mib(heap)),
        burst_credits_start: burst_start(local, mistakes),
        patience: patience(local, mistakes),
        volumes: emulation(local, unstated, mistakes),
    }
}

fn emulation(local: &raw::Local, unstated: Emulation, mistakes: &mut Collector<'_>) -> Emulation {
    let Some(word) = &local.volumes else {
        return unstated;
    };
    let known = Emulation::ALL.into_iter().find(|way| way.name() == word.get_ref());
    known.unwrap_or_else(|| {
        let help = choice(word.get_ref(), &Emulation::ALL.map(Emulation::name));
        mistakes.add(word.span(), format!("volumes cannot be `{}`", word.get_ref()), help);
        unstated
    })
}

fn patience(local: &raw::Local, mistakes: &mut Collector<'_>) -> Patience {
    let default = Patience::default();
    let mut seconds = |given, key, default| mistakes.number(given, key, 1.0..=7_200.0, default).unwrap_or(default);
    Patience {
        start_s: seconds(local.start_timeout_s.as_ref(), "start_timeout_s", default.start_s),
        settle_s: seconds(local.settle_timeout_s.as_ref(), "settle_timeout_s", default.settle_s),
    }
}

/// The share of its credits with which every bucket starts that does not state its own. Empty unless stated: what a
/// volume sustains decides, because a full bucket flatters it for half an hour of its life.
fn burst_start(local: &raw::Local, mistakes: &mut Collector<'_>) -> f64 {
    let share = mistakes.number(
        local.burst_credits_start.as_ref(),
        "burst_credits_start",
        0.0..=1.0,
        0.0,
    );
    let Some(word) = &local.burst else {
        return share.unwrap_or_default();
    };
    if let Some(share) = &local.burst_credits_start {
        let (first, second) = if word.span().start < share.span().start {
            ("burst", share.span())
        } else {
            ("burst_credits_start", word.span())
        };
        mistakes.add(
            second,
            format!("contradicts {first}: burst and burst_credits_start both say how buckets start"),
            "remove one of them; burst_credits_start is the share for what lies between baseline and full",
        );
    }
    burst_share(word.get_ref()).unwrap_or_else(|| {
        let help = choice(word.get_ref(), &BURST_STARTS);
        mistakes.add(word.span(), format!("burst cannot be `{}`", word.get_ref()), help);
        0.0
    })
}
