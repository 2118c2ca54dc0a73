//! Where a model differs from full scale by more than N, and what full scale has no room for.

use product::Lack;

use crate::model_misses::{Misses, ModelMisses, caches_of};
use crate::scale::scaled_dataset;
use crate::{Configuration, Experiment, Note, Sentence, VolumeKind, setups};

/// Share of a node's disks that data may fill where they are compacted: size-tiered compaction writes all of them anew
/// before it frees anything (Cassandra's documentation, "Size Tiered Compaction Strategy"). `iopslab size` takes the
/// same.
const DISK_FILL: f64 = 0.5;

/// The notes on an experiment.
pub(crate) fn notes(experiment: &Experiment) -> Vec<Note> {
    let each = experiment.configurations.iter();
    misses(experiment).into_iter().chain(each.filter_map(|of| disk_too_small(experiment, of))).collect()
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
    let words = format!(
        " under {}: {:.3} reads are expected to miss the page cache for each operation here, {:.3} at full scale \
         ({:.1} % of {records} records in it, instead of {:.1} % of {full_records}): volumes are read {:.2} times as \
         often as they should be",
        of.workload,
        of.in_model,
        of.at_full_scale,
        of.share_in_model * 100.0,
        of.share_at_full_scale * 100.0,
        of.factor()
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
fn disk_too_small(experiment: &Experiment, configuration: &Configuration) -> Option<Note> {
    let is_bought = experiment.place.existing().is_none() && experiment.own.is_none();
    let volume = &configuration.data_volume;
    if !is_bought || volume.kind == VolumeKind::Explicit || volume.size_bytes == 0 {
        return None;
    }
    let more = experiment.stands_for_records.map_or(1.0, |n| n as f64 / experiment.dataset.records as f64);
    let held = experiment.dataset.bytes_on_disk() * more * configuration.placement.share_per_node();
    let room = volume.size_bytes as f64 * f64::from(volume.count);
    let (fill, compaction) = match experiment.target.database.product().lacks(Lack::Compaction) {
        true => (1.0, ""),
        false => (DISK_FILL, ", of which size-tiered compaction needs about half"),
    };
    (held > room * fill).then(|| {
        let words = format!(
            "a node has {:.0} GB of data at full scale, and its disks ({}) have {:.0} GB{compaction}",
            held / 1e9,
            volume.label,
            room / 1e9
        );
        let message = Sentence::about(&configuration.name, words);
        let advice = "Its price is that of a node that would not hold the data: state a larger volume, or more nodes";
        Note::new("disk_too_small", message, advice).with([("data_bytes", held), ("room_bytes", room)])
    })
}
