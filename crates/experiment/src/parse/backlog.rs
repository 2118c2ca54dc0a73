//! `backlog`: SSTables of overwritten records with which a configuration's trials begin.

use product::BacklogRules;

use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Backlog, Configuration, Dataset, Load, raw};

/// The most SSTables of a backlog: each is a flush that is waited for.
const MOST_SSTABLES: i64 = 1_000;

/// What stands there by itself.
pub(super) fn check(given: &raw::Backlog, mistakes: &mut Collector<'_>) -> Option<Backlog> {
    let raw::Backlog { overwrites, sstables } = given;
    let count = mistakes.stated_integer(sstables, "sstables", 1..=MOST_SSTABLES);
    let share = mistakes.stated_number(overwrites, "overwrites", 0.001..=MOST_SSTABLES as f64);
    let (count, share) = (count?, share?);
    if share > count as f64 {
        return mistakes.refuse(
            overwrites.span(),
            format!("overwrites = {share} in {count} SSTables: one of them holds no record twice"),
            format!("at most {count}, or more sstables"),
        );
    }
    Some(Backlog { overwrites: share, sstables: count as u32 })
}

/// What else the experiment states that does not go with it.
pub(super) fn fits(
    file: &raw::Experiment,
    rules: &BacklogRules,
    (dataset, scale): (Option<&Dataset>, f64),
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
                "remove it; or leave [target] hosts out, for a database of its own",
            );
        }
        if load.is_some_and(|load| load.find.is_some()) {
            mistakes.add(
                backlog.span(),
                format!("backlog of {name} with rate = \"find\": each rate that is tried would find less of it"),
                "remove it, or give rate = [N]",
            );
        }
        compaction_is_ours(given, rules.kept, mistakes);
        if let (Some(dataset), Some(checked)) = (dataset, checked) {
            size(backlog, dataset, (scale, rules), checked, mistakes);
        }
    }
}

/// Each SSTable is one flush, of at least one record.
fn size(
    given: &Spanned<raw::Backlog>,
    dataset: &Dataset,
    (scale, rules): (f64, &BacklogRules),
    of: &Configuration,
    mistakes: &mut Collector<'_>,
) {
    let Some(backlog) = of.backlog else { return };
    let records = dataset.records as f64 / scale * backlog.overwrites / f64::from(backlog.sstables);
    if records < 1.0 {
        mistakes.add(
            given.span(),
            format!("backlog of {}: an SSTable would hold {records:.2} records", of.name),
            "fewer sstables, more overwrites, or more records in [dataset]",
        );
    }
    let is_cluster = of.placement.is_cluster();
    let most = if is_cluster { rules.most_of_several_bytes } else { rules.most_alone_bytes };
    let bytes = records * dataset.record_bytes() * of.placement.share_per_node();
    if bytes > most {
        let enough = (f64::from(backlog.sstables) * bytes / most).ceil();
        mistakes.add(
            given.span(),
            format!(
                "backlog of {}: {:.0} MiB of payload in an SSTable, which is one flush of one memtable: {:.0} MiB at \
                 most",
                of.name,
                bytes / catalog::MIB,
                most / catalog::MIB
            ),
            format!("sstables = {enough}, or fewer overwrites"),
        );
    }
}

/// Automatic compaction is off until measurement begins, and on from there.
fn compaction_is_ours(given: &raw::Configuration, (section, key): (&str, &str), mistakes: &mut Collector<'_>) {
    let name = &given.name;
    let keys = given.settings.as_ref().and_then(|settings| settings.keys(section));
    if let Some((at, _)) = keys.and_then(|keys| keys.get_key_value(key)) {
        mistakes.add(
            at.span(),
            format!(
                "{key}: {name} has a backlog, and iopslab keeps automatic compaction off until measurement begins, and \
                 turns it on then"
            ),
            "remove one of the two",
        );
    }
}
