//! `[provider.local]`: how this machine plays another.

use crate::mistakes::Collector;
use crate::raw::BurstWord;
use crate::{Emulation, PageCacheKeeps, Patience, raw};

/// `[provider.local]`, checked. What of it is for which run, the place says that is made of it.
pub(super) struct LocalSettings {
    pub work_directory: Option<String>,
    pub scale: f64,
    pub page_cache_bytes: Option<u64>,
    pub page_cache: PageCacheKeeps,
    pub heap_bytes: Option<u64>,
    /// Start every gp2-like bucket that states nothing itself with this share of its credits, 0..=1; 0 unless stated.
    pub burst_credits_start: f64,
    pub patience: Patience,
    pub volumes: Emulation,
}

/// `unstated`: how volumes are emulated where the file does not say it.
pub(super) fn check(local: &raw::Local, unstated: Emulation, mistakes: &mut Collector<'_>) -> LocalSettings {
    let bytes = |mib: f64| (mib * catalog::MIB) as u64;
    let volumes = local.volumes.as_ref();
    let word = local.page_cache.as_ref();
    let page_cache: PageCacheKeeps =
        word.and_then(|word| mistakes.word(word, "page_cache cannot be")).unwrap_or_default();
    if let Some(word) = word.filter(|_| page_cache == PageCacheKeeps::Calibrated && local.page_cache_mib.is_none()) {
        mistakes.add(
            word.span(),
            "page_cache = \"calibrated\": page_cache_mib was chosen by what production reads, and is not stated",
            "state page_cache_mib, or \"same-misses\", which reckons it",
        );
    }
    let Patience { start_s, settle_s } = Patience::default();
    let seconds = 1.0..=7_200.0;
    LocalSettings {
        work_directory: local.work_directory.as_deref().cloned(),
        scale: mistakes.number(&local.scale, "scale", 1.0..=1_000.0, 1.0),
        page_cache_bytes: mistakes.stated_number(&local.page_cache_mib, "page_cache_mib", 16.0..=1e7).map(bytes),
        page_cache,
        heap_bytes: mistakes.stated_number(&local.heap_mib, "heap_mib", 256.0..=31_744.0).map(bytes),
        burst_credits_start: burst_start(local, mistakes),
        patience: Patience {
            start_s: mistakes.number(&local.start_timeout_s, "start_timeout_s", seconds.clone(), start_s),
            settle_s: mistakes.number(&local.settle_timeout_s, "settle_timeout_s", seconds, settle_s),
        },
        volumes: volumes.and_then(|word| mistakes.word(word, "volumes cannot be")).unwrap_or(unstated),
    }
}

/// The share of its credits with which every bucket starts that does not state its own. Empty unless stated: what a
/// volume sustains decides, because a full bucket flatters it for half an hour of its life.
fn burst_start(local: &raw::Local, mistakes: &mut Collector<'_>) -> f64 {
    let share = mistakes.number(&local.burst_credits_start, "burst_credits_start", 0.0..=1.0, 0.0);
    let Some(word) = &local.burst else { return share };
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
    mistakes.word(word, "burst cannot be").map_or(0.0, BurstWord::share)
}
