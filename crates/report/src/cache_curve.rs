//! Throughput over data set / page cache in words and rows: the same in every form of the report.

use analysis::{Analysis, CacheCurve, CachePoint};

use crate::figures::{number, optional};
use crate::labels;

/// The section's title.
pub const TITLE: &str = "Throughput over data set / page cache";

/// What the predicted figures are.
pub const METHOD: &str = "Predicted: an LRU of 16 KiB chunks (Che's approximation) says how many reads miss, each miss costs the fitted number \
 of device reads, and throughput is the lower of what the volume delivers to those (by fio) and the most that was measured at any ratio.";

/// Columns, of which the first three are text.
pub const HEAD: [&str; 9] = [
    "Configuration",
    "Workload",
    "Load",
    "Data set / page cache",
    "Operations/s",
    "predicted",
    "Disk reads/op.",
    "predicted",
    "Hits predicted",
];

/// What a curve is of: `gp3, reads, 16 in flight, warm`.
pub fn title(curve: &CacheCurve) -> String {
    format!(
        "{}, {}, {}, {}",
        curve.configuration,
        curve.workload,
        labels::load(curve.load),
        curve.state.name()
    )
}

/// One row for each cell.
pub fn rows(analysis: &Analysis) -> impl Iterator<Item = Vec<String>> {
    analysis
        .cache_curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| row(curve, point)))
}

fn row(curve: &CacheCurve, point: &CachePoint) -> Vec<String> {
    vec![
        curve.configuration.clone(),
        format!("{}, {}", curve.workload, curve.state.name()),
        labels::load(curve.load),
        number(point.ratio),
        labels::estimate(point.throughput_ops_per_s),
        optional(point.predicted.ops_per_s),
        optional(point.device_reads_per_operation),
        optional(point.predicted.device_reads_per_operation),
        format!("{:.0} %", point.predicted.hit_ratio * 100.0),
    ]
}

/// The most curves that are told with the answer.
const WITH_ANSWER_MAX: usize = 3;

/// Whether there are so few that they belong to the answer: to the question that such an experiment asks they are it.
pub fn is_with_answer(analysis: &Analysis) -> bool {
    analysis.cache_curves.len() <= WITH_ANSWER_MAX
}

/// Where each curve tips over, one sentence each.
pub fn sentences(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.cache_curves.iter().map(sentence)
}

fn sentence(curve: &CacheCurve) -> String {
    let measured = match curve.measured_tipping_ratio {
        Some((last, next)) => format!(
            "throughput holds up to a data set of {} times the page cache, and is lower from {} times on",
            number(last),
            number(next)
        ),
        None => "no step was seen between the ratios that were measured".to_owned(),
    };
    let predicted = match (curve.predicted_tipping_ratio, curve.reads_per_miss) {
        (Some(ratio), Some(each)) => format!(
            "; the model, with {} device reads for each miss, has the volume bound it from {} times on",
            number(each),
            number(ratio)
        ),
        (None, Some(_)) if curve.most_ops_per_s.is_some() && curve.volume_iops.is_some() => {
            "; by the model there is none near them".to_owned()
        }
        _ => String::new(),
    };
    format!("{}: {measured}{predicted}.", title(curve))
}
