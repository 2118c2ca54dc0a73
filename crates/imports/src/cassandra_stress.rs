//! `cassandra-stress` of Cassandra 2.1 and later: settings, progress and results as it prints them (`-log` or stdout).
//!
//! What it prints is in `org.apache.cassandra.stress`: `StressMetrics` (progress, results), `SettingsRate` (settings).

mod rows;

use std::collections::BTreeMap;

use evidence::{CountedFrom, ErrorKind, OperationKind, StatedLatency, Tool};

use self::rows::Rows;
use crate::{Refusal, Results, StatedLoad, lines};

/// What it rounds latencies to, microseconds.
const ROUNDED_US: f64 = 100.0;
/// What that comes to.
pub const ROUNDED: &str = "Latencies are rounded to 0.1 ms by the tool: a short one may be off by half of that.";

/// A figure of the results: of all operations, and of each kind by its name.
#[derive(Debug, Default)]
struct Figure {
    line: usize,
    all: f64,
    each: Vec<(String, f64)>,
}

#[derive(Debug, Default)]
struct File {
    threads: Option<u32>,
    rate: Option<f64>,
    /// `write`, `read`, `mixed`, `user`.
    kind: Option<String>,
    /// Whether latencies count from the schedule; `None`: there is no command line that keeps to a rate.
    is_from_schedule: Option<bool>,
    rows: Rows,
    is_in_results: bool,
    figures: BTreeMap<String, Figure>,
}

/// Figures of the results that are used, in lower case.
const USED: [&str; 9] = [
    "op rate",
    "latency mean",
    "latency median",
    "latency 95th percentile",
    "latency 99th percentile",
    "latency 99.9th percentile",
    "latency max",
    "total partitions",
    "total errors",
];
/// Those that are known and not used.
const KNOWN: [&str; 12] = [
    "partition rate",
    "row rate",
    "total gc count",
    "total gc memory",
    "total gc time",
    "avg gc time",
    "stddev gc time",
    "total operation time",
    // As 2.1 calls them.
    "total gc mb",
    "total gc time (s)",
    "avg gc time(ms)",
    "stdev gc time(ms)",
];

pub fn read(text: &str) -> Result<Results, Refusal> {
    let mut file = File::default();
    for (at, line) in lines::numbered(text) {
        file.take(at, line)?;
    }
    file.results()
}

/// What a kind is called; `insert` and the queries of a profile by the user's own names.
pub fn kind(at: usize, name: &str) -> Result<OperationKind, Refusal> {
    match name {
        "READ" | "read" => Ok(OperationKind::Read),
        // Whether the key was there before is not stated.
        "WRITE" | "write" => Ok(OperationKind::Update),
        "insert" => Ok(OperationKind::Insert),
        _ => Err(Refusal::expected(at, "operations of kind READ, WRITE or insert", name)
            .help("counters and the queries of a profile are no kind of operation that is known here")),
    }
}

impl File {
    fn take(&mut self, at: usize, line: &str) -> Result<(), Refusal> {
        if line == "Results:" {
            if self.is_in_results {
                let help = "one file is one run at one number of threads: cut it where the next one begins";
                return Err(Refusal::at(at, "results of a second run begin here").help(help));
            }
            self.is_in_results = true;
            return Ok(());
        }
        if self.is_in_results {
            return self.take_result(at, line);
        }
        if self.rows.take(at, line)? {
            return Ok(());
        }
        if line.contains("cassandra-stress ") && (line.contains("fixed=") || line.contains("throttle=")) {
            self.is_from_schedule = Some(line.contains("fixed="));
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(()) };
        match (name.trim(), value.trim()) {
            ("Type", value) => self.kind = Some(value.to_owned()),
            ("Thread Count" | "Thread count", value) => {
                let threads = u32::try_from(lines::count(at, &lines::without_commas(at, value, line)?, line)?).ok();
                self.threads = threads.filter(|n| *n > 0);
            }
            ("OpsPer Sec", value) => {
                let rate = lines::number(at, &lines::without_commas(at, value, line)?, line)?;
                self.rate = Some(rate).filter(|rate| *rate > 0.0);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_result(&mut self, at: usize, line: &str) -> Result<(), Refusal> {
        if line == "END" || line.starts_with("Improvement over") || line.starts_with("Sleeping ") {
            return Ok(());
        }
        let figure = line.split_once(':').map(|(name, value)| (name.trim().to_lowercase(), value.trim()));
        let figure = figure.filter(|(name, _)| USED.contains(&name.as_str()) || KNOWN.contains(&name.as_str()));
        let Some((name, value)) = figure else {
            return Err(Refusal::expected(at, "a figure of the results, such as `Latency mean`, or END", line));
        };
        if !USED.contains(&name.as_str()) {
            return Ok(());
        }
        let (all, each) = value.split_once('[').map_or((value, ""), |(all, each)| (all, each.trim_end_matches(']')));
        let number = |text: &str| {
            let plain = lines::without_commas(at, text.split_whitespace().next().unwrap_or(""), line)?;
            lines::number(at, &plain, line)
        };
        let mut figure = Figure { line: at, all: number(all)?, each: Vec::new() };
        for part in each.split(", ").filter(|part| !part.trim().is_empty()) {
            let (kind, value) = part.rsplit_once(':').ok_or_else(|| Refusal::expected(at, "`KIND: NUMBER`", line))?;
            figure.each.push((kind.trim().to_owned(), number(value)?));
        }
        if self.figures.insert(name, figure).is_some() {
            return Err(Refusal::at(at, "the same figure stands twice in one result"));
        }
        Ok(())
    }

    fn figure(&self, name: &str) -> Result<&Figure, Refusal> {
        let missing = || {
            Refusal::whole(format!("`{name}` is missing in the results"))
                .help("a run that was stopped before its end has no results")
        };
        self.figures.get(name).ok_or_else(missing)
    }

    /// Each kind with the name that it has in the file; the results, or the settings where these name none.
    fn kinds(&self) -> Result<Vec<(OperationKind, Option<String>)>, Refusal> {
        let rate = self.figure("op rate")?;
        if rate.each.is_empty() {
            let name = self.kind.as_deref().unwrap_or("of no name");
            return Ok(vec![(kind(rate.line, name)?, None)]);
        }
        let mut kinds: Vec<(OperationKind, Option<String>)> = Vec::new();
        for (name, _) in &rate.each {
            let kind = kind(rate.line, name)?;
            if kinds.iter().any(|(known, _)| *known == kind) {
                return Err(Refusal::at(rate.line, format!("operations of kind {} stand twice", kind.name())));
            }
            kinds.push((kind, Some(name.clone())));
        }
        Ok(kinds)
    }

    /// Takes those that failed out of the operations: the tool counts them among all. Whether their kinds are known.
    fn without_failed(
        &self,
        kinds: &[(OperationKind, Option<String>)],
        completed: &mut BTreeMap<OperationKind, u64>,
    ) -> bool {
        let Some(errors) = self.figures.get("total errors").filter(|errors| errors.all > 0.0) else { return true };
        let of_kind = |name: &Option<String>| {
            let stated = errors.each.iter().find(|(kind, _)| Some(kind) == name.as_ref()).map(|(_, n)| *n);
            stated.or((kinds.len() == 1).then_some(errors.all))
        };
        let failed: Option<Vec<f64>> = kinds.iter().map(|(_, name)| of_kind(name)).collect();
        for ((kind, _), failed) in kinds.iter().zip(failed.iter().flatten()) {
            if let Some(n) = completed.get_mut(kind) {
                *n = n.saturating_sub(*failed as u64);
            }
        }
        failed.is_some()
    }

    fn results(self) -> Result<Results, Refusal> {
        let rate = self.figure("op rate")?;
        let kinds = self.kinds()?;
        let mut left_out = vec![ROUNDED.to_owned()];
        let mut completed = BTreeMap::new();
        for (kind, name) in &kinds {
            let counted = name.as_deref().and_then(|name| self.rows.operations_of(name));
            let only = (kinds.len() == 1).then(|| self.rows.operations()).flatten();
            let n = match counted.or(only) {
                Some(n) => n,
                None => {
                    left_out.push("Operations are taken to be the partitions: there is no progress.".to_owned());
                    of(self.figure("total partitions")?, name.as_deref())? as u64
                }
            };
            completed.insert(*kind, n);
        }
        let all = completed.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let measured_s = match self.rows.seconds() {
            Some(seconds) => seconds,
            // The total time is stated in whole seconds.
            None => all as f64 / rate.all.max(f64::MIN_POSITIVE),
        };
        let errors = self.figures.get("total errors").map_or(0, |figure| figure.all as u64);
        let stated_ops_per_s = match self.without_failed(&kinds, &mut completed) {
            true => (rate.all - errors as f64 / measured_s).max(0.0),
            false => {
                let what = "Operations that failed are among those that are counted: of which kind they were is not \
                            stated.";
                left_out.push(what.to_owned());
                rate.all
            }
        };
        let mut latencies = BTreeMap::new();
        for (kind, name) in &kinds {
            let us = |figure: &str| of(self.figure(figure)?, name.as_deref()).map(|ms| ms * 1e3);
            let stated = StatedLatency {
                samples: completed.get(kind).copied().unwrap_or(0),
                mean_us: us("latency mean")?,
                p50_us: Some(us("latency median")?),
                p95_us: Some(us("latency 95th percentile")?),
                p99_us: Some(us("latency 99th percentile")?),
                p999_us: Some(us("latency 99.9th percentile")?),
                max_us: us("latency max")?,
            };
            latencies.insert(*kind, stated);
        }
        if latencies.values().all(|stated| stated.mean_us > 50.0 * ROUNDED_US) {
            left_out.retain(|what| what != ROUNDED);
        }
        completed.retain(|_, n: &mut u64| *n > 0);
        let failed = if errors > 0 { BTreeMap::from([(ErrorKind::Other, errors)]) } else { BTreeMap::new() };
        left_out.dedup();
        Ok(Results {
            tool: Tool::CassandraStress,
            version: None,
            measured_s,
            completed,
            failed,
            stated_ops_per_s,
            latencies,
            counted_from: if self.is_from_schedule == Some(true) { CountedFrom::Due } else { CountedFrom::Sent },
            is_from_shown: self.is_from_schedule.is_some(),
            has_intended: false,
            load: StatedLoad { in_flight: self.threads, rate_per_s: self.rate },
            progress: self.rows.progress(),
            clocks: None,
            left_out,
        })
    }
}

/// A figure of the kind of this name; of all where it names none.
fn of(figure: &Figure, name: Option<&str>) -> Result<f64, Refusal> {
    let Some(name) = name else { return Ok(figure.all) };
    let found = figure.each.iter().find(|(kind, _)| kind == name).map(|(_, value)| *value);
    found.ok_or_else(|| Refusal::at(figure.line, format!("expected `[{name}: NUMBER]` as in the first figure")))
}
