//! A plan of two cells in two blocks, and trials that fit it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::path::Path;

use archive::RunDirectory;
use evidence::{
    ClientResult, HostId, HostSample, Interval, NodeFacts, OperationKind, Series, TrialRecord, empty_histogram,
};
use experiment::testing::{self, configuration, reads};
use experiment::{Job, PlannedTrial};
use serde_json::json;

pub const CELLS: [&str; 2] = ["gp2.w.c2", "io1.w.c2"];

/// Four trials: both cells, two blocks.
pub fn job() -> Job {
    let configurations = ["gp2", "io1"].map(|name| configuration(name, (2.0, 8.0), "")).concat();
    let mut job = testing::job(&reads(&configurations, "repetitions = 2"));
    let trial = |block: u32, cell: &str| PlannedTrial { block, cell: cell.to_owned() };
    job.plan.trials = vec![trial(1, CELLS[1]), trial(1, CELLS[0]), trial(2, CELLS[0]), trial(2, CELLS[1])];
    job
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
