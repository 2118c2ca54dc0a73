//! From trials with planned faults to a cell: each phase and each fault over the valid trials, and what became of
//! acknowledged writes in all of them.

use std::collections::BTreeMap;

use evidence::{FaultRecord, HostId, LatencyFigures, Role, WriteCheck};
use experiment::{FaultAction, NodeFault, Plan, Setup};
use stats::Summary;

use crate::document::{
    FaultAnalysis, FaultsAnalysis, HintFiles, PhaseAnalysis, PhaseKind, RecoveryAnalysis, WritesAnalysis,
};
use crate::measurement::TrialMeasurement;
use crate::phases::{PhaseMeasurement, Recovery};

/// The phases and faults of a cell; `None` where its valid trials have none.
pub fn faults(plan: &Plan, setup: Option<&Setup>, valid: &[&TrialMeasurement]) -> Option<FaultsAnalysis> {
    let most = valid.iter().map(|t| t.record.faults.len()).max().filter(|n| *n > 0)?;
    let mut phases = vec![phase(valid, PhaseKind::Before, 0)];
    for fault in 0..most {
        phases.push(phase(valid, PhaseKind::During, fault));
        // Of a node that is left away there is no afterwards.
        let returns = |t: &&TrialMeasurement| t.record.faults.get(fault).is_some_and(|f| f.return_began_s.is_some());
        let has_next = fault + 1 < most;
        if has_next || valid.iter().any(returns) {
            phases.push(phase(valid, PhaseKind::After, fault));
        }
    }
    let planned = planned(plan);
    Some(FaultsAnalysis { phases, faults: (0..most).filter_map(|i| fault(&planned, setup, valid, i)).collect() })
}

/// What is planned, in order of time.
fn planned(plan: &Plan) -> Vec<NodeFault> {
    let mut planned = plan.faults.clone();
    planned.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    planned
}

fn phase(valid: &[&TrialMeasurement], kind: PhaseKind, fault: usize) -> PhaseAnalysis {
    let measured: Vec<&PhaseMeasurement> =
        valid.iter().flat_map(|t| &t.phases).filter(|p| p.phase.kind == kind && p.phase.fault == fault).collect();
    let summary =
        |figure: &dyn Fn(&PhaseMeasurement) -> Option<f64>| Summary::of(measured.iter().filter_map(|p| figure(p)));
    let latency =
        |figure: fn(&LatencyFigures) -> Option<f64>| summary(&|p| p.latency.and_then(|of| figure(&of.figures)));
    let mut errors = BTreeMap::new();
    for (kind, n) in measured.iter().flat_map(|p| &p.errors) {
        *errors.entry(*kind).or_default() += n;
    }
    PhaseAnalysis {
        phase: kind,
        fault: (kind != PhaseKind::Before).then(|| u32::try_from(fault + 1).unwrap_or(u32::MAX)),
        seconds: summary(&|p| Some(p.seconds as f64)),
        throughput_ops_per_s: summary(&PhaseMeasurement::throughput),
        p50_us: latency(|l| l.p50),
        p95_us: latency(|l| l.p95),
        p99_us: latency(|l| l.p99),
        hit_ratio: summary(&PhaseMeasurement::hit_ratio),
        device_reads_per_s: summary(&|p| p.device_reads_per_s),
        operations: measured.iter().map(|p| p.completed + p.failed()).sum(),
        errors,
        error_share: summary(&|p| stats::ratio(p.failed() as f64, (p.completed + p.failed()) as f64)),
    }
}

fn fault(
    planned: &[NodeFault],
    setup: Option<&Setup>,
    valid: &[&TrialMeasurement],
    index: usize,
) -> Option<FaultAnalysis> {
    let of_trials: Vec<(&TrialMeasurement, &FaultRecord)> =
        valid.iter().filter_map(|t| Some((*t, t.record.faults.get(index)?))).collect();
    let (_, first) = of_trials.first()?;
    let summary =
        |figure: &dyn Fn(&FaultRecord) -> Option<f64>| Summary::of(of_trials.iter().filter_map(|(_, f)| figure(f)));
    let count = |is: &dyn Fn(&FaultRecord) -> bool| of_trials.iter().filter(|(_, f)| is(f)).count() as u64;
    let aftermaths = || of_trials.iter().filter_map(|(t, _)| t.aftermaths.get(index));
    let recoveries = || aftermaths().filter_map(|a| a.recovery);
    let seconds: Vec<f64> = recoveries()
        .filter_map(|r| match r {
            Recovery::After(seconds) => Some(seconds),
            Recovery::Never | Recovery::TooShort => None,
        })
        .collect();
    let of_kind = |wanted: Recovery| recoveries().filter(|r| *r == wanted).count() as u64;
    let (most, left): (Vec<f64>, Vec<f64>) = aftermaths().filter_map(|a| a.hint_files).unzip();
    let host_of = |p: &NodeFault, setup: &Setup| match p.action {
        // Where it has a machine of its own.
        FaultAction::CacheKill { cache_node } if first.host.role == Role::Cache => {
            HostId::cache(setup.cache_host_of(cache_node))
        }
        _ => HostId::database(setup.host_of(p)),
    };
    let is_its_node = |p: &NodeFault| setup.is_some_and(|setup| host_of(p, setup) == first.host);
    let is_its_kind = |p: &NodeFault| (p.kind(), p.action.volume()) == (first.kind, first.volume);
    let is_it = |p: &&NodeFault| is_its_kind(p) && is_its_node(p);
    Some(FaultAnalysis {
        kind: first.kind,
        node: first.host,
        volume: first.volume,
        planned: planned.get(index).filter(is_it).copied(),
        trials: of_trials.len() as u64,
        began_s: summary(&|f| Some(f.began_s)),
        gone_s: summary(&|f| Some(f.gone_s)),
        return_began_s: summary(&|f| f.return_began_s),
        back_s: summary(&|f| f.back_s),
        away_s: summary(&|f| Some(f.back_s? - f.gone_s)),
        return_took_s: summary(&|f| Some(f.back_s? - f.return_began_s?)),
        left_away: count(&|f| f.return_began_s.is_none() && f.back_s.is_none()),
        not_back: count(&|f| f.return_began_s.is_some() && f.back_s.is_none()),
        recovery: RecoveryAnalysis {
            recovered: seconds.len() as u64,
            seconds: Summary::of(&seconds),
            never: of_kind(Recovery::Never),
            too_short: of_kind(Recovery::TooShort),
        },
        hint_files: Summary::of(&most).zip(Summary::of(&left)).map(|(most, left)| HintFiles { most, left }),
        problems: of_trials
            .iter()
            .filter_map(|(t, f)| Some(format!("block {}: {}", t.record.block, f.problem.as_ref()?)))
            .collect(),
        failed_requests: summary(&|f| f.failed_requests.map(|n| n as f64)),
        compacted_bytes: Summary::of(aftermaths().filter_map(|a| a.compacted_bytes)),
        ended: of_trials
            .iter()
            .filter_map(|(t, f)| {
                let end = f.ended.as_ref()?;
                Some(format!("block {}: at {:.1} s, {}", t.record.block, end.at_s, end.how))
            })
            .collect(),
    })
}

/// What became of the acknowledged writes of a cell; `None` where nobody looked.
pub fn writes(trials: &[&TrialMeasurement]) -> Option<WritesAnalysis> {
    let checks: Vec<(u32, &WriteCheck)> =
        trials.iter().filter_map(|t| Some((t.record.block, t.record.writes.as_ref()?))).collect();
    let (_, first) = checks.first()?;
    let sum = |figure: fn(&WriteCheck) -> u64| checks.iter().map(|(_, check)| figure(check)).sum();
    let example = checks.iter().find_map(|(block, check)| {
        let lost = check.examples.first()?;
        let found = lost.found.map_or_else(|| "nothing newer than the data set".to_owned(), |n| n.to_string());
        Some(format!(
            "block {block}, key {}, field {}: {} was acknowledged, {found} was found",
            lost.key, lost.field, lost.acknowledged
        ))
    });
    Some(WritesAnalysis {
        consistency: first.consistency,
        trials: checks.len() as u64,
        trials_with_loss: checks.iter().filter(|(_, check)| check.lost() > 0).count() as u64,
        acknowledged: sum(|c| c.acknowledged),
        unacknowledged: sum(|c| c.unacknowledged),
        values: sum(|c| c.values),
        intact: sum(|c| c.intact),
        older: sum(|c| c.older),
        missing: sum(|c| c.missing),
        foreign: sum(|c| c.foreign),
        unreadable: sum(|c| c.unreadable),
        example,
    })
}
