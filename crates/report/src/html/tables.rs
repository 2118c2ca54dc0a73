//! The plain tables: limits, all results, configurations, environment.

use analysis::{Analysis, CellAnalysis, Charts, VolumeReport, rules};

use super::element::{Table, id, text};
use crate::figures::{MISSING, bytes, count, duration, given, mib_per_s, ms, number, optional, percent};
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
            text(&limits::message(&cell.limit)),
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
        out.push_str(&excluded(charts, &cells));
        out.push_str(&resources(&cells));
        out.push_str(&latency(&cells));
    }
    if out.is_empty() {
        return "<p>No cell has been planned.</p>\n".to_owned();
    }
    if labels::any_unsupported(analysis) {
        out.push_str("<p class=\"soft\">~ fewer than 100 slower samples in a trial.</p>\n");
    }
    out
}

/// What the cell did: throughput, against the baseline, errors, money.
fn throughput(analysis: &Analysis, charts: &Charts, cells: &[&CellAnalysis]) -> String {
    let to_baseline = format!("To {}", analysis.baseline);
    let mut table = Table::new(
        "Throughput (geometric mean, 95 % interval; with fewer than three repetitions the observed range)",
        &[
            "Configuration",
            "Load",
            "Valid trials",
            "Operations/s",
            &to_baseline,
            "Would have been shown",
            "Runtime",
            "Errors",
            "Operations/$",
            "$/month",
        ],
        2,
    );
    for cell in cells {
        let ratio = cell.ratio_to_baseline.as_ref();
        table.row_with(
            &format!(" id=\"{}\"", id(&["cell", &cell.id])),
            &[
                linked(charts, cell),
                text(&labels::load(cell.load)),
                format!("{} of {}", cell.valid_trials, cell.trials),
                labels::estimate(cell.throughput_ops_per_s),
                labels::judged(ratio),
                // A factor is as hard to see upwards as its inverse is downwards.
                shown(ratio.and_then(|r| r.smallest_detectable), |least| {
                    format!("{}x or {}x", number(least), number(1.0 / least))
                }),
                shown(cell.runtime_s, |s| duration(s.median)),
                labels::errors(cell),
                optional(cell.operations_per_usd),
                shown(cell.usd_per_month, labels::usd),
            ],
        );
    }
    table.html()
}

/// What it took: device, page cache, CPU.
fn resources(cells: &[&CellAnalysis]) -> String {
    let mut table = Table::new(
        "What it took, medians over repetitions: requests and bytes of the volumes for each operation, page cache at the end of a trial",
        &[
            "Configuration",
            "Load",
            "Reads/op.",
            "Writes/op.",
            "Bytes read/op.",
            "Bytes written/op.",
            "Read IOPS",
            "Write IOPS",
            "Page cache",
            "of data on disk",
            "CPUs",
            "GC pauses",
            "Client CPU/op.",
        ],
        2,
    );
    for cell in cells {
        table.row(&[
            text(&cell.configuration),
            text(&labels::load(cell.load)),
            optional(cell.device_reads_per_operation),
            optional(cell.device_writes_per_operation),
            shown(cell.device_read_bytes_per_operation, bytes),
            shown(cell.device_write_bytes_per_operation, bytes),
            optional(cell.device_read_iops),
            optional(cell.device_write_iops),
            shown(cell.page_cache_bytes, bytes),
            shown(cell.page_cache_share, percent),
            optional(cell.database_cpus_used),
            shown(cell.gc_pause_share, percent),
            shown(cell.client_cpu_us_per_operation, |us| format!("{} us", number(us))),
        ]);
    }
    table.html()
}

/// A figure that may be missing, in its own words.
fn shown<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| MISSING.to_owned(), words)
}

/// Trials of these cells that enter no figure, and why.
fn excluded(charts: &Charts, cells: &[&CellAnalysis]) -> String {
    let mut items = String::new();
    for cell in cells {
        for trial in &cell.trials_invalid {
            let name = format!("{}/{}", text(&cell.id), trial.block);
            let is_drawn = charts
                .trials
                .iter()
                .any(|t| t.cell == cell.id && t.block == trial.block);
            let name = if is_drawn {
                let target = id(&["trial", &cell.id, &trial.block.to_string()]);
                format!("<a href=\"#{target}\">{name}</a>")
            } else {
                name
            };
            items.push_str(&format!("<li>{name}: {}</li>\n", text(&trial.reason)));
        }
    }
    if items.is_empty() {
        return items;
    }
    format!("<p><span class=\"tag invalid\">invalid</span> Trials that enter no figure:</p><ul>{items}</ul>\n")
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

/// Name of a percentile here, and in `spread`.
const FIGURES: [(&str, &str); 6] = [
    ("mean", "mean"),
    ("p50", "p50"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("max", "max"),
];

fn latency(cells: &[&CellAnalysis]) -> String {
    let is_open_loop = cells.iter().any(|c| !c.service_us.is_empty());
    let mut head = vec!["Configuration", "Load", "Operation", "Samples/trial"];
    head.extend(FIGURES.map(|(name, _)| name));
    let label = if is_open_loop {
        "Response times from the moment a request was due, and service times from the moment it was sent, ms: median over repetitions of each \
         trial's figure; below it smallest and largest repetition"
    } else {
        "Response times, ms: median over repetitions of each trial's figure; below it smallest and largest repetition"
    };
    let mut table = Table::new(label, &head, 3);
    for cell in cells {
        let response = cell.latency_us.iter().map(|(kind, l)| (labels::operation(*kind), l));
        let service = cell
            .service_us
            .iter()
            .map(|(kind, l)| (format!("{}, service", labels::operation(*kind)), l));
        for (operation, latency) in response.chain(service) {
            let mut row = vec![
                text(&cell.configuration),
                text(&labels::load(cell.load)),
                operation,
                count(latency.samples),
            ];
            row.extend(FIGURES.map(|(name, key)| {
                let range = latency.spread.get(key).filter(|s| s.low < s.high);
                let range = range.map_or_else(String::new, |s| format!("<small>{}-{}</small>", ms(s.low), ms(s.high)));
                format!("{}{range}", labels::percentile_ms(latency, name))
            }));
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
