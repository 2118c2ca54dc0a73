//! A run written by hand, as large and as hostile as a test wants it.

pub mod charts;
pub mod faults;

use std::collections::BTreeMap;

use analysis::rules::cpu_steal::CpuSteal;
use analysis::rules::errors_above::ErrorsAbove;
use analysis::rules::repetitions_spread::RepetitionsSpread;
use analysis::rules::stall::Stall;
use analysis::rules::volume_above_instance::VolumeAboveInstance;
use analysis::{
    Analysis, AnswerOutcome, Arrivals, Basis, Caution, CellAnalysis, Charts, ConfigurationFacts, CostLine,
    DatabaseFigures, Dataset, DecidedBy, Decision, Doubt, ErrorKind, Estimate, Finding, IntervalMethod, IoLimits,
    LatencyAnalysis, LatencyFigures, Limit, LimitKind, LoadLevel, Metric, OperationKind, ProbeResult, Range, Ranked,
    Ratio, Reason, Recommendation, Remark, ResidualSpread, ResourceUse, Scope, Severity, SpreadKind, Status, Summary,
    TrialCounts, TrialShape, Unit, ValueOfMoney, ValueVerdict, Verdict, VolumeReport, VolumeRole, WorkloadAnswer,
    WorkloadFacts,
};

/// What a user may write as a name: it must arrive as text.
pub const HOSTILE: &str = "<script>alert(\"1\")</script> & 'so' </title></style><img src=x onerror=alert(2)>";

/// A closed and an open loop.
pub const LOADS: [LoadLevel; 2] =
    [LoadLevel::Concurrency(100), LoadLevel::Rate { operations_per_s: 5000.0, arrivals: Arrivals::Poisson }];

/// A run of `configurations` x `workloads` x two load levels, each with `blocks` repetitions.
pub fn run(configurations: &[&str], workloads: &[&str], blocks: u32) -> (Analysis, Charts) {
    let mut cells = Vec::new();
    for (c, configuration) in configurations.iter().enumerate() {
        for workload in workloads {
            for load in LOADS {
                cells.push(cell(configurations[0], configuration, workload, load, c, blocks));
            }
        }
    }
    let trials = cells.len() as u64 * u64::from(blocks);
    let charts = Charts {
        trials: cells.iter().flat_map(|c| (1..=blocks).map(|block| charts::trial(&c.id, block))).collect(),
        curves: cells.iter().map(|c| charts::curve(&c.id)).collect(),
    };
    let (decision, value_of_money) = (decisions(configurations, workloads), steps(configurations, workloads));
    let findings = findings(&cells, configurations[0]);
    let analysis = Analysis {
        question: Some("Is it worth paying for more IOPS?".to_owned()),
        trials: TrialCounts { planned: trials, done: trials, valid: trials },
        configurations: configurations.iter().enumerate().map(|(i, name)| facts(name, i)).collect(),
        workloads: workloads
            .iter()
            .map(|name| WorkloadFacts {
                begins_cold: false,
                name: (*name).to_owned(),
                description: "80 % read, 20 % update, zipfian".to_owned(),
            })
            .collect(),
        cells,
        findings,
        decision,
        value_of_money,
        free_steps: Vec::new(),
        not_tried: Vec::new(),
        recommendation: decided(configurations, workloads),
        residual_spreads: vec![ResidualSpread { kind: SpreadKind::Volume, deviation: 0.04, degrees: 8.0 }],
        environment: serde_json::json!({"provider": "local", "iopslab": "0.1.0", "database": {"kernel": "6.18.5",
            "cpu_model": "Example <CPU>", "cpus": 2, "memory_bytes": 8_589_934_592_u64, "os": "Debian GNU/Linux 12"}}),
        ..empty(configurations[0])
    };
    (analysis, charts)
}

/// A run of which nothing has been measured yet.
pub fn empty(baseline: &str) -> Analysis {
    Analysis {
        format_version: 1,
        run: "story-20260102T030405Z".to_owned(),
        experiment: "story".to_owned(),
        question: None,
        provider: analysis::Provider::Local,
        baseline: baseline.to_owned(),
        is_baseline_stated: false,
        scale: 16.0,
        page_cache: analysis::PageCacheKeeps::SameShare,
        database: "Apache Cassandra 5.0.9".to_owned(),
        dataset: Dataset { records: 300_000, fields: 10, field_length: 100, compressibility: 0.0, seed: 1 },
        origins: Vec::new(),
        shared_volumes: Vec::new(),
        modifications: Vec::new(),
        shape: TrialShape {
            rest_max_s: 0.0,
            warmup_s: 20.0,
            warmup_max_s: None,
            duration_s: 60.0,
            operations: None,
            request_timeout_s: 10.0,
        },
        left_out: None,
        stands_for_records: None,
        trials: TrialCounts::default(),
        trial_s: Some(100.0),
        stopped: None,
        rested: Vec::new(),
        capacities: Vec::new(),
        objective: None,
        cache_effects: Vec::new(),
        cache_curves: Vec::new(),
        scaling: Vec::new(),
        configurations: Vec::new(),
        workloads: Vec::new(),
        cells: Vec::new(),
        findings: Vec::new(),
        decision: Vec::new(),
        value_of_money: Vec::new(),
        free_steps: Vec::new(),
        not_tried: Vec::new(),
        recommendation: Recommendation {
            status: Status::NoAnswerYet,
            run: None,
            any_of: None,
            hardware: Vec::new(),
            reason: Reason::NothingMeasured,
            places: Vec::new(),
            everywhere: Vec::new(),
            would_decide: None,
            doubts: Vec::new(),
            not_considered: Vec::new(),
        },
        margin: 0.05,
        seed: 2018,
        residual_spreads: Vec::new(),
        basis: Basis::default(),
        environment: serde_json::Value::Null,
    }
}

/// The most expensive configuration pays for itself in closed loop; at the given rate nothing can be said.
fn decided(configurations: &[&str], workloads: &[&str]) -> Recommendation {
    let run = configurations[configurations.len() - 1].to_owned();
    let of_workload = |workload: &&str| {
        let place = |load, by, outcome| WorkloadAnswer {
            workload: (*workload).to_owned(),
            load: Some(load),
            by,
            by_money: by == DecidedBy::Value,
            outcome,
            candidates: Vec::new(),
        };
        let outcome = AnswerOutcome::Run { configuration: run.clone(), same: Vec::new(), settings: None };
        [place(LOADS[0], DecidedBy::Value, outcome), place(LOADS[1], DecidedBy::Objective, AnswerOutcome::NoObjective)]
    };
    Recommendation {
        status: Status::Decided,
        run: Some(run.clone()),
        any_of: None,
        hardware: Vec::new(),
        reason: Reason::Agreement,
        places: workloads.iter().flat_map(of_workload).collect(),
        everywhere: Vec::new(),
        would_decide: None,
        doubts: vec![Doubt::PlacesUndecided { places: workloads.len() as u64 }, Doubt::Scale { scale: 16.0 }],
        not_considered: Vec::new(),
    }
}

/// The run with nothing but one repetition of one configuration, without a price.
pub fn alone() -> (Analysis, Charts) {
    let (mut analysis, charts) = run(&["only"], &["read-heavy"], 1);
    analysis.value_of_money.clear();
    analysis.findings.clear();
    analysis.residual_spreads = Vec::new();
    analysis.recommendation =
        Recommendation { status: Status::NotDecided, reason: Reason::OneConfiguration, ..empty("only").recommendation };
    let only = &mut analysis.configurations[0];
    only.usd_per_month = None;
    only.cost_lines.clear();
    only.cost_missing = Some("no catalog type".to_owned());
    for cell in &mut analysis.cells {
        let median = 1000.0;
        cell.throughput_ops_per_s = Some(Estimate {
            median,
            low: median,
            high: median,
            confidence: 0.0,
            method: IntervalMethod::Range,
            smallest: median,
            largest: median,
            n: 1,
        });
        (cell.usd_per_month, cell.operations_per_usd) = (None, None);
    }
    (analysis, charts)
}

/// A ratio that is known to 5 %.
pub fn ratio(to: &str, median: f64) -> Ratio {
    Ratio {
        median,
        low: median * 0.95,
        high: median * 1.05,
        level: 0.01,
        pooled: true,
        p_value: Some(0.01),
        p_adjusted: Some(0.02),
        p_sign_flip: Some(0.25),
        smallest_detectable: Some(1.1),
        ..Ratio::blank(to, if median == 1.0 { Verdict::Reference } else { Verdict::Faster }, 3)
    }
}

fn cell(
    baseline: &str,
    configuration: &str,
    workload: &str,
    load: LoadLevel,
    index: usize,
    blocks: u32,
) -> CellAnalysis {
    let factor = 1.0 + index as f64;
    let median = 1000.0 * factor;
    let level = match load {
        LoadLevel::Concurrency(n) => format!("c{n}"),
        LoadLevel::Rate { operations_per_s, .. } => format!("r{operations_per_s}"),
    };
    let latency = LatencyAnalysis {
        figures: LatencyFigures {
            mean: 900.0,
            p50: Some(800.0),
            p95: Some(2000.0),
            p99: Some(5000.0),
            p999: Some(20_000.0),
        },
        max: 80_000.0,
        samples: 60_000,
        spread: BTreeMap::from([("p99".to_owned(), summary(5000.0))]),
    };
    CellAnalysis {
        batch: 0,
        nodes: Vec::new(),
        data_volumes: Vec::new(),
        cache_tier: None,
        faults: None,
        writes: None,
        id: format!("{configuration}.{workload}.{level}"),
        configuration: configuration.to_owned(),
        workload: workload.to_owned(),
        load,
        trials: u64::from(blocks),
        valid_trials: u64::from(blocks),
        trials_invalid: Vec::new(),
        throughput_ops_per_s: Some(Estimate {
            median,
            low: median * 0.97,
            high: median * 1.04,
            confidence: 0.95,
            method: IntervalMethod::TOnLogarithms,
            smallest: median * 0.98,
            largest: median * 1.03,
            n: u64::from(blocks),
        }),
        operations_per_usd: Some(1e7),
        runtime_s: Some(summary(60.0)),
        latency_us: BTreeMap::from([(OperationKind::Read, latency)]),
        service_us: BTreeMap::new(),
        unmet_share: BTreeMap::new(),
        errors: BTreeMap::from([(ErrorKind::ReadTimeout, 3)]),
        error_share: Some(0.0001),
        device_reads_per_operation: Some(0.9),
        device_writes_per_operation: Some(0.1),
        device_read_bytes_per_operation: Some(4096.0),
        device_write_bytes_per_operation: Some(1024.0),
        database: DatabaseFigures::of(&reported::cassandra::REPORTS, |figure| match figure.key {
            "sstables_per_read" => Some(1.2 * factor),
            "key_cache_hit_share" => Some(0.9),
            "compacted_bytes_per_operation" => (index > 0).then_some(120.0),
            _ => None,
        }),
        device_read_iops: Some(900.0),
        device_write_iops: Some(100.0),
        delivered: None,
        page_cache_share: Some(0.5),
        page_cache_bytes: Some(2.5e8),
        bytes_on_disk: Some(5e8),
        database_cpus_used: Some(0.4),
        client_cpu_us_per_operation: Some(25.0),
        gc_pause_share: Some(0.01),
        ratio_to_baseline: Some(ratio(baseline, factor)),
        ratio_to_slowest: Some(ratio(baseline, factor)),
        limit: Limit {
            kind: LimitKind::VolumeIops,
            uses: vec![ResourceUse {
                kind: LimitKind::VolumeIops,
                unit: Unit::Iops,
                used: 990.0,
                capacity: 1000.0,
                windows_at_cap: 1.0,
                at_cap: true,
                counted: None,
                is_shared: false,
                node: None,
            }],
            evidence: BTreeMap::from([("volume_iops_used_share".to_owned(), 0.99)]),
            ..Limit::default()
        },
        withheld: None,
        limited_here: None,
        usd_per_month: Some(price(index)),
        findings: Vec::new(),
    }
}

/// Each configuration costs half of the first one more.
fn price(index: usize) -> f64 {
    500.0 + 250.0 * index as f64
}

fn summary(median: f64) -> Summary {
    Summary { median, low: median * 0.9, high: median * 1.1 }
}

fn facts(name: &str, index: usize) -> ConfigurationFacts {
    ConfigurationFacts {
        exists_at: Vec::new(),
        is_bought: false,
        name: name.to_owned(),
        cpus: 1.0,
        stands_for: None,
        memory_limit_bytes: 3 << 29,
        heap_bytes: 1 << 30,
        page_cache_budget_bytes: 1 << 28,
        nodes: 1,
        placement: analysis::Placement::ONE_NODE,
        consistency: None,
        version: None,
        settings: analysis::Settings::default(),
        backlog: None,
        layout: None,
        bandwidth_weighting: None,
        instance_limits: None,
        cache_tier: None,
        volumes: vec![VolumeReport {
            card: None,
            initialised: Vec::new(),
            probes: BTreeMap::new(),
            role: VolumeRole::Data,
            label: format!("{name}'s volume"),
            size_bytes: 2 << 30,
            limits: IoLimits {
                read_iops: Some(1000.0),
                write_iops: Some(1000.0),
                read_bytes_per_s: Some(1e7),
                write_bytes_per_s: Some(1e7),
            },
            burst: None,
            byte_burst: None,
            is_served: false,
            combined: None,
            probe: Some(ProbeResult {
                read_iops: 1001.0,
                read_latency_us: 900.0,
                write_bytes_per_s: 9.9e6,
                write_iops: 151.0,
                seconds: 3.0,
            }),
        }],
        usd_per_month: Some(price(index)),
        cost_lines: vec![CostLine::stated("1 x r4.4xlarge", 500.0, "a price list")],
        cost_missing: None,
    }
}

fn decisions(configurations: &[&str], workloads: &[&str]) -> Vec<Decision> {
    let mut all = Vec::new();
    let best = configurations.len() - 1;
    for workload in workloads {
        for load in LOADS {
            for (metric, unit) in [
                (Metric::Throughput, 1000.0),
                (Metric::Runtime, 60.0),
                (Metric::Mean, 900.0),
                (Metric::P99, 5000.0),
                (Metric::OperationsPerDollar, 1e7),
            ] {
                all.push(Decision {
                    workload: (*workload).to_owned(),
                    load,
                    metric,
                    best: configurations[best].to_owned(),
                    // The second best is statistically indistinguishable from the best, in each metric.
                    indistinguishable: configurations[..best].last().map(|c| (*c).to_owned()).into_iter().collect(),
                    cheapest_of_best: configurations[best].to_owned(),
                    ranking: configurations
                        .iter()
                        .enumerate()
                        .rev()
                        .map(|(i, name)| Ranked {
                            configuration: (*name).to_owned(),
                            value: unit * (1.0 + i as f64),
                            to_best: (1.0 + i as f64) / (1.0 + best as f64),
                            verdict: if i == best { Verdict::Reference } else { Verdict::Slower },
                            operation: metric.is_latency().then_some(OperationKind::Read),
                        })
                        .collect(),
                    tested: true,
                    cautions: vec![Caution::ClosedLoopLatency],
                });
            }
        }
    }
    all
}

fn steps(configurations: &[&str], workloads: &[&str]) -> Vec<ValueOfMoney> {
    let mut all = Vec::new();
    for workload in workloads {
        for (i, to) in configurations.iter().enumerate().skip(1) {
            all.push(ValueOfMoney {
                workload: (*workload).to_owned(),
                load: LOADS[0],
                from: configurations[0].to_owned(),
                to: (*to).to_owned(),
                extra_usd_per_month: price(i) - price(0),
                cost_ratio: price(i) / price(0),
                throughput_ratio: ratio(configurations[0], 1.0 + i as f64),
                value_ratio: value(1.0 + i as f64, price(i) / price(0)),
                p99_ratio: Some(0.5),
                verdict: ValueVerdict::WorthIt,
                withheld: None,
                withheld_of: None,
                repetitions_to_decide: None,
                usd_per_extra_op_per_s: Some(0.5),
                knee: i + 1 == configurations.len(),
            });
        }
    }
    all
}

/// Throughput / cost, known to 5 % like the ratio.
pub fn value(factor: f64, cost: f64) -> Range {
    let Ratio { median, low, high, .. } = ratio("", factor);
    Range { median: median / cost, low: low / cost, high: high / cost }
}

/// Every scope once, and one rule often enough to be folded.
fn findings(cells: &[CellAnalysis], configuration: &str) -> Vec<Finding> {
    let finding = |remark: Remark, severity, scope| Finding { remark, severity, scope, nodes: None };
    let steal = CpuSteal { steal_share: 0.0, steal_share_worst_10_s: 0.0, threshold: 0.01, threshold_10_s: 0.03 };
    let above = VolumeAboveInstance::Bytes { bought_bytes_per_s: 0.0, reachable_bytes_per_s: 0.0 };
    let errors = || ErrorsAbove {
        errors: 0,
        operations: 0,
        error_share: 0.0,
        threshold: 0.001,
        kinds: BTreeMap::from([(ErrorKind::ReadTimeout, 3)]),
        first_errors: BTreeMap::new(),
    };
    let spread = RepetitionsSpread { block: 0, off_by: 0.0, spread_of_others: 0.0, threshold: 0.05 };
    let stall = Stall {
        stops: 0,
        longest_s: 0.0,
        longest_at_s: 0.0,
        first_at_s: 0.0,
        stopped_s: 0.0,
        window_share: 0.0,
        median_ops_per_s: 0.0,
        threshold_share: 0.1,
        threshold_s: 0.5,
    };
    let mut all = vec![
        finding(steal.into(), Severity::Note, Scope::Run("story".to_owned())),
        finding(above.into(), Severity::Suspect, Scope::Configuration(configuration.to_owned())),
        finding(errors().into(), Severity::Invalid, Scope::Cell("no such cell <&>".to_owned())),
        finding(errors().into(), Severity::Invalid, Scope::trial("no such cell", 7)),
    ];
    for cell in cells {
        all.push(finding(spread.clone().into(), Severity::Suspect, Scope::Cell(cell.id.clone())));
        all.push(finding(stall.clone().into(), Severity::Suspect, Scope::trial(&cell.id, 1)));
    }
    all
}
