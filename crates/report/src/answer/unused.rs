//! IOPS that were paid and that nothing used, because the volume's bytes a second ended before.

use analysis::{Analysis, CellAnalysis, CostKind, LimitKind};

use super::places;
use crate::figures::{when, whole, whole_percent};
use crate::wording::limits::fullest;

/// IOPS are unused up to this share of them: with more, what is bought next would have to be both.
const UNUSED: f64 = 0.8;

/// A sentence for each configuration that pays for IOPS, was limited by bytes a second, and had IOPS to spare in every
/// cell.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    // Where IOPS come with a size, a type or a machine, fewer of them cost no less.
    let pays = analysis.configurations.iter().filter(|c| c.cost_lines.iter().any(|line| line.kind == CostKind::Iops));
    pays.filter_map(|configuration| of(analysis, &configuration.name)).collect()
}

fn of(analysis: &Analysis, name: &str) -> Option<String> {
    let is_judged = |c: &&CellAnalysis| c.configuration == name && c.valid_trials > 0 && c.withheld.is_none();
    let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(is_judged).collect();
    let limited: Vec<&&CellAnalysis> = cells.iter().filter(|c| c.limit.kind == LimitKind::VolumeThroughput).collect();
    let all = cells.iter().filter_map(|c| Some((c, fullest(&c.limit, LimitKind::VolumeIops)?)));
    let (cell, most) = all.max_by(|(_, a), (_, b)| a.share().total_cmp(&b.share()))?;
    if limited.is_empty() || most.share() > UNUSED {
        return None;
    }
    let is_one = cell.nodes.is_empty() && cell.data_volumes.is_empty();
    let place =
        when(limited.len() < cells.len(), || places::all(analysis, limited.iter().map(|c| (&c.workload, c.load))));
    Some(format!(
        "{name} was limited by MB/s{place} and used {}{} of the {} IOPS of its {}: for requests of this size the rest \
         buys nothing.",
        if cells.len() > 1 { "at most " } else { "" },
        whole_percent(most.share()),
        whole(most.capacity * analysis.scale),
        if is_one { "volume" } else { "fullest volume" }
    ))
}
