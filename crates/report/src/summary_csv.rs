//! `summary.csv`: one row a cell, units in the names of the columns, RFC 4180.

use analysis::{Analysis, CellAnalysis, LoadLevel};

/// The file, with a head line and CRLF line ends as the RFC says.
pub fn summary_csv(analysis: &Analysis) -> String {
    let mut out = String::new();
    for (i, cell) in analysis.cells.iter().enumerate() {
        let mut columns = columns(cell);
        columns.extend(of_cluster(analysis, cell));
        if i == 0 {
            line(&mut out, columns.iter().map(|(name, _)| name.clone()));
        }
        line(&mut out, columns.into_iter().map(|(_, value)| value));
    }
    out
}

/// A load level as requests in flight and as a rate: the one that it is not stays empty.
pub(crate) fn load_columns(load: LoadLevel) -> (String, String) {
    match load {
        LoadLevel::Concurrency(n) => (n.to_string(), String::new()),
        LoadLevel::Rate { operations_per_s, .. } => (String::new(), operations_per_s.to_string()),
    }
}

fn columns(cell: &CellAnalysis) -> Vec<(String, String)> {
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let (concurrency, rate) = load_columns(cell.load);
    let throughput = cell.throughput_ops_per_s;
    let ratio = cell.ratio_to_baseline.as_ref();
    let mut columns: Vec<(String, String)> = [
        ("cell", cell.id.clone()),
        ("configuration", cell.configuration.clone()),
        ("workload", cell.workload.clone()),
        ("concurrency", concurrency),
        ("rate_ops_per_s", rate),
        ("trials", cell.trials.to_string()),
        ("valid_trials", cell.valid_trials.to_string()),
        ("throughput_ops_per_s", number(throughput.map(|t| t.median))),
        ("throughput_low_ops_per_s", number(throughput.map(|t| t.low))),
        ("throughput_high_ops_per_s", number(throughput.map(|t| t.high))),
        ("runtime_s", number(cell.runtime_s.map(|s| s.median))),
        ("error_share", number(cell.error_share)),
        ("device_reads_per_operation", number(cell.device_reads_per_operation)),
        ("device_writes_per_operation", number(cell.device_writes_per_operation)),
        (
            "device_read_bytes_per_operation",
            number(cell.device_read_bytes_per_operation),
        ),
        (
            "device_write_bytes_per_operation",
            number(cell.device_write_bytes_per_operation),
        ),
        ("page_cache_share", number(cell.page_cache_share)),
        ("database_cpus_used", number(cell.database_cpus_used)),
        ("client_cpu_us_per_operation", number(cell.client_cpu_us_per_operation)),
        ("gc_pause_share", number(cell.gc_pause_share)),
        ("ratio_to_baseline", number(ratio.map(|r| r.median))),
        ("ratio_to_baseline_low", number(ratio.map(|r| r.low))),
        ("ratio_to_baseline_high", number(ratio.map(|r| r.high))),
        (
            "verdict",
            ratio.map_or_else(String::new, |r| r.verdict.words().to_owned()),
        ),
        ("limit", cell.limit.kind.words().to_owned()),
        ("usd_per_month", number(cell.usd_per_month)),
        ("operations_per_usd", number(cell.operations_per_usd)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    // The same columns in every row, whatever a cell's workload does.
    for kind in analysis::OperationKind::ALL {
        let latency = cell.latency_us.get(&kind);
        for (name, value) in [
            ("mean", latency.map(|l| l.mean)),
            ("p50", latency.map(|l| l.p50)),
            ("p95", latency.map(|l| l.p95)),
            ("p99", latency.map(|l| l.p99)),
            ("p999", latency.map(|l| l.p999)),
            ("max", latency.map(|l| l.max)),
        ] {
            columns.push((format!("{}_{name}_us", kind.name()), number(value)));
        }
    }
    columns
}

/// What the cell's database is, in runs with clusters: the nodes themselves are rows of `nodes.csv`.
fn of_cluster(analysis: &Analysis, cell: &CellAnalysis) -> Vec<(String, String)> {
    if !analysis.configurations.iter().any(|c| c.placement.is_cluster()) {
        return Vec::new();
    }
    let configuration = analysis.configurations.iter().find(|c| c.name == cell.configuration);
    let placement = configuration.map(|c| c.placement).unwrap_or_default();
    let levels = configuration.and_then(|c| c.consistency);
    let at: Vec<String> = cell.limit.nodes.iter().map(ToString::to_string).collect();
    [
        ("nodes", placement.nodes.to_string()),
        ("racks", placement.racks.to_string()),
        ("replication_factor", placement.replication_factor.to_string()),
        ("consistency", levels.map_or_else(String::new, |levels| levels.label())),
        ("limit_nodes", at.join(" ")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// One line of values.
pub fn line(out: &mut String, values: impl Iterator<Item = String>) {
    for (i, value) in values.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if value.contains(['"', ',', '\n', '\r']) {
            out.push_str(&format!("\"{}\"", value.replace('"', "\"\"")));
        } else {
            out.push_str(&value);
        }
    }
    out.push_str("\r\n");
}
