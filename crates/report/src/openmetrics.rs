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

/// Type of a family.
#[derive(Clone, Copy)]
enum Kind {
    /// A figure.
    Gauge,
    /// Labels alone; the value is 1.
    Info,
}

/// A metric family.
struct Family {
    name: &'static str,
    kind: Kind,
    /// The end of the name; empty where there is none.
    unit: &'static str,
    help: &'static str,
    samples: Vec<Sample>,
}

/// Labels and a value.
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: f64,
}

/// All families of the runs, ending with `# EOF`.
pub fn openmetrics(runs: &[Analysis]) -> String {
    let mut text = String::new();
    for family in families(runs).iter().filter(|f| !f.samples.is_empty()) {
        write(family, &mut text);
    }
    text.push_str("# EOF\n");
    text
}

fn write(family: &Family, text: &mut String) {
    let (kind, suffix) = match family.kind {
        Kind::Gauge => ("gauge", ""),
        Kind::Info => ("info", "_info"),
    };
    // Writing to a string does not fail.
    let _ = writeln!(text, "# TYPE {} {kind}", family.name);
    if !family.unit.is_empty() {
        let _ = writeln!(text, "# UNIT {} {}", family.name, family.unit);
    }
    let _ = writeln!(text, "# HELP {} {}", family.name, escaped(family.help));
    for sample in &family.samples {
        let labels: Vec<String> = sample
            .labels
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let _ = writeln!(text, "{}{suffix}{{{}}} {}", family.name, labels.join(","), sample.value);
    }
}

/// The three characters that mean something.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn families(runs: &[Analysis]) -> Vec<Family> {
    let mut all = of_runs(runs);
    all.extend(of_configurations(runs));
    all.extend(of_cells(runs));
    all
}

fn family(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    help: &'static str,
    samples: impl Iterator<Item = Sample>,
) -> Family {
    Family {
        name,
        kind,
        unit,
        help,
        samples: samples.collect(),
    }
}

fn of_runs(runs: &[Analysis]) -> Vec<Family> {
    let info = runs.iter().map(|run| {
        let mut labels = run_labels(run);
        let scale = labels::scale(run.scale);
        labels.extend([
            ("provider", run.provider.to_string()),
            ("database", run.database.clone()),
            ("scale", scale),
        ]);
        Sample { labels, value: 1.0 }
    });
    let recommendation = runs.iter().map(|run| {
        let mut labels = run_labels(run);
        labels.extend([
            ("status", run.recommendation.status.words().to_owned()),
            ("configuration", run.recommendation.run.clone().unwrap_or_default()),
        ]);
        Sample { labels, value: 1.0 }
    });
    let count = |value: fn(&Analysis) -> u64| {
        runs.iter().map(move |run| Sample {
            labels: run_labels(run),
            value: value(run) as f64,
        })
    };
    let findings = runs.iter().flat_map(|run| {
        // Told only where there is something to tell, as before there was such a severity.
        let has_failed = run.findings.iter().any(|f| f.severity == Severity::Failed);
        let failed = has_failed.then_some(Severity::Failed).into_iter();
        let severities = failed.chain([Severity::Invalid, Severity::Suspect, Severity::Note]);
        severities.map(move |severity| {
            let mut labels = run_labels(run);
            labels.push(("severity", severity.name().to_owned()));
            let of_severity = run.findings.iter().filter(|f| f.severity == severity);
            Sample {
                labels,
                value: of_severity.count() as f64,
            }
        })
    });
    vec![
        family("iopslab_run", Kind::Info, "", "What was run, on what.", info),
        family(
            "iopslab_recommendation",
            Kind::Info,
            "",
            "The configuration to run, where that is decided.",
            recommendation,
        ),
        family(
            "iopslab_run_trials_planned",
            Kind::Gauge,
            "",
            "Trials of the plan.",
            count(|run| run.trials.planned),
        ),
        family(
            "iopslab_run_findings",
            Kind::Gauge,
            "",
            "Machine-made remarks, by severity.",
            findings,
        ),
    ]
}

fn of_configurations(runs: &[Analysis]) -> Vec<Family> {
    let cost = runs.iter().flat_map(|run| {
        run.configurations.iter().filter_map(|configuration| {
            let mut labels = run_labels(run);
            labels.push(("configuration", configuration.name.clone()));
            let value = configuration.usd_per_month?;
            Some(Sample { labels, value })
        })
    });
    vec![family(
        "iopslab_configuration_cost_usd_per_month",
        Kind::Gauge,
        "usd_per_month",
        "Cost of a configuration at full scale.",
        cost,
    )]
}

/// A figure of a cell: family, unit, help, value.
type OfCell = (
    &'static str,
    &'static str,
    &'static str,
    fn(&CellAnalysis) -> Option<f64>,
);

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
    (
        "iopslab_cell_error_ratio",
        "ratio",
        "Failed operations over all operations of the valid trials.",
        |cell| cell.error_share,
    ),
    (
        "iopslab_cell_valid_trials",
        "",
        "Trials that enter the figures.",
        |cell| Some(cell.valid_trials as f64),
    ),
    (
        "iopslab_cell_invalid_trials",
        "",
        "Trials that are kept as evidence and enter no figure.",
        |cell| Some((cell.trials - cell.valid_trials) as f64),
    ),
];

fn of_cells(runs: &[Analysis]) -> Vec<Family> {
    let cells = || {
        runs.iter()
            .flat_map(|run| run.cells.iter().map(move |cell| (run, cell)))
    };
    let mut all: Vec<Family> = CELLS
        .into_iter()
        .map(|(name, unit, help, value)| {
            let samples = cells().filter_map(|(run, cell)| {
                Some(Sample {
                    labels: cell_labels(run, cell),
                    value: value(cell)?,
                })
            });
            family(name, Kind::Gauge, unit, help, samples)
        })
        .collect();
    let limit = cells().map(|(run, cell)| {
        let mut labels = cell_labels(run, cell);
        let kind = json!(cell.limit.kind);
        let confirmed = limits::is_confirmed(&cell.limit);
        labels.extend([
            ("limit", kind.as_str().unwrap_or_default().to_owned()),
            (
                "confirmed",
                confirmed.map_or("", |c| if c { "true" } else { "false" }).to_owned(),
            ),
        ]);
        Sample { labels, value: 1.0 }
    });
    all.push(family(
        "iopslab_cell_limit",
        Kind::Info,
        "",
        "The resource that bounded a cell, and whether a configuration with more of it alone was faster.",
        limit,
    ));
    all.extend(latencies(runs));
    all
}

/// Response times: each statistic is the median over trials of that statistic of a trial, with its range over trials.
fn latencies(runs: &[Analysis]) -> Vec<Family> {
    /// Name as in `spread`, and the figure.
    type Statistic = (&'static str, fn(&LatencyAnalysis) -> f64);
    const STATISTICS: [Statistic; 6] = [
        ("mean", |l| l.mean),
        ("p50", |l| l.p50),
        ("p95", |l| l.p95),
        ("p99", |l| l.p99),
        ("p999", |l| l.p999),
        ("max", |l| l.max),
    ];
    let samples = |value: &dyn Fn(&LatencyAnalysis, &Statistic) -> Option<f64>| {
        let mut all = Vec::new();
        for (run, cell) in runs
            .iter()
            .flat_map(|run| run.cells.iter().map(move |cell| (run, cell)))
        {
            for (kind, latency) in &cell.latency_us {
                for statistic in &STATISTICS {
                    let Some(microseconds) = value(latency, statistic) else {
                        continue;
                    };
                    let mut labels = cell_labels(run, cell);
                    labels.extend([
                        ("operation", kind.name().to_owned()),
                        ("statistic", statistic.0.to_owned()),
                    ]);
                    let value = microseconds / 1e6;
                    all.push(Sample { labels, value });
                }
            }
        }
        all.into_iter()
    };
    vec![
        family(
            "iopslab_cell_latency_seconds",
            Kind::Gauge,
            "seconds",
            "Response time: median over valid trials of each trial's statistic.",
            samples(&|latency, (_, figure)| Some(figure(latency))),
        ),
        family(
            "iopslab_cell_latency_low_seconds",
            Kind::Gauge,
            "seconds",
            "The same statistic in the trial where it is smallest.",
            samples(&|latency, (name, _)| Some(latency.spread.get(*name)?.low)),
        ),
        family(
            "iopslab_cell_latency_high_seconds",
            Kind::Gauge,
            "seconds",
            "The same statistic in the trial where it is largest.",
            samples(&|latency, (name, _)| Some(latency.spread.get(*name)?.high)),
        ),
    ]
}

fn run_labels(run: &Analysis) -> Vec<(&'static str, String)> {
    vec![("run", run.run.clone()), ("experiment", run.experiment.clone())]
}

fn cell_labels(run: &Analysis, cell: &CellAnalysis) -> Vec<(&'static str, String)> {
    vec![
        ("run", run.run.clone()),
        ("configuration", cell.configuration.clone()),
        ("workload", cell.workload.clone()),
        ("load", labels::load(cell.load)),
    ]
}
