//! What a warm page cache is worth, and throughput over data set / page cache.

use analysis::{Analysis, CacheEffect};

use super::columns::{estimate, placed};
use crate::cache_curve::{is_with_answer, sentences};
use crate::charts::cache_curve::chart;
use crate::document::section::Section;
use crate::document::table::{Form, column, rows};
use crate::figures::{duration, number};
use crate::labels;

/// Each configuration against itself; empty where not both states were asked for.
pub fn warm(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("cache", "What a warm page cache is worth").mostly(Form::ROOMY);
    let effects = &analysis.cache_effects;
    if effects.is_empty() {
        return section;
    }
    let table = placed("", effects, |e| (&e.configuration, &e.workload, e.load))
        .number("Throughput, warm/cold", |e| labels::judged(e.throughput.as_ref()))
        .number("p99, warm/cold", |e| labels::judged(e.p99.as_ref()))
        .number("Disk reads/op. cold", |e| e.cold_device_reads_per_operation)
        .number("Disk reads/op. warm", |e| e.warm_device_reads_per_operation)
        .number("Warming took", |e| e.warming_s.map(duration));
    let method = "Each configuration against itself: trials that began with the data set in the page cache against \
                  those of the same block that began with none of it. No configuration is chosen by this; each state \
                  has its own decision.";
    section.key(method).table(table).list(effects.iter().map(effect)).on(Form::TERMINAL)
}

fn effect(effect: &CacheEffect) -> String {
    let compared = match (&effect.throughput, &effect.p99) {
        (Some(throughput), _) => format!("throughput warm/cold {}", labels::judged(Some(throughput))),
        (None, Some(p99)) => format!("p99 warm/cold {}", labels::judged(Some(p99))),
        (None, None) => "no block has both".to_owned(),
    };
    let reads = effect.cold_device_reads_per_operation.zip(effect.warm_device_reads_per_operation);
    let reads = reads.map(|(cold, warm)| {
        let (cold, warm) = (number(cold), number(warm));
        format!("disk reads for each operation {cold} cold, {warm} warm")
    });
    let took = effect.warming_s.map(|s| format!("warming took {}", duration(s)));
    let said: Vec<String> = std::iter::once(compared).chain(reads).chain(took).collect();
    let load = labels::load(effect.load);
    format!("{}, {}, {load}: {}.", effect.configuration, effect.workload, said.join("; "))
}

/// Points, the predicted curve, and where it tips over; empty where nothing was swept.
pub fn curves(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("cache-ratio", "Throughput over data set / page cache").mostly(Form::ROOMY);
    if analysis.cache_curves.is_empty() {
        return section;
    }
    let points = analysis.cache_curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, point)));
    let table = rows("", points)
        .text("Configuration", |(curve, _)| curve.configuration.clone())
        .text(column("Workload").varies(), |(curve, _)| format!("{}, {}", curve.workload, curve.state.name()))
        .text(column("Load").varies(), |(curve, _)| labels::load(curve.load))
        .number("Data set / page cache", |(_, p)| p.ratio)
        .range("Operations/s", |(_, p)| estimate(p.throughput_ops_per_s))
        .number("predicted", |(_, p)| p.predicted.ops_per_s)
        .number("Disk reads/op.", |(_, p)| p.device_reads_per_operation)
        .number("predicted", |(_, p)| p.predicted.device_reads_per_operation)
        .number("Hits predicted, %", |(_, p)| format!("{:.0}", p.predicted.hit_ratio * 100.0));
    let method = format!(
        "Predicted: an LRU of 16 KiB chunks (Che's approximation) says how many reads miss, each miss costs the fitted \
         number of device reads, and throughput is the lower of what the volume delivers to those (by {}) and the most \
         that was measured at any ratio.",
        labels::prober(analysis)
    );
    let said = if is_with_answer(analysis) { Form::ROOMY } else { Form::ALL };
    let charts = move || {
        let charts: String = analysis.cache_curves.iter().filter_map(chart).collect();
        format!("<div class=\"charts\">\n{charts}</div>\n")
    };
    section.key(method).list(sentences(analysis)).on(said).drawn(charts).table(table)
}
