//! Where a model differs from full scale by more than N, and what full scale has no room for.

use crate::model_misses::{Misses, ModelMisses, caches_of};
use crate::scale::scaled_dataset;
use crate::{Configuration, Experiment, Note, PageCacheKeeps, Place, VolumeKind, setups};

/// Share of a node's disks that data may fill: size-tiered compaction writes all of them anew before it frees anything
/// (Cassandra's documentation, "Size Tiered Compaction Strategy"). `iopslab size` takes the same.
const DISK_FILL: f64 = 0.5;

/// The notes on an experiment.
pub(crate) fn notes(experiment: &Experiment) -> Vec<Note> {
    let each = experiment.configurations.iter();
    misses(experiment).into_iter().chain(each.filter_map(|of| disk_too_small(experiment, of))).collect()
}

/// Page caches that the model misses more or less often than full scale does: those of a workload with the same figures
/// in one note.
fn misses(experiment: &Experiment) -> Vec<Note> {
    let (dataset, setups) = (scaled_dataset(experiment), setups(experiment));
    let caches = caches_of(experiment, &dataset, &setups);
    let differing = Misses::of(experiment, &dataset, &caches).all(&setups).into_iter().filter(ModelMisses::differ);
    let mut groups: Vec<(ModelMisses, Vec<String>)> = Vec::new();
    for of in differing {
        let same = |known: &ModelMisses| {
            known.workload == of.workload
                && (known.in_model, known.at_full_scale) == (of.in_model, of.at_full_scale)
                && known.same_misses_bytes == of.same_misses_bytes
        };
        match groups.iter_mut().find(|(known, _)| same(known)) {
            Some((_, names)) => names.push(of.configuration),
            None => groups.push((of.clone(), vec![of.configuration])),
        }
    }
    groups.into_iter().map(|(of, names)| note(experiment, dataset.records, &of, &names)).collect()
}

fn note(experiment: &Experiment, records: u64, of: &ModelMisses, names: &[String]) -> Note {
    let model = experiment.place.model();
    let full_records = experiment.stands_for_records.unwrap_or(experiment.dataset.records);
    let message = format!(
        "{} under {}: {:.3} reads miss the page cache for each operation in the model of 1:{}, {:.3} at full scale \
         ({records} records instead of {full_records}): volumes look {:.2} times as important as they are",
        names.join(", "),
        of.workload,
        of.in_model,
        model.scale,
        of.at_full_scale,
        of.factor()
    );
    let is_modelled = matches!(experiment.place, Place::Emulated { .. } | Place::Simulated { .. });
    let advice = match (is_modelled, model.page_cache != PageCacheKeeps::SameShare || !experiment.caches.are_unswept())
    {
        (true, false) => format!(
            "Set [provider.local] page_cache = \"same-misses\": a page cache of {:.0} MiB misses as often as at full \
             scale",
            of.same_misses_bytes / catalog::MIB
        ),
        _ => "Load more records, so that ratios between volumes are those of full scale".to_owned(),
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
    (held > room * DISK_FILL).then(|| {
        let message = format!(
            "{}: a node has {:.0} GB of data at full scale, and its disks ({}) have {:.0} GB, of which compaction \
             needs about half",
            configuration.name,
            held / 1e9,
            volume.label,
            room / 1e9
        );
        let advice = "Its price is that of a node that would not hold the data: state a larger volume, or more nodes";
        Note::new("disk_too_small", message, advice).with([("data_bytes", held), ("room_bytes", room)])
    })
}
