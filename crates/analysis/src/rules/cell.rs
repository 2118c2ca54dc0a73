//! Rules on a cell: are there samples enough, and do the repetitions agree?

use spec::Dataset;

use super::{count, percent};
use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope, Severity};

/// Samples wanted beyond a percentile before it is believed (METHODS, "Latency": >= 100).
pub const SAMPLES_BEYOND: f64 = 100.0;
/// Repetitions further apart than this share of their median.
const SPREAD_MAX: f64 = 0.12;

/// The percentiles of the report with their tail shares.
pub const PERCENTILES: [(&str, f64); 3] = [("p95", 0.05), ("p99", 0.01), ("p99.9", 0.001)];

/// Less on disk than this share of the payload: not all of the data set is there, or it compresses although it should not.
const DATA_SHARE_MIN: f64 = 0.9;

/// Findings on a cell, from its figures and the data set that it should have had.
pub fn of_cell(cell: &CellAnalysis, dataset: &Dataset) -> Vec<Finding> {
    let mut found = too_few_samples(cell);
    found.extend(repetitions_spread(cell));
    found.extend(data_set_smaller(cell, dataset));
    found
}

fn data_set_smaller(cell: &CellAnalysis, dataset: &Dataset) -> Option<Finding> {
    let expected = dataset.payload_bytes() as f64 * (1.0 - dataset.compressibility);
    let on_disk = cell.bytes_on_disk.filter(|bytes| *bytes > 0.0)?;
    (on_disk < DATA_SHARE_MIN * expected).then(|| {
        Finding::new(
            "data_set_smaller",
            Severity::Suspect,
            Scope::Cell(cell.id.clone()),
            [("bytes_on_disk", on_disk), ("payload_bytes_incompressible", expected), ("threshold", DATA_SHARE_MIN)],
            format!(
                "{} MB are on disk, the data set has {} MB that cannot be compressed.",
                count(on_disk / 1e6),
                count(expected / 1e6)
            ),
            "A smaller data set fits the page cache better: the cell flatters its storage. Delete the snapshot (iopslab clean \
             --snapshots) and load again.",
        )
    })
}

fn too_few_samples(cell: &CellAnalysis) -> Vec<Finding> {
    cell.latency_us
        .iter()
        .filter_map(|(kind, latency)| {
            let samples = latency.samples as f64;
            // The lowest percentile that is not supported stands for those above it.
            let (name, tail) = PERCENTILES.into_iter().find(|(_, tail)| samples * tail < SAMPLES_BEYOND)?;
            let needed = SAMPLES_BEYOND / tail;
            Some(Finding::new(
                "too_few_samples",
                Severity::Note,
                Scope::Cell(cell.id.clone()),
                [("samples", samples), ("needed", needed), ("tail_share", tail)],
                format!(
                    "{} has {} samples a trial: {name} and above rest on fewer than {SAMPLES_BEYOND:.0} slower ones ({} samples needed).",
                    kind.name().replace('_', "-"),
                    count(samples),
                    count(needed)
                ),
                "Lengthen [load] duration_s before comparing these percentiles.",
            ))
        })
        .collect()
}

fn repetitions_spread(cell: &CellAnalysis) -> Option<Finding> {
    let throughput = cell.throughput_ops_per_s?;
    let spread =
        stats::ratio(throughput.largest - throughput.smallest, throughput.median).filter(|s| *s > SPREAD_MAX)?;
    Some(Finding::new(
        "repetitions_spread",
        Severity::Suspect,
        Scope::Cell(cell.id.clone()),
        [
            ("smallest", throughput.smallest),
            ("largest", throughput.largest),
            ("spread", spread),
            ("threshold", SPREAD_MAX),
        ],
        format!("Throughput of the repetitions lies {} apart.", percent(spread)),
        "Something else changed between repetitions: look at the trials' host samples (steal, compaction, other load), and \
         repeat more often.",
    ))
}
