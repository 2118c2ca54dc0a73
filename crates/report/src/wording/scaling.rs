//! What a scaling says, in words.

use analysis::{Range, Scaling};

use crate::figures::{number, percent, several};
use crate::labels;

/// What was compared: `read-heavy, 32 in flight, 1 replica`.
pub fn title(scaling: &Scaling) -> String {
    let replicas = several(scaling.replication_factor.into(), "replica");
    format!("{}, {}, {replicas}", scaling.workload, labels::load(scaling.load))
}

/// The law in sentences.
pub fn sentences(scaling: &Scaling) -> Vec<String> {
    let Some(most) = scaling.points.last() else { return Vec::new() };
    let between = |range: Option<Range>| match range {
        Some(range) => format!(" ({} to {})", percent(range.low), percent(range.high)),
        None => " (not repeated, so without an interval)".to_owned(),
    };
    let mut said = vec![format!(
        "{} nodes have {}{} of {} times {} by the law ({} operations/s).",
        most.nodes,
        percent(scaling.efficiency),
        between(scaling.efficiency_range),
        most.nodes,
        labels::throughput_of("one node"),
        number(scaling.of_one_ops_per_s),
    )];
    said.push(format!(
        "Contention (what nodes wait for in turn): {}{}; coherency (what each pair of nodes costs): {}{}.",
        percent(scaling.contention),
        between(scaling.contention_range),
        percent(scaling.coherency),
        between(scaling.coherency_range),
    ));
    if let Some(peak) = scaling.peak_nodes.filter(|peak| *peak < 10.0 * f64::from(most.nodes)) {
        said.push(format!(
            "By the law throughput falls from {} nodes on; beyond {} nodes this is extrapolated.",
            number(peak.ceil()),
            most.nodes
        ));
    }
    let (first, proportional) = (&scaling.points[0], scaling.contention == 0.0 && scaling.coherency == 0.0);
    let ratio = most.ops_per_s / first.ops_per_s;
    if proportional && ratio > f64::from(most.nodes) / f64::from(first.nodes) {
        said.push(format!(
            "{} has {} times {}: more than in proportion, which no such law describes. Page caches that \
             hold a larger share of the data together are the usual reason.",
            most.configuration,
            number(ratio),
            labels::throughput_of(&first.configuration)
        ));
    }
    let parameters = 3;
    if scaling.points.len() == parameters {
        said.push(
            "The law has three parameters, and so many clusters were measured: it passes through them, and nothing \
             here tests it."
                .to_owned(),
        );
    }
    said
}
