//! The figures of runs as OpenMetrics text, for Prometheus and Grafana.
//!
//! The format is that of the OpenMetrics specification 1.0: families one after the other, each with its type, unit and
//! help; base units (seconds) at the end of a name; `_info` families carry what is no number as labels; the last line
//! is `# EOF`. No timestamps: a run is a fact, and who reads the file says when he read it. What was not measured has
//! no sample, because missing is not zero. `docs/grafana-dashboard.json` shows these families.

use std::fmt::Write as _;

use analysis::{Analysis, CellAnalysis, LatencyAnalysis, Severity};
use serde_json::json;

use crate::labels;
use crate::wording::limits;

/// Names and values; an empty value is no label.
type Labels = Vec<(&'static str, String)>;
/// A metric family: name, unit (the end of the name, where it has one) and help.
type Family = (&'static str, &'static str, &'static str);
/// A family of cells: name, unit, help, and the figure of a cell.
type OfCell = (&'static str, &'static str, &'static str, fn(&CellAnalysis) -> Option<f64>);

const CELLS: [OfCell; 7] = [
    (
        "iopslab_cell_throughput_operations_per_second",
        "operations_per_second",
        "Operations completed without error: geometric mean over valid trials.",
        |cell| Some(cell.throughput_ops_per_s?.median),
    ),
    (
        "iopslab_cell_throughput_low_operations_per_second",
        "operations_per_second",
        "Lower end of its 95 % interval; with fewer than three trials the smallest.",
        |cell| Some(cell.throughput_ops_per_s?.low),
    ),
    (
        "iopslab_cell_throughput_high_operations_per_second",
        "operations_per_second",
        "Upper end of its 95 % interval; with fewer than three trials the largest.",
        |cell| Some(cell.throughput_ops_per_s?.high),
    ),
    (
        "iopslab_cell_throughput_to_baseline_ratio",
        "ratio",
        "Throughput over that of the run's baseline configuration.",
        |cell| Some(cell.ratio_to_baseline.as_ref()?.median),
    ),
    ("iopslab_cell_error_ratio", "ratio", "Failed operations over all operations of the valid trials.", |cell| {
        cell.error_share
    }),
    ("iopslab_cell_valid_trials", "", "Trials that enter the figures.", |cell| Some(cell.valid_trials as f64)),
    ("iopslab_cell_invalid_trials", "", "Trials that are kept as evidence and enter no figure.", |cell| {
        Some((cell.trials - cell.valid_trials) as f64)
    }),
];

/// A statistic of response times: its name, as in `spread`, and its figure.
type Statistic = (&'static str, f64);
/// A figure of a statistic; `None` where it is not known.
type OfStatistic = fn(&LatencyAnalysis, &Statistic) -> Option<f64>;

/// Response times in seconds, with their help: each statistic is the median over trials of that statistic of a trial,
/// with its range over trials.
const LATENCIES: [(&str, &str, OfStatistic); 3] = [
    (
        "iopslab_cell_latency_seconds",
        "Response time: median over valid trials of each trial's statistic.",
        |_, (_, figure)| Some(*figure),
    ),
    (
        "iopslab_cell_latency_low_seconds",
        "The same statistic in the trial where it is smallest.",
        |latency, (name, _)| Some(latency.spread.get(*name)?.low),
    ),
    (
        "iopslab_cell_latency_high_seconds",
        "The same statistic in the trial where it is largest.",
        |latency, (name, _)| Some(latency.spread.get(*name)?.high),
    ),
];

/// All families of the runs, ending with `# EOF`.
pub fn openmetrics(runs: &[Analysis]) -> String {
    let mut text = String::new();
    of_runs(runs, &mut text);
    let configurations = runs.iter().flat_map(|run| run.configurations.iter().map(move |c| (run, c)));
    let costs = configurations.filter_map(|(run, c)| {
        let labels = with(of_run(run), [("configuration", c.name.clone())]);
        Some((labels, c.usd_per_month?))
    });
    let cost = "Cost of a configuration at full scale.";
    gauge(("iopslab_configuration_cost_usd_per_month", "usd_per_month", cost), costs, &mut text);
    let cells: Vec<(&Analysis, &CellAnalysis)> =
        runs.iter().flat_map(|run| run.cells.iter().map(move |cell| (run, cell))).collect();
    for (name, unit, help, value) in CELLS {
        let samples = cells.iter().filter_map(|(run, cell)| Some((of_cell(run, cell), value(cell)?)));
        gauge((name, unit, help), samples, &mut text);
    }
    let limits = cells.iter().map(|(run, cell)| {
        let kind = json!(cell.limit.kind).as_str().unwrap_or_default().to_owned();
        let confirmed = limits::is_confirmed(&cell.limit).map_or_else(String::new, |is| is.to_string());
        with(of_cell(run, cell), [("limit", kind), ("confirmed", confirmed)])
    });
    let limit = "The resource that bounded a cell, and whether a configuration with more of it alone was faster.";
    info("iopslab_cell_limit", limit, limits, &mut text);
    for (name, help, value) in LATENCIES {
        let mut samples = Vec::new();
        for (run, cell) in &cells {
            for (kind, latency) in &cell.latency_us {
                let known = latency.named().filter_map(|of| Some((of.0, value(latency, &of)?)));
                samples.extend(known.map(|(statistic, us)| {
                    let of = [("operation", kind.name().to_owned()), ("statistic", statistic.to_owned())];
                    (with(of_cell(run, cell), of), us / 1e6)
                }));
            }
        }
        gauge((name, "seconds", help), samples.into_iter(), &mut text);
    }
    text.push_str("# EOF\n");
    text
}

fn of_runs(runs: &[Analysis], text: &mut String) {
    let ran = runs.iter().map(|run| {
        let (provider, scale) = (run.provider.to_string(), labels::scale(run.scale));
        with(of_run(run), [("provider", provider), ("database", run.database.clone()), ("scale", scale)])
    });
    info("iopslab_run", "What was run, on what.", ran, text);
    let recommended = runs.iter().map(|run| {
        let (of, run_it) = (&run.recommendation, run.recommendation.run.clone());
        let labels = [("status", of.status.words().to_owned()), ("configuration", run_it.unwrap_or_default())];
        with(of_run(run), labels)
    });
    let help = "The configuration to run, where that is decided.";
    info("iopslab_recommendation", help, recommended, text);
    let planned = runs.iter().map(|run| (of_run(run), run.trials.planned as f64));
    gauge(("iopslab_run_trials_planned", "", "Trials of the plan."), planned, text);
    let findings = runs.iter().flat_map(|run| {
        let severities = [Severity::Failed, Severity::Invalid, Severity::Suspect, Severity::Note];
        let counted = severities.map(|severity| {
            let n = run.findings.iter().filter(|f| f.severity == severity).count();
            (with(of_run(run), [("severity", severity.name().to_owned())]), n as f64)
        });
        // Printed only where there is one.
        let first = usize::from(counted[0].1 == 0.0);
        counted.into_iter().skip(first)
    });
    gauge(("iopslab_run_findings", "", "Machine-made remarks, by severity."), findings, text);
}

fn of_run(run: &Analysis) -> Labels {
    vec![("run", run.run.clone()), ("experiment", run.experiment.clone())]
}

fn of_cell(run: &Analysis, cell: &CellAnalysis) -> Labels {
    vec![
        ("run", run.run.clone()),
        ("configuration", cell.configuration.clone()),
        ("workload", cell.workload.clone()),
        ("load", labels::load(cell.load)),
    ]
}

fn with<const N: usize>(labels: Labels, more: [(&'static str, String); N]) -> Labels {
    labels.into_iter().chain(more).collect()
}

/// A family of figures; nothing without samples.
fn gauge(family: Family, samples: impl Iterator<Item = (Labels, f64)>, text: &mut String) {
    write(family, ("gauge", ""), samples, text);
}

/// A family of labels alone, whose value is 1.
fn info(name: &'static str, help: &'static str, labels: impl Iterator<Item = Labels>, text: &mut String) {
    write((name, "", help), ("info", "_info"), labels.map(|labels| (labels, 1.0)), text);
}

fn write(
    (name, unit, help): Family,
    (kind, suffix): (&str, &str),
    samples: impl Iterator<Item = (Labels, f64)>,
    text: &mut String,
) {
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return;
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {}", escaped(help));
    for (labels, value) in samples {
        let labels = labels.iter().filter(|(_, value)| !value.is_empty());
        let labels: Vec<String> = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(text, "{name}{suffix}{{{}}} {value}", labels.join(","));
    }
}

/// The three characters that mean something.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
