//! `faults.csv`: one row for each phase of each cell (before, during and after planned faults), median, lowest
//! and highest over its valid trials; beside `summary.csv`, whose rows are cells. Units in the names of the columns, RFC 4180.

use analysis::{Analysis, Summary};

use crate::faults::{Row, rows};
use crate::summary_csv::{line, load_columns};

/// The file, with a head line; `None` where nothing was done to a node.
pub fn faults_csv(analysis: &Analysis) -> Option<String> {
    let mut out = String::new();
    for row in rows(analysis) {
        let columns = columns(&row);
        if out.is_empty() {
            line(&mut out, columns.iter().map(|(name, _)| name.clone()));
        }
        line(&mut out, columns.into_iter().map(|(_, value)| value));
    }
    (!out.is_empty()).then_some(out)
}

fn columns(row: &Row<'_>) -> Vec<(String, String)> {
    let Row { cell, phase, .. } = row;
    let (concurrency, rate) = load_columns(cell.load);
    let mut columns: Vec<(String, String)> = [
        ("cell", cell.id.clone()),
        ("configuration", cell.configuration.clone()),
        ("workload", cell.workload.clone()),
        ("concurrency", concurrency),
        ("rate_ops_per_s", rate),
        ("phase", phase.phase.name().to_owned()),
        ("fault", phase.fault.map_or_else(String::new, |n| n.to_string())),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let summaries = [
        ("seconds", phase.seconds),
        ("throughput_ops_per_s", phase.throughput_ops_per_s),
        ("p50_us", phase.p50_us),
        ("p95_us", phase.p95_us),
        ("p99_us", phase.p99_us),
        ("error_share", phase.error_share),
    ];
    for (name, summary) in summaries {
        let mut add = |end: &str, value: fn(Summary) -> f64| {
            let value = summary.map_or_else(String::new, |s| value(s).to_string());
            columns.push((format!("{name}{end}"), value));
        };
        add("", |s| s.median);
        add("_low", |s| s.low);
        add("_high", |s| s.high);
    }
    columns.push(("operations".to_owned(), phase.operations.to_string()));
    columns.push(("errors".to_owned(), phase.failed().to_string()));
    columns
}
