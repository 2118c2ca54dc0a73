//! From trials to cells: the middle of the valid repetitions with an interval.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{HostId, OperationKind};
use experiment::{Cell, Plan, Setup, VolumeRole};
use stats::Summary;

use crate::activity::VolumeActivity;
use crate::document::{CellAnalysis, DataVolumeAnalysis, DatabaseFigures, InvalidTrial, LatencyAnalysis, NodeAnalysis};
use crate::figures::looks;
use crate::latency::{SeriesLatency, across_trials};
use crate::limit::{self, ResourceUse};
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::rules::cassandra::compaction_backlog;
use crate::{cache_tier, faults};

/// Confidence of the intervals of cells. Where a run looks several times, each look has its share of what is left of 1.
pub const CONFIDENCE: f64 = 0.95;

/// A cell's figures from its trials; ratios, money and findings are added by the caller.
pub fn of_trials(plan: &Plan, setup: Option<&Setup>, cell: &Cell, trials: &[&TrialMeasurement]) -> CellAnalysis {
    let valid: Vec<&TrialMeasurement> = trials.iter().copied().filter(|t| t.is_valid()).collect();
    let values = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| -> Vec<f64> {
        valid.iter().filter_map(|t| figure(t)).collect()
    };
    let median = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| stats::median(values(figure));
    let volumes = |pick: fn(&VolumeActivity) -> f64| {
        move |t: &TrialMeasurement| t.per_operation(t.sum(|node| node.host.sum_of_volumes(pick)))
    };
    let data = |pick: fn(&VolumeActivity) -> f64| move |t: &TrialMeasurement| t.sum_of_data(pick);
    let mut errors = BTreeMap::new();
    for (kind, n) in valid.iter().filter_map(|t| t.record.client.as_ref()).flat_map(|c| &c.errors) {
        *errors.entry(*kind).or_insert(0) += n;
    }
    let share = looks(plan).share(valid.iter().map(|t| t.record.block).max().unwrap_or_default());
    let confidence = 1.0 - (1.0 - CONFIDENCE) * share;
    let undisturbed = undisturbed(&valid);
    let by_node = limit::of_nodes(setup, &undisturbed);
    let failed: u64 = valid.iter().map(|t| t.failed_operations()).sum();
    let counted: u64 = valid.iter().map(|t| t.counted()).sum();
    let reports = plan.target.database.product().reports;
    let mut database = DatabaseFigures::of(reports, |figure| median(&|t| t.reported(figure)));
    compaction_backlog::add_figures(&mut database, &valid);
    CellAnalysis {
        batch: setup.map_or(0, |setup| setup.at.batch()),
        id: cell.id.clone(),
        configuration: cell.configuration.clone(),
        workload: cell.workload.clone(),
        load: cell.load,
        trials: trials.len() as u64,
        valid_trials: valid.len() as u64,
        trials_invalid: trials
            .iter()
            .filter(|t| !t.is_valid())
            .map(|t| InvalidTrial { block: t.record.block, reason: t.invalid_reason().unwrap_or_default() })
            .collect(),
        throughput_ops_per_s: stats::estimate(&values(&TrialMeasurement::throughput), confidence),
        operations_per_usd: None,
        runtime_s: Summary::of(values(&|t| t.runtime_s(plan))),
        latency_us: latencies(&valid, |t| &t.response),
        service_us: latencies(&valid, |t| &t.service),
        unmet_share: unmet_shares(plan, cell, &valid),
        errors,
        error_share: stats::ratio(failed as f64, (failed + counted) as f64),
        device_reads_per_operation: median(&volumes(|v| v.reads)),
        device_writes_per_operation: median(&volumes(|v| v.writes)),
        device_read_bytes_per_operation: median(&volumes(|v| v.read_bytes)),
        device_write_bytes_per_operation: median(&volumes(|v| v.write_bytes)),
        database,
        device_read_iops: median(&data(VolumeActivity::read_iops)),
        device_write_iops: median(&data(VolumeActivity::write_iops)),
        delivered: None,
        page_cache_share: median(&TrialMeasurement::page_cache_share),
        page_cache_bytes: median(&|t| t.sum(|node| node.page_cache_bytes())),
        bytes_on_disk: median(&|t| Some(t.data_bytes_on_disk())),
        database_cpus_used: median(&|t| t.sum(|node| node.host.cpus_used)),
        client_cpu_us_per_operation: median(&TrialMeasurement::client_cpu_us_per_operation),
        gc_pause_share: median(&|t| t.nodes().filter_map(|node| node.host.pause_share).max_by(f64::total_cmp)),
        ratio_to_baseline: None,
        ratio_to_slowest: None,
        withheld: None,
        limited_here: None,
        limit: limit::named(&by_node, &undisturbed),
        nodes: nodes(&by_node, &undisturbed),
        data_volumes: data_volumes(&undisturbed),
        cache_tier: cache_tier::of_cell(setup, &valid, latencies(&valid, |t| &t.cache)),
        faults: faults::faults(plan, setup, &valid),
        writes: faults::writes(trials),
        usd_per_month: None,
        findings: Vec::new(),
    }
}

impl CellAnalysis {
    /// The nodes at the cell's limit, found anew after the limit was.
    pub(crate) fn locate_limit(&mut self) {
        let uses = self.nodes.iter().flat_map(|node| &node.uses);
        self.limit.nodes = limit::at(self.limit.kind, uses);
    }

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
            read_bytes_share: share(self.device_read_bytes_per_operation, self.device_write_bytes_per_operation),
        }
    }
}

/// Each node of a cell apart, from its valid trials; none where the database has one.
pub fn nodes_of_cell(setup: Option<&Setup>, trials: &[&TrialMeasurement]) -> Vec<NodeAnalysis> {
    let undisturbed = undisturbed(trials);
    nodes(&limit::of_nodes(setup, &undisturbed), &undisturbed)
}

fn undisturbed<'a>(trials: &[&'a TrialMeasurement]) -> Vec<&'a TrialMeasurement> {
    trials.iter().map(|t| t.undisturbed()).collect()
}

fn nodes(uses: &BTreeMap<HostId, limit::Uses>, trials: &[&TrialMeasurement]) -> Vec<NodeAnalysis> {
    if uses.len() < 2 {
        return Vec::new();
    }
    let of_node = |(host, uses): (&HostId, &limit::Uses)| {
        let median = |figure: &dyn Fn(&Node<'_>) -> Option<f64>| {
            let nodes = trials.iter().flat_map(|t| t.nodes()).filter(|n| n.id == *host);
            stats::median(nodes.filter_map(|n| figure(&n)))
        };
        let data = |pick: fn(&VolumeActivity) -> f64| median(&|n| n.host.sum_of_data(pick));
        let mut uses: Vec<ResourceUse> = uses.iter().map(|(_, used)| *used).collect();
        uses.sort_by_key(|u| u.kind);
        NodeAnalysis {
            host: *host,
            cpus_used: median(&|n| n.host.cpus_used),
            device_read_iops: data(VolumeActivity::read_iops),
            device_write_iops: data(VolumeActivity::write_iops),
            device_read_bytes_per_s: data(VolumeActivity::read_bytes_per_s),
            device_write_bytes_per_s: data(VolumeActivity::write_bytes_per_s),
            page_cache_bytes: median(&|n| n.page_cache_bytes()),
            bytes_on_disk: median(&|n| Some(n.facts.data_bytes_on_disk as f64)).unwrap_or(0.0),
            gc_pause_share: median(&|n| n.host.pause_share),
            uses,
        }
    };
    uses.iter().map(of_node).collect()
}

/// Each data volume of each node apart; none where every node has one.
fn data_volumes(trials: &[&TrialMeasurement]) -> Vec<DataVolumeAnalysis> {
    let mut each: BTreeMap<(HostId, VolumeRole), Vec<&VolumeActivity>> = BTreeMap::new();
    for node in trials.iter().flat_map(|t| t.nodes()) {
        let several = node.host.members.keys();
        for (role, activity) in several.filter_map(|role| Some((role, node.host.volumes.get(role)?))) {
            each.entry((node.id, *role)).or_default().push(activity);
        }
    }
    let median = |of: &[&VolumeActivity], figure: &dyn Fn(&VolumeActivity) -> Option<f64>| {
        stats::median(of.iter().filter_map(|activity| figure(activity)))
    };
    each.into_iter()
        .map(|((host, volume), of)| DataVolumeAnalysis {
            host,
            volume,
            read_iops: median(&of, &|v| Some(v.read_iops())),
            write_iops: median(&of, &|v| Some(v.write_iops())),
            read_bytes_per_s: median(&of, &|v| Some(v.read_bytes_per_s())),
            write_bytes_per_s: median(&of, &|v| Some(v.write_bytes_per_s())),
            await_us: median(&of, &|v| v.await_s().map(|s| s * 1e6)),
            busy_share: median(&of, &|v| v.busy_share),
        })
        .collect()
}

/// Of the conditional statements of a cell's workload, in all of its trials together.
fn unmet_shares(plan: &Plan, cell: &Cell, trials: &[&TrialMeasurement]) -> BTreeMap<OperationKind, f64> {
    let workload = plan.workloads.iter().find(|workload| workload.name == cell.workload);
    let statements = workload.into_iter().flat_map(|workload| &workload.statements);
    let conditional =
        statements.filter(|statement| statement.reads && statement.writes).map(|statement| statement.kind);
    let samples =
        |of: &BTreeMap<OperationKind, SeriesLatency>, kind| of.get(&kind).map_or(0, |latency| latency.samples);
    conditional
        .filter_map(|kind| {
            let unmet: u64 = trials.iter().map(|trial| samples(&trial.unmet, kind)).sum();
            let all: u64 = trials.iter().map(|trial| samples(&trial.response, kind)).sum();
            Some((kind, stats::ratio(unmet as f64, all as f64)?))
        })
        .collect()
}

fn latencies<K: Ord + Copy>(
    trials: &[&TrialMeasurement],
    series: impl Fn(&TrialMeasurement) -> &BTreeMap<K, SeriesLatency>,
) -> BTreeMap<K, LatencyAnalysis> {
    let kinds: BTreeSet<K> = trials.iter().flat_map(|t| series(t).keys().copied()).collect();
    kinds
        .into_iter()
        .filter_map(|kind| {
            let of_kind: Vec<_> = trials.iter().filter_map(|t| series(t).get(&kind).copied()).collect();
            across_trials(&of_kind).map(|latency| (kind, latency))
        })
        .collect()
}
