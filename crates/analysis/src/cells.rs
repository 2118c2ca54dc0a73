//! From trials to cells: the middle of the valid repetitions with an interval.

use std::collections::BTreeMap;

use evidence::OperationKind;
use spec::{Cell, Plan, Setup};
use stats::Summary;

use crate::document::{CellAnalysis, InvalidTrial, LatencyAnalysis};
use crate::host::VolumeActivity;
use crate::latency::{LatencyFigures, across_trials};
use crate::limit;
use crate::measurement::TrialMeasurement;

/// Confidence of the intervals of cells and ratios.
pub const CONFIDENCE: f64 = 0.95;

/// A cell's figures from its trials; ratios, money and findings are added by the caller.
pub fn of_trials(plan: &Plan, setup: Option<&Setup>, cell: &Cell, trials: &[&TrialMeasurement]) -> CellAnalysis {
    let valid: Vec<&TrialMeasurement> = trials.iter().copied().filter(|t| t.is_valid()).collect();
    let values = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| -> Vec<f64> {
        valid.iter().filter_map(|t| figure(t)).collect()
    };
    let median = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| stats::median(&values(figure));
    let volumes =
        |pick: fn(&VolumeActivity) -> f64| move |t: &TrialMeasurement| t.per_operation(t.host.sum_of_volumes(pick));
    let data = |pick: fn(&VolumeActivity) -> f64| {
        move |t: &TrialMeasurement| t.host.volumes.get(&spec::VolumeRole::Data).map(pick)
    };
    let mut errors = BTreeMap::new();
    for (kind, n) in valid
        .iter()
        .filter_map(|t| t.record.client.as_ref())
        .flat_map(|c| &c.errors)
    {
        *errors.entry(*kind).or_insert(0) += n;
    }
    let failed: u64 = valid.iter().map(|t| t.failed_operations()).sum();
    let counted: u64 = valid.iter().map(|t| t.counted()).sum();
    CellAnalysis {
        id: cell.id.clone(),
        configuration: cell.configuration.clone(),
        workload: cell.workload.clone(),
        load: cell.load,
        trials: trials.len() as u64,
        valid_trials: valid.len() as u64,
        trials_invalid: trials
            .iter()
            .filter(|t| !t.is_valid())
            .map(|t| InvalidTrial {
                block: t.record.block,
                reason: t.invalid_reason().unwrap_or_default(),
            })
            .collect(),
        throughput_ops_per_s: stats::estimate(&values(&TrialMeasurement::throughput), CONFIDENCE),
        operations_per_usd: None,
        runtime_s: Summary::of(&values(&|t| t.runtime_s(plan))),
        latency_us: latencies(&valid, |t| &t.response),
        service_us: latencies(&valid, |t| &t.service),
        errors,
        error_share: stats::ratio(failed as f64, (failed + counted) as f64),
        device_reads_per_operation: median(&volumes(|v| v.reads)),
        device_writes_per_operation: median(&volumes(|v| v.writes)),
        device_read_bytes_per_operation: median(&volumes(|v| v.read_bytes)),
        device_write_bytes_per_operation: median(&volumes(|v| v.write_bytes)),
        device_read_iops: median(&data(VolumeActivity::read_iops)),
        device_write_iops: median(&data(VolumeActivity::write_iops)),
        page_cache_share: median(&TrialMeasurement::page_cache_share),
        page_cache_bytes: median(&|t| t.host.page_cache_bytes),
        bytes_on_disk: median(&|t| Some(t.record.node().data_bytes_on_disk as f64)),
        database_cpus_used: median(&|t| t.host.cpus_used),
        client_cpu_us_per_operation: median(&TrialMeasurement::client_cpu_us_per_operation),
        gc_pause_share: median(&|t| t.host.gc_pause_share),
        ratio_to_baseline: None,
        ratio_to_slowest: None,
        withheld: None,
        limit: limit::of_cell(setup, &valid),
        usd_per_month: None,
        findings: Vec::new(),
    }
}

impl CellAnalysis {
    /// The cell as the interventions see it.
    pub(crate) fn limited(&self) -> limit::CellLimit<'_> {
        let share = |reads: Option<f64>, writes: Option<f64>| stats::ratio(reads?, reads? + writes?);
        limit::CellLimit {
            id: &self.id,
            configuration: &self.configuration,
            workload: &self.workload,
            load: self.load,
            limit: &self.limit,
            read_share: share(self.device_read_iops, self.device_write_iops),
            read_bytes_share: share(
                self.device_read_bytes_per_operation,
                self.device_write_bytes_per_operation,
            ),
        }
    }
}

fn latencies(
    trials: &[&TrialMeasurement],
    series: impl Fn(&TrialMeasurement) -> &BTreeMap<OperationKind, LatencyFigures>,
) -> BTreeMap<OperationKind, LatencyAnalysis> {
    OperationKind::ALL
        .into_iter()
        .filter_map(|kind| {
            let of_kind: Vec<_> = trials.iter().filter_map(|t| series(t).get(&kind).copied()).collect();
            across_trials(&of_kind).map(|latency| (kind, latency))
        })
        .collect()
}
