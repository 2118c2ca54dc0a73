//! A plan of two cells in two blocks, and trials that fit it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::path::Path;

use archive::RunDirectory;
use evidence::{
    ClientResult, HostId, HostSample, Interval, NodeFacts, OperationKind, Series, TrialRecord, empty_histogram,
};
use experiment::{Job, Setups};
use serde_json::json;

pub const CELLS: [&str; 2] = ["gp2-320.read-heavy.c100", "io1.read-heavy.c100"];

/// Four trials: both cells, two blocks.
pub fn job() -> Job {
    let limits = json!({"read_iops": 60.0, "write_iops": 60.0, "read_bytes_per_s": null, "write_bytes_per_s": null});
    let setup = |name: &str| {
        json!({"configuration": name, "cpus": 2.0, "heap_bytes": 1 << 30, "direct_memory_bytes": 1 << 28,
            "memory_limit_bytes": 1_u64 << 31, "page_cache_budget_bytes": 1 << 28, "commitlog": null,
            "key_cache_bytes": 0, "more_data": [], "placement": experiment::Placement::ONE_NODE, "first_host": 0, "batch": 0,
            "is_bought": false, "watched": [], "settings": experiment::Settings::default(),
            "data": {"role": "data", "label": "gp2 320 GiB", "size_bytes": 1_u64 << 30, "limits": limits, "burst": null, "is_local": false}})
    };
    let cell = |id: &str, name: &str| json!({"id": id, "configuration": name, "workload": "read-heavy", "load": {"concurrency": 100}});
    let trial = |block: u32, cell: &str| json!({"block": block, "cell": cell});
    let setups = [setup("gp2-320"), setup("io1")].map(|setup| serde_json::from_value(setup).unwrap());
    let plan = serde_json::from_value(json!({
        "format_version": experiment::FORMAT_VERSION, "experiment": "story", "question": null, "baseline": null,
        "target": {"database": {"cassandra": {"version": "5.0.9"}}, "consistency": "one"},
        "place": {"emulated": {"model": {"scale": 16.0, "page_cache_bytes": null}, "volumes": "throttled", "machines": {"this": {"work_directory": null}}}},
        "dataset": {"records": 1000, "fields": 10, "field_length": 100, "compressibility": 0.0, "seed": 1},
        "configurations": [],
        "patience": experiment::Patience::default(), "caches": experiment::Caches::default(), "processes": [], "clients": 1, "faults": [],
        "decision": experiment::DecisionRules::default(), "money": {"basis": experiment::Basis::default(), "configurations": []},
        "workloads": [{"name": "read-heavy", "mix": {"read": 0.8, "update": 0.2, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "distribution": {"kind": "zipfian", "constant": 0.99}, "read_all_fields": true, "write_all_fields": false, "statements": [],
            "scan_length": {"min": 1, "max": 1000, "zipfian": false}, "hashed_keys": true, "zero_padding": 1}],
        "cells": [cell(CELLS[0], "gp2-320"), cell(CELLS[1], "io1")],
        "trials": [trial(1, CELLS[1]), trial(1, CELLS[0]), trial(2, CELLS[0]), trial(2, CELLS[1])],
        "shape": {"rest_max_s": 0.0, "warmup_s": 2.0, "duration_s": 3.0, "operations": null, "request_timeout_s": 10.0},
        "seed": 1, "forks": 1, "estimated_s": 60.0
    }))
    .unwrap();
    Job { plan, setups: Setups::new(setups.into()) }
}

pub fn record(cell: &str, block: u32) -> TrialRecord {
    let cell = job().plan.cells.into_iter().find(|planned| planned.id == cell).unwrap();
    TrialRecord {
        started_at: "2026-01-02T03:04:05.678901Z".into(),
        client: Some(ClientResult {
            warmup_s: 2.0,
            measured_s: 3.0,
            operations_sent: 300,
            completed: BTreeMap::from([(OperationKind::Read, 300)]),
            client_cpu_s: 0.1,
            client_peak_rss_bytes: 10 << 20,
            threads: 1,
            ..ClientResult::default()
        }),
        nodes: vec![NodeFacts::UNKNOWN],
        ..TrialRecord::of(&cell, block)
    }
}

/// Two seconds of warm-up and three of measurement, 100 reads each.
pub fn intervals() -> Vec<Interval> {
    (-2..3)
        .map(|second| {
            let mut histogram = empty_histogram();
            for i in 0..100 {
                histogram.record(if second < 0 { 50_000 } else { 900 + i }).unwrap();
            }
            Interval {
                series: Series::Response(OperationKind::Read),
                start_s: f64::from(second),
                length_s: 1.0,
                histogram,
            }
        })
        .collect()
}

/// One sample with the figures that every host has, the rest missing.
pub fn samples() -> BTreeMap<HostId, Vec<HostSample>> {
    let row = |t: f64| HostSample::from_columns(&[("unix_ms", Some(1.7e12 + t * 1e3)), ("t_s", Some(t))]).unwrap();
    BTreeMap::from([(HostId::DATABASE, vec![row(0.0), row(1.0)]), (HostId::CLIENT, vec![])])
}

pub fn create(parent: &Path) -> RunDirectory {
    RunDirectory::create(
        parent,
        ("story", "20260102T030405Z", false),
        ("name = \"story\"\n", &BTreeMap::new()),
        &job(),
        &json!({"types": []}),
        &json!({}),
    )
    .unwrap()
}

pub fn write(run: &RunDirectory, cell: &str, block: u32) {
    let mut logs = run.logs(cell, block).unwrap();
    logs.append("database.log", b"INFO started\n").unwrap();
    run.write_trial(&record(cell, block), &intervals(), &samples(), logs).unwrap();
}
