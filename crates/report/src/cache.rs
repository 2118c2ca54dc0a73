//! What a warm page cache is worth: the same rows and sentences in every form of the report.

use analysis::{Analysis, CacheEffect};

use crate::figures::{MISSING, duration, number, optional};
use crate::labels;

/// The section's title.
pub const TITLE: &str = "What a warm page cache is worth";

/// What is read from the table.
pub const METHOD: &str = "Each configuration against itself: trials that began with the data set in the page cache against those of the \
 same block that began with none of it. No configuration is chosen by this; each state has its own decision.";

/// Columns, of which the first three are text.
pub const HEAD: [&str; 8] = [
    "Configuration",
    "Workload",
    "Load",
    "Throughput, warm/cold",
    "p99, warm/cold",
    "Disk reads/op. cold",
    "Disk reads/op. warm",
    "Warming took",
];

/// One row for each pair of cells.
pub fn rows(analysis: &Analysis) -> impl Iterator<Item = Vec<String>> {
    analysis.cache_effects.iter().map(|effect| {
        vec![
            effect.configuration.clone(),
            effect.workload.clone(),
            labels::load(effect.load),
            labels::judged(effect.throughput.as_ref()),
            labels::judged(effect.p99.as_ref()),
            optional(effect.cold_device_reads_per_operation),
            optional(effect.warm_device_reads_per_operation),
            effect.warming_s.map_or_else(|| MISSING.to_owned(), duration),
        ]
    })
}

/// One sentence for each pair of cells.
pub fn sentences(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.cache_effects.iter().map(sentence)
}

fn sentence(effect: &CacheEffect) -> String {
    let place = format!(
        "{}, {}, {}",
        effect.configuration,
        effect.workload,
        labels::load(effect.load)
    );
    let compared = match (&effect.throughput, &effect.p99) {
        (Some(throughput), _) => format!("throughput warm/cold {}", labels::judged(Some(throughput))),
        (None, Some(p99)) => format!("p99 warm/cold {}", labels::judged(Some(p99))),
        (None, None) => "no block has both".to_owned(),
    };
    let reads = effect
        .cold_device_reads_per_operation
        .zip(effect.warm_device_reads_per_operation);
    let reads = reads.map_or_else(String::new, |(cold, warm)| {
        format!(
            "; disk reads for each operation {} cold, {} warm",
            number(cold),
            number(warm)
        )
    });
    let took = effect
        .warming_s
        .map_or_else(String::new, |s| format!("; warming took {}", duration(s)));
    format!("{place}: {compared}{reads}{took}.")
}
