//! A compaction beside the load, configurations side by side: how long it took, and what it left of throughput and latency. So
//! that the effect of a setting is seen in one table.

use analysis::{Analysis, CellAnalysis, NodeFaultKind, PhaseAnalysis, PhaseKind, Summary};

use crate::faults::with_range;
use crate::figures::{MIB, MISSING, number};
use crate::labels;

/// Over the table.
pub const TITLE: &str =
    "The compaction, configurations side by side; medians (lowest to highest) over valid repetitions";
/// The head; the first [`TEXTS`] columns are text.
pub const HEAD: [&str; 13] = [
    "Configuration",
    "Workload",
    "Load",
    "Took, s",
    "Written, MiB",
    "MiB/s",
    "Op/s before",
    "during",
    "during / before",
    "after",
    "p99 before, ms",
    "during",
    "after",
];

/// Columns of text at the beginning.
pub const TEXTS: usize = 3;

/// A row: a cell in which a node compacted.
pub struct Row<'a> {
    /// The cell.
    pub cell: &'a CellAnalysis,
    /// From its beginning until it was done.
    pub took: String,
    /// What it wrote.
    pub written: String,
    /// The same a second, both at the median.
    pub rate: String,
    /// Throughput before, during and after it.
    pub throughput: [String; 3],
    /// Throughput during it / before it, both at the median.
    pub kept: String,
    /// p99 of all operations before, during and after it, milliseconds.
    pub p99: [String; 3],
}

impl Row<'_> {
    /// In the order of [`HEAD`].
    pub fn columns(self) -> Vec<String> {
        let cell = self.cell;
        let place = [
            cell.configuration.clone(),
            cell.workload.clone(),
            labels::load(cell.load),
        ];
        place.into_iter().chain(self.numbers()).collect()
    }

    /// What follows the text.
    pub fn numbers(self) -> [String; 10] {
        let [before, during, after] = self.throughput;
        let [p99_before, p99_during, p99_after] = self.p99;
        [
            self.took,
            self.written,
            self.rate,
            before,
            during,
            self.kept,
            after,
            p99_before,
            p99_during,
            p99_after,
        ]
    }
}

/// All of them; none where there is nothing to set beside another.
pub fn rows(analysis: &Analysis) -> Vec<Row<'_>> {
    let rows: Vec<Row<'_>> = analysis.cells.iter().filter_map(row).collect();
    if rows.len() < 2 { Vec::new() } else { rows }
}

fn row(cell: &CellAnalysis) -> Option<Row<'_>> {
    let faults = cell.faults.as_ref()?;
    let index = faults.faults.iter().position(|f| f.kind == NodeFaultKind::Compaction)?;
    let fault = &faults.faults[index];
    let of_fault = |p: &&PhaseAnalysis| p.fault.is_some_and(|n| n as usize == index + 1);
    let phase = |kind: PhaseKind| faults.phases.iter().filter(of_fault).find(|p| p.phase == kind);
    // Before it is after the fault before it, if there was one.
    let start = faults.phases.iter().position(|p| of_fault(&p))?;
    let before = faults.phases[..start].last();
    let phases = [before, phase(PhaseKind::During), phase(PhaseKind::After)];
    let figure = |pick: fn(&PhaseAnalysis) -> Option<Summary>, unit: f64| {
        phases.map(|phase| with_range(phase.and_then(pick), unit))
    };
    let median = |phase: Option<&PhaseAnalysis>| Some(phase?.throughput_ops_per_s?.median);
    let ratio = |of: Option<f64>, to: Option<f64>| match (of, to) {
        (Some(of), Some(to)) if to > 0.0 => number(of / to),
        _ => MISSING.to_owned(),
    };
    let written = fault.compacted_bytes.map(|bytes| bytes.median / MIB);
    Some(Row {
        cell,
        took: match (fault.away_s, fault.not_back) {
            (None, _) => "not done".to_owned(),
            (took, 0) => with_range(took, 1.0),
            (took, n) => format!("{}; not done in {n} of {}", with_range(took, 1.0), fault.trials),
        },
        written: with_range(fault.compacted_bytes, MIB),
        rate: ratio(written, fault.away_s.map(|took| took.median)),
        throughput: figure(|p| p.throughput_ops_per_s, 1.0),
        kept: ratio(median(phases[1]), median(phases[0])),
        p99: figure(|p| p.p99_us, 1e3),
    })
}
