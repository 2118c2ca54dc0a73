//! How to read a report: what the words mean and where the numbers come from.

use analysis::{Analysis, CONFIDENCE};
use reported::{Meaning, Reports};

use crate::document::section::Section;
use crate::document::table::Form;
use crate::document::text::{Text, code, strong};
use crate::{answer, labels};

/// The whole section.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let product = analysis.cells.iter().find_map(|cell| cell.database.product());
    let scaled = (analysis.scale > 1.0).then(|| {
        format!(
            "This is {}: IOPS, MB/s, CPUs, page cache and data set are divided; compare ratios between \
             configurations, not absolute figures. What does not scale: {}, and fixed costs of one request.",
            labels::at_scale(analysis.scale),
            unscaled(product)
        )
    });
    let verdicts = [
        ("faster", ", "),
        ("slower", ": the difference is shown. "),
        ("the same", ": shown to lie within the margin of practical importance. "),
        ("no difference shown", ": there may be one, smaller than these repetitions can show. "),
        ("too few to test", ": fewer than three pairs of valid trials; low and high are the observed range. "),
        (
            "Detectable",
            ": the smallest true factor that this many repetitions, spread as they are, show four times out of five at \
             the level of the verdict; as hard to see upwards as its inverse is downwards.",
        ),
    ];
    let verdicts = verdicts.into_iter().fold(Text::default(), |all, (word, is)| all.then(strong(word)).then(is));
    let spread = format!(
        "The unit is the trial, its figures come from its steady window; an interval is the repeatability of this run \
         on its machines. {}",
        answer::spread(analysis)
    );
    let evidence = Text::from("Where a number comes from: ")
        .then(code("trials/CELL/BLOCK/"))
        .then(" holds ")
        .then(code("trial.json"))
        .then(", ")
        .then(code("latency.hlog"))
        .then(" (HdrHistogram log), ")
        .then(code("host-*.parquet"))
        .then(" and the logs. Recompute everything from it: ")
        .then(code(format!("iopslab report {}", analysis.run)))
        .then(".");
    let mut own = analysis.cells.iter().filter_map(|cell| cell.throughput_ops_per_s);
    let looks = own.any(|estimate| estimate.confidence > CONFIDENCE + 1e-9).then_some(
        "The run looked at its evidence several times, and each look has a share of the level: an interval that is \
         called one of 95 % is one of 97.5 % or more here, and verdicts and intervals of ratios are stricter alike.",
    );
    let said = [
        Some(spread.into()),
        looks.map(Text::from),
        Some(verdicts),
        Some(
            "Percentiles come from the merged HdrHistograms of all seconds of a trial and are never averaged inside \
             it; across trials each trial's percentile is one observation."
                .into(),
        ),
        Some(
            "Closed loop (requests in flight) finds throughput; its latencies depend on the load that the \
             configuration itself allowed, so that p99 of different configurations are not comparable. Open loop (a \
             rate) measures from the due time."
                .into(),
        ),
        Some("Every trial starts from a restored copy of the data set on volumes unmounted and mounted again.".into()),
        scaled.map(Text::from),
        labels::emulation(analysis).map(Text::from),
        Some(evidence),
    ];
    Section::new("method", "How to read this").mostly(Form::ROOMY).list(said.into_iter().flatten())
}

/// What of a database no model divides.
fn unscaled(product: Option<&Reports>) -> &'static str {
    let compiles = |product: &Reports| product.all_series().any(|one| one.meaning == Some(Meaning::CompilerCpuS));
    match product.is_none_or(compiles) {
        true => {
            "the least memory that the database runs in (Cassandra's Java heap), the latency of one I/O, its CPU in \
             the background (compaction, JIT, garbage collection)"
        }
        false => "the least memory that the database runs in, the latency of one I/O, its CPU in the background",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_java_heap_is_named_where_there_is_one() {
        assert!(unscaled(None).contains("Java heap"));
        assert!(unscaled(Some(&reported::cassandra::REPORTS)).contains("Java heap"));
        let said = unscaled(Some(&reported::postgresql::REPORTS));
        assert!(!said.contains("Cassandra") && !said.contains("JIT"), "{said}");
    }
}
