//! Tables for spreadsheets and scripts: exact figures, units in the names of the columns.

use analysis::{
    Analysis, CellAnalysis, LONGEST, LatencyFigure, LimitKind, LoadLevel, NodeAnalysis, PhaseAnalysis, ResourceUse,
    Summary, Unit,
};

use crate::document::csv::csv;
use crate::document::table::{Rows, rows};
use crate::labels;

/// A row for each of these, beginning with the cell that it belongs to. Of a load level the one that it is not,
/// requests in flight or a rate, stays empty.
fn of_cells<T>(of: impl IntoIterator<Item = T>, cell: impl Fn(&T) -> &CellAnalysis) -> Rows<T> {
    rows("", of)
        .text("cell", |of| cell(of).id.clone())
        .text("configuration", |of| cell(of).configuration.clone())
        .text("workload", |of| cell(of).workload.clone())
        .text("concurrency", |of| match cell(of).load {
            LoadLevel::Concurrency(n) => Some(n.to_string()),
            LoadLevel::Rate { .. } => None,
        })
        .text("rate_ops_per_s", |of| match cell(of).load {
            LoadLevel::Concurrency(_) => None,
            LoadLevel::Rate { operations_per_s, .. } => Some(operations_per_s.to_string()),
        })
}

/// All digits.
fn exact(value: Option<f64>) -> Option<String> {
    value.map(|v| v.to_string())
}

/// `summary.csv`: one row a cell, the same columns in every row, whatever a cell's workload does.
pub fn summary_csv(analysis: &Analysis) -> String {
    if analysis.cells.is_empty() {
        return String::new();
    }
    let table = of_cells(&analysis.cells, |cell| cell)
        .text("trials", |c| c.trials.to_string())
        .text("valid_trials", |c| c.valid_trials.to_string())
        .text("scale", |_| analysis.scale.to_string())
        .text("throughput_ops_per_s", |c| exact(Some(c.throughput_ops_per_s?.median)))
        .text("throughput_low_ops_per_s", |c| exact(Some(c.throughput_ops_per_s?.low)))
        .text("throughput_high_ops_per_s", |c| exact(Some(c.throughput_ops_per_s?.high)))
        .text("runtime_s", |c| exact(Some(c.runtime_s?.median)))
        .text("error_share", |c| exact(c.error_share))
        .text("device_reads_per_operation", |c| exact(c.device_reads_per_operation))
        .text("device_writes_per_operation", |c| exact(c.device_writes_per_operation))
        .text("device_read_bytes_per_operation", |c| exact(c.device_read_bytes_per_operation))
        .text("device_write_bytes_per_operation", |c| exact(c.device_write_bytes_per_operation))
        .text("page_cache_share", |c| exact(c.page_cache_share))
        .text("database_cpus_used", |c| exact(c.database_cpus_used))
        .text("client_cpu_us_per_operation", |c| exact(c.client_cpu_us_per_operation))
        .text("gc_pause_share", |c| exact(c.gc_pause_share))
        .text("ratio_to_baseline", |c| exact(Some(c.ratio_to_baseline.as_ref()?.median)))
        .text("ratio_to_baseline_low", |c| exact(Some(c.ratio_to_baseline.as_ref()?.low)))
        .text("ratio_to_baseline_high", |c| exact(Some(c.ratio_to_baseline.as_ref()?.high)))
        .text("verdict", |c| c.ratio_to_baseline.as_ref().map(|r| r.verdict.words()))
        .text("limit", |c| c.limit.kind.words())
        .text("usd_per_month", |c| exact(c.usd_per_month))
        .text("operations_per_usd", |c| exact(c.operations_per_usd));
    let table = labels::kinds(analysis).into_iter().fold(table, |table, kind| {
        let head = |name: &str| format!("{}_{name}_us", kind.name());
        let table = LatencyFigure::ALL.into_iter().fold(table, |table, figure| {
            table.text(head(figure.name()), |c| exact(c.latency_us.get(&kind).and_then(|l| l.figure(figure))))
        });
        table.text(head(LONGEST), |c| exact(c.latency_us.get(&kind).map(|l| l.max)))
    });
    csv(match analysis.configurations.iter().any(|c| c.placement.is_cluster()) {
        true => of_cluster(analysis, table),
        false => table,
    })
}

/// What the cell's database is, in runs with clusters: the nodes themselves are rows of `nodes.csv`.
fn of_cluster<'a>(analysis: &Analysis, table: Rows<&'a CellAnalysis>) -> Rows<&'a CellAnalysis> {
    let facts = |cell: &CellAnalysis| analysis.configurations.iter().find(|c| c.name == cell.configuration);
    let placement = |cell: &CellAnalysis| facts(cell).map(|c| c.placement).unwrap_or_default();
    table
        .text("nodes", |c| placement(c).nodes.to_string())
        .text("racks", |c| placement(c).racks.to_string())
        .text("replication_factor", |c| placement(c).replication_factor.to_string())
        .text("consistency", |c| Some(facts(c)?.consistency?.label()))
        .text("limit_nodes", |c| {
            let nodes: Vec<String> = c.limit.nodes.iter().map(ToString::to_string).collect();
            nodes.join(" ")
        })
}

/// `nodes.csv`: one row for each node of each cell; `None` where every database has one node.
pub fn nodes_csv(analysis: &Analysis) -> Option<String> {
    let nodes = analysis.cells.iter().flat_map(|cell| cell.nodes.iter().map(move |node| (cell, node)));
    let nodes: Vec<(&CellAnalysis, &NodeAnalysis)> = nodes.collect();
    let table = (!nodes.is_empty()).then(|| of_cells(nodes, |(cell, _)| cell))?;
    let table = table
        .text("node", |(_, n)| n.host.to_string())
        .text("cpus_used", |(_, n)| exact(n.cpus_used))
        .text("cpus_available", |(_, n)| exact(n.fullest(LimitKind::Cpu).map(|u| u.capacity)))
        .text("cpu_share", |(_, n)| exact(n.fullest(LimitKind::Cpu).map(ResourceUse::share)))
        .text("device_read_iops", |(_, n)| exact(n.device_read_iops))
        .text("device_write_iops", |(_, n)| exact(n.device_write_iops))
        .text("device_read_bytes_per_s", |(_, n)| exact(n.device_read_bytes_per_s))
        .text("device_write_bytes_per_s", |(_, n)| exact(n.device_write_bytes_per_s))
        .text("device_iops_available", |(_, n)| exact(iops(n).map(|u| u.capacity)))
        .text("device_iops_share", |(_, n)| exact(iops(n).map(ResourceUse::share)))
        .text("page_cache_bytes", |(_, n)| exact(n.page_cache_bytes))
        .text("bytes_on_disk", |(_, n)| n.bytes_on_disk.to_string())
        .text("gc_pause_share", |(_, n)| exact(n.gc_pause_share))
        .text("limit", |(cell, n)| cell.limit.nodes.contains(&n.host).then(|| cell.limit.kind.words()));
    Some(csv(table))
}

/// How much of its data volume's requests a node used.
pub fn iops(node: &NodeAnalysis) -> Option<&ResourceUse> {
    let of_data = |u: &&ResourceUse| u.unit == Unit::Iops && u.kind != LimitKind::CommitLog;
    let uses = node.uses.iter().filter(of_data);
    uses.max_by(|a, b| a.share().total_cmp(&b.share()))
}

/// `faults.csv`: one row for each phase of each cell (before, during and after planned faults), median, lowest and
/// highest over its valid trials; `None` where nothing was done to a node.
pub fn faults_csv(analysis: &Analysis) -> Option<String> {
    let faults = analysis.cells.iter().filter_map(|cell| Some((cell, cell.faults.as_ref()?)));
    let phases = faults.flat_map(|(cell, faults)| faults.phases.iter().map(move |phase| (cell, phase)));
    let phases: Vec<(&CellAnalysis, &PhaseAnalysis)> = phases.collect();
    let table = (!phases.is_empty()).then(|| of_cells(phases, |(cell, _)| cell))?;
    let table = table.text("phase", |(_, p)| p.phase.name()).text("fault", |(_, p)| p.fault.map(|n| n.to_string()));
    type Figure = fn(&PhaseAnalysis) -> Option<Summary>;
    let figures: [(&str, Figure); 8] = [
        ("seconds", |p| p.seconds),
        ("throughput_ops_per_s", |p| p.throughput_ops_per_s),
        ("p50_us", |p| p.p50_us),
        ("p95_us", |p| p.p95_us),
        ("p99_us", |p| p.p99_us),
        ("error_share", |p| p.error_share),
        ("hit_ratio", |p| p.hit_ratio),
        ("device_reads_per_s", |p| p.device_reads_per_s),
    ];
    let table = figures.into_iter().fold(table, |table, (name, of)| {
        table
            .text(name, |(_, p)| exact(Some(of(p)?.median)))
            .text(format!("{name}_low"), |(_, p)| exact(Some(of(p)?.low)))
            .text(format!("{name}_high"), |(_, p)| exact(Some(of(p)?.high)))
    });
    let table =
        table.text("operations", |(_, p)| p.operations.to_string()).text("errors", |(_, p)| p.failed().to_string());
    Some(csv(table))
}
