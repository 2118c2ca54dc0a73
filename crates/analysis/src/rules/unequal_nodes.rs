//! Do the nodes of a configuration have equal work, and do they do it at equal cost?
//!
//! A cluster is as fast as its slowest node, so that a figure of unequal nodes is one of their inequality: of a part of
//! the ring that holds more data, of a slower CPU, of a volume that delivers less.

use std::collections::BTreeMap;

use evidence::{HostId, ProbeResult};
use experiment::VolumeRole;
use serde::{Deserialize, Serialize};
use stats::{LEVEL, Layout, Series};

use crate::activity::VolumeActivity;
use crate::document::limit::{LimitKind, ResourceUse, Unit};
use crate::document::{ConfigurationFacts, NodeAnalysis, VolumeReport};
use crate::fact::NodeFigure;
use crate::measurement::TrialMeasurement;
use crate::node::Node;

/// The nodes of a configuration differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct UnequalNodes {
    pub figure: NodeFigure,
    /// Of which volume, where it is one of volumes.
    pub volume: Option<VolumeRole>,
    pub most_of: HostId,
    /// How much, by `figure`.
    pub most: f64,
    pub least_of: HostId,
    pub least: f64,
    pub less_by_share: f64,
    pub nodes: u64,
    pub trials: u64,
    /// Allowed difference, as a share of the smaller.
    pub threshold: f64,
}

/// Nodes are unequal from this difference between the largest and the smallest on (practice). Of 600 simulated clusters
/// of three equal nodes, three repetitions each (`make truth`), none was called unequal: the device reads of the
/// largest lay 2 to 3 % above those of the smallest in the middle, 8.4 % in the worst.
const APART: f64 = 0.15;
/// A rate counts where the largest node uses at least this share of its limit: what every node uses less of bounds
/// nothing, and small figures scatter most.
const MATTERS: f64 = 0.25;
/// Where no limit is known: at least so many requests in a trial,
/// of which chance alone moves 3 % (Poisson: 1 / root n).
const REQUESTS: f64 = 1000.0;

type Figure = fn(&Node<'_>) -> Option<f64>;

/// In what the nodes of a cell, which are these, differ; `trials` are its valid ones.
pub(crate) fn of_cell(nodes: &[NodeAnalysis], trials: &[&TrialMeasurement]) -> Vec<UnequalNodes> {
    let rates: [(NodeFigure, Figure); 3] = [
        (NodeFigure::Cpus, |n| n.host.cpus_used),
        (NodeFigure::DeviceReads, |n| n.host.sum_of_data(VolumeActivity::read_iops)),
        (NodeFigure::DeviceWrites, |n| n.host.sum_of_data(VolumeActivity::write_iops)),
    ];
    let of_rate = |(figure, of): (NodeFigure, Figure)| {
        let values = by_node(trials, of);
        let extremes = Extremes::of(&values)?;
        (matters(figure, nodes, &values, trials) && extremes.is_shown(&values)).then(|| extremes.figures(figure, None))
    };
    let on_disk = by_node(trials, |n| Some(n.facts.data_bytes_on_disk as f64));
    let on_disk = Extremes::of(&on_disk).map(|e| e.figures(NodeFigure::BytesOnDisk, None));
    rates.into_iter().filter_map(of_rate).chain(on_disk).collect()
}

type ProbedFigure = fn(&ProbeResult) -> f64;

/// In what the nodes differ of what fio measured of a configuration's volumes.
pub(crate) fn of_configuration(configuration: &ConfigurationFacts) -> Vec<UnequalNodes> {
    let figures: [(NodeFigure, ProbedFigure); 2] =
        [(NodeFigure::ProbedReads, |p| p.read_iops), (NodeFigure::ProbedWrites, |p| p.write_bytes_per_s)];
    let of_volume = |volume: &VolumeReport| {
        let role = volume.role;
        let found = figures.into_iter().filter_map(|(figure, of)| {
            let values: ByNode =
                volume.probes.iter().map(|(node, probe)| (*node, BTreeMap::from([(1, of(probe))]))).collect();
            Some(Extremes::of(&values)?.figures(figure, Some(role)))
        });
        found.collect::<Vec<_>>()
    };
    configuration.volumes.iter().flat_map(of_volume).collect()
}

/// A figure by node and block.
type ByNode = BTreeMap<HostId, BTreeMap<u32, f64>>;

fn by_node(trials: &[&TrialMeasurement], figure: Figure) -> ByNode {
    let mut values = ByNode::new();
    for trial in trials {
        for node in trial.nodes() {
            if let Some(value) = figure(&node) {
                values.entry(node.id).or_default().insert(trial.record.block, value);
            }
        }
    }
    values
}

/// Whether so much of it is used that it can matter.
fn matters(figure: NodeFigure, nodes: &[NodeAnalysis], values: &ByNode, trials: &[&TrialMeasurement]) -> bool {
    let is_meant = |used: &ResourceUse| match figure {
        NodeFigure::Cpus => used.kind == LimitKind::Cpu,
        _ => used.unit == Unit::Iops && used.kind != LimitKind::CommitLog,
    };
    let shares = nodes.iter().flat_map(|n| &n.uses).filter(|u| is_meant(u));
    if let Some(most) = shares.map(ResourceUse::share).max_by(f64::total_cmp) {
        return most >= MATTERS;
    }
    let seconds = trials.iter().map(|t| t.window_s()).fold(f64::INFINITY, f64::min);
    let most = values.values().flat_map(BTreeMap::values).copied().fold(0.0, f64::max);
    most * seconds >= REQUESTS
}

/// The nodes with the largest and the smallest mean, more than [`APART`] from each other.
struct Extremes {
    most: (HostId, f64),
    least: (HostId, f64),
    nodes: usize,
    trials: usize,
}

impl Extremes {
    /// `None` where they are close enough, and of a single node.
    fn of(values: &ByNode) -> Option<Self> {
        let means: Vec<(HostId, f64)> = values
            .iter()
            .filter_map(|(node, by_block)| Some((*node, stats::ratio(by_block.values().sum(), by_block.len() as f64)?)))
            .collect();
        let most = *means.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let least = *means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let trials = values.values().map(BTreeMap::len).max()?;
        (most.1 > 0.0 && most.1 > (1.0 + APART) * least.1).then_some(Self { most, least, nodes: means.len(), trials })
    }

    /// Whether it is more than noise from trial to trial: the interval of their ratio, adjusted for the pairs among
    /// which these two stick out, lies above 1. With too few trials for an interval each trial must show it.
    fn is_shown(&self, values: &ByNode) -> bool {
        let (most, least) = (&values[&self.most.0], &values[&self.least.0]);
        let pairs = || most.iter().filter_map(|(block, value)| Some((*value, *least.get(block)?)));
        let each = pairs().count() > 0 && pairs().all(|(more, less)| more > (1.0 + APART) * less);
        // Nothing at all against something that matters is not noise, and has no logarithm.
        if values.values().flat_map(BTreeMap::values).any(|v| *v <= 0.0) {
            return each;
        }
        let layout = Layout::new(
            values
                .values()
                .enumerate()
                .map(|(column, by_block)| Series {
                    group: 0,
                    column,
                    kind: 0,
                    process: 0,
                    by_block: by_block.iter().map(|(block, value)| (*block, value.ln())).collect(),
                })
                .collect(),
        );
        let position = |node: HostId| values.keys().position(|known| *known == node);
        let contrast =
            position(self.most.0).zip(position(self.least.0)).and_then(|(most, least)| layout.contrast(most, least));
        let n = self.nodes as f64;
        contrast.map_or(each, |contrast| contrast.interval(LEVEL / (n * (n - 1.0) / 2.0)).0 > 1.0)
    }

    fn figures(&self, figure: NodeFigure, volume: Option<VolumeRole>) -> UnequalNodes {
        UnequalNodes {
            figure,
            volume,
            most_of: self.most.0,
            most: self.most.1,
            least_of: self.least.0,
            least: self.least.1,
            // Of the smaller: what is nothing on one node is not a multiple of it.
            less_by_share: 1.0 - self.least.1 / self.most.1,
            nodes: self.nodes as u64,
            trials: self.trials as u64,
            threshold: APART,
        }
    }
}

#[cfg(test)]
mod tests;
