//! What evidence can be: it comes from files and agents that somebody else may have written. Every number that sizes
//! memory or a loop, that is added up or becomes a moment, is held to its bound here, before it is used.

use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};

use crate::interval::SIGNIFICANT_DIGITS;
use crate::latency_counts::{self, LatencyCounts};
use crate::{
    ClientResult, HIGHEST_US, HostSample, Imported, Interval, LOWEST_US, StatedLatency, TrialRecord, WriteCheck,
};

/// Longest that anything in a trial takes or lies from its start of measurement, seconds: two weeks. An experiment may
/// ask for one.
pub const LONGEST_S: f64 = 14.0 * 86_400.0;
/// Most of anything that is counted in a trial: a double holds these exactly, and sums of thousands of them fit in 64
/// bits.
pub const MOST_COUNTED: u64 = 1 << 53;
/// Most samples that the hosts of a trial have together: as many as one of them takes in the longest, one a second; 60
/// hosts take as many in five and a half hours. Each takes about 3.4 KB of memory (docs/scale.md).
pub const MOST_SAMPLES: usize = LONGEST_S as usize;
/// Most hosts of a kind.
const MOST_HOSTS: usize = 1_024;
/// Most load threads of a client: no machine has more CPUs.
const MOST_THREADS: u32 = 1 << 16;
/// Latest moment that a clock shows, Unix milliseconds: the year 5138. Dates of this program end at 9999, and a double
/// holds each of these milliseconds.
const LATEST_UNIX_MS: f64 = 1e14;

/// The largest value of a histogram's bounds, microseconds: what was recorded is at most [`HIGHEST_US`], and a
/// histogram ends at the end of a bucket.
const BOUND_US: u64 = HIGHEST_US + HIGHEST_US / 10;
/// Bytes of a plain V2 histogram before its counts.
const HEAD_BYTES: usize = 40;
/// Most bytes of its counts: [`BOUND_US`] to three digits makes 18,000, each of up to 9 bytes.
const MOST_COUNTS_BYTES: usize = 1 << 18;
/// Cookies of the V2 format (HdrHistogram's `EncodableHistogram`): counts as they are, and deflated.
const PLAIN: u32 = 0x1c84_9313;
const DEFLATED: u32 = 0x1c84_9314;

/// Encodes a histogram in HdrHistogram's V2 format, not deflated.
pub fn encode_histogram(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing a histogram of u64 counts to memory cannot fail");
    bytes
}

/// Decodes a histogram in HdrHistogram's V2 format, deflated or not.
///
/// The format states the bounds of the values and the length of the counts, and the decoder allocates what is stated: 4
/// GB for 56 characters. So both are looked at first.
pub fn decode_histogram(bytes: &[u8]) -> Result<Histogram<u64>, String> {
    decode_histogram_up_to(bytes, BOUND_US)
}

/// The same of a histogram whose largest value is at most so much, in its own unit.
///
/// # Errors
/// As [`decode_histogram`].
pub fn decode_histogram_up_to(bytes: &[u8], highest: u64) -> Result<Histogram<u64>, String> {
    let mut decoder = HistogramDecoder::default();
    let plain = decoder.plain(bytes)?;
    check_head(plain, highest)?;
    deserialize(plain)
}

fn deserialize(mut plain: &[u8]) -> Result<Histogram<u64>, String> {
    Deserializer::new().deserialize(&mut plain).map_err(|error| format!("the histogram does not decode: {error}"))
}

/// Decodes many histograms of the kind that [`decode_histogram`] takes, without making each: its counts are enough.
#[derive(Debug, Default)]
pub struct HistogramDecoder {
    /// Since the first that is deflated: agents send them plain.
    inflate: Option<(Decompress, Vec<u8>)>,
}

impl HistogramDecoder {
    /// The counts of a histogram of latencies in microseconds.
    pub fn counts(&mut self, bytes: &[u8]) -> Result<LatencyCounts, String> {
        let plain = self.plain(bytes)?;
        check_head(plain, BOUND_US)?;
        let is_ours = word(plain, 8) == Some(0)
            && word(plain, 12) == Some(u32::from(SIGNIFICANT_DIGITS))
            && long(plain, 16) == Some(LOWEST_US)
            && long(plain, 32) == Some(1.0_f64.to_bits());
        if !is_ours {
            return deserialize(plain).map(|histogram| LatencyCounts::of(&histogram));
        }
        let (length, highest) = (word(plain, 4).unwrap_or(0) as usize, long(plain, 24).unwrap_or(0));
        let mut rest = &plain[HEAD_BYTES..HEAD_BYTES + length];
        let end = latency_counts::buckets(highest);
        // Each takes a byte at least.
        let (mut counts, mut at) = (LatencyCounts::with_room(rest.len()), 0_usize);
        while !rest.is_empty() {
            let (encoded, bytes) = varint(rest).ok_or("the counts of the histogram are cut off")?;
            rest = &rest[bytes..];
            // Zigzag: a negative number is so many empty buckets.
            let number = (encoded >> 1) as i64 ^ -((encoded & 1) as i64);
            match u64::try_from(number) {
                Err(_) => at = at.saturating_add(number.unsigned_abs() as usize),
                Ok(_) if at >= end => return Err("the histogram has counts beyond its highest value".to_owned()),
                Ok(count) => {
                    if count > 0 {
                        counts.push(at, count);
                    }
                    at += 1;
                }
            }
        }
        Ok(counts)
    }

    /// The histogram as it was before it was deflated.
    fn plain<'a>(&'a mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        match word(bytes, 0) {
            Some(PLAIN) => return Ok(bytes),
            Some(DEFLATED) => {}
            _ => return Err("it is no V2 histogram".to_owned()),
        }
        let length = word(bytes, 4).map_or(0, |length| length as usize);
        let deflated = bytes[8.min(bytes.len())..].get(..length).ok_or("the histogram is cut off")?;
        let most = HEAD_BYTES + MOST_COUNTS_BYTES;
        let (inflate, plain) = self.inflate.get_or_insert_with(|| (Decompress::new(true), vec![0; most + 1]));
        inflate.reset(true);
        let status = inflate.decompress(deflated, plain, FlushDecompress::Finish);
        let status = status.map_err(|error| format!("the histogram does not inflate: {error}"))?;
        let inflated = inflate.total_out() as usize;
        if inflated > most {
            return Err(format!("the histogram inflates to more than {most} bytes"));
        }
        match status {
            Status::StreamEnd => Ok(&plain[..inflated]),
            Status::Ok | Status::BufError => Err("the histogram does not inflate: it is cut off".to_owned()),
        }
    }
}

/// A number in LEB128 of at most nine bytes, the last of which is taken whole, and how many it has.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    Some((number | u64::from(*bytes.get(8)?) << 56, 9))
}

fn check_head(plain: &[u8], highest: u64) -> Result<(), String> {
    let head = (word(plain, 0), word(plain, 4), word(plain, 12), long(plain, 16), long(plain, 24));
    let (Some(PLAIN), Some(length), Some(digits), Some(low), Some(high)) = head else {
        return Err("the histogram is cut off".to_owned());
    };
    if length as usize > plain.len().saturating_sub(HEAD_BYTES) {
        return Err(format!("the histogram announces {length} bytes of counts and has fewer"));
    }
    if length as usize > MOST_COUNTS_BYTES {
        return Err(format!("the histogram has {length} bytes of counts, more than {MOST_COUNTS_BYTES}"));
    }
    if !(1..=3).contains(&digits) || low == 0 || high > highest {
        return Err(format!(
            "the histogram is from {low} to {high} at {digits} digits; latencies are recorded up to {highest} at 3"
        ));
    }
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

/// A moment or a length of a trial.
pub fn check_seconds(what: &str, value: f64) -> Result<(), String> {
    match value.is_finite() && value.abs() <= LONGEST_S {
        true => Ok(()),
        false => Err(format!("{what} is {value:?}, and nothing of a trial takes more than {LONGEST_S} s")),
    }
}

/// A length of a trial, which is not negative.
///
/// # Errors
/// As [`check_seconds`].
pub fn check_length(what: &str, value: f64) -> Result<(), String> {
    check_seconds(what, value)?;
    if value >= 0.0 { Ok(()) } else { Err(format!("{what} is {value:?}")) }
}

/// Something that was counted.
pub fn check_counted(what: &str, value: u64) -> Result<(), String> {
    if value <= MOST_COUNTED { Ok(()) } else { Err(format!("{what} is {value}, more than anybody can count")) }
}

/// What a clock shows, Unix milliseconds.
pub fn check_moment(what: &str, unix_ms: f64) -> Result<(), String> {
    match (0.0..=LATEST_UNIX_MS).contains(&unix_ms) {
        true => Ok(()),
        false => Err(format!("{what} is {unix_ms:?}, and no clock shows that")),
    }
}

impl<H> Interval<H> {
    fn check_with(&self, latencies: u64) -> Result<(), String> {
        check_seconds("the start of an interval", self.start_s)?;
        check_length("the length of an interval", self.length_s)?;
        check_counted("the number of latencies in an interval", latencies)
    }
}

impl Interval {
    /// Whether it lies within a trial.
    pub fn check(&self) -> Result<(), String> {
        self.check_with(self.histogram.len())
    }
}

impl Interval<LatencyCounts> {
    /// Whether it lies within a trial.
    pub fn check(&self) -> Result<(), String> {
        self.check_with(self.histogram.len())
    }
}

impl HostSample {
    /// Whether it lies within a trial.
    pub fn check(&self) -> Result<(), String> {
        check_seconds("t_s of a sample", self.t_s)?;
        check_moment("unix_ms of a sample", self.unix_ms as f64)
    }
}

impl Imported {
    /// Whether its lines of progress are those of a trial, each after the one before, and its latencies can be counted.
    pub fn check(&self) -> Result<(), String> {
        for line in &self.progress {
            check_length("the start of a line of progress", line.from_s)?;
            check_length("the end of a line of progress", line.to_s)?;
            if line.to_s <= line.from_s || line.operations.abs() > MOST_COUNTED as f64 {
                return Err(format!("a line of progress lasts from {} to {} s", line.from_s, line.to_s));
            }
        }
        for stated in self.latencies.values() {
            check_counted("the number of latencies", stated.samples)?;
            let StatedLatency { mean_us, p50_us, p95_us, p99_us, p999_us, max_us, .. } = *stated;
            for us in [Some(mean_us), p50_us, p95_us, p99_us, p999_us, Some(max_us)].into_iter().flatten() {
                check_length("a latency", us / 1e6)?;
            }
        }
        for (what, value) in [
            ("the time of day of the tool", self.clocks.map_or(0.0, |clocks| clocks.of_day_s)),
            ("what the tool states of operations a second", self.stated_ops_per_s),
        ] {
            if !value.is_finite() {
                return Err(format!("{what} is {value:?}"));
            }
        }
        check_seconds("the tool's clock", self.clocks.map_or(0.0, |clocks| clocks.elapsed_s))
    }
}

impl ClientResult {
    /// Whether its times and numbers are those of a trial. All of its operations together can be counted, so that those
    /// of many clients can be added.
    pub fn check(&self) -> Result<(), String> {
        check_length("warmup_s", self.warmup_s)?;
        check_length("measured_s", self.measured_s)?;
        check_counted("operations_sent", self.operations_sent)?;
        let each = self.completed.values().chain(self.errors.values());
        check_counted("the number of operations", each.copied().fold(0, u64::saturating_add))?;
        if let Some(imported) = &self.imported {
            imported.check()?;
        }
        match self.threads <= MOST_THREADS {
            true => Ok(()),
            false => Err(format!("it has {} load threads, more than {MOST_THREADS}", self.threads)),
        }
    }
}

impl WriteCheck {
    /// Whether its time and its numbers are those of a trial.
    pub fn check(&self) -> Result<(), String> {
        let writes = [self.acknowledged, self.unacknowledged];
        let values = [self.values, self.intact, self.older, self.missing, self.foreign, self.unreadable];
        let mut counts = writes.into_iter().chain(values);
        counts.try_for_each(|number| check_counted("a number of writes", number))?;
        check_length("the time in which writes were looked for", self.seconds)?;
        match self.examples.len() <= Self::EXAMPLES {
            true => Ok(()),
            false => Err(format!("it names {} lost values, more than {}", self.examples.len(), Self::EXAMPLES)),
        }
    }
}

impl TrialRecord {
    /// Whether its times and numbers are those of a trial.
    pub fn check(&self) -> Result<(), String> {
        let parts = self.clients.values().map(|part| &part.result);
        self.client.iter().chain(parts).try_for_each(ClientResult::check)?;
        for fault in &self.faults {
            let moments = [Some(fault.began_s), Some(fault.gone_s), fault.return_began_s, fault.back_s];
            moments.into_iter().flatten().try_for_each(|at| check_seconds("a moment of a fault", at))?;
        }
        self.writes.as_ref().map_or(Ok(()), WriteCheck::check)?;
        let mut of_table = self.table.iter().flat_map(|table| [table.dead_rows, table.bytes]);
        of_table.try_for_each(|number| check_counted("a number of its table", number))?;
        let of_volumes = self.modified.len().max(self.data_volumes.len());
        let hosts = self.nodes.len().max(self.clients.len()).max(of_volumes);
        if hosts > MOST_HOSTS {
            return Err(format!("it has {hosts} hosts of a kind, more than {MOST_HOSTS}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hdrhistogram::serialization::V2DeflateSerializer;

    use super::*;
    use crate::{ErrorKind, LostValue, OperationKind, Series, empty_histogram};

    fn histogram() -> Histogram<u64> {
        let mut histogram = empty_histogram();
        for value in [1, 950, 40_000, HIGHEST_US] {
            histogram.record_n(value, 70_000).unwrap();
        }
        histogram
    }

    /// The histogram with its bounds and the length of its counts as somebody else would have them.
    fn forged(digits: u32, high: u64, length: u32) -> Vec<u8> {
        let mut bytes = encode_histogram(&histogram());
        bytes[4..8].copy_from_slice(&length.to_be_bytes());
        bytes[12..16].copy_from_slice(&digits.to_be_bytes());
        bytes[24..32].copy_from_slice(&high.to_be_bytes());
        bytes
    }

    #[test]
    fn a_histogram_comes_back_whole_in_both_forms() {
        let (plain, mut deflated) = (encode_histogram(&histogram()), Vec::new());
        V2DeflateSerializer::new().serialize(&histogram(), &mut deflated).unwrap();
        assert_eq!(decode_histogram(&plain).unwrap(), histogram());
        assert_eq!(decode_histogram(&deflated).unwrap(), histogram());
        // One decoder for many, whatever became of those before.
        let mut decoder = HistogramDecoder::default();
        for end in 0..plain.len() {
            decode_histogram(&plain[..end]).unwrap_err();
            decoder.counts(&plain[..end]).unwrap_err();
        }
        for end in 0..deflated.len() {
            let _ = decode_histogram(&deflated[..end]);
            decoder.counts(&deflated[..end]).unwrap_err();
        }
        for whole in [&plain, &deflated, &plain] {
            assert_eq!(decoder.counts(whole), Ok(LatencyCounts::of(&histogram())));
        }
    }

    /// Each of these made the decoder allocate gigabytes.
    #[test]
    fn what_a_histogram_announces_is_looked_at_before_it_is_believed() {
        let sound = forged(3, HIGHEST_US, 0).len() as u32 - HEAD_BYTES as u32;
        assert!(decode_histogram(&forged(3, HIGHEST_US, sound)).is_ok());
        for (digits, high, length) in [
            (5, HIGHEST_US, sound),
            (3, 1 << 62, sound),
            (3, HIGHEST_US, u32::MAX),
            (3, HIGHEST_US, sound + 1),
            (0, HIGHEST_US, sound),
        ] {
            decode_histogram(&forged(digits, high, length)).unwrap_err();
            HistogramDecoder::default().counts(&forged(digits, high, length)).unwrap_err();
        }
        // It counts what lies above its highest value.
        HistogramDecoder::default().counts(&forged(3, 2_000, sound)).unwrap_err();
        // Of other digits than ours the buckets are others.
        let mut coarse = Histogram::<u64>::new_with_bounds(1, HIGHEST_US, 2).unwrap();
        coarse.record_n(40_000, 3).unwrap();
        let bytes = encode_histogram(&coarse);
        assert_eq!(HistogramDecoder::default().counts(&bytes), Ok(LatencyCounts::of(&coarse)));
        // A gigabyte of zeros takes a megabyte; no more of it is inflated than a histogram can have.
        let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut bomb, &vec![0; 8 << 20]).unwrap();
        let bomb = bomb.finish().unwrap();
        let length = bomb.len() as u32;
        let words = decode_histogram(&[&DEFLATED.to_be_bytes()[..], &length.to_be_bytes(), &bomb].concat());
        assert!(words.unwrap_err().contains("inflates to more than"));
    }

    #[test]
    fn an_interval_lies_within_two_weeks() {
        let interval = |start_s, length_s| Interval {
            series: Series::Response(OperationKind::Read),
            start_s,
            length_s,
            histogram: histogram(),
        };
        assert_eq!(interval(-60.0, 1.0).check(), Ok(()));
        for (start_s, length_s) in [(1e300, 1.0), (f64::NAN, 1.0), (0.0, -1.0), (0.0, f64::INFINITY), (9e18, 1.0)] {
            interval(start_s, length_s).check().unwrap_err();
        }
    }

    fn result() -> ClientResult {
        ClientResult {
            warmup_s: 5.0,
            measured_s: 60.0,
            operations_sent: 6,
            completed: BTreeMap::from([(OperationKind::Read, 5)]),
            errors: BTreeMap::from([(ErrorKind::Other, 1)]),
            client_cpu_s: 0.5,
            client_peak_rss_bytes: 1,
            send_lag_us: None,
            threads: 2,
            notes: Vec::new(),
            first_errors: BTreeMap::new(),
            imported: None,
        }
    }

    /// Each of these ended the controller: a moment that no clock has, a sum that does not fit.
    #[test]
    fn totals_of_a_client_are_those_of_a_trial_and_can_be_added() {
        assert_eq!(result().check(), Ok(()));
        let of_kind = |kind| BTreeMap::from([(kind, MOST_COUNTED)]);
        for (refused, words) in [
            (ClientResult { warmup_s: 1e19, ..result() }, "warmup_s is 1e19"),
            (ClientResult { measured_s: -1.0, ..result() }, "measured_s is -1.0"),
            (ClientResult { operations_sent: u64::MAX, ..result() }, "operations_sent"),
            (ClientResult { completed: of_kind(OperationKind::Read), ..result() }, "the number of operations"),
            (ClientResult { threads: u32::MAX, ..result() }, "load threads"),
        ] {
            let problem = refused.check().unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
        let sum = MOST_COUNTED.checked_mul(MOST_HOSTS as u64);
        assert!(sum.is_some(), "those of all clients together fit");
    }

    #[test]
    fn a_sample_has_a_moment_that_a_clock_shows() {
        let at = |t_s, unix_ms| HostSample { t_s, unix_ms, ..HostSample::default() }.check();
        assert_eq!(at(-30.0, 1_767_323_045_000), Ok(()));
        for (t_s, unix_ms) in [(1e300, 0), (f64::NAN, 0), (0.0, i64::MAX), (0.0, i64::MIN)] {
            at(t_s, unix_ms).unwrap_err();
        }
    }

    #[test]
    fn what_was_found_of_writes_can_be_added_and_names_a_few() {
        let lost = LostValue { key: "user1".to_owned(), field: 0, acknowledged: 1, found: None };
        let found = |older, seconds, named| WriteCheck {
            consistency: experiment::Consistency::One,
            acknowledged: 3,
            unacknowledged: 0,
            values: 3,
            intact: 0,
            older,
            missing: 0,
            foreign: 0,
            unreadable: 0,
            seconds,
            examples: vec![lost.clone(); named],
        };
        assert_eq!(found(3, 2.0, WriteCheck::EXAMPLES).check(), Ok(()));
        for refused in [found(u64::MAX, 2.0, 0), found(3, f64::INFINITY, 0), found(3, 2.0, WriteCheck::EXAMPLES + 1)] {
            refused.check().unwrap_err();
        }
    }
}
