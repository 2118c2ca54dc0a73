//! What a run written by hand shows over time.

use analysis::{Background, LatencyCurve, Line, OperationKind, Panel, TrialCharts};

/// A restless trial: no two points in line, so that nothing can be left out of a path.
pub fn trial(cell: &str, block: u32) -> TrialCharts {
    let line = |name: &str, seed: u64| {
        let mut state = seed ^ u64::from(block) ^ cell.len() as u64;
        Line {
            name: name.to_owned(),
            points: (0..240_u32)
                .map(|i| {
                    // Knuth's MMIX generator: restless, and the same in every run of the test.
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let value = (state >> 33) as f64 / f64::from(1_u32 << 31);
                    (f64::from(i) * 1.25, Some(500.0 + 500.0 * value))
                })
                .collect(),
        }
    };
    let panel = |title: &str, unit: &str, names: &[&str], limits: &[(&str, f64)]| Panel {
        title: title.to_owned(),
        unit: unit.to_owned(),
        lines: names.iter().zip(1..).map(|(n, seed)| line(n, seed)).collect(),
        limits: limits.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
    };
    TrialCharts {
        cell: cell.to_owned(),
        block,
        valid: true,
        warmup_s: 20.0,
        measured_s: 300.0,
        steady_from_s: 12.0,
        fault_spans: Vec::new(),
        background: vec![
            Background { times: 2.0, one: "flush", several: "flushes" },
            Background { times: 1.0, one: "compaction", several: "compactions" },
        ],
        panels: vec![
            panel("Throughput", "operations/s", &["completed"], &[]),
            panel("Latency", "ms", &["read p50", "read p99"], &[]),
            panel("Data volume IOPS", "requests/s", &["reads", "writes"], &[("limit", 1000.0)]),
            panel("Data volume MB/s", "MB/s", &["read", "written"], &[("limit", 9e9)]),
            panel("Memory of the database", "MiB", &["page cache", "anonymous"], &[]),
            panel("CPU", "CPUs", &["database", "whole host"], &[]),
            panel("Garbage collection", "% of time paused", &["pauses"], &[]),
            panel("Compactions", "waiting or running", &["compactions"], &[]),
        ]
        .into(),
    }
}

/// A tail that grows with each nine.
pub fn curve(cell: &str) -> LatencyCurve {
    LatencyCurve {
        cell: cell.to_owned(),
        operation: OperationKind::Read,
        points: [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999]
            .into_iter()
            .map(|q: f64| (q, 800.0 * (1.0 - q).powf(-0.5)))
            .collect(),
    }
}
