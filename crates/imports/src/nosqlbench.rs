//! NoSQLBench: the CSV of a timer (`--report-csv-to`), such as `cycles.servicetime.csv`: a line every few seconds, with
//! the time of day and how many operations there were so far.
//!
//! Its mean and its percentiles are those of a reservoir that forgets (Dropwizard Metrics,
//! `ExponentiallyDecayingReservoir`), not of the run, and are not taken. What was done before the first line has no
//! time, and is not taken either.

use std::collections::BTreeMap;

use evidence::{CountedFrom, OperationKind, Progress, Tool};

use crate::results::named;
use crate::{Refusal, Results, StatedLoad, lines};

/// What its first line begins with.
pub const HEAD: &str = "t,count,max,mean,min,stddev,p50,";
/// Columns that Dropwizard's reporter has of a histogram; a timer has some more.
const COLUMNS_LEAST: usize = 12;

/// `operation` is what its cycles do.
pub fn read(text: &str, operation: Option<OperationKind>) -> Result<Results, Refusal> {
    let operation = named(operation)?;
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for (at, line) in lines::numbered(text) {
        if line.starts_with(HEAD) {
            if !rows.is_empty() {
                let help = "one file is one run: cut it where the next one begins";
                return Err(Refusal::at(at, "a second run begins here").help(help));
            }
            continue;
        }
        let parts: Vec<&str> = line.split(',').collect();
        if parts.len() < COLUMNS_LEAST {
            return Err(Refusal::expected(at, "at least 12 columns, `t` and `count` first", line));
        }
        let row = (lines::number(at, parts[0], line)?, lines::number(at, parts[1], line)?);
        if rows.last().is_some_and(|(before, _)| row.0 <= *before) {
            return Err(Refusal::expected(at, "a later time than in the line before", line));
        }
        rows.push(row);
    }
    let mut left_out = vec![
        "Mean and percentiles are those of the last seconds, not of the run.".to_owned(),
        "What was done before the first line has no time.".to_owned(),
        "Errors are in other files of NoSQLBench.".to_owned(),
    ];
    let all = rows.len();
    while let [.., before, last] = rows.as_slice()
        && before.1 == last.1
    {
        rows.pop();
    }
    if rows.len() < all {
        left_out.push(format!("Nothing was done any more in the last {} lines.", all - rows.len()));
    }
    let [first, .., last] = rows.as_slice() else {
        return Err(Refusal::whole("expected at least two lines between which something was done"));
    };
    let (measured_s, done) = (last.0 - first.0, last.1 - first.1);
    if done <= 0.0 {
        return Err(Refusal::whole(format!("{} operations at its end are no more than {} at first", last.1, first.1)));
    }
    let line = |pair: &[(f64, f64)]| Progress {
        from_s: pair[0].0 - first.0,
        to_s: pair[1].0 - first.0,
        operations: pair[1].1 - pair[0].1,
    };
    Ok(Results {
        tool: Tool::NoSqlBench,
        version: None,
        measured_s,
        completed: BTreeMap::from([(operation, done as u64)]),
        failed: BTreeMap::new(),
        stated_ops_per_s: done / measured_s,
        latencies: BTreeMap::new(),
        counted_from: CountedFrom::Sent,
        is_from_shown: true,
        has_intended: false,
        load: StatedLoad::default(),
        progress: rows.windows(2).map(line).collect(),
        clocks: None,
        left_out,
    })
}
