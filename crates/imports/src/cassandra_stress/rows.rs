//! The lines of progress: `total,  4884,  4884, ...` below `type  total ops,  op/s, ...`.

use std::collections::BTreeMap;

use evidence::Progress;

use crate::{Refusal, lines};

/// What all lines together are called.
const ALL: &str = "total";

/// The lines so far.
#[derive(Debug, Default)]
pub struct Rows {
    columns: Option<Columns>,
    /// (seconds, operations so far) by type.
    by_type: BTreeMap<String, Vec<(f64, f64)>>,
}

#[derive(Debug, Clone, Copy)]
struct Columns {
    number: usize,
    operations: usize,
    time: usize,
}

impl Rows {
    /// Takes in a line; whether it is one of the progress.
    pub fn take(&mut self, at: usize, line: &str) -> Result<bool, Refusal> {
        if line.starts_with("type ") || line.starts_with("type,") {
            // `type       total ops,`: no comma stands after the first name.
            let line = line.trim_start_matches("type").trim_start_matches(',');
            let names: Vec<&str> = line.split(',').map(str::trim).collect();
            let place = |name: &str| names.iter().position(|n| *n == name).map(|place| place + 1);
            let found = place("total ops").zip(place("time"));
            let (operations, time) =
                found.ok_or_else(|| Refusal::expected(at, "columns `total ops` and `time`", line))?;
            self.columns = Some(Columns { number: names.len() + 1, operations, time });
            return Ok(true);
        }
        let Some(columns) = self.columns else { return Ok(false) };
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        let is_row = values.len() > 3 && values[1].starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if !is_row {
            return Ok(false);
        }
        if values.len() != columns.number {
            return Err(Refusal::expected(at, &format!("{} columns, as above", columns.number), line));
        }
        let seconds = lines::number(at, values[columns.time], line)?;
        let operations = lines::number(at, values[columns.operations], line)?;
        self.by_type.entry(values[0].to_owned()).or_default().push((seconds, operations));
        Ok(true)
    }

    /// Operations of a type by its last line.
    pub fn operations_of(&self, name: &str) -> Option<u64> {
        self.by_type.get(name)?.last().map(|(_, operations)| *operations as u64)
    }

    /// All operations by the last line.
    pub fn operations(&self) -> Option<u64> {
        self.operations_of(ALL)
    }

    /// When the last line was written, seconds.
    pub fn seconds(&self) -> Option<f64> {
        self.by_type.get(ALL)?.last().map(|(seconds, _)| *seconds).filter(|seconds| *seconds > 0.0)
    }

    /// What was done between the lines.
    pub fn progress(&self) -> Vec<Progress> {
        let mut from = (0.0, 0.0);
        let mut progress = Vec::new();
        for (seconds, operations) in self.by_type.get(ALL).map_or(&[][..], Vec::as_slice) {
            // Two lines of one moment are one.
            if *seconds > from.0 {
                progress.push(Progress { from_s: from.0, to_s: *seconds, operations: operations - from.1 });
                from = (*seconds, *operations);
            }
        }
        progress
    }
}
