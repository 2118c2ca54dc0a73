//! `analysis.json`: everything that a report shows, with its numbers and units.
//!
//! The fields named in DESIGN.md stay as they are; others may be added. What cannot be said is absent (`null`, an empty list)
//! or says so in words (`not comparable`, `none found`): an absent answer, never a guessed one.

use std::collections::BTreeMap;

use evidence::{ErrorKind, FORMAT_VERSION, OperationKind, ProbeResult};
use serde::{Deserialize, Serialize};
use spec::{Burst, Dataset, IoLimits, LoadLevel, Plan, TrialShape, VolumeRole};
use stats::{Estimate, Summary};

use crate::Finding;
use crate::limit::Limit;

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Version of this file's shape.
    pub format_version: u32,
    /// Name of the run directory.
    pub run: String,
    /// Name of the experiment.
    pub experiment: String,
    /// What it asks.
    pub question: Option<String>,
    /// Where the machines came from: `local`, ...
    pub provider: String,
    /// Configuration that ratios refer to.
    pub baseline: String,
    /// 1:N model.
    pub scale: f64,
    /// The database, such as `Apache Cassandra 5.0.9`.
    pub database: String,
    /// Data set on the machine that ran it.
    pub dataset: Dataset,
    /// The shape of each trial.
    pub shape: TrialShape,
    /// Trials planned, in place, and valid.
    pub trials: TrialCounts,
    /// Why an adaptive run stopped repeating; `None` where the number of repetitions was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The configurations as they were built, with what their volumes delivered.
    pub configurations: Vec<ConfigurationFacts>,
    /// Workloads, in the order of the experiment.
    pub workloads: Vec<WorkloadFacts>,
    /// All cells, in the order of the experiment.
    pub cells: Vec<CellAnalysis>,
    /// All findings, run-wide ones first.
    pub findings: Vec<Finding>,
    /// The best configuration for each workload, load level and metric.
    pub decision: Vec<Decision>,
    /// What dearer configurations give for their money. Empty when fewer than two configurations have a price.
    pub value_of_money: Vec<ValueOfMoney>,
    /// The answer in a few sentences, most important first.
    pub answer: Vec<String>,
    /// How money is counted.
    pub basis: Basis,
    /// What `low` and `high` of an estimate mean in this document.
    pub spread: String,
    /// Host facts, as frozen in `environment.json`.
    pub environment: serde_json::Value,
}

impl Analysis {
    /// Trials that are in place and may not enter comparisons.
    pub fn invalid_trials(&self) -> u64 {
        self.trials.done - self.trials.valid
    }

    /// The cell of a configuration under a workload and load level.
    pub fn cell(&self, configuration: &str, workload: &str, load: LoadLevel) -> Option<&CellAnalysis> {
        self.cells
            .iter()
            .find(|c| c.configuration == configuration && c.workload == workload && c.load == load)
    }

    pub(crate) const VERSION: u32 = FORMAT_VERSION;
}

/// How many trials there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrialCounts {
    /// In the plan.
    pub planned: u64,
    /// With evidence in place.
    pub done: u64,
    /// That may enter comparisons.
    pub valid: u64,
}

/// A configuration as it was built on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationFacts {
    /// Its name.
    pub name: String,
    /// CPUs of the database.
    pub cpus: f64,
    /// Memory limit of the database, bytes.
    pub memory_limit_bytes: u64,
    /// Java heap, bytes.
    pub heap_bytes: u64,
    /// Memory left for the page cache, bytes.
    pub page_cache_budget_bytes: u64,
    /// Database nodes.
    pub nodes: u32,
    /// Its volumes: asked for and measured.
    pub volumes: Vec<VolumeReport>,
    /// What it costs at full scale; `None` when a price is missing or the configuration names no catalog types.
    pub usd_per_month: Option<f64>,
    /// The parts of that cost.
    pub cost_lines: Vec<CostLine>,
    /// Why there is no cost.
    pub cost_missing: Option<String>,
}

/// One part of a configuration's cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// What is paid for: `1 x r4.4xlarge`, `1000 GiB gp2`.
    pub what: String,
    /// Money.
    pub usd_per_month: f64,
}

/// A volume: what was asked for, and what fio measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeReport {
    /// Role in the configuration.
    pub role: VolumeRole,
    /// Full-scale label.
    pub label: String,
    /// Size on this machine, bytes.
    pub size_bytes: u64,
    /// Limits on this machine.
    pub limits: IoLimits,
    /// Burst bucket on this machine.
    pub burst: Option<Burst>,
    /// fio's measurement; `None` when no trial has one.
    pub probe: Option<ProbeResult>,
}

/// A workload, for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadFacts {
    /// Its name.
    pub name: String,
    /// Shares and distribution: `80 % read, 20 % update, zipfian`.
    pub description: String,
}

/// One cell: the median of its valid trials with an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellAnalysis {
    /// Cell identity, the directory under `trials/`.
    pub id: String,
    /// Configuration.
    pub configuration: String,
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// Trials in place.
    pub trials: u64,
    /// Of these, valid.
    pub valid_trials: u64,
    /// Why the others are not: trial and reason.
    pub trials_invalid: Vec<InvalidTrial>,
    /// Operations completed without error per second, in the steady window of each trial.
    pub throughput_ops_per_s: Option<Estimate>,
    /// Operations per dollar: throughput at full scale x seconds of a month / cost of a month. `None` without a price.
    pub operations_per_usd: Option<f64>,
    /// Seconds for the planned number of operations at the measured throughput; measured seconds where no number is planned.
    pub runtime_s: Option<Summary>,
    /// Response times by operation kind.
    pub latency_us: BTreeMap<OperationKind, LatencyAnalysis>,
    /// Open loop: service times (done - sent) by operation kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub service_us: BTreeMap<OperationKind, LatencyAnalysis>,
    /// Failed operations of all valid trials, by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Failed operations / all operations.
    pub error_share: Option<f64>,
    /// Read requests of the volumes (data and commit log) for each completed operation.
    pub device_reads_per_operation: Option<f64>,
    /// Write requests of the volumes for each completed operation.
    pub device_writes_per_operation: Option<f64>,
    /// Bytes read from the volumes for each completed operation.
    pub device_read_bytes_per_operation: Option<f64>,
    /// Bytes written to the volumes for each completed operation.
    pub device_write_bytes_per_operation: Option<f64>,
    /// Read requests of the data volume per second.
    pub device_read_iops: Option<f64>,
    /// Write requests of the data volume per second.
    pub device_write_iops: Option<f64>,
    /// Page cache of the database at the end of the trial / bytes of the data set on disk.
    pub page_cache_share: Option<f64>,
    /// Page cache of the database at the end of the trial, bytes.
    pub page_cache_bytes: Option<f64>,
    /// Live bytes of the data set on disk.
    pub bytes_on_disk: Option<f64>,
    /// CPUs that the database used.
    pub database_cpus_used: Option<f64>,
    /// CPU time of the client for each operation, microseconds.
    pub client_cpu_us_per_operation: Option<f64>,
    /// Share of the window spent in garbage collection pauses.
    pub gc_pause_share: Option<f64>,
    /// Throughput against the baseline configuration.
    pub ratio_to_baseline: Option<Ratio>,
    /// Throughput against the slowest configuration under this workload and load level.
    pub ratio_to_slowest: Option<Ratio>,
    /// The resource that bounded the cell.
    pub limit: Limit,
    /// Money; `None`: not computed.
    pub usd_per_month: Option<f64>,
    /// Findings about this cell and its trials.
    pub findings: Vec<Finding>,
}

/// A trial that may not enter comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidTrial {
    /// Block.
    pub block: u32,
    /// Why.
    pub reason: String,
}

/// Response times of one kind of operation: each figure is the median over trials of that figure of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyAnalysis {
    /// Mean, microseconds.
    pub mean: f64,
    /// Median, microseconds.
    pub p50: f64,
    /// 95th percentile, microseconds.
    pub p95: f64,
    /// 99th percentile, microseconds.
    pub p99: f64,
    /// 99.9th percentile, microseconds.
    pub p999: f64,
    /// Longest, microseconds.
    pub max: f64,
    /// Fewest samples that any of the trials has.
    pub samples: u64,
    /// Median and range over trials of each of the above.
    pub spread: BTreeMap<String, Summary>,
}

/// Throughput of a cell against another, by pairs of the same block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Which configuration is 1.
    pub to: String,
    /// exp(mean of the logarithms of the ratios of the blocks that both have): the median ratio where ratios are log-normal.
    pub median: f64,
    /// Lower end of the 95 % interval by a paired t test on logarithms; the median itself with one pair.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of pairs.
    pub pairs: u64,
    /// p-value of the paired t test; `None` with fewer than two pairs.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for the comparisons of this workload and load level.
    pub p_adjusted: Option<f64>,
    /// p-value of the exact sign-flip permutation test, as a check on the t test.
    pub p_sign_flip: Option<f64>,
    /// The smallest factor that this many pairs with this spread would have shown (80 % power); `None` below two pairs.
    pub smallest_detectable: Option<f64>,
    /// `reference`, `faster`, `slower`, `no difference shown` or `not comparable`.
    pub verdict: Verdict,
}

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The cell itself.
    #[serde(rename = "reference")]
    Reference,
    /// Higher throughput (or a lower latency), shown at the 5 % level after Holm.
    #[serde(rename = "faster")]
    Faster,
    /// Lower throughput (or a higher latency).
    #[serde(rename = "slower")]
    Slower,
    /// A difference, if there is one, is smaller than these repetitions can show.
    #[serde(rename = "no difference shown")]
    NoDifferenceShown,
    /// Fewer than two valid pairs, or findings that forbid it.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Verdict {
    /// The words, as in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifferenceShown => "no difference shown",
            Self::NotComparable => "not comparable",
        }
    }
}

/// The best configuration for a workload by one metric at one load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// `throughput`, `runtime`, `mean`, `p99` or `operations_per_dollar`. Latencies are those of the operation kind with the
    /// largest share.
    pub metric: String,
    /// Best configuration by its estimate.
    pub best: String,
    /// Those that cannot be told from it (Holm, 5 % level); with too few repetitions that may be all of them.
    pub indistinguishable: Vec<String>,
    /// The cheapest of the best and the indistinguishable; the best where no price is known.
    pub cheapest_of_best: String,
    /// Every configuration that has a figure, best first.
    pub ranking: Vec<Ranked>,
    /// Whether differences could be tested at all (two or more pairs).
    pub tested: bool,
    /// What forbids reading much into this row, if anything: closed-loop latencies, single trials.
    pub caution: Option<String>,
}

/// A configuration's place in a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// Configuration.
    pub configuration: String,
    /// The metric: operations/s, seconds, microseconds, operations per dollar.
    pub value: f64,
    /// value / best value.
    pub to_best: f64,
    /// Against the best.
    pub verdict: Verdict,
}

/// What a dearer configuration gives for its money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueOfMoney {
    /// Workload.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
    /// From this configuration (the cheapest).
    pub from: String,
    /// To this one.
    pub to: String,
    /// Extra money.
    pub extra_usd_per_month: f64,
    /// Factor in cost.
    pub cost_ratio: f64,
    /// Factor in throughput, with its interval.
    pub throughput_ratio: Ratio,
    /// Factor in p99 of the operation kind with the largest share; `None` where there is none.
    pub p99_ratio: Option<f64>,
    /// `worth it` (throughput grows at least as much as cost), `not worth it` (slower, or it cannot pay), `no difference shown` or, where
    /// nothing could be tested, `not comparable`.
    pub verdict: String,
    /// The verdict with its numbers.
    pub reason: String,
    /// Price of one more sustained operation per second in a month, at full scale; `None` where no gain is shown.
    pub usd_per_extra_op_per_s: Option<f64>,
    /// Whether this is the knee: the step beyond which the next dearer configuration is not worth its extra money.
    pub knee: bool,
}

/// How money is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// Hours in a month.
    pub hours_per_month: f64,
    /// Purchase option.
    pub purchase: String,
    /// Region.
    pub region: String,
    /// Date of the prices; `None`: nothing has been priced.
    pub price_date: Option<String>,
    /// Added for support, per cent.
    pub uplift_percent: f64,
}

impl Default for Basis {
    fn default() -> Self {
        Self {
            hours_per_month: 730.0,
            purchase: "on-demand".to_owned(),
            region: "us-east-1".to_owned(),
            price_date: None,
            uplift_percent: 0.0,
        }
    }
}

/// The workloads of a plan, for people.
pub(crate) fn workloads(plan: &Plan) -> Vec<WorkloadFacts> {
    plan.workloads
        .iter()
        .map(|w| {
            let shares: Vec<String> = OperationKind::ALL
                .into_iter()
                .filter(|k| w.mix.share(*k) > 0.0)
                .map(|k| {
                    format!(
                        "{} % {}",
                        (w.mix.share(k) * 1e4).round() / 1e2,
                        k.name().replace('_', "-")
                    )
                })
                .collect();
            let distribution = match w.distribution {
                spec::Distribution::Uniform => "uniform keys".to_owned(),
                spec::Distribution::Zipfian { constant } => format!("zipfian keys ({constant})"),
                spec::Distribution::Latest => "latest keys".to_owned(),
                spec::Distribution::Hotspot {
                    data_fraction,
                    operation_fraction,
                } => {
                    format!("hotspot: {operation_fraction} of operations on {data_fraction} of keys")
                }
                spec::Distribution::Exponential { .. } => "exponential keys".to_owned(),
                spec::Distribution::Sequential => "sequential keys".to_owned(),
            };
            WorkloadFacts {
                name: w.name.clone(),
                description: format!("{}, {distribution}", shares.join(", ")),
            }
        })
        .collect()
}
