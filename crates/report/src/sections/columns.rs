//! What tables of different sections begin with.

use analysis::{CellAnalysis, Estimate, LoadLevel};

use crate::document::table::{Cell, Rows, column, range, rows};
use crate::labels;

/// A row for each of these, beginning with configuration, workload and load, the latter two where they differ.
pub fn placed<T>(
    label: impl Into<String>,
    of: impl IntoIterator<Item = T>,
    place: impl Fn(&T) -> (&String, &String, LoadLevel),
) -> Rows<T> {
    rows(label, of)
        .text(column("Configuration").once(), |of| place(of).0.clone())
        .text(column("Workload").varies().once(), |of| place(of).1.clone())
        .text(column("Load").varies().once(), |of| labels::load(place(of).2))
}

pub fn place(cell: &CellAnalysis) -> (&String, &String, LoadLevel) {
    (&cell.configuration, &cell.workload, cell.load)
}

/// An estimate between the ends of its interval.
pub fn estimate(estimate: Option<Estimate>) -> Option<Cell> {
    estimate.map(|e| range(e.median, e.low, e.high))
}
