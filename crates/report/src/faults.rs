//! Planned faults: the table of each cell before, during and after them, and sentences on each cell.

use analysis::{Analysis, CellAnalysis, NodeFaultKind, PhaseAnalysis, Summary};

use crate::answer;
use crate::figures::{MISSING, count, number, percent};
use crate::wording::faults;

/// Name of the section.
pub fn title(analysis: &Analysis) -> &'static str {
    let faults = || {
        analysis
            .cells
            .iter()
            .filter_map(|c| c.faults.as_ref())
            .flat_map(|f| &f.faults)
    };
    let disks = faults().any(|f| f.kind.is_of_disk());
    let nodes = faults().any(|f| f.kind.takes_node_away());
    let compactions = faults().any(|f| f.kind == NodeFaultKind::Compaction);
    faults::title(nodes, disks, compactions)
}

/// A row: a phase of a cell.
pub struct Row<'a> {
    /// The cell.
    pub cell: &'a CellAnalysis,
    /// The phase.
    pub phase: &'a PhaseAnalysis,
    /// Its name: `during`; of several faults `during 2`.
    pub name: String,
}

/// All phases of all cells; none where nothing was done to a node.
pub fn rows(analysis: &Analysis) -> Vec<Row<'_>> {
    analysis.cells.iter().flat_map(rows_of).collect()
}

fn rows_of(cell: &CellAnalysis) -> Vec<Row<'_>> {
    let Some(faults) = &cell.faults else {
        return Vec::new();
    };
    let row = |phase| Row {
        cell,
        phase,
        name: faults::phase(phase, faults.faults.len()),
    };
    faults.phases.iter().map(row).collect()
}

/// Whether there is anything to tell.
pub fn any(analysis: &Analysis) -> bool {
    analysis.cells.iter().any(|c| c.faults.is_some() || c.writes.is_some())
}

/// What happened in each cell: its name, and the sentences.
pub fn reported(analysis: &Analysis) -> impl Iterator<Item = (String, Vec<String>)> + '_ {
    let with_words = analysis.cells.iter().map(|cell| (cell, faults::sentences(cell)));
    with_words
        .filter(|(_, sentences)| !sentences.is_empty())
        .map(|(cell, sentences)| (name(analysis, cell), sentences))
}

/// `rf3`, `rf3 under read-heavy at 64 in flight`.
pub fn name(analysis: &Analysis, cell: &CellAnalysis) -> String {
    format!(
        "{}{}",
        cell.configuration,
        answer::at_place(analysis, &cell.workload, Some(cell.load))
    )
}

/// A figure with its range over repetitions: `600 (580-620)`.
pub fn with_range(figure: Option<Summary>, unit: f64) -> String {
    let shown = |v: f64| number(v / unit);
    match figure {
        None => MISSING.to_owned(),
        Some(s) if s.low < s.high => format!("{} ({}-{})", shown(s.median), shown(s.low), shown(s.high)),
        Some(s) => shown(s.median),
    }
}

/// Failed operations with their share: `1,203 (2.1 %)`; nothing is known where nothing ended.
pub fn errors(phase: &PhaseAnalysis) -> String {
    match (phase.operations, phase.failed(), phase.error_share) {
        (0, ..) => MISSING.to_owned(),
        (_, 0, _) | (_, _, None) => count(phase.failed()),
        (_, failed, Some(share)) => format!("{} ({})", count(failed), percent(share.median)),
    }
}
