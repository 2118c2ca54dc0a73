//! The plain tables: all results, configurations, environment. Each number has a cell of its own, its unit in the head,
//! so that a table pastes into a spreadsheet.

use analysis::{Analysis, CellAnalysis, Charts, ConfigurationFacts, VolumeReport, rules};

use super::element::{Table, id, text};
use crate::figures::{MISSING, count, given, number, optional};
use crate::labels;

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

/// What the cell did: throughput, against the baseline, errors, operations for a dollar.
fn throughput(analysis: &Analysis, charts: &Charts, cells: &[&CellAnalysis]) -> String {
    let label = format!(
        "Throughput (geometric mean, 95 % interval; with fewer than three repetitions the observed range) and its ratio to the \
         baseline, {}",
        analysis.baseline
    );
    let mut table = Table::new(
        &label,
        &[
            "Configuration",
            "Load",
            "Verdict",
            "Trials",
            "valid",
            "Op/s, geo. mean",
            "low",
            "high",
            "To baseline, x",
            "low",
            "high",
            "Detectable, x",
            "Runtime, s, median",
            "Errors",
            "Errors, %",
            "Op/$",
        ],
        3,
    )
    .class("dense");
    for cell in cells {
        let ratio = cell.ratio_to_baseline.as_ref();
        let throughput = cell.throughput_ops_per_s;
        let [low, high] = ends(throughput.map(|t| (t.low, t.high)));
        let [ratio_low, ratio_high] = ends(ratio.map(|r| (r.low, r.high)));
        let failed: u64 = cell.errors.values().sum();
        table.row_with(
            &format!(" id=\"{}\"", id(&["cell", &cell.id])),
            &[
                linked(charts, cell),
                text(&labels::load(cell.load)),
                shown(ratio, |r| r.verdict.words().to_owned()),
                cell.trials.to_string(),
                cell.valid_trials.to_string(),
                optional(throughput.map(|t| t.median)),
                low,
                high,
                optional(ratio.map(|r| r.median)),
                ratio_low,
                ratio_high,
                optional(ratio.and_then(|r| r.smallest_detectable)),
                optional(cell.runtime_s.map(|s| s.median)),
                shown((cell.valid_trials > 0).then_some(failed), count),
                optional(cell.error_share.map(|share| share * 100.0)),
                optional(cell.operations_per_usd),
            ],
        );
    }
    table.html()
}

/// The ends of an interval; nothing where there is none.
fn ends(interval: Option<(f64, f64)>) -> [String; 2] {
    match interval {
        Some((low, high)) if low < high => [number(low), number(high)],
        _ => [MISSING.to_owned(), MISSING.to_owned()],
    }
}

const MIB: f64 = 1_048_576.0;

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
/// Of this one smallest and largest repetition are shown; of all of them they are in `analysis.json`.
const WITH_RANGE: &str = "p99";

fn latency(cells: &[&CellAnalysis]) -> String {
    let is_open_loop = cells.iter().any(|c| !c.service_us.is_empty());
    let mut head = vec!["Configuration", "Load", "Operation", "Samples/trial"];
    for (name, key) in FIGURES {
        head.push(name);
        if key == WITH_RANGE {
            head.extend(["smallest", "largest"]);
        }
    }
    let what = if is_open_loop {
        "Response times from the moment a request was due, and service times from the moment it was sent"
    } else {
        "Response times"
    };
    let label =
        format!("{what}, ms: median over repetitions of each trial's figure; of p99 the smallest and the largest too");
    let mut table = Table::new(&label, &head, 3);
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
            for (name, key) in FIGURES {
                row.push(marked(&labels::percentile_ms(latency, name)));
                if key == WITH_RANGE {
                    let range = latency.spread.get(key);
                    row.extend(ends(range.map(|s| (s.low / 1e3, s.high / 1e3))));
                }
            }
            table.row(&row);
        }
    }
    table.html()
}

/// A figure; the `~` of a percentile with few samples is drawn by the style, so that the cell pastes as a number.
fn marked(figure: &str) -> String {
    match figure.strip_prefix('~') {
        Some(number) => format!("<td class=\"num few\">{number}</td>"),
        None => figure.to_owned(),
    }
}

/// The configurations as they were built, with what fio measured, and their bills.
pub fn configurations(analysis: &Analysis) -> String {
    let mut machines = Table::new(
        &format!("{}; cost at full scale", labels::built(&analysis.configurations)),
        &[
            "Configuration",
            "Nodes",
            "CPUs",
            "Memory limit, GiB",
            "Heap, GiB",
            "Page-cache budget, MiB",
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
            "Size, GiB",
            "Reads, IOPS",
            "of limit, %",
            "Read latency, ms",
            "Writes, MiB/s",
            "of limit, %",
        ],
        4,
    );
    let mut settings = Table::new(
        "Settings: what was otherwise than iopslab starts the database, found in force in every valid trial",
        &["Configuration", "Setting"],
        2,
    );
    let mut bill = Table::new(
        "What each configuration costs",
        &["Configuration", "Part", "$/month"],
        2,
    );
    for c in &analysis.configurations {
        machines.row(&[
            text(&c.name),
            labels::nodes(c),
            given(c.cpus),
            number(c.memory_limit_bytes as f64 / GIB),
            labels::made(c, number(c.heap_bytes as f64 / GIB)),
            labels::made(c, number(c.page_cache_budget_bytes as f64 / MIB)),
            shown(c.usd_per_month, |usd| labels::usd(usd).replace('$', "")),
        ]);
        for v in &c.volumes {
            volumes.row(&volume(c, v));
        }
        for setting in c.settings.labels() {
            settings.row(&[text(&c.name), text(&setting)]);
        }
        for line in &c.cost_lines {
            bill.row(&[
                text(&c.name),
                text(&line.what),
                labels::usd(line.usd_per_month).replace('$', ""),
            ]);
        }
        if let Some(missing) = &c.cost_missing {
            bill.row(&[text(&c.name), text(missing), MISSING.to_owned()]);
        }
    }
    let has_settings = analysis.configurations.iter().any(|c| !c.settings.is_empty());
    let mut settings = if has_settings { settings.html() } else { String::new() };
    for sentence in labels::backlogs(analysis) {
        settings.push_str(&format!("<p class=\"soft\">{}</p>\n", text(&sentence)));
    }
    format!(
        "{}{settings}{}{}<p class=\"soft\">Basis of cost: {}.</p>\n",
        machines.html(),
        volumes.html(),
        bill.html(),
        text(&labels::basis(analysis))
    )
}

const GIB: f64 = 1024.0 * MIB;

fn volume(configuration: &ConfigurationFacts, volume: &VolumeReport) -> Vec<String> {
    let of_limit = |measured: Option<f64>, expected: Option<f64>| match (measured, expected) {
        (Some(measured), Some(expected)) if expected > 0.0 => number(measured / expected * 100.0),
        _ => MISSING.to_owned(),
    };
    let probe = volume.probe.as_ref();
    let reads = probe.map(|p| p.read_iops);
    let writes = probe.map(|p| p.write_bytes_per_s);
    vec![
        text(&configuration.name),
        volume.role.name().to_owned(),
        text(&labels::volume(configuration, volume)),
        text(&labels::limits(&volume.limits)),
        number(volume.size_bytes as f64 / GIB),
        optional(reads),
        of_limit(reads, rules::expected_read_iops(&volume.limits)),
        optional(probe.map(|p| p.read_latency_us / 1e3)),
        optional(writes.map(|bytes| bytes / MIB)),
        of_limit(writes, rules::expected_write_bytes_per_s(&volume.limits)),
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
