//! From trials to cells: the median of the valid repetitions and their range, and ratios by pairs of the same block.
//!
//! Trials of one block ran within one shuffled pass, close in time, so that slow drift of the machine cancels in their ratio
//! (Abedi & Brecht, "Conducting Repeatable Experiments in Highly Variable Cloud Computing Environments", ICPE 2017).

use std::collections::BTreeMap;

use evidence::OperationKind;
use spec::{Cell, Plan};
use stats::Summary;

use crate::document::{CellAnalysis, InvalidTrial, LatencyAnalysis, Limit, Ratio};
use crate::latency::{LatencyFigures, across_trials};
use crate::measurement::TrialMeasurement;

/// A cell's figures from its trials; ratios are added by [`add_ratios`], findings by the caller.
pub fn of_trials(plan: &Plan, cell: &Cell, trials: &[&TrialMeasurement]) -> CellAnalysis {
    let valid: Vec<&TrialMeasurement> = trials.iter().copied().filter(|t| t.is_valid()).collect();
    let values = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| -> Vec<f64> {
        valid.iter().filter_map(|t| figure(t)).collect()
    };
    let median = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| stats::median(&values(figure));
    let volumes = |pick: fn(&crate::host::VolumeActivity) -> f64| {
        move |t: &TrialMeasurement| t.per_operation(t.host.sum_of_volumes(pick))
    };
    let data = |pick: fn(&crate::host::VolumeActivity) -> f64| {
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
    let completed: u64 = valid.iter().map(|t| t.completed()).sum();
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
        throughput_ops_per_s: Summary::of(&values(&TrialMeasurement::throughput)),
        runtime_s: Summary::of(&values(&|t| match plan.shape.operations {
            Some(operations) => stats::ratio(operations as f64, t.throughput()?),
            None => t.record.client.as_ref().map(|c| c.measured_s),
        })),
        latency_us: latencies(&valid, |t| &t.response),
        service_us: latencies(&valid, |t| &t.service),
        errors,
        error_share: stats::ratio(failed as f64, (failed + completed) as f64),
        device_reads_per_operation: median(&volumes(|v| v.reads)),
        device_writes_per_operation: median(&volumes(|v| v.writes)),
        device_read_bytes_per_operation: median(&volumes(|v| v.read_bytes)),
        device_write_bytes_per_operation: median(&volumes(|v| v.write_bytes)),
        device_read_iops: median(&data(crate::host::VolumeActivity::read_iops)),
        device_write_iops: median(&data(crate::host::VolumeActivity::write_iops)),
        page_cache_share: median(&TrialMeasurement::page_cache_share),
        page_cache_bytes: median(&|t| t.host.page_cache_bytes),
        bytes_on_disk: median(&|t| Some(t.record.database.data_bytes_on_disk as f64)),
        database_cpus_used: median(&|t| t.host.cpus_used),
        client_cpu_us_per_operation: median(&TrialMeasurement::client_cpu_us_per_operation),
        gc_pause_share: median(&|t| t.host.gc_pause_share),
        ratio_to_baseline: None,
        ratio_to_slowest: None,
        limit: Limit::not_analysed(),
        usd_per_month: None,
        findings: Vec::new(),
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

/// Throughput by block of the valid trials of a cell.
pub type ByBlock = BTreeMap<u32, f64>;

/// Collects the throughput by block of each cell.
pub fn throughput_by_block(trials: &[TrialMeasurement]) -> BTreeMap<String, ByBlock> {
    let mut all: BTreeMap<String, ByBlock> = BTreeMap::new();
    for trial in trials.iter().filter(|t| t.is_valid()) {
        if let Some(throughput) = trial.throughput() {
            all.entry(trial.record.cell.clone())
                .or_default()
                .insert(trial.record.block, throughput);
        }
    }
    all
}

/// Adds the ratios to the baseline and to the slowest configuration among the cells with the same workload and load level.
pub fn add_ratios(cells: &mut [CellAnalysis], baseline: &str, by_block: &BTreeMap<String, ByBlock>) {
    for i in 0..cells.len() {
        let peers: Vec<&CellAnalysis> = cells
            .iter()
            .filter(|c| c.workload == cells[i].workload && c.load == cells[i].load)
            .collect();
        let to_baseline = peers
            .iter()
            .find(|c| c.configuration == baseline)
            .and_then(|c| ratio(&cells[i], c, by_block));
        let slowest = peers
            .iter()
            .filter_map(|c| Some((c, c.throughput_ops_per_s?.median)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(c, _)| c);
        let to_slowest = slowest.and_then(|c| ratio(&cells[i], c, by_block));
        cells[i].ratio_to_baseline = to_baseline;
        cells[i].ratio_to_slowest = to_slowest;
    }
}

fn ratio(cell: &CellAnalysis, to: &CellAnalysis, by_block: &BTreeMap<String, ByBlock>) -> Option<Ratio> {
    let (ours, theirs) = (by_block.get(&cell.id)?, by_block.get(&to.id)?);
    let pairs: Vec<f64> = ours
        .iter()
        .filter_map(|(block, x)| stats::ratio(*x, *theirs.get(block)?))
        .collect();
    let summary = Summary::of(&pairs)?;
    Some(Ratio {
        to: to.configuration.clone(),
        median: summary.median,
        low: summary.low,
        high: summary.high,
        pairs: pairs.len() as u64,
        verdict: if cell.id == to.id { "reference" } else { "not tested" }.to_owned(),
    })
}
