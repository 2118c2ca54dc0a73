//! Several nodes: on which of them something was seen, and how they differ.

use analysis::{Finding, NODES, NodeFigure};

use super::of::Of;
use crate::figures::{listed, number};

/// Where a finding was seen, as a sentence; `None` where the database has one node. The first node named is the one
/// whose numbers the finding carries.
pub fn seen_on(finding: &Finding) -> Option<String> {
    let names: Vec<&str> = finding.fact(NODES)?.split(", ").collect();
    let all = finding.number(NODES).unwrap_or(0.0) as usize;
    Some(match names.as_slice() {
        [only] => format!("On {only}, one of {all} nodes."),
        [worst, ..] if names.len() == all => format!("On all {all} nodes; these figures are those of {worst}."),
        [worst, ..] => {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            format!(
                "On {} of {all} nodes; these figures are those of {worst}.",
                listed(&names)
            )
        }
        [] => return None,
    })
}

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    let figure = NodeFigure::named(of.fact("figure"));
    let (what, scale, unit) = match figure {
        Some(NodeFigure::Cpus) => ("used", 1.0, "CPUs"),
        Some(NodeFigure::DeviceReads) => ("read from its data volume", 1.0, "times a second"),
        Some(NodeFigure::DeviceWrites) => ("wrote to its data volume", 1.0, "times a second"),
        Some(NodeFigure::BytesOnDisk) => ("has", 1e6, "MB of the data set"),
        Some(NodeFigure::ProbedReads) => ("delivered to fio", 1.0, "random reads a second"),
        Some(NodeFigure::ProbedWrites) => ("took from fio", 1e6, "MB/s of writes"),
        None => ("has", 1.0, ""),
    };
    let amount = |name: &str| number(of.number(name) / scale);
    let whose = match of.0.fact("volume") {
        Some(volume) => format!("'s {volume} volume"),
        None => String::new(),
    };
    let message = format!(
        "The nodes are unequal: {}{whose} {what} {} {unit}, {}{whose} {} ({} less).",
        of.fact("most"),
        amount("most"),
        of.fact("least"),
        amount("least"),
        of.percent("less_by_share"),
    );
    let advice = match figure {
        Some(NodeFigure::BytesOnDisk) => {
            "One node owns more of the ring and will be full first: the cluster is as fast as that node. Spread the data evenly (racks that divide the \
             nodes, tokens allocated for the replication factor) before comparing storage."
        }
        Some(NodeFigure::ProbedReads | NodeFigure::ProbedWrites) => {
            "The same volume was bought for each node, and one delivers less: the cluster is as fast as that node. Look what else uses its disk; on rented \
             machines replace the node, or take it for the spread that they have."
        }
        _ => {
            "The cluster is as fast as its slowest node, so that this cell measures their inequality too. Look whether one node has more data, more \
             requests (a driver that does not know the ring), a slower CPU, or other work beside it; compare the nodes' rows in the report."
        }
    };
    (message, advice)
}
