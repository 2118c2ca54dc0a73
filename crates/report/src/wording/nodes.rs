//! Several nodes: on which of them something was seen, and how they differ.

use analysis::rules::unequal_nodes::UnequalNodes;
use analysis::{NodeFigure, SeenOn};

use super::amounts::{Words, percent};
use crate::figures::{listed, number};

/// Where a finding was seen, as a sentence. The first node named is the one whose numbers the finding carries.
pub fn seen_on(nodes: &SeenOn) -> String {
    let all = nodes.of;
    let names = &nodes.names;
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("On {only}, one of {all} nodes."),
        [worst, ..] if names.len() as u64 == all => format!("On all {all} nodes; these figures are those of {worst}."),
        [worst, ..] => format!("On {} of {all} nodes; these figures are those of {worst}.", listed(names)),
    }
}

pub fn unequal(of: &UnequalNodes) -> Words {
    let (what, scale, unit) = match of.figure {
        NodeFigure::Cpus => ("used", 1.0, "CPUs"),
        NodeFigure::DeviceReads => ("read from its data volume", 1.0, "times a second"),
        NodeFigure::DeviceWrites => ("wrote to its data volume", 1.0, "times a second"),
        NodeFigure::BytesOnDisk => ("has", 1e6, "MB of the data set"),
        NodeFigure::ProbedReads => ("delivered to the probe", 1.0, "random reads a second"),
        NodeFigure::ProbedWrites => ("took from the probe", 1e6, "MB/s of writes"),
    };
    let amount = |amount: f64| number(amount / scale);
    let whose = of.volume.map_or_else(String::new, |volume| format!("'s {} volume", volume.name()));
    let message = format!(
        "The nodes are unequal: {}{whose} {what} {} {unit}, {}{whose} {} ({} less).",
        of.most_of,
        amount(of.most),
        of.least_of,
        amount(of.least),
        percent(of.less_by_share),
    );
    let advice = match of.figure {
        NodeFigure::BytesOnDisk => {
            "One node owns more of the ring and will be full first: the cluster is as fast as that node. Spread the \
             data evenly (racks that divide the nodes, tokens allocated for the replication factor) before comparing \
             storage."
        }
        NodeFigure::ProbedReads | NodeFigure::ProbedWrites => {
            "The same volume was bought for each node, and one delivers less: the cluster is as fast as that node. \
             Look what else uses its disk; on rented machines replace the node, or take it for the spread that they \
             have."
        }
        NodeFigure::Cpus | NodeFigure::DeviceReads | NodeFigure::DeviceWrites => {
            "The cluster is as fast as its slowest node, so that this cell measures their inequality too. Look whether \
             one node has more data, more requests (a driver that does not know the ring), a slower CPU, or other work \
             beside it; compare the nodes' rows in the report."
        }
    };
    (message, advice)
}
