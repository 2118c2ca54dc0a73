//! Where a model differs from full scale by more than N, and what full scale has no room for.

use crate::model_misses::{LEAST_MISSES, Misses, ModelMisses, caches_of, own_buffers};
use crate::scale::scaled_dataset;
use crate::{DiskTooSmall, Experiment, Note, Sentence, setups};

pub(crate) fn notes(experiment: &Experiment) -> Vec<Note> {
    misses(experiment).into_iter().chain(experiment.disks_too_small().iter().map(disk_too_small)).collect()
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
fn disk_too_small(of: &DiskTooSmall) -> Note {
    let words = format!(
        "a node has {:.0} GB of data at full scale, and its disks ({}) have {:.0} GB{}",
        of.data_bytes / 1e9,
        of.volume,
        of.room_bytes / 1e9,
        if of.is_compacted { ", of which size-tiered compaction needs about half" } else { "" }
    );
    let message = Sentence::about(&of.configuration, words);
    let advice = "Its price is that of a node that would not hold the data: state a larger volume, or more nodes";
    Note::new("disk_too_small", message, advice).with([("data_bytes", of.data_bytes), ("room_bytes", of.room_bytes)])
}
