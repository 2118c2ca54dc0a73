//! `backlog`: SSTables of overwritten records with which a configuration's trials begin.

use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Backlog, Configuration, Dataset, Load, LocalSettings, raw};

/// The most SSTables of a backlog: each is a flush that is waited for.
const MOST_SSTABLES: i64 = 1_000;
/// Payload of one SSTable on a node that loads alone, bytes. An SSTable of a backlog is one flush of one memtable: a
/// loading node has 2 GiB of heap, and flushes by itself when its memtables have 170 MiB of it, which 64 MiB of fields
/// of 100 bytes do not fill.
const MOST_ALONE_BYTES: f64 = 67_108_864.0;
/// The same where several nodes load: they share those 2 GiB.
const MOST_OF_SEVERAL_BYTES: f64 = 33_554_432.0;

/// What stands there by itself.
pub(super) fn check(given: &raw::Backlog, mistakes: &mut Collector<'_>) -> Option<Backlog> {
    let raw::Backlog { overwrites, sstables } = given;
    let count = mistakes.stated_integer(sstables, "sstables", 1..=MOST_SSTABLES);
    let share = mistakes.stated_number(overwrites, "overwrites", 0.001..=MOST_SSTABLES as f64);
    let (count, share) = (count?, share?);
    if share > count as f64 {
        mistakes.add(
            overwrites.span(),
            format!("overwrites = {share} in {count} SSTables: one of them holds no record twice"),
            format!("at most {count}, or more sstables"),
        );
        return None;
    }
    Some(Backlog { overwrites: share, sstables: count as u32 })
}

/// What else the experiment states that does not go with it.
pub(super) fn fits(
    file: &raw::Experiment,
    (dataset, local): (Option<&Dataset>, &LocalSettings),
    load: Option<&Load>,
    configurations: &[Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    for (given, checked) in file.configuration.iter().zip(configurations) {
        let Some(backlog) = &given.backlog else { continue };
        let name = given.name.as_str();
        if file.has_existing_cluster() {
            mistakes.add(
                backlog.span(),
                format!("backlog of {name}: iopslab restores no files in a cluster that exists"),
                "remove it; or leave [target] hosts out, for a Cassandra of its own",
            );
        }
        if load.is_some_and(|load| load.find.is_some()) {
            mistakes.add(
                backlog.span(),
                format!("backlog of {name} with rate = \"find\": each rate that is tried would find less of it"),
                "remove it, or give rate = [N]",
            );
        }
        compaction_is_ours(given, name, mistakes);
        if let (Some(dataset), Some(checked)) = (dataset, checked) {
            size(backlog, dataset, local, checked, mistakes);
        }
    }
}

/// Each SSTable is one flush, of at least one record.
fn size(
    given: &Spanned<raw::Backlog>,
    dataset: &Dataset,
    local: &LocalSettings,
    of: &Configuration,
    mistakes: &mut Collector<'_>,
) {
    let Some(backlog) = of.backlog else { return };
    let records = dataset.records as f64 / local.scale * backlog.overwrites / f64::from(backlog.sstables);
    if records < 1.0 {
        mistakes.add(
            given.span(),
            format!("backlog of {}: an SSTable would hold {records:.2} records", of.name),
            "fewer sstables, more overwrites, or more records in [dataset]",
        );
    }
    let is_cluster = of.placement.is_cluster();
    let most = if is_cluster { MOST_OF_SEVERAL_BYTES } else { MOST_ALONE_BYTES };
    let bytes = records * dataset.record_bytes() * of.placement.share_per_node();
    if bytes > most {
        let enough = (f64::from(backlog.sstables) * bytes / most).ceil();
        mistakes.add(
            given.span(),
            format!(
                "backlog of {}: {:.0} MiB of payload in an SSTable, which is one flush of one memtable: {:.0} MiB at most",
                of.name,
                bytes / catalog::MIB,
                most / catalog::MIB
            ),
            format!("sstables = {enough}, or fewer overwrites"),
        );
    }
}

/// Automatic compaction is off until measurement begins, and on from there.
fn compaction_is_ours(given: &raw::Configuration, name: &str, mistakes: &mut Collector<'_>) {
    const KEY: &str = "autocompaction_on_startup_enabled";
    let keys = given.settings.as_ref().and_then(|settings| settings.cassandra.as_ref());
    if let Some((key, _)) = keys.and_then(|keys| keys.get_key_value(KEY)) {
        mistakes.add(
            key.span(),
            format!(
                "{KEY}: {name} has a backlog, and iopslab keeps automatic compaction off until measurement begins, and turns it on then"
            ),
            "remove one of the two",
        );
    }
}
