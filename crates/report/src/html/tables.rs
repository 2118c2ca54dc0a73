//! The plain tables: limits, all results, configurations, environment.

use analysis::{Analysis, CellAnalysis, Charts, VolumeReport, rules};

use super::element::{Table, id, text};
use crate::figures::{MISSING, bytes, count, duration, given, mib_per_s, number, optional, percent};
use crate::labels;

/// What limited each cell.
pub fn limits(analysis: &Analysis) -> String {
    let mut table = Table::new(
        "The resource that bounded each cell",
        &["Configuration", "Workload", "Load", "Limit", "Numbers"],
        5,
    );
    for cell in &analysis.cells {
        table.row(&[
            text(&cell.configuration),
            text(&cell.workload),
            text(&labels::load(cell.load)),
            format!("<b>{}</b>", text(cell.limit.kind.words())),
            text(&cell.limit.message),
        ]);
    }
    table.html()
}

/// Every figure of every cell.
pub fn results(analysis: &Analysis, charts: &Charts) -> String {
    let mut out = String::new();
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if cells.is_empty() {
            continue;
        }
        out.push_str(&format!(
            "<h3>{}</h3><p class=\"soft\">{}</p>\n",
            text(&workload.name),
            text(&workload.description)
        ));
        out.push_str(&throughput(analysis, charts, &cells));
        out.push_str(&latency(&cells));
    }
    if labels::any_unsupported(analysis) {
        out.push_str("<p class=\"soft\">~ fewer than 100 slower samples in a trial.</p>\n");
    }
    out
}

fn throughput(analysis: &Analysis, charts: &Charts, cells: &[&CellAnalysis]) -> String {
    let to_baseline = format!("To {}", analysis.baseline);
    let mut table = Table::new(
        "Throughput (median, 95 % interval) and what it took",
        &[
            "Configuration",
            "Load",
            "Valid trials",
            "Operations/s",
            &to_baseline,
            "Runtime",
            "Errors",
            "Device reads/op.",
            "Device writes/op.",
            "Bytes read/op.",
            "Bytes written/op.",
            "Page cache/data",
            "Database CPUs",
            "GC pauses",
            "Client us/op.",
            "$/month",
        ],
        2,
    );
    for cell in cells {
        let attributes = format!(" id=\"{}\"", id(&["cell", &cell.id]));
        let shown = |v: Option<f64>| optional(v);
        table.row_with(
            &attributes,
            &[
                linked(charts, cell),
                text(&labels::load(cell.load)),
                format!("{} of {}", cell.valid_trials, cell.trials),
                labels::estimate(cell.throughput_ops_per_s),
                labels::judged(cell.ratio_to_baseline.as_ref()),
                cell.runtime_s
                    .map_or_else(|| MISSING.to_owned(), |s| duration(s.median)),
                labels::errors(cell),
                shown(cell.device_reads_per_operation),
                shown(cell.device_writes_per_operation),
                cell.device_read_bytes_per_operation
                    .map_or_else(|| MISSING.to_owned(), bytes),
                cell.device_write_bytes_per_operation
                    .map_or_else(|| MISSING.to_owned(), bytes),
                cell.page_cache_share.map_or_else(|| MISSING.to_owned(), percent),
                shown(cell.database_cpus_used),
                cell.gc_pause_share.map_or_else(|| MISSING.to_owned(), percent),
                shown(cell.client_cpu_us_per_operation),
                cell.usd_per_month.map_or_else(|| MISSING.to_owned(), labels::usd),
            ],
        );
    }
    table.html()
}

/// The configuration's name, with a link to the charts of the cell's trials where there are any.
fn linked(charts: &Charts, cell: &CellAnalysis) -> String {
    let name = text(&cell.configuration);
    if charts.trials.iter().any(|t| t.cell == cell.id) {
        format!("<a href=\"#{}\">{name}</a>", id(&["time", &cell.id]))
    } else {
        name
    }
}

fn latency(cells: &[&CellAnalysis]) -> String {
    const NAMES: [&str; 6] = ["mean", "p50", "p95", "p99", "p99.9", "max"];
    let head = [
        "Configuration",
        "Load",
        "Operation",
        "Samples/trial",
        "mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "max",
    ];
    let mut table = Table::new(
        "Response times, ms: median over repetitions of each trial's figure",
        &head,
        3,
    );
    for cell in cells {
        for (kind, latency) in &cell.latency_us {
            let mut row = vec![
                text(&cell.configuration),
                text(&labels::load(cell.load)),
                labels::operation(*kind),
                count(latency.samples),
            ];
            row.extend(NAMES.iter().map(|name| labels::percentile_ms(latency, name)));
            table.row(&row);
        }
    }
    table.html()
}

/// The configurations as they were built, with what fio measured.
pub fn configurations(analysis: &Analysis) -> String {
    let mut machines = Table::new(
        "As built on this machine; cost at full scale",
        &[
            "Configuration",
            "Nodes",
            "CPUs",
            "Memory limit",
            "Heap",
            "Page-cache budget",
            "$/month",
        ],
        1,
    );
    let mut volumes = Table::new(
        "Volumes: limits asked for, and what fio measured (4 KiB random reads, 64 KiB sequential writes, direct)",
        &[
            "Configuration",
            "Volume",
            "Models",
            "Limit",
            "Size",
            "Reads measured",
            "of limit",
            "Writes measured",
            "of limit",
        ],
        4,
    );
    for c in &analysis.configurations {
        let cost = match (&c.usd_per_month, &c.cost_missing) {
            (Some(usd), _) => {
                let lines: String = c
                    .cost_lines
                    .iter()
                    .map(|l| format!("<small>{} {}</small>", text(&l.what), labels::usd(l.usd_per_month)))
                    .collect();
                format!("{}{lines}", labels::usd(*usd))
            }
            (None, missing) => format!(
                "{MISSING}<small>{}</small>",
                text(missing.as_deref().unwrap_or_default())
            ),
        };
        machines.row(&[
            text(&c.name),
            c.nodes.to_string(),
            given(c.cpus),
            bytes(c.memory_limit_bytes as f64),
            bytes(c.heap_bytes as f64),
            bytes(c.page_cache_budget_bytes as f64),
            cost,
        ]);
        for v in &c.volumes {
            volumes.row(&volume(&c.name, v));
        }
    }
    format!(
        "{}{}<p class=\"soft\">Basis of cost: {}.</p>\n",
        machines.html(),
        volumes.html(),
        text(&labels::basis(&analysis.basis))
    )
}

fn volume(configuration: &str, volume: &VolumeReport) -> Vec<String> {
    let of_limit = |measured: Option<f64>, expected: Option<f64>| match (measured, expected) {
        (Some(measured), Some(expected)) if expected > 0.0 => percent(measured / expected),
        _ => MISSING.to_owned(),
    };
    let probe = volume.probe.as_ref();
    vec![
        text(configuration),
        volume.role.name().to_owned(),
        text(&volume.label),
        text(&labels::limits(&volume.limits)),
        bytes(volume.size_bytes as f64),
        probe.map_or_else(
            || MISSING.to_owned(),
            |p| format!("{} IOPS, {} ms", number(p.read_iops), number(p.read_latency_us / 1e3)),
        ),
        of_limit(probe.map(|p| p.read_iops), rules::expected_read_iops(&volume.limits)),
        probe.map_or_else(|| MISSING.to_owned(), |p| mib_per_s(p.write_bytes_per_s)),
        of_limit(
            probe.map(|p| p.write_bytes_per_s),
            rules::expected_write_bytes_per_s(&volume.limits),
        ),
    ]
}

/// Host facts, flattened.
pub fn environment(analysis: &Analysis) -> String {
    let mut facts = Vec::new();
    flatten("", &analysis.environment, &mut facts);
    if facts.is_empty() {
        return "<p>Not recorded.</p>\n".to_owned();
    }
    let mut table = Table::new("Host facts, as frozen when the run began", &["Fact", "Value"], 2);
    for (name, value) in facts {
        table.row(&[text(&name), text(&value)]);
    }
    format!("<details><summary>Host facts</summary>{}</details>\n", table.html())
}

fn flatten(prefix: &str, value: &serde_json::Value, into: &mut Vec<(String, String)>) {
    let inner = |key: &str| {
        if prefix.is_empty() {
            key.to_owned()
        } else {
            format!("{prefix}.{key}")
        }
    };
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(key, v)| flatten(&inner(key), v, into)),
        serde_json::Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, v)| flatten(&inner(&i.to_string()), v, into));
        }
        serde_json::Value::Null => {}
        serde_json::Value::String(s) => into.push((prefix.to_owned(), s.clone())),
        other => into.push((prefix.to_owned(), other.to_string())),
    }
}
