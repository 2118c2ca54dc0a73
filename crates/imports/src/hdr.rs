//! HdrHistogram logs that YCSB and cassandra-stress write beside their results: with them all percentiles are known.
//!
//! The form is that of HdrHistogram's `HistogramLogWriter` (interval logs, V2 histograms). Its unit is in no line, so
//! that the tool has to be known: YCSB (`hdrhistogram.fileoutput=true`) writes a log for each kind of operation, in
//! microseconds, and a comment names the kind; cassandra-stress (`-log hdrfile=FILE`) writes one with a tag for each
//! kind, in nanoseconds: `READ-st` counts from the sending, `READ-rt` from when a request was due, `READ-wt` is what
//! lies between.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence::{CountedFrom, OperationKind, StatedLatency, Tool};

use crate::{Refusal, Results, cassandra_stress, lines, quantiles, ycsb};

/// Longest latency that is read, seconds: a day.
const LONGEST_S: u64 = 86_400;
/// Share by which a log may have fewer or more latencies than there were operations: those in flight at an end.
const APART: f64 = 0.01;

/// Whose log it is, and what that says of it.
enum Writer {
    Ycsb(OperationKind, CountedFrom),
    CassandraStress,
}

/// How often each latency was recorded, in the unit of the log, by kind of operation.
type Counts = BTreeMap<OperationKind, BTreeMap<u64, u64>>;

/// Takes the latencies of a log that was written beside these results.
///
/// # Errors
/// The line that cannot be read; a log of another tool or of another run.
pub fn take_histograms(results: &mut Results, log: &str) -> Result<(), Refusal> {
    let writer = Writer::of(log)?;
    if writer.tool() != results.tool {
        let (log, beside) = (writer.tool().name(), results.tool.name());
        return Err(Refusal::whole(format!("this is an HdrHistogram log of {log}, and the results are of {beside}")));
    }
    let (found, from) = writer.counts(log)?;
    match (results.tool, from == results.counted_from) {
        (_, true) => {}
        // Where latencies from the schedule have no names of their own, they have the plain ones.
        (Tool::Ycsb, false) if from == CountedFrom::Sent && !results.has_intended => {}
        // It writes what counts from the schedule where it kept to one.
        (Tool::CassandraStress, false) if from == CountedFrom::Due => results.counted_from = from,
        (_, false) => {
            return Err(Refusal::whole("its latencies count from another moment than those of the results").help(
                "from the sending or from the schedule: both have to be the same (YCSB: the log of Intended-READ)",
            ));
        }
    }
    let missing = results.completed.keys().find(|kind| !found.contains_key(*kind));
    if let (Some(kind), Tool::CassandraStress) = (missing, results.tool) {
        return Err(Refusal::whole(format!("there is no latency of kind {} in it", kind.name())));
    }
    for (kind, counts) in found {
        let operations = |kind: &OperationKind| results.completed.get(kind).copied().unwrap_or(0);
        let own = operations(&kind);
        // YCSB records the halves of a read-modify-write, too.
        let halves = match kind {
            OperationKind::Read | OperationKind::Update => operations(&OperationKind::ReadModifyWrite),
            _ => 0,
        };
        let latency = quantiles::of(counts.into_iter().collect(), writer.per_us());
        let latency = latency.ok_or_else(|| Refusal::whole("its counts are more than anybody can count"))?;
        let expected = own.saturating_add(halves);
        if latency.samples.abs_diff(expected) as f64 > APART * expected as f64 {
            return Err(Refusal::whole(format!(
                "it has {} latencies of kind {}, and the results state {expected} operations: is it of another run?",
                latency.samples,
                kind.name()
            )));
        }
        if own > 0 {
            results.latencies.insert(kind, StatedLatency { samples: own, ..latency });
        }
    }
    results.left_out.retain(|what| what != cassandra_stress::ROUNDED);
    Ok(())
}

impl Writer {
    fn of(log: &str) -> Result<Self, Refusal> {
        for (at, line) in lines::numbered(log).take_while(|(_, line)| line.starts_with('#')) {
            if line.contains("Cassandra Stress") {
                return Ok(Self::CassandraStress);
            }
            if let Some(name) = line.strip_prefix("#[Logging for: ").and_then(|rest| rest.strip_suffix(']')) {
                let (kind, from) = ycsb::series(name);
                let expected = "the log of READ, UPDATE, INSERT, SCAN or READ-MODIFY-WRITE";
                return Ok(Self::Ycsb(kind.ok_or_else(|| Refusal::expected(at, expected, name))?, from));
            }
        }
        let help = "read are those of YCSB (hdrhistogram.fileoutput=true) and of cassandra-stress (-log hdrfile=FILE)";
        Err(Refusal::whole("this is an HdrHistogram log of no tool that is known here: its unit is not in it")
            .help(help))
    }

    fn tool(&self) -> Tool {
        match self {
            Self::Ycsb(..) => Tool::Ycsb,
            Self::CassandraStress => Tool::CassandraStress,
        }
    }

    /// Units of the log in a microsecond.
    fn per_us(&self) -> f64 {
        match self {
            Self::Ycsb(..) => 1.0,
            Self::CassandraStress => 1e3,
        }
    }

    /// What an interval of this tag is of; `None`: of nothing that is taken.
    fn series(&self, at: usize, tag: Option<&str>) -> Result<Option<(OperationKind, CountedFrom)>, Refusal> {
        match self {
            Self::Ycsb(kind, from) => Ok(Some((*kind, *from))),
            Self::CassandraStress => {
                let tag = tag.unwrap_or("");
                let (name, series) = tag.rsplit_once('-').unwrap_or((tag, ""));
                let from = match series {
                    "st" => CountedFrom::Sent,
                    "rt" => CountedFrom::Due,
                    "wt" => return Ok(None),
                    _ => return Err(Refusal::expected(at, "a tag such as READ-st", tag)),
                };
                Ok(Some((cassandra_stress::kind(at, name)?, from)))
            }
        }
    }

    /// All of a log: what counts from the schedule where there is any of it.
    fn counts(&self, log: &str) -> Result<(Counts, CountedFrom), Refusal> {
        let (mut sent, mut due) = (Counts::new(), Counts::new());
        let intervals = lines::numbered(log).filter(|(_, line)| !line.starts_with(['#', '"']));
        for (at, line) in intervals {
            let (tag, encoded) = interval(at, line)?;
            let Some((kind, from)) = self.series(at, tag)? else { continue };
            let bytes = STANDARD.decode(encoded);
            let bytes = bytes.map_err(|_| Refusal::expected(at, "a histogram in base64", encoded))?;
            let most = LONGEST_S * 1_000_000 * self.per_us() as u64;
            let histogram =
                evidence::decode_histogram_up_to(&bytes, most).map_err(|problem| Refusal::at(at, problem))?;
            let counts = match from {
                CountedFrom::Sent => sent.entry(kind).or_default(),
                CountedFrom::Due => due.entry(kind).or_default(),
            };
            for bucket in histogram.iter_recorded() {
                let n = counts.entry(bucket.value_iterated_to()).or_default();
                *n = n.saturating_add(bucket.count_at_value());
            }
        }
        match (sent.is_empty(), due.is_empty()) {
            (true, true) => Err(Refusal::whole("there is no interval in it")),
            (_, false) => Ok((due, CountedFrom::Due)),
            (false, true) => Ok((sent, CountedFrom::Sent)),
        }
    }
}

/// `Tag=READ-st,0.127,1.007,2.769,HISTOGRAM`: tag and histogram of a line, whose other parts are numbers.
fn interval(at: usize, line: &str) -> Result<(Option<&str>, &str), Refusal> {
    let (tag, rest) = match line.strip_prefix("Tag=").map(|rest| rest.split_once(',').unwrap_or((rest, ""))) {
        Some((tag, rest)) => (Some(tag), rest),
        None => (None, line),
    };
    let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
    let [start, length, longest, encoded] = parts.as_slice() else {
        return Err(Refusal::expected(at, "`START,LENGTH,LONGEST,HISTOGRAM`", line));
    };
    for number in [start, length, longest] {
        lines::number(at, number, line)?;
    }
    Ok((tag, *encoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_tag_or_none() {
        assert_eq!(interval(1, "Tag=READ-st,0.1,1.0,2.7,abc").unwrap(), (Some("READ-st"), "abc"));
        assert_eq!(interval(1, "0.127,1.007,2.769,abc").unwrap(), (None, "abc"));
        for line in ["Tag=READ-st", "0.1,1.0,abc", "0.1,1.0,2.7,abc,d", "x,1.0,2.7,abc"] {
            assert_eq!(interval(7, line).unwrap_err().line, Some(7), "{line}");
        }
    }

    #[test]
    fn whose_log_it_is_stands_in_its_comments() {
        assert_eq!(Writer::of("#[Logging for: READ]\n").unwrap().tool(), Tool::Ycsb);
        assert_eq!(Writer::of("#Logging op latencies for Cassandra Stress\n").unwrap().tool(), Tool::CassandraStress);
        for (log, words) in [("#[Logging for: CLEANUP]\n", "the log of READ"), ("#[Histogram log]\n", "its unit")] {
            let refusal = Writer::of(log).err().unwrap();
            assert!(refusal.message.contains(words), "{refusal}");
        }
    }
}
