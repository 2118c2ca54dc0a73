//! The data volumes of a node side by side, where it has several.

use analysis::{Analysis, CellAnalysis, DataVolumeAnalysis};

use crate::figures::optional;
use crate::labels;

/// What the table shows.
pub const LABEL: &str = "The data volumes of each cell, medians over repetitions; a request's time is the kernel's, from its queue to \
                         its end; requests of a RAID 0 are those of its members, split where chunks end";
/// The head; the first [`TEXTS`] columns are text.
pub const HEAD: [&str; 11] = [
    "Configuration",
    "Workload",
    "Load",
    "Node",
    "Volume",
    "Read IOPS",
    "Write IOPS",
    "MB/s read",
    "MB/s written",
    "A request, ms",
    "Busy, %",
];
/// Columns of text at the beginning.
pub const TEXTS: usize = 5;

/// A row for each data volume of each node; none where every node has one.
pub fn rows(analysis: &Analysis) -> impl Iterator<Item = Vec<String>> + '_ {
    analysis
        .cells
        .iter()
        .flat_map(|cell| cell.data_volumes.iter().map(move |volume| row(cell, volume)))
}

fn row(cell: &CellAnalysis, volume: &DataVolumeAnalysis) -> Vec<String> {
    vec![
        cell.configuration.clone(),
        cell.workload.clone(),
        labels::load(cell.load),
        volume.host.to_string(),
        volume.volume.name().to_owned(),
        optional(volume.read_iops),
        optional(volume.write_iops),
        optional(volume.read_bytes_per_s.map(|bytes| bytes / 1e6)),
        optional(volume.write_bytes_per_s.map(|bytes| bytes / 1e6)),
        optional(volume.await_us.map(|us| us / 1e3)),
        optional(volume.busy_share.map(|share| share * 100.0)),
    ]
}
