//! Where a model differs from full scale by more than N, and what full scale has no room for.

use product::Lack;

use crate::model_misses::{LEAST_MISSES, Misses, ModelMisses, caches_of, own_buffers};
use crate::scale::{LEAST_PAGE_CACHE, scaled_dataset};
use crate::{Configuration, DiskTooSmall, Experiment, Model, Note, PageCacheKeeps, Place, Sentence, setups};

pub(crate) fn notes(experiment: &Experiment) -> Vec<Note> {
    let mut notes = misses(experiment);
    let is_alone = experiment.target.database.product().lacks(Lack::Clusters);
    notes.extend(experiment.disks_too_small().iter().map(|of| disk_too_small(of, is_alone)));
    notes.extend(raised(experiment));
    notes
}

/// Memory that a model has at the least, where its part of a configuration's is less.
fn raised(experiment: &Experiment) -> Vec<Note> {
    let place = &experiment.place;
    let Model { scale, page_cache_bytes, page_cache } = place.model();
    // Others are of a size that is stated or reckoned.
    let is_of_memory =
        page_cache_bytes.is_none() && page_cache == PageCacheKeeps::SameShare && experiment.caches.are_unswept();
    let rules = &experiment.target.database.product().memory;
    let of = |configuration: &Configuration| {
        let (memory, settings) = (configuration.memory_limit_bytes, &configuration.settings);
        let cache = rules.page_cache_bytes(memory, settings).filter(|_| is_of_memory);
        let cache = cache.map(|full| ("page cache", full / scale, LEAST_PAGE_CACHE));
        // The least heap is what a model has as a rule; a setting that states memory is divided.
        let unstated = rules.stated.filter(|stated| (stated.bytes)(settings).is_none());
        let main = unstated.map(|stated| {
            let full = (rules.plan)(memory as f64, 1.0, None).main_bytes;
            (stated.setting.1, full / scale, rules.least_main_bytes.min(full))
        });
        let is_raised = |(_, part, least): &(&str, f64, f64)| least - part > catalog::MIB / 2.0;
        let both = [cache, main].into_iter().flatten().filter(is_raised);
        both.map(|(what, part, least)| raised_to(&configuration.name, scale, what, (part, least))).collect::<Vec<_>>()
    };
    match place {
        Place::Emulated { .. } | Place::Simulated { .. } => experiment.configurations.iter().flat_map(of).collect(),
        _ => Vec::new(),
    }
}

fn raised_to(name: &str, scale: f64, what: &str, (part, least): (f64, f64)) -> Note {
    let [part_mib, least_mib] = [part, least].map(|bytes| bytes / catalog::MIB);
    // How often it misses beside full scale is `model_misses`: fewer zipfian keys miss more.
    let (whose, advice) = match scale > 1.0 {
        true => (
            format!("would be its part of the 1:{scale} model"),
            "It may miss less than with its part, and is not one hardware with configurations that have theirs: set a \
             smaller [provider.local] scale",
        ),
        false => (
            "is what its memory leaves".to_owned(),
            "It may miss less than with that, and is not one hardware with configurations that have what is left: set \
             a larger memory_limit_gib",
        ),
    };
    let words = format!("{part_mib:.0} MiB of {what} {whose}, and it has {least_mib:.0} MiB, the least");
    let note = Note::new("memory_raised", (name, words), advice);
    note.with([("part_bytes", part), ("least_bytes", least)])
}

/// Page caches that the model misses more or less often than full scale does.
fn misses(experiment: &Experiment) -> Vec<Note> {
    let (dataset, setups) = (scaled_dataset(experiment), setups(experiment));
    let caches = caches_of(experiment, &dataset, &setups);
    let differing = Misses::of(experiment, &dataset, &caches).all(&setups).into_iter().filter(ModelMisses::differ);
    differing.map(|of| note(experiment, dataset.records, &of)).collect()
}

fn note(experiment: &Experiment, records: u64, of: &ModelMisses) -> Note {
    let full_records = experiment.stands_for_records.unwrap_or(experiment.dataset.records);
    let buffers = own_buffers(experiment.target.database.product());
    let left_out = buffers
        .map_or_else(String::new, |buffers| format!(", reckoned without {buffers} and without what updates read"));
    let reads = |missing: f64| if missing < LEAST_MISSES { "hardly any".to_owned() } else { format!("{missing:.3}") };
    let often = match of.in_model < LEAST_MISSES {
        true => "hardly read".to_owned(),
        false => format!("read {:.2} times as often as they should be", of.factor()),
    };
    let words = format!(
        " under {}: {} reads are expected to miss the page cache for each operation here, {} at full scale ({:.1} % of \
         {records} records in it, instead of {:.1} % of {full_records}): volumes are {often}{left_out}",
        of.workload,
        reads(of.in_model),
        reads(of.at_full_scale),
        of.share_in_model * 100.0,
        of.share_at_full_scale * 100.0
    );
    let message = Sentence::of("", of.configuration.as_str(), words);
    let advice = match of.can_be_kept {
        true => format!(
            "Set [provider.local] page_cache = \"same-misses\": a page cache of {:.0} MiB misses as often as at full \
             scale",
            of.same_misses_bytes / catalog::MIB
        ),
        false => {
            "Load more of the records, by a smaller scale or more records, to come nearer to full scale".to_owned()
        }
    };
    Note::new("model_misses", message, advice).with([
        ("misses_in_model", of.in_model),
        ("misses_at_full_scale", of.at_full_scale),
        ("factor", of.factor()),
        ("same_misses_bytes", of.same_misses_bytes),
    ])
}

/// A data set that a node's disks have no room for at full scale: nobody would buy that.
fn disk_too_small(of: &DiskTooSmall, is_alone: bool) -> Note {
    let words = format!(
        "a node has {:.0} GB of data at full scale, and its disks ({}) have {:.0} GB{}",
        of.data_bytes / 1e9,
        of.volume,
        of.room_bytes / 1e9,
        if of.is_compacted { ", of which size-tiered compaction needs about half" } else { "" }
    );
    let more_nodes = if is_alone { "" } else { ", or more nodes" };
    let advice = format!("Its price is that of a node that would not hold the data: state a larger volume{more_nodes}");
    let note = Note::new("disk_too_small", (&of.configuration, words), advice);
    note.with([("data_bytes", of.data_bytes), ("room_bytes", of.room_bytes)])
}
