//! Whether the stated volume of a server that exists holds what a run would load onto it.

use product::Lack;

use super::only;
use crate::mistakes::Collector;
use crate::{DISK_FILL, Experiment, Note, VolumeKind, raw};

/// Nobody knows what else lies there: what does not fit an empty volume is refused, and where none is stated a note
/// says how much is written.
pub(super) fn check(file: &raw::Experiment, experiment: &Experiment, mistakes: &mut Collector<'_>) {
    let Some(cluster) = experiment.place.existing() else { return };
    let is_compacted = !experiment.target.database.product().lacks(Lack::Compaction);
    for (raw, configuration) in only::with_raw(file, &experiment.configurations) {
        let name = &configuration.name;
        let hosts = configuration.hosts.as_ref().unwrap_or(&cluster.hosts).join(", ");
        let onto = match configuration.placement.nodes {
            1 => hosts,
            _ => format!("each node of {hosts}"),
        };
        let bytes = experiment.dataset.most_bytes_on_disk() * configuration.placement.share_per_node();
        let loads = format!("a run loads {} onto {onto}", size(bytes));
        let volume = &configuration.data_volume;
        let is_stated = match volume.kind {
            VolumeKind::Explicit => raw.data_volume.get("size_gib").is_some(),
            VolumeKind::Ebs(_) | VolumeKind::Local => volume.size_bytes > 0,
        };
        if !is_stated {
            let words = format!("{loads}, and no size of its data_volume is stated");
            let advice = "Make sure that this much is free there, or state size_gib";
            mistakes.notes.push(Note::new("loaded_there", (name, words), advice).with([("data_bytes", bytes)]));
            continue;
        }
        let room = volume.room_bytes();
        let words = format!("{loads}, and its disks ({}) have {}", volume.label, size(room));
        if bytes > room {
            let help = "load fewer records, or state the volume and the nodes that stand there";
            mistakes.add(raw.data_volume.span(), format!("{name}: {words}"), help);
        } else if is_compacted && bytes > room * DISK_FILL {
            let words = format!("{words}, of which size-tiered compaction needs about half");
            let advice = "Load fewer records, or make sure that this much is free there";
            let note = Note::new("disk_too_small", (name, words), advice);
            mistakes.notes.push(note.with([("data_bytes", bytes), ("room_bytes", room)]));
        }
    }
}

/// For people.
fn size(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}
