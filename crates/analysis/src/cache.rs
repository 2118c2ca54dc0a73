//! Cold against warm: cells that differ by nothing but what was in the page cache when their warm-up began.
//!
//! They are of different workloads in the plan, so that no configuration is chosen by comparing one state with the
//! other. Here the same comparison is made with the state in the place of the configuration.

use experiment::Plan;

use crate::comparisons::Comparisons;
use crate::document::{CacheEffect, CellAnalysis, Metric};
use crate::figures::Figures;

/// Every such pair of cells, in the order of the experiment.
pub fn effects(plan: &Plan, cells: &[CellAnalysis], figures: &Figures<'_>, margin: f64) -> Vec<CacheEffect> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (cold, warm) in plan.caches.pairs() {
        for (i, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.workload == cold) {
            let is_other =
                |c: &CellAnalysis| c.workload == warm && c.configuration == cell.configuration && c.load == cell.load;
            pairs.extend(cells.iter().position(is_other).map(|other| (i, other)));
        }
    }
    pairs.sort_unstable();
    // Cells as if the state were what is bought.
    let in_state = |i: usize, state: &str| CellAnalysis {
        configuration: state.to_owned(),
        workload: format!("{}.{}", cells[i].configuration, original(plan, &cells[i].workload)),
        ..cells[i].clone()
    };
    let by_state: Vec<CellAnalysis> =
        pairs.iter().flat_map(|(cold, warm)| [in_state(*cold, "cold"), in_state(*warm, "warm")]).collect();
    let [throughput, p99] =
        [Metric::Throughput, Metric::P99].map(|metric| Comparisons::new(metric, &by_state, figures, margin));
    let effect = |(at, (cold, warm)): (usize, &(usize, usize))| {
        let (cold, warm) = (&cells[*cold], &cells[*warm]);
        CacheEffect {
            configuration: cold.configuration.clone(),
            workload: original(plan, &cold.workload).to_owned(),
            load: cold.load,
            cold: cold.id.clone(),
            warm: warm.id.clone(),
            throughput: throughput.ratio(2 * at + 1, 2 * at),
            p99: p99.ratio(2 * at + 1, 2 * at),
            cold_device_reads_per_operation: cold.device_reads_per_operation,
            warm_device_reads_per_operation: warm.device_reads_per_operation,
            warming_s: warming_s(figures, &warm.id),
        }
    };
    pairs.iter().enumerate().map(effect).collect()
}

/// What the experiment calls a workload.
fn original<'a>(plan: &'a Plan, workload: &'a str) -> &'a str {
    let condition = plan.caches.conditions.get(workload);
    condition.map_or(workload, |condition| condition.of.as_str())
}

/// Seconds that warming took, median over trials.
fn warming_s(figures: &Figures<'_>, cell: &str) -> Option<f64> {
    let slowest = |trial: &&crate::TrialMeasurement| {
        let nodes = trial.record.nodes.iter();
        nodes.filter_map(|node| Some(node.warmed?.seconds)).max_by(f64::total_cmp)
    };
    stats::median(figures.trials(cell).iter().filter_map(slowest))
}
