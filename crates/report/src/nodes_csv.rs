//! `nodes.csv`: one row for each node of each cell, where databases have several nodes; beside `summary.csv`, whose
//! rows are cells. Units in the names of the columns, RFC 4180.

use analysis::{Analysis, CellAnalysis, LimitKind, LoadLevel, NodeAnalysis, ResourceUse};

use crate::nodes;
use crate::summary_csv::line;

/// The file, with a head line; `None` where every database has one node.
pub fn nodes_csv(analysis: &Analysis) -> Option<String> {
    let mut out = String::new();
    for (cell, node) in analysis.cells.iter().flat_map(|c| c.nodes.iter().map(move |n| (c, n))) {
        let columns = columns(cell, node);
        if out.is_empty() {
            line(&mut out, columns.iter().map(|(name, _)| (*name).to_owned()));
        }
        line(&mut out, columns.into_iter().map(|(_, value)| value));
    }
    (!out.is_empty()).then_some(out)
}

fn columns(cell: &CellAnalysis, node: &NodeAnalysis) -> [(&'static str, String); 19] {
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let share = |used: Option<&ResourceUse>| number(used.map(ResourceUse::share));
    let capacity = |used: Option<&ResourceUse>| number(used.map(|u| u.capacity));
    let (concurrency, rate) = match cell.load {
        LoadLevel::Concurrency(n) => (n.to_string(), String::new()),
        LoadLevel::Rate { operations_per_s, .. } => (String::new(), operations_per_s.to_string()),
    };
    let (cpu, iops) = (node.fullest(LimitKind::Cpu), nodes::iops(node));
    [
        ("cell", cell.id.clone()),
        ("configuration", cell.configuration.clone()),
        ("workload", cell.workload.clone()),
        ("concurrency", concurrency),
        ("rate_ops_per_s", rate),
        ("node", node.host.to_string()),
        ("cpus_used", number(node.cpus_used)),
        ("cpus_available", capacity(cpu)),
        ("cpu_share", share(cpu)),
        ("device_read_iops", number(node.device_read_iops)),
        ("device_write_iops", number(node.device_write_iops)),
        ("device_read_bytes_per_s", number(node.device_read_bytes_per_s)),
        ("device_write_bytes_per_s", number(node.device_write_bytes_per_s)),
        ("device_iops_available", capacity(iops)),
        ("device_iops_share", share(iops)),
        ("page_cache_bytes", number(node.page_cache_bytes)),
        ("bytes_on_disk", node.bytes_on_disk.to_string()),
        ("gc_pause_share", number(node.gc_pause_share)),
        (
            "limit",
            match cell.limit.nodes.contains(&node.host) {
                true => cell.limit.kind.words().to_owned(),
                false => String::new(),
            },
        ),
    ]
}
