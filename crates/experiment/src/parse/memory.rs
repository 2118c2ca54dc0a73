//! What a node takes of its memory, by itself or as a setting states it, and whether that leaves a page cache.

use catalog::GIB;
use product::MemoryRules;

use super::local::LocalSettings;
use super::settings;
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Configuration, raw};

/// `None` where the database takes all that there is, or would have less of it in a model of 1:`scale` than it starts
/// with.
pub(super) fn check(
    raw: &Spanned<raw::Configuration>,
    configuration: &Configuration,
    (rules, local, scale): (&MemoryRules, &LocalSettings, f64),
    mistakes: &mut Collector<'_>,
) -> Option<()> {
    let (limit, settings) = (configuration.memory_limit_bytes, &configuration.settings);
    let leaves_nothing = rules.page_cache_bytes(limit, settings).is_none();
    let Some((stated, bytes)) = rules.stated.zip(rules.stated_bytes(settings)) else {
        // A page cache of a stated size does not follow from memory.
        if leaves_nothing && local.page_cache_bytes.is_none() {
            let at = raw.memory_limit_gib.as_ref().map_or(raw.span(), Spanned::span);
            return mistakes.refuse(at, "this memory limit leaves nothing for the page cache", rules.in_words);
        }
        return Some(());
    };
    let (name, (_, key)) = (&configuration.name, stated.setting);
    let at = settings::place(raw, stated.setting);
    if leaves_nothing {
        let besides = (rules.plan)(limit as f64, 1.0, Some(bytes)).buffer_bytes + rules.process_bytes;
        let [stated, besides, memory] = [bytes, besides, limit as f64].map(|bytes| bytes / GIB);
        let message = format!(
            "{key} of {name}: {stated:.1} GiB, and {besides:.1} GiB that the database takes besides, leave nothing of \
             {memory:.1} GiB of memory for the page cache"
        );
        return mistakes.refuse(at, message, rules.in_words);
    }
    if bytes / scale < stated.least_bytes {
        let [of_model, least] = [bytes / scale, stated.least_bytes].map(|bytes| bytes / 1_024.0);
        let message = format!(
            "{key} of {name}: {of_model:.0} KiB in the 1:{scale} model, and the database does not start with less than \
             {least:.0} KiB"
        );
        return mistakes.refuse(at, message, "state more, or a smaller scale in [provider.local]");
    }
    Some(())
}
