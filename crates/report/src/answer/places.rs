//! Workload and load level in words.

use analysis::{Analysis, LoadLevel};

use crate::figures::listed;
use crate::labels;

/// Places that are named one by one.
const NAMED: usize = 3;

/// Names a place by what tells it from the others: `read-heavy`, `64 in flight`, `read-heavy at 64 in flight`; empty
/// where there is only one.
pub fn name(analysis: &Analysis, workload: &str, load: Option<LoadLevel>) -> String {
    let has_other_workloads = analysis.workloads.len() > 1;
    let load = load.filter(|load| analysis.cells.iter().any(|c| c.load != *load));
    match (has_other_workloads, load) {
        (false, None) => String::new(),
        (true, None) => workload.to_owned(),
        (false, Some(load)) => labels::load(load),
        (true, Some(load)) => format!("{workload} at {}", labels::load(load)),
    }
}

/// The same behind a clause: ` under read-heavy`, ` at 64 in flight`; empty where there is only one place.
pub fn at(analysis: &Analysis, workload: &str, load: Option<LoadLevel>) -> String {
    let name = name(analysis, workload, load);
    match (name.is_empty(), analysis.workloads.len() > 1) {
        (true, _) => name,
        (false, true) => format!(" under {name}"),
        (false, false) => format!(" at {name}"),
    }
}

/// A cell among the others: `rf3`, `rf3 under read-heavy at 64 in flight`.
pub fn cell(analysis: &Analysis, cell: &analysis::CellAnalysis) -> String {
    format!("{}{}", cell.configuration, at(analysis, &cell.workload, Some(cell.load)))
}

/// The same for several places: ` under reads and writes`; of more than so many, their number.
pub fn all<'a>(analysis: &Analysis, places: impl Iterator<Item = (&'a String, LoadLevel)>) -> String {
    let all: Vec<(&String, LoadLevel)> = places.collect();
    match all.as_slice() {
        [(workload, load)] => at(analysis, workload, Some(*load)),
        many if many.len() > NAMED => format!(" in {} places", many.len()),
        many => {
            let names = many.iter().map(|(workload, load)| name(analysis, workload, Some(*load)));
            let by = if analysis.workloads.len() > 1 { "under" } else { "at" };
            format!(" {by} {}", listed(names))
        }
    }
}

/// Entries with the same text, under the names of all of them.
pub fn grouped(entries: Vec<(String, String)>) -> Vec<(Vec<String>, String)> {
    let groups = analysis::grouped(entries.into_iter().map(|(name, text)| (text, name)));
    groups.into_iter().map(|(text, names)| (names, text)).collect()
}
