//! YCSB 0.12 to 0.17: the summary on stdout, the progress on stderr (`-s`), and the command line, in one file in any
//! order. Lines of loggers between them are passed over; a line that looks like a figure and is none is refused.
//!
//! What the versions print is in `site.ycsb.measurements` (`OneMeasurementHdrHistogram`, `OneMeasurementHistogram`,
//! `OneMeasurementRaw`, `TextMeasurementsExporter`) and `StatusThread`.

mod command;
mod section;
mod status;

use std::collections::BTreeMap;

use evidence::{CountedFrom, ErrorKind, OperationKind, Progress, Tool};

use self::command::Command;
use self::section::Section;
use self::status::Status;
use crate::{Refusal, Results, StatedLoad, lines};

/// The figures of a file, as they come.
#[derive(Debug, Default)]
struct File {
    version: Option<String>,
    command: Command,
    /// Milliseconds, and operations a second, failed ones included.
    run_time_ms: Option<f64>,
    throughput: Option<f64>,
    /// By kind of operation: those that count from the sending, and those from when they were due.
    sent: BTreeMap<OperationKind, Section>,
    due: BTreeMap<OperationKind, Section>,
    status: Status,
    /// (milliseconds of the time of day, how many operations): raw points.
    ended: BTreeMap<u64, u64>,
    is_verified: bool,
}

/// What a section is of.
enum Of {
    Overall,
    /// Figures of the client's own: garbage collection, the closing of connections, the checks of values.
    Aside,
    Kind(OperationKind, CountedFrom),
    /// Latencies of failed operations; how many they are the returns of the operation say.
    Failed,
}

pub fn read(text: &str) -> Result<Results, Refusal> {
    let mut file = File::default();
    for (at, line) in lines::numbered(text) {
        file.take(at, line)?;
    }
    file.results()
}

/// `[READ], Operations, 12`: section, name, value. `None`: not a line of the summary.
fn metric(at: usize, line: &str) -> Result<Option<(&str, &str, &str)>, Refusal> {
    let Some((section, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("],")) else { return Ok(None) };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-%".contains(c);
    if section.is_empty() || !section.chars().all(is_name) {
        return Ok(None);
    }
    let figure = rest.rsplit_once(", ").map(|(name, value)| (name.trim(), value.trim()));
    let figure = figure.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = figure.ok_or_else(|| Refusal::expected(at, "`[OPERATION], NAME, NUMBER`", line))?;
    Ok(Some((section, name, value)))
}

fn of(at: usize, section: &str, line: &str) -> Result<Of, Refusal> {
    if section == "OVERALL" {
        return Ok(Of::Overall);
    }
    if section.starts_with("TOTAL_GC") || ["CLEANUP", "Intended-CLEANUP", "VERIFY"].contains(&section) {
        return Ok(Of::Aside);
    }
    if section.ends_with("-FAILED") {
        return Ok(Of::Failed);
    }
    let (kind, from) = series(section);
    let kind = kind.ok_or_else(|| {
        Refusal::expected(at, "READ, UPDATE, INSERT, SCAN or READ-MODIFY-WRITE", line)
            .help("operations of another kind would be missing in every figure")
    })?;
    Ok(Of::Kind(kind, from))
}

/// What `READ` or `Intended-READ` is of; no kind: of something else.
pub fn series(name: &str) -> (Option<OperationKind>, CountedFrom) {
    let (name, from) = match name.strip_prefix("Intended-") {
        Some(name) => (name, CountedFrom::Due),
        None => (name, CountedFrom::Sent),
    };
    let kind = match name {
        "READ" => Some(OperationKind::Read),
        "UPDATE" => Some(OperationKind::Update),
        "INSERT" => Some(OperationKind::Insert),
        "SCAN" => Some(OperationKind::Scan),
        "READ-MODIFY-WRITE" => Some(OperationKind::ReadModifyWrite),
        _ => None,
    };
    (kind, from)
}

impl File {
    fn take(&mut self, at: usize, line: &str) -> Result<(), Refusal> {
        if let Some((section, name, value)) = metric(at, line)? {
            return self.take_metric(at, line, (section, name, value));
        }
        if let Some(version) = line.strip_prefix("YCSB Client ") {
            self.version = Some(version.trim().to_owned());
        } else if line.starts_with("Command line:") || line.contains("bin/ycsb run ") {
            self.command.take(at, line)?;
        } else if !self.status.take(at, line)? {
            self.take_raw(at, line)?;
        }
        Ok(())
    }

    fn take_metric(
        &mut self,
        at: usize,
        line: &str,
        (section, name, value): (&str, &str, &str),
    ) -> Result<(), Refusal> {
        match of(at, section, line)? {
            Of::Overall => {
                let slot = match name {
                    "RunTime(ms)" => &mut self.run_time_ms,
                    "Throughput(ops/sec)" => &mut self.throughput,
                    _ => return Err(Refusal::expected(at, "`RunTime(ms)` or `Throughput(ops/sec)`", line)),
                };
                if slot.replace(lines::number(at, value, line)?).is_some() {
                    let help = "one file is one run: cut it where the next one begins";
                    return Err(Refusal::at(at, "a second run begins here").help(help));
                }
            }
            Of::Aside => self.is_verified |= section == "VERIFY",
            Of::Failed => {}
            Of::Kind(kind, CountedFrom::Sent) => self.sent.entry(kind).or_default().take(at, line, name, value)?,
            Of::Kind(kind, CountedFrom::Due) => self.due.entry(kind).or_default().take(at, line, name, value)?,
        }
        Ok(())
    }

    /// `READ,1486498173123,1234`: operation, time of day in ms, microseconds.
    fn take_raw(&mut self, at: usize, line: &str) -> Result<(), Refusal> {
        let mut parts = line.split(',');
        let (Some(name), Some(time), Some(us), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return Ok(());
        };
        let (Some(kind), from) = series(name) else { return Ok(()) };
        let (time, us) = (lines::count(at, time, line)?, lines::count(at, us, line)?);
        let sections = if from == CountedFrom::Sent { &mut self.sent } else { &mut self.due };
        sections.entry(kind).or_default().raw.push((us, 1));
        if from == CountedFrom::Sent && kind != OperationKind::ReadModifyWrite {
            *self.ended.entry(time / 1000).or_default() += 1;
        }
        Ok(())
    }

    fn results(self) -> Result<Results, Refusal> {
        let missing = |what: &str| Refusal::whole(format!("`[OVERALL], {what}, NUMBER` is missing"));
        let measured_s = self.run_time_ms.ok_or_else(|| missing("RunTime(ms)"))? / 1e3;
        let throughput = self.throughput.ok_or_else(|| missing("Throughput(ops/sec)"))?;
        let mut left_out = Vec::new();
        let mut failed: BTreeMap<ErrorKind, u64> = BTreeMap::new();
        let returned = self.sent.values().chain(self.due.values().filter(|_| self.sent.is_empty()));
        for (kind, n) in returned.flat_map(Section::failed) {
            *failed.entry(kind).or_default() += n;
        }
        let counted = if self.sent.is_empty() { &self.due } else { &self.sent };
        let mut completed: BTreeMap<OperationKind, u64> =
            counted.iter().map(|(kind, section)| (*kind, section.completed())).collect();
        apart(&mut completed, &failed, &mut left_out)?;
        completed.retain(|_, n| *n > 0);

        let (sections, counted_from) = match (self.due.is_empty(), self.command.is_intended) {
            (false, _) => (&self.due, CountedFrom::Due),
            (true, Some(true)) => (&self.sent, CountedFrom::Due),
            (true, _) => (&self.sent, CountedFrom::Sent),
        };
        if !self.due.is_empty() && !self.sent.is_empty() {
            left_out
                .push("Latencies from the sending stand beside those from the schedule, which were taken.".to_owned());
        }
        let mut latencies = BTreeMap::new();
        for (kind, section) in sections {
            let stated = section.latency(&mut left_out).zip(completed.get(kind));
            let of_kind = |(stated, n): (evidence::StatedLatency, &u64)| {
                (*kind, evidence::StatedLatency { samples: section.samples(*n), ..stated })
            };
            latencies.extend(stated.map(of_kind));
        }
        left_out.sort();
        left_out.dedup();
        if self.is_verified {
            left_out.push("The checks of values (VERIFY) are no operations.".to_owned());
        }
        let all_failed: u64 = failed.values().sum();
        let (mut progress, clocks) = self.status.lines();
        if progress.is_empty() {
            progress = by_second(&self.ended);
        }
        Ok(Results {
            tool: Tool::Ycsb,
            version: self.version,
            measured_s,
            completed,
            failed,
            stated_ops_per_s: (throughput - all_failed as f64 / measured_s).max(0.0),
            latencies,
            counted_from,
            is_from_shown: !self.due.is_empty() || self.command.is_intended.is_some(),
            has_intended: !self.due.is_empty(),
            load: StatedLoad { in_flight: self.command.threads, rate_per_s: self.command.target },
            progress,
            clocks,
            left_out,
        })
    }
}

/// A read-modify-write is counted once more as the read and the update that it is made of, also where these fail: they
/// are taken out of the plain ones.
fn apart(
    completed: &mut BTreeMap<OperationKind, u64>,
    failed: &BTreeMap<ErrorKind, u64>,
    left_out: &mut Vec<String>,
) -> Result<(), Refusal> {
    let Some(both) = completed.get(&OperationKind::ReadModifyWrite).copied().filter(|n| *n > 0) else { return Ok(()) };
    for kind in [OperationKind::Read, OperationKind::Update] {
        let plain = completed.get(&kind).copied().unwrap_or(0).checked_sub(both);
        let plain = plain.ok_or_else(|| {
            Refusal::whole(format!(
                "{both} read-modify-writes are counted, and fewer operations of kind {} without error: how many of \
                 each kind completed is not in the file",
                kind.name()
            ))
        })?;
        completed.insert(kind, plain);
    }
    let what = "READ and UPDATE are also what read-modify-writes are made of: these are counted once, as \
                read-modify-writes; the latencies of READ and UPDATE are of all of them.";
    left_out.push(what.to_owned());
    if !failed.is_empty() {
        left_out.push("Which failed requests were part of a read-modify-write is not stated.".to_owned());
    }
    Ok(())
}

/// Raw points by whole seconds; the first and the last are parts of one.
fn by_second(ended: &BTreeMap<u64, u64>) -> Vec<Progress> {
    let Some((first, last)) = ended.keys().next().zip(ended.keys().next_back()) else { return Vec::new() };
    let whole = ended.range(first + 1..*last);
    let line = |(second, n): (&u64, &u64)| {
        let from_s = (second - first) as f64;
        Progress { from_s, to_s: from_s + 1.0, operations: *n as f64 }
    };
    whole.map(line).collect()
}
