//! A cell of which a node was away.

use std::collections::BTreeMap;

use analysis::{
    ErrorKind, FaultAction, FaultAnalysis, FaultsAnalysis, HintFiles, HostId, NodeFault, NodeFaultKind, PhaseAnalysis,
    PhaseKind, RecoveryAnalysis, Summary,
};

/// Median, lowest and highest.
pub fn range(median: f64, low: f64, high: f64) -> Option<Summary> {
    Some(Summary { median, low, high })
}

pub fn phase(
    kind: PhaseKind,
    fault: Option<u32>,
    seconds: f64,
    rate: f64,
    ms: f64,
    errors: &[(ErrorKind, u64)],
) -> PhaseAnalysis {
    let is_empty = seconds == 0.0;
    let figure = |value: f64, spread: f64| match is_empty {
        true => None,
        false => range(value, value * (1.0 - spread), value * (1.0 + spread)),
    };
    let errors: BTreeMap<ErrorKind, u64> = errors.iter().copied().collect();
    let failed: u64 = errors.values().sum();
    let operations = (3.0 * seconds * rate) as u64 + failed;
    PhaseAnalysis {
        phase: kind,
        fault,
        seconds: range(seconds, (seconds - 3.0).max(0.0), seconds + 2.0).filter(|_| !is_empty).or(range(0.0, 0.0, 0.0)),
        throughput_ops_per_s: figure(rate, 0.03),
        p50_us: figure(0.6e3 * ms, 0.02),
        p95_us: figure(0.9e3 * ms, 0.05),
        p99_us: figure(1e3 * ms, 0.1),
        hit_ratio: None,
        device_reads_per_s: None,
        operations,
        error_share: (!is_empty).then(|| failed as f64 / operations as f64).and_then(|s| range(s, s * 0.9, s * 1.1)),
        errors,
    }
}

/// Killed at 20 s for 20 s of 90 s; it took 12 s to start again.
pub fn killed() -> FaultsAnalysis {
    FaultsAnalysis {
        phases: vec![
            phase(PhaseKind::Before, None, 20.0, 1000.0, 8.4, &[]),
            phase(
                PhaseKind::During,
                Some(1),
                32.0,
                612.0,
                41.0,
                &[(ErrorKind::WriteTimeout, 303), (ErrorKind::Unavailable, 900)],
            ),
            phase(PhaseKind::After, Some(1), 37.0, 948.0, 9.1, &[]),
        ],
        faults: vec![FaultAnalysis {
            kind: NodeFaultKind::NodeKill,
            node: HostId::database(1),
            volume: None,
            planned: Some(NodeFault { action: FaultAction::NodeKill, node: 2, at_s: 20.0, for_s: Some(20.0) }),
            trials: 3,
            began_s: range(20.0, 20.0, 20.1),
            gone_s: range(20.1, 20.0, 20.3),
            return_began_s: range(40.0, 40.0, 40.0),
            back_s: range(52.1, 50.2, 65.3),
            away_s: range(32.0, 30.1, 45.0),
            return_took_s: range(12.1, 10.2, 25.3),
            left_away: 0,
            not_back: 0,
            recovery: RecoveryAnalysis { recovered: 2, seconds: range(6.0, 4.0, 8.0), never: 1, too_short: 0 },
            hint_files: Some(HintFiles { most: range(14.0, 12.0, 15.0).unwrap(), left: range(3.0, 0.0, 4.0).unwrap() }),
            problems: Vec::new(),
            compacted_bytes: None,
            failed_requests: None,
            ended: Vec::new(),
        }],
    }
}
