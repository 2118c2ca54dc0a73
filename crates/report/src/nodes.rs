//! The nodes of a cell side by side, where its database has several.

use analysis::{Analysis, CellAnalysis, LimitKind, NodeAnalysis, ResourceUse, Unit};

use crate::figures::{MISSING, number, optional};
use crate::labels;

/// What the table shows.
pub const LABEL: &str = "The nodes of each cell, medians over repetitions; shares are of what the node really had, in the \
                         middle window of a trial";
/// The head; the first [`TEXTS`] columns are text.
pub const HEAD: [&str; 12] = [
    "Configuration",
    "Workload",
    "Load",
    "Node",
    "CPUs",
    "CPU, %",
    "Read IOPS",
    "Write IOPS",
    "of IOPS limit, %",
    "Page cache, MiB",
    "Data on disk, MiB",
    "At the cell's limit",
];
/// Columns of text at the beginning.
pub const TEXTS: usize = 4;
const MIB: f64 = 1_048_576.0;

/// A row for each node of each cell; none where every database has one node.
pub fn rows(analysis: &Analysis) -> impl Iterator<Item = Vec<String>> + '_ {
    analysis
        .cells
        .iter()
        .flat_map(|cell| cell.nodes.iter().map(move |node| row(cell, node)))
}

fn row(cell: &CellAnalysis, node: &NodeAnalysis) -> Vec<String> {
    let percent = |used: Option<&ResourceUse>| optional(used.map(|u| u.share() * 100.0));
    let is_at_limit = cell.limit.nodes.contains(&node.host);
    vec![
        cell.configuration.clone(),
        cell.workload.clone(),
        labels::load(cell.load),
        node.host.to_string(),
        optional(node.cpus_used),
        percent(node.fullest(LimitKind::Cpu)),
        optional(node.device_read_iops),
        optional(node.device_write_iops),
        percent(iops(node)),
        optional(node.page_cache_bytes.map(|bytes| bytes / MIB)),
        number(node.bytes_on_disk / MIB),
        if is_at_limit {
            cell.limit.kind.words().to_owned()
        } else {
            MISSING.to_owned()
        },
    ]
}

/// How much of its data volume's requests a node used.
pub fn iops(node: &NodeAnalysis) -> Option<&ResourceUse> {
    let of_data = |u: &&ResourceUse| u.unit == Unit::Iops && u.kind != LimitKind::CommitLog;
    node.uses
        .iter()
        .filter(of_data)
        .max_by(|a, b| a.share().total_cmp(&b.share()))
}
