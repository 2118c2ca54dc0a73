//! The figures of one kind of operation.

use evidence::{ErrorKind, StatedLatency};

use crate::{Refusal, lines, quantiles};

/// A bucket of measurementtype=histogram, microseconds.
const BUCKET_US: f64 = 1000.0;
/// Most buckets that are taken, a thousand being usual.
const MOST_BUCKETS: u64 = 1_000_000;

/// What a section has stated so far.
#[derive(Debug, Default)]
pub struct Section {
    operations: Option<u64>,
    mean_us: Option<f64>,
    max_us: Option<f64>,
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    p999_us: Option<f64>,
    /// Whether it is of measurementtype=histogram: its percentiles are lower edges of buckets of a millisecond.
    has_variance: bool,
    /// (milliseconds, how many).
    buckets: Vec<(u64, u64)>,
    beyond_buckets: u64,
    returns: Vec<(String, u64)>,
    /// (microseconds, 1) of each operation.
    pub raw: Vec<(u64, u64)>,
}

/// `99` of `99thPercentileLatency(us)`, `99.9` of `99.9PercentileLatency(us)`.
fn percentile(name: &str) -> Option<f64> {
    name.strip_suffix("PercentileLatency(us)")?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

impl Section {
    /// Takes in one figure.
    pub fn take(&mut self, at: usize, line: &str, name: &str, value: &str) -> Result<(), Refusal> {
        if let Some(code) = name.strip_prefix("Return=") {
            self.returns.push((code.to_owned(), lines::count(at, value, line)?));
            return Ok(());
        }
        if let Some(percent) = percentile(name) {
            let us = Some(lines::number(at, value, line)?);
            match percent {
                50.0 => self.p50_us = us,
                95.0 => self.p95_us = us,
                99.0 => self.p99_us = us,
                99.9 => self.p999_us = us,
                _ => {}
            }
            return Ok(());
        }
        if let Some(of_bucket) = name.strip_prefix('>') {
            lines::count(at, of_bucket, line)?;
            self.beyond_buckets = lines::count(at, value, line)?;
            return Ok(());
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return self.take_bucket(at, line, name, value);
        }
        match name {
            "Operations" | "Total Operations" => self.operations = Some(lines::count(at, value, line)?),
            // Of no operation there is no mean.
            "AverageLatency(us)" | "Average" if value == "NaN" => {}
            "AverageLatency(us)" | "Average" => self.mean_us = Some(lines::number(at, value, line)?),
            "MaxLatency(us)" | "Max" => self.max_us = value.parse().ok().filter(|us| *us >= 0.0),
            "LatencyVariance(us)" => self.has_variance = true,
            // The least, and what raw points say themselves.
            "MinLatency(us)" | "Min" | "Below is a summary of latency in microseconds:" => {}
            name if name.starts_with('p') && name[1..].parse::<f64>().is_ok() => {}
            _ => {
                return Err(Refusal::expected(at, "a figure of YCSB 0.12 to 0.17, such as AverageLatency(us)", line)
                    .help("versions before 0.12 state milliseconds, other programs their own figures"));
            }
        }
        Ok(())
    }

    fn take_bucket(&mut self, at: usize, line: &str, name: &str, value: &str) -> Result<(), Refusal> {
        let refusal = || {
            Refusal::expected(at, "a bucket, `[OPERATION], MILLISECONDS, HOW MANY`", line).help(
                "measurementtype=timeseries has averages alone, of which no latency can be told: use hdrhistogram, \
                 the default",
            )
        };
        let ms = name.parse::<u64>().ok().filter(|ms| *ms <= MOST_BUCKETS).ok_or_else(refusal)?;
        // A time series begins as buckets do, and has means with decimals; before it there are no percentiles.
        let is_mean = value.contains('.') && self.p95_us.is_none() && self.p99_us.is_none();
        let n = lines::count(at, value, line).ok().filter(|_| !is_mean);
        self.buckets.push((ms, n.ok_or_else(refusal)?));
        Ok(())
    }

    /// Operations without error.
    pub fn completed(&self) -> u64 {
        let is_ok = |code: &str| ["OK", "BATCHED_OK", "0"].contains(&code);
        let returned = || self.returns.iter().filter(|(code, _)| is_ok(code)).map(|(_, n)| n);
        match returned().next() {
            Some(_) => returned().sum(),
            None => self.operations.unwrap_or(self.raw.len() as u64),
        }
    }

    /// Operations that failed, by kind of error.
    pub fn failed(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        self.returns.iter().filter_map(|(code, n)| {
            let kind = match code.as_str() {
                "OK" | "BATCHED_OK" | "0" => return None,
                "NOT_FOUND" => ErrorKind::NotFound,
                "SERVICE_UNAVAILABLE" => ErrorKind::Unavailable,
                _ => ErrorKind::Other,
            };
            Some((kind, *n))
        })
    }

    /// Samples behind its latencies, where `completed` of its operations are no halves of read-modify-writes: as many
    /// more or fewer than these as `Operations` differs from the returns.
    pub fn samples(&self, completed: u64) -> u64 {
        let returned = self.completed();
        let all = self.failed().fold(returned, |sum, (_, n)| sum.saturating_add(n));
        match self.operations {
            Some(operations) if operations != all => completed.saturating_add(operations).saturating_sub(returned),
            _ => completed,
        }
    }

    /// Its latencies as stated, or from what it has of each operation.
    pub fn latency(&self, left_out: &mut Vec<String>) -> Option<StatedLatency> {
        if let Some(exact) = quantiles::of(self.raw.clone(), 1.0) {
            return Some(exact);
        }
        let samples = self.operations.filter(|n| *n > 0)?;
        let stated = StatedLatency {
            samples,
            mean_us: self.mean_us?,
            p50_us: self.p50_us,
            p95_us: self.p95_us,
            p99_us: self.p99_us,
            p999_us: self.p999_us,
            max_us: self.max_us?,
        };
        if !self.has_variance && self.buckets.is_empty() {
            return Some(stated);
        }
        let what = "Percentiles are upper edges of buckets of 1 ms; YCSB states the lower ones (0 below 1 ms).";
        left_out.push(what.to_owned());
        let upper = |us: f64| (us + BUCKET_US).min(stated.max_us);
        if self.buckets.is_empty() {
            return Some(StatedLatency {
                p95_us: stated.p95_us.map(upper),
                p99_us: stated.p99_us.map(upper),
                ..stated
            });
        }
        // What lies beyond the buckets was as long as the longest at most.
        let mut all: Vec<(u64, u64)> =
            self.buckets.iter().map(|(ms, n)| (upper(*ms as f64 * BUCKET_US) as u64, *n)).collect();
        all.push((stated.max_us as u64, self.beyond_buckets));
        let found = quantiles::of(all, 1.0)?;
        Some(StatedLatency { samples, mean_us: stated.mean_us, max_us: stated.max_us, ..found })
    }
}
