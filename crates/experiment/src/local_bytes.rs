//! Local disks whose bytes a second nobody knows: they cannot be held to what is not known.

use catalog::LOCAL_BYTES_HELP;

use crate::{Configuration, Note, Place, VolumeKind};

/// Where they are emulated, which makes such disks better than they are.
pub(crate) fn not_limited(place: &Place, configuration: &Configuration) -> Option<Note> {
    let mut local = configuration.volumes().filter(|volume| volume.kind == VolumeKind::Local);
    let disks = local.find(|volume| {
        let limits = &volume.effective_limits;
        limits.read_bytes_per_s.is_none() || limits.write_bytes_per_s.is_none()
    })?;
    place.is_modelled().then(|| {
        let words = format!(
            "the MB/s of {} of {} are not known, so that only their IOPS are limited: where large requests, compaction \
             or scans count, they do more here than those that are bought, and comparisons favour them",
            disks.label, configuration.instance.label
        );
        let advice = format!("Take a result in their favour with care, or {LOCAL_BYTES_HELP}");
        Note::new("local_disks_without_byte_limit", (&configuration.name, words), advice)
    })
}
