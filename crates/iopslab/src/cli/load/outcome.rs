//! What `iopslab load` prints: a small table, or a JSON document with the same numbers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{Load, LoadOutcome, TrialOutcome, TrialPlan};
use evidence::{ErrorKind, Series, empty_histogram};
use experiment::{Arrivals, LatencyFigure};
use hdrhistogram::Histogram;
use process::failure::Failure;
use process::human_us;
use serde_json::{Value, json};

use super::args::LoadArgs;
use super::place::Place;

/// A measured trial with its latencies merged over all seconds.
pub(super) struct Shown<'a> {
    args: &'a LoadArgs,
    place: &'a Place,
    plan: &'a TrialPlan,
    loaded: Option<&'a LoadOutcome>,
    outcome: &'a TrialOutcome,
    latencies: BTreeMap<Series, Histogram<u64>>,
    completed: u64,
    failed: u64,
}

impl<'a> Shown<'a> {
    pub(super) fn new(
        args: &'a LoadArgs,
        place: &'a Place,
        plan: &'a TrialPlan,
        loaded: Option<&'a LoadOutcome>,
        outcome: &'a TrialOutcome,
    ) -> Self {
        let mut latencies = BTreeMap::new();
        for interval in outcome.intervals.iter().filter(|i| i.start_s >= 0.0 && !i.histogram.is_empty()) {
            let all = latencies.entry(interval.series).or_insert_with(empty_histogram);
            all.add(&interval.histogram).expect("histograms of equal bounds always add");
        }
        let completed = outcome.result.completed.values().sum();
        let failed = outcome.result.errors.values().sum();
        Self { args, place, plan, loaded, outcome, latencies, completed, failed }
    }

    fn throughput(&self) -> f64 {
        if self.outcome.result.measured_s > 0.0 { self.completed as f64 / self.outcome.result.measured_s } else { 0.0 }
    }

    fn cpu_us_per_operation(&self) -> f64 {
        let ended = (self.completed + self.failed).max(1) as f64;
        self.outcome.result.client_cpu_s * 1e6 / ended
    }

    /// The document.
    pub(super) fn json(&self) -> Value {
        let result = &self.outcome.result;
        let mut latency_us = serde_json::Map::new();
        let mut service_time_us = serde_json::Map::new();
        let mut errors = serde_json::Map::new();
        for (series, histogram) in &self.latencies {
            let (map, name) = match series {
                Series::Response(kind) => (&mut latency_us, kind.name()),
                Series::Service(kind) => (&mut service_time_us, kind.name()),
                Series::Failed(kind) => (&mut errors, kind.name()),
                // Nothing is in front of a database that is loaded by hand, and YCSB's operations have no conditions.
                Series::Cache(_) | Series::Unmet(_) => continue,
            };
            map.insert(name.to_owned(), percentiles(histogram));
        }
        let mut document = json!({
            "format_version": evidence::FORMAT_VERSION,
            "database": self.place.product.name,
            "hosts": self.place.hosts,
            "keyspace": self.place.keyspace,
            "schema": self.place.schema,
            "table": self.args.table,
            "consistency": self.place.consistency,
            "workload": self.plan.definition,
            "records": self.plan.records,
            "fields": self.plan.fields,
            "field_length": self.plan.field_length,
            "compressibility": self.plan.compressibility,
            "load": match self.plan.load {
                Load::Closed { concurrency } => json!({ "concurrency": concurrency }),
                Load::Open { operations_per_s, arrivals } => json!({ "rate": operations_per_s, "arrivals": arrivals }),
            },
            "threads": result.threads,
            "seed": self.plan.seed,
            "warmup_s": result.warmup_s,
            "measured_s": result.measured_s,
            "operations_sent": result.operations_sent,
            "completed": result.completed,
            "errors": result.errors,
            "first_errors": result.first_errors,
            "throughput_ops_per_s": self.throughput(),
            "latency_us": latency_us,
            "error_latency_us": errors,
            "client_cpu_s": result.client_cpu_s,
            "cpu_us_per_operation": self.cpu_us_per_operation(),
            "peak_rss_bytes": result.client_peak_rss_bytes,
        });
        if let Load::Open { .. } = self.plan.load {
            document["service_time_us"] = Value::Object(service_time_us);
            document["send_lag_us"] = json!(result.send_lag_us);
        }
        if let Some(loaded) = self.loaded {
            document["loaded"] = json!({
                "records": loaded.records,
                "seconds": loaded.seconds,
                "retries": loaded.retries,
                "errors": loaded.errors,
            });
        }
        document
    }

    pub(super) fn table(&self) -> String {
        let result = &self.outcome.result;
        let load = match self.plan.load {
            Load::Closed { concurrency } => format!("closed loop, {concurrency} in flight"),
            Load::Open { operations_per_s, arrivals } => {
                let arrive = match arrivals {
                    Arrivals::Poisson => "Poisson",
                    Arrivals::Constant => "constant",
                    Arrivals::Recorded => "as recorded",
                };
                format!("open loop, {operations_per_s}/s {arrive}")
            }
        };
        let mut text = format!(
            "{}: {load}, {} load thread{}, {:.1} s measured after {:.1} s of warm-up\n\n",
            self.plan.definition.name,
            result.threads,
            if result.threads == 1 { "" } else { "s" },
            result.measured_s,
            result.warmup_s,
        );
        let [mean, p50, p95, p99, p999] = LatencyFigure::ALL.map(LatencyFigure::label);
        let headings = ["", "operations", mean, p50, p95, p99, p999, "max"];
        row(&mut text, &headings.map(str::to_owned));
        for (series, h) in &self.latencies {
            let name = match series {
                Series::Response(kind) => kind.name().to_owned(),
                Series::Service(kind) => format!("{} service time", kind.name()),
                Series::Failed(kind) => format!("{} error", kind.name()),
                Series::Cache(_) | Series::Unmet(_) => continue,
            };
            let us = |figure: LatencyFigure| match figure.quantile() {
                Some(quantile) => h.value_at_quantile(quantile),
                None => h.mean().round() as u64,
            };
            let [mean, p50, p95, p99, p999] = LatencyFigure::ALL.map(|figure| human_us(us(figure)));
            row(&mut text, &[name, h.len().to_string(), mean, p50, p95, p99, p999, human_us(h.max())]);
        }
        let mut fact = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<22}{value}");
        };
        fact("\nthroughput", format!(" {:.0} operations/s", self.throughput()));
        fact("errors", format!("{} of {} operations", self.failed, self.completed + self.failed));
        fact("client CPU", format!("{:.2} us per operation", self.cpu_us_per_operation()));
        fact("client peak memory", format!("{:.1} MB", result.client_peak_rss_bytes as f64 / 1e6));
        if let Some(lag) = result.send_lag_us {
            let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(human_us);
            fact("send lag", format!("p50 {p50}, p99 {p99}, max {max}"));
        }
        text
    }

    /// A measurement without a single success is a failure of the work.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        if self.completed > 0 || self.failed == 0 {
            return Ok(());
        }
        let result = &self.outcome.result;
        let in_words = |(kind, n): (&ErrorKind, &u64)| match result.first_errors.get(kind) {
            Some(said) => format!("{n} {}, the first with: {said}", kind.name()),
            None => format!("{n} {}", kind.name()),
        };
        let kinds: Vec<_> = result.errors.iter().map(in_words).collect();
        let failure = Failure::work(format!("every operation failed: {}", kinds.join(", ")));
        if result.errors.contains_key(&ErrorKind::NotFound) {
            return Err(failure.help(format!(
                "{} does not hold the {} records that were asked for; load them with --load-data",
                self.place.name(self.args),
                self.plan.records
            )));
        }
        Err(failure)
    }
}

fn row(text: &mut String, cells: &[String; 8]) {
    let [name, operations, rest @ ..] = cells;
    // Writing to a String cannot fail.
    let _ = write!(text, "{name:<22}{operations:>12}");
    for cell in rest {
        let _ = write!(text, "{cell:>11}");
    }
    text.push('\n');
}

fn percentiles(histogram: &Histogram<u64>) -> Value {
    let mut document = json!({
        "operations": histogram.len(),
        "mean": histogram.mean(),
        "min": histogram.min(),
    });
    for (figure, quantile) in LatencyFigure::ALL.iter().filter_map(|figure| Some((figure, figure.quantile()?))) {
        document[figure.name()] = json!(histogram.value_at_quantile(quantile));
    }
    document["max"] = json!(histogram.max());
    document
}
