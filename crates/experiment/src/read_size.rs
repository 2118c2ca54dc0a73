//! IOPS that reads of the expected size never reach, because the volume's bytes a second end before.

use catalog::{Catalog, MIB, VolumeRequest};

use crate::products::is_compressed;
use crate::{Configuration, ConfiguredVolume, Experiment, Note, pricing};

/// Reads may reach this much less than what is bought before it is worth a word: rounding in published figures.
const SLACK: f64 = 0.01;
const KIB: f64 = 1024.0;

/// What the data volume of a configuration can do of the IOPS that are ordered of it, if all of them are reads of what
/// the database reads at once: a chunk or a page, and less where it compresses.
pub(crate) fn below_iops(catalog: &Catalog, experiment: &Experiment, configuration: &Configuration) -> Option<Note> {
    let volume = &configuration.data_volume;
    // What comes with a size, a type or a machine was not chosen, and costs nothing by itself.
    let is_ordered = volume.order.is_some_and(|order| order.iops.is_some());
    // What tables of the user's own are read in is theirs; writes are made larger.
    let reads = |mix: &workload::Mix| mix.read + mix.scan + mix.read_modify_write > 0.0;
    let is_read = experiment.own.is_none() && experiment.workloads.iter().any(|workload| reads(&workload.mix));
    if !is_ordered || !is_read {
        return None;
    }
    let product = experiment.target.database.product();
    let settings = &configuration.settings;
    let saved = if is_compressed(product, settings) { experiment.dataset.compressibility } else { 0.0 };
    let read_bytes = product.unit_bytes_of(settings) * (1.0 - saved);
    let (iops, bytes) = (volume.effective_limits.read_iops?, volume.volume_limits.read_bytes_per_s?);
    if read_bytes <= 0.0 || bytes / read_bytes >= iops * (1.0 - SLACK) {
        return None;
    }
    let reached = bytes / read_bytes;
    let needed_mib = (iops * read_bytes / MIB).ceil();
    let more = usd_of_more(catalog, experiment, configuration, volume, needed_mib);
    let words = format!(
        "{iops:.0} IOPS at {:.0} MiB/s of {}: reads of {:.0} KiB reach {reached:.0} IOPS{}",
        bytes / MIB,
        volume.label,
        read_bytes / KIB,
        more.map_or_else(String::new, |usd| format!("; {needed_mib:.0} MiB/s cost {usd:.2} USD a month more"))
    );
    let advice = "State the MiB/s that the reads need, or fewer IOPS: the rest is paid and cannot be used by them";
    let numbers = [("bought_iops", iops), ("reachable_iops", reached), ("needed_mib_per_s", needed_mib)];
    let note = Note::new("iops_above_throughput", (&configuration.name, words), advice).with(numbers);
    Some(note.with(more.map(|usd| ("more_usd_per_month", usd))))
}

/// The price of so many MiB/s over what is ordered; `None` where they cannot be ordered, the instance does not let them
/// through, or a price is not known.
fn usd_of_more(
    catalog: &Catalog,
    experiment: &Experiment,
    configuration: &Configuration,
    volume: &ConfiguredVolume,
    mib_per_s: f64,
) -> Option<f64> {
    let through = configuration.instance.card_limits().read_bytes_per_s;
    if through.is_some_and(|bytes| bytes < mib_per_s * MIB) {
        return None;
    }
    let bought = volume.order?;
    let enough = VolumeRequest { mib_per_s: Some(mib_per_s), ..bought };
    let usd = |order| pricing::with_data_volume(catalog, experiment, configuration, volume.count, order);
    Some(usd(enough)? - usd(bought)?)
}
