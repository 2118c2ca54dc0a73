//! Two volumes, one workload, two repetitions: a small gp2 at its limit against an io1 that the page cache shields.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "each test file uses a part of the story")]

use std::collections::BTreeMap;

use analysis::{
    DatabaseHost, RunEvidence, TrialEvidence, TrialMeasurement, VolumeActivity, VolumeRole, WindowRates, measure, rules,
};
use evidence::{
    ClientResult, HostId, Interval, LOWEST_US, NodeFacts, OperationKind, ProbeResult, Series, TrialRecord, VolumeFacts,
};
use experiment::{
    Cell, ConfigurationMoney, IoLimits, Job, LoadLevel, Place, PlannedTrial, Provider, SetupAt, Setups, WatchedNode,
    testing,
};
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use stats::SplitMix;

pub mod faults;

pub const SECONDS: f64 = 60.0;
const MIB: f64 = 1_048_576.0;

fn limits(iops: f64) -> IoLimits {
    IoLimits::symmetric(Some(iops), Some(10.0))
}

fn setup(name: &str, label: &str, iops: f64) -> Value {
    json!({"configuration": name, "cpus": 1.0, "heap_bytes": 1_u64 << 30, "direct_memory_bytes": 1 << 28,
        "memory_limit_bytes": 3_u64 << 29, "page_cache_budget_bytes": 1 << 28, "commitlog": null,
        "key_cache_bytes": 0, "more_data": [], "placement": experiment::Placement::ONE_NODE, "at": "shared",
        "settings": experiment::Settings::default(),
        "data": {"role": "data", "label": label, "size_bytes": 2_u64 << 30, "limits": limits(iops), "burst": null,
            "is_local": false}})
}

/// In a cluster that exists, where these nodes are watched.
pub fn existing(watched: Vec<WatchedNode>) -> SetupAt {
    SetupAt::Existing { contact_points: vec!["h:9042".to_owned()], watched }
}

/// Where a provider runs configurations, on 1:16 models wherever that can be.
pub fn place(provider: Provider) -> Place {
    let model = json!({"scale": 16.0, "page_cache_bytes": null, "page_cache": "same-share"});
    let emulated =
        |machines: Value| json!({"emulated": {"model": model, "volumes": "throttled", "machines": machines}});
    testing::place(match provider {
        Provider::Local => emulated(json!({"this": {"work_directory": null}})),
        Provider::Hosts => emulated(
            json!({"hosts": {"database": [], "client": [], "cache": [], "ssh": experiment::SshFiles::default()}}),
        ),
        Provider::Aws => json!({"bought": {"sites": [], "public_address": false, "ssh_user": "admin", "tags": {},
            "lifetime_s": 1800, "ready_timeout_s": 900, "capacity_wait_s": 900, "batches": [], "initialisations": [],
            "pairs": []}}),
        Provider::Simulated => json!({"simulated": {"model": model, "truth": experiment::Truth::default()}}),
        Provider::Imported => json!("imported"),
    })
}

pub fn job() -> Job {
    let cell = |name: &str| {
        json!({"id": format!("{name}.read-heavy.c100"), "configuration": name, "workload": "read-heavy",
            "load": {"concurrency": 100}})
    };
    let trial = |block: u32, name: &str| json!({"block": block, "cell": format!("{name}.read-heavy.c100")});
    let setups = [setup("gp2-320", "gp2 320 GiB", 60.0), setup("io1-10000", "io1 1000 GiB 10000 IOPS", 625.0)];
    let plan = testing::plan(json!({
        "format_version": experiment::FORMAT_VERSION, "experiment": "story",
        "question": "Is it worth paying for more IOPS?", "baseline": null,
        "target": {"database": {"cassandra": {"version": "5.0.9"}}, "consistency": "one"},
        "place": place(Provider::Local),
        "dataset": {"records": 300_000, "fields": 10, "field_length": 100, "compressibility": 0.0, "seed": 1},
        "configurations": [],
        "patience": experiment::Patience::default(), "caches": experiment::Caches::default(), "processes": [],
        "clients": 1, "faults": [],
        "decision": experiment::DecisionRules::default(),
        "money": {"basis": experiment::Basis::default(), "configurations": []},
        "workloads": [{"name": "read-heavy", "statements": [],
            "mix": {"read": 0.8, "update": 0.2, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "distribution": {"kind": "zipfian", "constant": 0.99}, "read_all_fields": true, "write_all_fields": false,
            "scan_length": {"min": 1, "max": 1000, "zipfian": false}, "hashed_keys": true, "zero_padding": 1}],
        "cells": [cell("gp2-320"), cell("io1-10000")],
        "trials": [trial(1, "io1-10000"), trial(1, "gp2-320"), trial(2, "gp2-320"), trial(2, "io1-10000")],
        "shape": {"rest_max_s": 0.0, "warmup_s": 20.0, "duration_s": 60.0, "operations": 600_000,
            "request_timeout_s": 10.0},
        "seed": 1, "forks": 1, "estimated_s": 480.0
    }));
    Job { plan, setups: Setups::new(setups.map(testing::setup).into()) }
}

/// Machines that are bought, alike in everything but their names and the batch that each is measured in.
pub fn bought(configurations: &[(&str, u32)], blocks: u32) -> Job {
    let Job { mut plan, setups } = job();
    plan.place = place(Provider::Aws);
    let (setup, cell) = (setups[0].clone(), plan.cells[0].clone());
    let mut made = Vec::new();
    (plan.cells, plan.trials) = Default::default();
    for (name, batch) in configurations {
        let mut setup = setup.clone();
        let at = SetupAt::Bought { first_host: 0, first_cache: 0, batch: *batch };
        (setup.configuration, setup.at) = ((*name).to_owned(), at);
        made.push(setup);
        let mut cell = cell.clone();
        cell.id = format!("{name}.read-heavy.c100");
        cell.configuration = (*name).to_owned();
        plan.trials.extend((1..=blocks).map(|block| PlannedTrial { block, cell: cell.id.clone() }));
        plan.cells.push(cell);
    }
    Job { plan, setups: Setups::new(made) }
}

/// Configurations with what each costs in a month.
pub fn priced<'n>(mut job: Job, usd: impl IntoIterator<Item = (&'n str, f64)>) -> Job {
    job.plan.money.configurations.extend(usd.into_iter().map(|(name, usd)| ConfigurationMoney {
        configuration: name.to_owned(),
        usd_per_month: Some(usd),
        lines: Vec::new(),
        missing: None,
    }));
    job
}

/// A trial of so many operations, of which each costs the same reads wherever it is.
pub fn of_equal_reads(configuration: &'static str, block: u32, operations: f64, read_iops: f64) -> TrialMeasurement {
    let device_reads = 0.16 * operations;
    let operations = operations.round() as u64;
    let reported = Reported { configuration, block, operations, device_reads, probe_read_iops: read_iops };
    measured(&record(reported), device_reads)
}

/// About normal, with this standard deviation.
pub fn noise(random: &mut SplitMix, deviation: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 30)).sum();
    (sum - 6.0) * deviation
}

/// What varies between trials.
#[derive(Clone, Copy)]
pub struct Reported {
    pub configuration: &'static str,
    pub block: u32,
    pub operations: u64,
    pub device_reads: f64,
    pub probe_read_iops: f64,
}

/// Settings of a table, one option with one key of its map.
pub fn table(option: &str, key: &str, value: &str) -> experiment::Settings {
    let map = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    let keys = BTreeMap::from([(option.to_owned(), experiment::Setting::Map(map))]);
    experiment::Settings::default().with("table", experiment::Section::Keys(keys))
}

pub fn record(reported: Reported) -> TrialRecord {
    let limit: f64 = if reported.configuration == "gp2-320" { 60.0 } else { 625.0 };
    let reads = reported.operations * 8 / 10;
    let cell = Cell {
        id: format!("{}.read-heavy.c100", reported.configuration),
        configuration: reported.configuration.to_owned(),
        workload: "read-heavy".to_owned(),
        load: LoadLevel::Concurrency(100),
    };
    let client = ClientResult {
        warmup_s: 20.0,
        measured_s: SECONDS,
        operations_sent: reported.operations,
        completed: BTreeMap::from([(OperationKind::Read, reads), (OperationKind::Update, reported.operations - reads)]),
        client_cpu_s: reported.operations as f64 * 6e-6,
        client_peak_rss_bytes: 15_000_000,
        threads: 1,
        ..ClientResult::default()
    };
    let probe = ProbeResult {
        read_iops: reported.probe_read_iops,
        read_latency_us: 900.0,
        write_iops: 100.0,
        write_bytes_per_s: 0.99 * (limit * 65536.0).min(10.0 * MIB),
        seconds: 3.0,
    };
    let volume = VolumeFacts {
        role: VolumeRole::Data,
        label: "x".to_owned(),
        device: "loop3".to_owned(),
        array: None,
        limits: limits(limit),
        probe: Some(probe),
        burst_credits: None,
        byte_credits: None,
        is_served: false,
        combined: None,
        initialised: None,
    };
    let node = NodeFacts {
        cpus: 1.0,
        heap_bytes: 1 << 30,
        memory_limit_bytes: 3 << 29,
        page_cache_budget_bytes: 1 << 28,
        data_bytes_on_disk: 345_000_000,
        restored_keys_checked: 32,
        volumes: vec![volume],
        ..NodeFacts::UNKNOWN
    };
    TrialRecord {
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        client: Some(client),
        nodes: vec![node],
        ..TrialRecord::of(&cell, reported.block)
    }
}

/// Latencies that satisfy Little's law: mean = concurrency / throughput. The warm-up is slower and must not count.
pub fn intervals(record: &TrialRecord) -> Vec<Interval> {
    let client = record.client.as_ref().unwrap();
    let all: u64 = client.completed.values().sum();
    let mean_us = (100.0 / (all as f64 / SECONDS) * 1e6) as u64;
    let mut intervals = Vec::new();
    for (kind, count) in &client.completed {
        intervals.push(interval(*kind, -1.0, &[(10 * mean_us, 1000)]));
        let seconds = SECONDS as u64;
        for second in 0..seconds {
            // As even as whole operations can be.
            let in_second = count * (second + 1) / seconds - count * second / seconds;
            intervals.push(interval(*kind, second as f64, &[(mean_us, in_second)]));
        }
    }
    intervals
}

/// Its histogram ends at its largest value, as one that is read from a log.
pub fn interval(kind: OperationKind, start_s: f64, values: &[(u64, u64)]) -> Interval {
    let largest = values.iter().map(|(value, _)| *value).max().unwrap_or_default();
    let mut histogram = Histogram::new_with_bounds(LOWEST_US, largest.max(2 * LOWEST_US), 3).unwrap();
    for (value, count) in values {
        histogram.record_n(*value, *count).unwrap();
    }
    Interval { series: Series::Response(kind), start_s, length_s: 1.0, histogram }
}

/// A trial as measured, with the host's figures put in.
pub fn measured(record: &TrialRecord, device_reads: f64) -> TrialMeasurement {
    let mut trial = measure(&TrialEvidence { record, intervals: &intervals(record), samples: &BTreeMap::new() });
    let rate = device_reads / SECONDS;
    let activity = VolumeActivity {
        seconds: SECONDS,
        reads: device_reads,
        writes: 120.0,
        read_bytes: device_reads * 16_384.0,
        write_bytes: 120.0 * 65_536.0,
        wait_s: None,
        busy_share: Some(0.9),
        iops_limit: None,
        request_credits: None,
        byte_credits: None,
        credits_s: None,
        slowed_at_s: None,
        disk_floor_share: None,
        cpu_floor_share: None,
        server_cpus: None,
        windows: WindowRates {
            read_iops: vec![rate; 6],
            write_iops: vec![2.0; 6],
            read_bytes_per_s: vec![rate * 16_384.0; 6],
            write_bytes_per_s: vec![2.0 * 65_536.0; 6],
            ..WindowRates::default()
        },
    };
    let host = DatabaseHost {
        volumes: BTreeMap::from([(VolumeRole::Data, activity)]),
        page_cache_bytes: Some(172_500_000.0),
        cpus_used: Some(0.8),
        pause_share: Some(0.004),
        restarts: Some(0),
        ..DatabaseHost::default()
    };
    trial.hosts = BTreeMap::from([(HostId::DATABASE, host)]);
    trial.forbidden = rules::forbidden(&trial);
    trial
}

pub fn trials() -> Vec<TrialMeasurement> {
    let reported = |configuration, block, operations, device_reads, probe_read_iops| {
        measured(&record(Reported { configuration, block, operations, device_reads, probe_read_iops }), device_reads)
    };
    vec![
        reported("gp2-320", 1, 30_000, 3_590.0, 60.1),
        reported("gp2-320", 2, 33_000, 3_600.0, 60.1),
        reported("io1-10000", 1, 120_000, 2_400.0, 500.0),
        reported("io1-10000", 2, 126_000, 2_500.0, 500.0),
    ]
}

pub fn run<'a>(job: &'a Job, trials: &'a [TrialMeasurement]) -> RunEvidence<'a> {
    RunEvidence {
        run: "story-20260102T030405Z".into(),
        plan: &job.plan,
        setups: &job.setups,
        environment: json!({"format_version": experiment::FORMAT_VERSION,
            "database": {"cpu_model": "Example CPU", "cores": 2, "disks": ["vda"]}}),
        trials,
        probes: &[],
        origins: &[],
        modifications: &[],
        skipped: &[],
    }
}
