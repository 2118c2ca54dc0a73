//! `latency.hlog`: every latency of a trial in the HdrHistogram interval log format 1.3, which the public tools read.
//!
//! One line per series and interval (about a second): `Tag=read,<start>,<length>,<max>,<V2 histogram, deflated,
//! base64>`; a short one is stored in its zlib stream ([`Encoder`]). Recorded values are **microseconds**; the
//! `Interval_Max` column is in milliseconds (the log format divides it for human eyes), as the comment in the file
//! says. Tags are [`Series::tag`].
//!
//! `BaseTime` lies before the warm-up and interval starts count from it; `StartTime` is the start of measurement. The
//! Java tools skip what lies before `StartTime`, so that `HistogramLogProcessor` shows the measured window by default,
//! as our reports do. Both are whole seconds: Java compares them in floating point, and a fraction could push the first
//! measured interval just below zero. The exact start is `started_at` in `trial.json`.
//!
//! Format:
//! <https://github.com/HdrHistogram/HdrHistogram/blob/master/src/main/java/org/HdrHistogram/HistogramLogWriter.java>

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use evidence::{HistogramDecoder, Interval, LatencyCounts, OperationKind, Series, TrialRecord};
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializeError, V2DeflateSerializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};

use crate::{Result, RunError, files};

/// Most bytes of a log: a day of six series at a KiB a second each.
const MOST_BYTES: u64 = 512 << 20;
/// Microseconds in a millisecond: what `Interval_Max` is divided by.
const MAX_VALUE_UNIT_RATIO: f64 = 1000.0;
/// Most bytes of a plain histogram that is stored.
const MOST_STORED_BYTES: usize = 400;
/// HdrHistogram's cookie of a V2 histogram in a zlib stream, whose length follows.
const DEFLATED: u32 = 0x1c84_9314;

const LEGEND: &[u8] = b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

/// The whole log as bytes; intervals are ordered by their start, as readers expect.
pub fn encode(path: &Path, record: &TrialRecord, intervals: &[Interval]) -> Result<Vec<u8>> {
    let trial_start: jiff::Timestamp = record
        .started_at
        .parse()
        .map_err(|e| RunError::damaged(path, format!("started_at {:?} is not RFC 3339: {e}", record.started_at)))?;
    let earliest = intervals.iter().map(|i| i.start_s).fold(0.0, f64::min);
    let warmup_s = record.client.as_ref().map_or(0.0, |c| c.warmup_s).max(-earliest);
    let base_to_start_s = warmup_s.ceil();
    let start = (SystemTime::from(trial_start) + seconds(warmup_s))
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_err(|_| RunError::damaged(path, format!("started_at {:?} is before 1970", record.started_at)))?;
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(start.as_secs());

    let mut bytes = Vec::new();
    let mut serializer = Encoder::new();
    IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&format!("[Logged with iopslab: cell {} block {}]", record.cell, record.block))
        .add_comment("[Values are microseconds; Interval_Max is in milliseconds (max value unit ratio 1000)]")
        .add_comment("[StartTime is the start of measurement, BaseTime lies before the warm-up; both in whole seconds]")
        .with_start_time(start)
        .with_base_time(start - seconds(base_to_start_s))
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(|e| RunError::file("encode", path, e))?;
    bytes.extend_from_slice(LEGEND);

    let mut ordered: Vec<&Interval> = intervals.iter().collect();
    ordered.sort_by(|a, b| a.start_s.total_cmp(&b.start_s).then(a.series.cmp(&b.series)));
    // Continues the log above, below its legend; its only header is the divisor of Interval_Max.
    let mut log = IntervalLogWriterBuilder::new()
        .with_max_value_divisor(MAX_VALUE_UNIT_RATIO)
        .begin_log_with(&mut bytes, &mut serializer)
        .map_err(|e| RunError::file("encode", path, e))?;
    for interval in ordered {
        let tag = interval.series.tag();
        log.write_histogram(
            &trimmed(&interval.histogram),
            seconds(interval.start_s + base_to_start_s),
            seconds(interval.length_s),
            Tag::new(&tag),
        )
        .map_err(|e| RunError::damaged(path, e))?;
    }
    Ok(bytes)
}

/// Histograms as the log has them: each in a zlib stream. A short one is stored there, and whatever inflates reads it:
/// deflating saves a sixth of its bytes, and inflating such was a fifth of a report's CPU time.
struct Encoder {
    plain: V2Serializer,
    deflated: V2DeflateSerializer,
    stored: Compress,
    bytes: Vec<u8>,
    stream: Vec<u8>,
}

impl Encoder {
    fn new() -> Self {
        Self {
            plain: V2Serializer::new(),
            deflated: V2DeflateSerializer::new(),
            stored: Compress::new(Compression::none(), true),
            bytes: Vec::new(),
            stream: Vec::with_capacity(2 * MOST_STORED_BYTES),
        }
    }
}

impl Serializer for Encoder {
    type SerializeError = V2DeflateSerializeError;

    fn serialize<T: Counter, W: io::Write>(
        &mut self,
        histogram: &Histogram<T>,
        to: &mut W,
    ) -> std::result::Result<usize, Self::SerializeError> {
        self.bytes.clear();
        let plain = self.plain.serialize(histogram, &mut self.bytes);
        plain.map_err(V2DeflateSerializeError::InternalSerializationError)?;
        if self.bytes.len() > MOST_STORED_BYTES {
            return self.deflated.serialize(histogram, to);
        }
        self.stream.clear();
        self.stored.reset();
        let done = self.stored.compress_vec(&self.bytes, &mut self.stream, FlushCompress::Finish);
        if !matches!(done, Ok(Status::StreamEnd)) {
            return Err(io::Error::other("a short histogram was not stored").into());
        }
        let length = self.stream.len() as u32;
        let bytes = [&DEFLATED.to_be_bytes()[..], &length.to_be_bytes(), &self.stream].concat();
        to.write_all(&bytes)?;
        Ok(bytes.len())
    }
}

/// The same counts in a histogram that ends at its largest value. The log states the bounds of each histogram, and who
/// reads it allocates that much: 128 KiB for a bound of 60 s, 56 KiB for one of 65 ms.
fn trimmed(histogram: &Histogram<u64>) -> Histogram<u64> {
    let (low, digits) = (histogram.low(), histogram.sigfig());
    let high = histogram.max().max(2 * low);
    let small = Histogram::new_with_bounds(low, high, digits).ok().and_then(|mut small| {
        small.add(histogram).ok()?;
        Some(small)
    });
    // It holds its own largest value, so that this does not fail; the whole histogram is as right.
    small.unwrap_or_else(|| histogram.clone())
}

/// A trial's latencies as they lie on disk: decoded one interval at a time, because all together take tens of
/// megabytes.
#[derive(Debug, Clone)]
pub struct LatencyLog {
    path: PathBuf,
    bytes: Vec<u8>,
    /// The user's own statements that it may be of; `None`: of any.
    statements: Option<Vec<OperationKind>>,
}

impl LatencyLog {
    /// Reads the file; nothing is decoded yet.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Ok(Self::of(path, files::read(path, MOST_BYTES)?))
    }

    /// The log that has these bytes.
    pub(crate) fn of(path: &Path, bytes: Vec<u8>) -> Self {
        Self { path: path.to_owned(), bytes, statements: None }
    }

    /// Besides YCSB's operations it may be of these statements and of no other.
    pub(crate) fn expect_statements(&mut self, statements: Vec<OperationKind>) {
        self.statements = Some(statements);
    }

    fn expects(&self, series: Series) -> bool {
        let (Series::Response(kind) | Series::Service(kind) | Series::Unmet(kind)) = series else { return true };
        let expected = self.statements.as_ref().is_none_or(|statements| statements.contains(&kind));
        expected || OperationKind::YCSB.contains(&kind)
    }

    /// Hands out each interval; starts are again seconds from the start of measurement (to the millisecond).
    pub fn for_each(&self, mut take: impl FnMut(Interval<LatencyCounts>)) -> Result<()> {
        let damaged = |problem: String| RunError::damaged(&self.path, problem);
        let (mut start_s, mut base_s) = (0.0, 0.0);
        let (mut decoder, mut encoded) = (HistogramDecoder::default(), Vec::new());
        for entry in IntervalLogIterator::new(&self.bytes) {
            match entry.map_err(|e| damaged(format!("not an HdrHistogram log: {e:?}")))? {
                LogEntry::StartTime(at) => start_s = at.as_secs_f64(),
                LogEntry::BaseTime(at) => base_s = at.as_secs_f64(),
                LogEntry::Interval(line) => {
                    let tag = line.tag().map_or("", |t| t.as_str());
                    let series = Series::from_tag(tag).filter(|series| self.expects(*series));
                    let series = series.ok_or_else(|| damaged(format!("unknown series {tag:?}")))?;
                    encoded.clear();
                    STANDARD
                        .decode_vec(line.encoded_histogram(), &mut encoded)
                        .map_err(|e| damaged(format!("histogram is not base64: {e}")))?;
                    let histogram = decoder.counts(&encoded).map_err(damaged)?;
                    let interval = Interval {
                        series,
                        // Whole seconds subtract exactly; the interval's own time then keeps its milliseconds.
                        start_s: line.start_timestamp().as_secs_f64() - (start_s - base_s),
                        length_s: line.duration().as_secs_f64(),
                        histogram,
                    };
                    interval.check().map_err(damaged)?;
                    take(interval);
                }
            }
        }
        Ok(())
    }

    /// All intervals at once.
    pub fn intervals(&self) -> Result<Vec<Interval<LatencyCounts>>> {
        let mut all = Vec::new();
        self.for_each(|interval| all.push(interval))?;
        Ok(all)
    }
}

/// A length that is not negative; anything else would be a bug upstream and must not panic here.
fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.max(0.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn a_short_histogram_is_stored_and_a_long_one_deflated() {
        let mut encoder = Encoder::new();
        for (latencies, is_stored) in [(0, true), (100, true), (3_000, false), (1, true)] {
            let mut histogram = evidence::empty_histogram();
            for n in 0..latencies {
                histogram.record(500 + 7 * n).unwrap();
            }
            let (mut plain, mut bytes) = (Vec::new(), Vec::new());
            V2Serializer::new().serialize(&histogram, &mut plain).unwrap();
            assert_eq!(encoder.serialize(&histogram, &mut bytes).unwrap(), bytes.len());
            assert_eq!(plain.len() <= MOST_STORED_BYTES, is_stored, "{}", plain.len());
            assert_eq!(bytes.windows(plain.len()).any(|window| window == plain), is_stored, "{latencies}");
            // The crate that is the reference, then ours: both check the sum.
            let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            assert_eq!(read, histogram);
            assert_eq!(HistogramDecoder::default().counts(&bytes), Ok(LatencyCounts::of(&histogram)));
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            HistogramDecoder::default().counts(&bytes).unwrap_err();
        }
    }
}
