//! `report.md`: the same answer as in the terminal, with what is needed to judge it later.

mod faults;
mod work;

use analysis::{Analysis, CellAnalysis, ConfigurationFacts, Status, VolumeReport, rules};

use crate::answer::{self, Answer, answer};
use crate::cache;
use crate::cache_curve;
use crate::capacity;
use crate::figures::{MISSING, bytes, count, duration, given, mib_per_s, number, optional, percent};
use crate::findings::grouped;
use crate::labels;
use crate::neutral::{neutral, one_line};
use crate::table::table;
use crate::wording::{limits, scaling as words};
use crate::{data_volumes, nodes};

/// The whole report.
pub fn markdown(analysis: &Analysis) -> String {
    let mut text = format!("# {}\n\n", analysis.experiment);
    if let Some(question) = &analysis.question {
        text.push_str(&format!("> {}\n\n", one_line(question)));
    }
    first_screen(analysis, &answer(analysis), &mut text);
    text.push_str(&format!("\nRun `{}`: {}\n\n", analysis.run, labels::summary(analysis)));
    if capacity::any(analysis) {
        let (head, rows) = capacity::rows(analysis);
        text.push_str(&format!("## {}\n\n", capacity::TITLE));
        text.push_str(&table(&head, 2, rows.into_iter()));
        text.push_str(&format!("\n{}\n\n", capacity::method(analysis)));
    } else {
        decision(analysis, &mut text);
        money(analysis, &mut text);
    }
    limits(analysis, &mut text);
    work::section(analysis, &mut text);
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if !cells.is_empty() {
            text.push_str(&format!("## {}\n\n{}\n\n", workload.name, workload.description));
            text.push_str(&throughput(analysis, &cells));
            text.push('\n');
            text.push_str("Latencies, ms, medians over repetitions:\n\n");
            text.push_str(&latency(&cells));
            text.push('\n');
        }
    }
    faults::section(analysis, &mut text);
    scaling(analysis, &mut text);
    warm_cache(analysis, &mut text);
    text.push_str(
        "Throughput: geometric mean (95 % interval) over valid repetitions. Ratios: by pairs of the same block, each interval at the level of its verdict. \
         Fewer than three repetitions: the observed range. Latencies: median over repetitions of each trial's figure, ms.",
    );
    if labels::any_unsupported(analysis) {
        text.push_str(" `~`: fewer than 100 samples lie beyond this percentile in a trial.");
    }
    text.push_str("\n\n");
    findings(analysis, &mut text);
    configurations(analysis, &mut text);
    environment(analysis, &mut text);
    method(analysis, &mut text);
    neutral(&text)
}

/// Banner, headline, sentences. Only a decided answer leads with a winner in bold.
fn first_screen(analysis: &Analysis, answer: &Answer, text: &mut String) {
    if let Some(banner) = answer.banner {
        text.push_str(&format!("**{banner}**\n\n"));
    }
    let lead = match analysis.recommendation.status {
        Status::Decided => format!("**{}**", answer.verdict),
        Status::NotDecided | Status::NoAnswerYet => answer.verdict.clone(),
    };
    text.push_str(&format!("{lead}: {}.\n\n", answer.because));
    for sentence in answer.details() {
        text.push_str(&format!("* {sentence}\n"));
    }
}

fn decision(analysis: &Analysis, text: &mut String) {
    if analysis.decision.is_empty() {
        return;
    }
    text.push_str("## Decision\n\n");
    let rows = analysis.decision.iter().map(|d| {
        vec![
            d.workload.clone(),
            labels::load(d.load),
            labels::metric(d.metric).to_owned(),
            d.best.clone(),
            d.ranking
                .first()
                .map_or_else(|| MISSING.to_owned(), |r| metric_value(d, r)),
            match d.indistinguishable.as_slice() {
                [] => MISSING.to_owned(),
                others => others.join(", "),
            },
            d.cheapest_of_best.clone(),
        ]
    });
    text.push_str(&table(
        &[
            "Workload",
            "Load",
            "Metric",
            "Best",
            "Its value, geo. mean",
            "Statistically indistinguishable",
            "Cheapest of these",
        ],
        7,
        rows,
    ));
    text.push('\n');
    for caution in answer::cautions(analysis) {
        text.push_str(&format!("* {caution}.\n"));
    }
    text.push('\n');
}

/// A value with its unit; for latencies with the operation kind that is worst.
fn metric_value(decision: &analysis::Decision, ranked: &analysis::Ranked) -> String {
    let kind = ranked
        .operation
        .map_or_else(String::new, |k| format!(" ({})", labels::operation(k)));
    format!("{}{kind}", labels::metric_value(decision.metric, ranked.value))
}

fn scaling(analysis: &Analysis, text: &mut String) {
    for one in &analysis.scaling {
        text.push_str(&format!("## Scaling over nodes: {}\n\n", words::title(one)));
        let rows = one.points.iter().map(|p| {
            vec![
                p.configuration.clone(),
                p.nodes.to_string(),
                number(p.ops_per_s),
                number(p.by_law_ops_per_s),
            ]
        });
        let head = ["Configuration", "Nodes", "Operations/s", "By the law"];
        text.push_str(&table(&head, 1, rows));
        text.push('\n');
        for sentence in words::sentences(one) {
            text.push_str(&format!("* {sentence}\n"));
        }
        text.push('\n');
    }
}

fn warm_cache(analysis: &Analysis, text: &mut String) {
    let mut rows = cache::rows(analysis).peekable();
    if rows.peek().is_some() {
        text.push_str(&format!("## {}\n\n{}\n\n", cache::TITLE, cache::METHOD));
        text.push_str(&table(&cache::HEAD, 3, rows));
        text.push('\n');
    }
    let mut rows = cache_curve::rows(analysis).peekable();
    if rows.peek().is_some() {
        text.push_str(&format!("## {}\n\n", cache_curve::TITLE));
        text.push_str(&table(&cache_curve::HEAD, 3, rows));
        text.push('\n');
        cache_curve::sentences(analysis).for_each(|sentence| text.push_str(&format!("* {sentence}\n")));
        text.push_str(&format!("\n{}\n\n", cache_curve::METHOD));
    }
}

fn money(analysis: &Analysis, text: &mut String) {
    text.push_str("## What the money buys\n\n");
    if analysis.value_of_money.is_empty() {
        let missing: Vec<String> = analysis
            .configurations
            .iter()
            .filter_map(|c| Some(format!("{}: {}", c.name, c.cost_missing.as_ref()?)))
            .collect();
        text.push_str(&match missing.as_slice() {
            [] if analysis.cells.iter().any(CellAnalysis::has_lost_writes) => {
                "Nothing to compare: fewer than two configurations with a price have a figure and kept their acknowledged \
                 writes.\n\n"
                    .to_owned()
            }
            [] => "Nothing to compare: fewer than two configurations with a price have a figure.\n\n".to_owned(),
            missing => format!("Not computed, prices are missing. {}.\n\n", missing.join("; ")),
        });
        return;
    }
    let rows = analysis.value_of_money.iter().map(|v| {
        vec![
            v.workload.clone(),
            labels::load(v.load),
            format!("{} -> {}", v.from, v.to),
            labels::value_verdict(v),
            labels::usd(v.extra_usd_per_month),
            format!("{}x", number(v.cost_ratio)),
            labels::ratio(Some(&v.throughput_ratio)),
            labels::step_value(v),
            v.p99_ratio
                .map_or_else(|| MISSING.to_owned(), |r| format!("{}x", number(r))),
            v.usd_per_extra_op_per_s.map_or_else(|| MISSING.to_owned(), labels::usd),
        ]
    });
    text.push_str(&table(
        &[
            "Workload",
            "Load",
            "Step",
            "Verdict",
            "Extra $/month",
            "Cost",
            "Throughput",
            "Throughput / cost",
            "p99",
            "$/month per extra op/s",
        ],
        4,
        rows,
    ));
    text.push_str(&format!(
        "\nBasis: {}; at full scale. {}\n\n",
        labels::basis(analysis),
        labels::VALUE_WORDS
    ));
}

fn limits(analysis: &Analysis, text: &mut String) {
    text.push_str("## What limited each cell\n\n");
    let rows = analysis.cells.iter().map(|cell| {
        vec![
            cell.configuration.clone(),
            cell.workload.clone(),
            labels::load(cell.load),
            labels::limit(&cell.limit),
            limits::of_cell(cell),
        ]
    });
    text.push_str(&table(
        &["Configuration", "Workload", "Load", "Limit", "Numbers"],
        5,
        rows,
    ));
    text.push('\n');
    side_by_side(nodes::LABEL, (&nodes::HEAD, nodes::TEXTS), nodes::rows(analysis), text);
    let (head, rows) = (&data_volumes::HEAD, data_volumes::rows(analysis));
    side_by_side(data_volumes::LABEL, (head, data_volumes::TEXTS), rows, text);
}

/// What each cell has several of side by side, where one has any.
fn side_by_side(
    label: &str,
    (head, texts): (&[&str], usize),
    rows: impl Iterator<Item = Vec<String>>,
    text: &mut String,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        text.push_str(&format!("{label}:\n\n{}\n", table(head, texts, rows)));
    }
}

fn throughput(analysis: &Analysis, cells: &[&CellAnalysis]) -> String {
    let to_baseline = format!("To {}", analysis.baseline);
    let rows = cells.iter().map(|cell| {
        vec![
            cell.configuration.clone(),
            labels::load(cell.load),
            format!("{} of {}", cell.valid_trials, cell.trials),
            labels::estimate(cell.throughput_ops_per_s),
            cell.runtime_s
                .map_or_else(|| MISSING.to_owned(), |s| duration(s.median)),
            labels::errors(cell),
            optional(cell.device_reads_per_operation),
            optional(cell.device_writes_per_operation),
            cell.page_cache_share.map_or_else(|| MISSING.to_owned(), percent),
            optional(cell.database_cpus_used),
            labels::ratio(cell.ratio_to_slowest.as_ref()),
            labels::judged(cell.ratio_to_baseline.as_ref()),
        ]
    });
    table(
        &[
            "Configuration",
            "Load",
            "Valid trials",
            "Operations/s, geo. mean",
            "Runtime, median",
            "Errors",
            "Disk reads/op., median",
            "Disk writes/op., median",
            "Page cache/data, median",
            "Database CPUs, median",
            "To slowest",
            &to_baseline,
        ],
        2,
        rows,
    )
}

fn latency(cells: &[&CellAnalysis]) -> String {
    const NAMES: [&str; 6] = ["mean", "p50", "p95", "p99", "p99.9", "max"];
    let rows = cells.iter().flat_map(|cell| {
        cell.latency_us.iter().map(|(kind, latency)| {
            let mut row = vec![
                cell.configuration.clone(),
                labels::load(cell.load),
                labels::operation(*kind),
                count(latency.samples),
            ];
            row.extend(NAMES.iter().map(|name| labels::percentile_ms(latency, name)));
            row
        })
    });
    table(
        &[
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
        ],
        3,
        rows,
    )
}

fn findings(analysis: &Analysis, text: &mut String) {
    text.push_str("## Findings\n\n");
    let groups = grouped(analysis);
    if groups.is_empty() {
        text.push_str("None.\n\n");
    }
    for group in groups {
        text.push_str(&format!("**{}: {}**\n\n", group.severity.name(), group.title()));
        for example in group.examples() {
            text.push_str(&format!("* {}\n", example.replace('\n', " ")));
        }
        for advice in group.advice() {
            text.push_str(&format!("\n{advice}\n"));
        }
        text.push('\n');
    }
}

fn configurations(analysis: &Analysis, text: &mut String) {
    let built = labels::built(&analysis.configurations);
    text.push_str(&format!("## Configurations and volumes\n\n{built}.\n\n"));
    text.push_str(&table(
        &[
            "Configuration",
            "Nodes",
            "CPUs",
            "Memory limit",
            "Heap",
            "Page-cache budget",
        ],
        1,
        analysis.configurations.iter().map(|c| {
            vec![
                c.name.clone(),
                labels::nodes(c),
                given(c.cpus),
                bytes(c.memory_limit_bytes as f64),
                labels::made(c, bytes(c.heap_bytes as f64)),
                labels::made(c, bytes(c.page_cache_budget_bytes as f64)),
            ]
        }),
    ));
    let with_settings = || analysis.configurations.iter().filter(|c| !c.settings.is_empty());
    if with_settings().next().is_some() {
        text.push_str(
            "\nSettings: what was otherwise than iopslab starts the database, found in force in every valid trial:\n\n",
        );
        let of_one = |c: &ConfigurationFacts| {
            let row = |setting| vec![c.name.clone(), format!("`{setting}`")];
            c.settings.labels().into_iter().map(row).collect::<Vec<_>>()
        };
        text.push_str(&table(
            &["Configuration", "Setting"],
            2,
            with_settings().flat_map(of_one),
        ));
    }
    for sentence in labels::backlogs(analysis) {
        text.push_str(&format!("\n{sentence}\n"));
    }
    text.push_str(
        "\nLimits asked for, and what fio measured (4 KiB random reads, 64 KiB sequential writes, direct I/O):\n\n",
    );
    text.push_str(&table(
        &[
            "Configuration",
            "Volume",
            "Models",
            "Size",
            "Limit",
            "Reads measured",
            "of limit",
            "Writes measured",
            "of limit",
        ],
        3,
        analysis
            .configurations
            .iter()
            .flat_map(|c| c.volumes.iter().map(move |v| volume(c, v))),
    ));
    text.push('\n');
}

fn volume(configuration: &ConfigurationFacts, volume: &VolumeReport) -> Vec<String> {
    let of_limit = |measured: Option<f64>, expected: Option<f64>| match (measured, expected) {
        (Some(measured), Some(expected)) if expected > 0.0 => percent(measured / expected),
        _ => MISSING.to_owned(),
    };
    let probe = volume.probe.as_ref();
    vec![
        configuration.name.clone(),
        volume.role.name().to_owned(),
        labels::volume(configuration, volume),
        bytes(volume.size_bytes as f64),
        labels::limits(&volume.limits),
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

fn environment(analysis: &Analysis, text: &mut String) {
    text.push_str("## Environment\n\n");
    let mut facts = Vec::new();
    flatten("", &analysis.environment, &mut facts);
    if facts.is_empty() {
        text.push_str("Not recorded.\n\n");
        return;
    }
    text.push_str(&table(
        &["Fact", "Value"],
        2,
        facts.into_iter().map(|(name, value)| vec![name, value]),
    ));
    text.push('\n');
}

/// Nested facts as dotted names. Lists of plain values stay on one line.
fn flatten(prefix: &str, value: &serde_json::Value, into: &mut Vec<(String, String)>) {
    let name = |key: &str| {
        if prefix.is_empty() {
            key.to_owned()
        } else {
            format!("{prefix}.{key}")
        }
    };
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::Object(fields) => fields.iter().for_each(|(key, v)| flatten(&name(key), v, into)),
        serde_json::Value::Array(items) if items.iter().any(|i| i.is_object()) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, v)| flatten(&name(&i.to_string()), v, into));
        }
        serde_json::Value::Array(items) => {
            let shown: Vec<String> = items.iter().map(plain).collect();
            into.push((prefix.to_owned(), shown.join(", ")));
        }
        other => into.push((prefix.to_owned(), plain(other))),
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn method(analysis: &Analysis, text: &mut String) {
    text.push_str("## Method\n\n");
    text.push_str("* The unit is the trial, its figures come from its steady window. ");
    text.push_str(&answer::spread(analysis));
    text.push_str(
        "\n\
         * Percentiles come from the merged HdrHistograms of all seconds of a trial and are never averaged inside it; across \
         trials each trial's percentile is one observation.\n\
         * Closed loop (requests in flight) finds throughput; its latencies depend on the load that the configuration itself \
         allowed, so that p99 of different configurations are not comparable. Open loop (a rate) measures from the due time.\n\
         * Every trial starts from a restored copy of the data set on volumes unmounted and mounted again.\n",
    );
    if analysis.scale > 1.0 {
        text.push_str(&format!(
            "* This is a 1:{} model: IOPS, MB/s, CPU, page cache and data set are divided; compare *ratios* between \
             configurations, not absolute figures. What does not scale: the smallest Java heap that Cassandra runs in, the \
             latency of one I/O, background CPU (compaction, JIT, garbage collection), and fixed costs of one request.\n",
            given(analysis.scale)
        ));
    }
    if let Some(how) = labels::emulation(analysis) {
        text.push_str(&format!("* {how}\n"));
    }
    text.push_str(&format!(
        "* Money: basis {}.\n\
         * Recompute everything from the evidence: `iopslab report {}`.\n",
        labels::basis(analysis),
        analysis.run
    ));
}
