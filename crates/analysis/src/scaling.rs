//! Throughput over the number of nodes, where a matrix has clusters that differ in nothing else.

use experiment::{Placement, Plan, Setup};

use crate::comparisons::Comparisons;
use crate::document::{Metric, Range, Scaling, ScalingPoint};
use crate::figures::Figures;
use crate::lists::{each_once, grouped};

/// Every such group of cells with at least three numbers of nodes.
pub fn scalings(plan: &Plan, setups: &[Setup], figures: &Figures<'_>, throughput: &Comparisons) -> Vec<Scaling> {
    let spread = throughput.spread().map(|s| (s.deviation, s.degrees));
    let mut found = Vec::new();
    for (_, setups) in grouped(setups.iter().map(|setup| (besides_nodes(setup), setup))) {
        for place in each_once(plan.cells.iter().map(|c| (&c.workload, c.load))) {
            found.extend(of_place(plan, &setups, place, figures, spread));
        }
    }
    found
}

/// A configuration without what differs between clusters that are compared by their nodes: its name, nodes and racks,
/// and the room that each node's part of the data set needs.
fn besides_nodes(setup: &Setup) -> Setup {
    let mut kind = setup.clone();
    kind.configuration.clear();
    kind.placement = Placement { replication_factor: setup.placement.replication_factor, ..Placement::ONE_NODE };
    kind.data.size_bytes = 0;
    kind.more_data.iter_mut().for_each(|volume| volume.size_bytes = 0);
    kind
}

fn of_place(
    plan: &Plan,
    setups: &[&Setup],
    (workload, load): (&String, experiment::LoadLevel),
    figures: &Figures<'_>,
    spread: Option<(f64, f64)>,
) -> Option<Scaling> {
    let mut cells: Vec<(&Setup, Vec<f64>)> = setups
        .iter()
        .filter_map(|setup| {
            let is_it = |c: &&experiment::Cell| {
                c.configuration == setup.configuration && c.workload == *workload && c.load == load
            };
            let cell = plan.cells.iter().find(is_it)?;
            let trials: Vec<f64> = figures.by_block(&cell.id, Metric::Throughput).into_values().collect();
            (!trials.is_empty()).then_some((*setup, trials))
        })
        .collect();
    cells.sort_by_key(|(setup, _)| setup.placement.nodes);
    let nodes = |setup: &Setup| f64::from(setup.placement.nodes);
    let values: Vec<(f64, Vec<f64>)> = cells.iter().map(|(setup, trials)| (nodes(setup), trials.clone())).collect();
    let fitted = stats::scalability(&values, spread, plan.seed)?;
    let range = |median: f64, bounds: Option<stats::Bounds>| bounds.map(|b| Range { median, low: b.low, high: b.high });
    let most = nodes(cells.last()?.0);
    let points = cells.iter().map(|(setup, trials)| {
        Some(ScalingPoint {
            configuration: setup.configuration.clone(),
            nodes: setup.placement.nodes,
            ops_per_s: stats::geometric_mean(trials)?,
            by_law_ops_per_s: fitted.law.at(nodes(setup)),
        })
    });
    Some(Scaling {
        workload: workload.clone(),
        load,
        replication_factor: cells.first()?.0.placement.replication_factor,
        points: points.collect::<Option<_>>()?,
        of_one_ops_per_s: fitted.law.of_one,
        contention: fitted.law.contention,
        contention_range: range(fitted.law.contention, fitted.contention),
        coherency: fitted.law.coherency,
        coherency_range: range(fitted.law.coherency, fitted.coherency),
        efficiency: fitted.law.efficiency(most),
        efficiency_range: range(fitted.law.efficiency(most), fitted.efficiency),
        peak_nodes: fitted.law.peak(),
    })
}
